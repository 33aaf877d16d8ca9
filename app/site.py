"""The static site: the explorer's openings as files that need no server.

Every scene is worked out as the explorer works it out behind its pages, to the end, and stored in a
page of :mod:`app.static_page`. Bundled data only: anything may be shown of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from time import sleep
from typing import Any

from app import classes, compute, exercise_sheet, site_lessons
from app.compose_prices import Priced, priced
from app.compose_text import finding
from app.composing import PRESETS, Composition
from app.composing import opening as first_list
from app.explore_scene import picture, swept_picture
from app.frame import brand_html
from app.learning import LESSONS
from app.result_store import Data
from app.scenario import Scenario, offered, opening
from app.static_page import TITLE, Dial, Figure, Page, document, page_html, stored_alone
from app.sweeps import done, sliding, swept, work_out
from app.tables import data_of, judged_on, store_of
from app.texts import compose as compose_texts
from app.texts import explore as explore_texts
from app.texts import learn as learn_texts
from app.texts import static as texts
from app.texts.frame import PROVENANCE
from app.views import compose, explore
from dpcore.checks import choose
from dpcore.datasets.cities import CITIES
from dpcore.declaration import declaration
from dpcore.errors import InputError
from dpcore.figures.released import released_scene
from dpcore.figures.scene import Scene
from dpcore.releases.beside import DOSSIER, sha256
from dpcore.releases.dossier import ODD, odd, read_dossier, verify
from dpcore.releases.opened import open_release
from dpcore.releases.report import promise, schema_of, sections, title_of
from dpcore.wall.data import PublicFrame, Vocabulary, target_frame, with_target

LARGEST = 5_000_000  # bytes of a page: what a mail takes
LOOK = 0.05  # seconds between two looks at what is worked out behind
INDEX = "index.html"
COMPOSE = "compose"
SHEETS = (
    ("exercises.html", *texts.SHEET, False),
    ("exercises-answers.html", *texts.SOLVED_SHEET, True),
)

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Entry:
    """A page as the index lists it."""

    file: str
    title: str
    about: str


def names() -> tuple[str, ...]:
    """The pages there are: a table's or a collection's name each, Compose, and the lessons."""
    return (*(table.name for table in offered()), COMPOSE, site_lessons.NAME)


def write_site(
    folder: Path, only: Sequence[str], releases: Sequence[str], tell: Tell, base: str = ""
) -> list[Path]:
    """Write pages and the index that lists them; the files, the index first.

    only: names of pages [all; with releases, none]; lessons bring those that they lead to.
    releases: folders of releases, a page each. tell: hears what is worked out. base: address of an
    explorer, for exercise sheets that link to it [no sheets]. Raises InputError for a name that no
    page has, for what is no release and no address, ReplayError for a release that does not verify.
    """
    exercise_sheet.demand_address(base)
    for name in only:
        if name not in names():
            raise InputError("only", texts.no_page(name), choose(name, names()))
    left = [release_page(Path(place)) for place in releases]
    chosen = only or (() if left else names())
    wanted = dict.fromkeys(name for name in chosen if name != site_lessons.NAME)
    with_lessons = site_lessons.NAME in chosen
    if with_lessons:
        wanted |= dict.fromkeys(site_lessons.needed())
    entries = []
    folder.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        page = _made(name, tell)
        _write(folder / f"{name}.html", page_html(page))
        if name in names():
            story = next((t.story for t in offered() if t.name == name), texts.COMPOSE_ABOUT)
            entries.append(Entry(f"{name}.html", page.title, story))
    if with_lessons:
        tell("the path")
        file = f"{site_lessons.PATH}.html"
        _write(folder / file, site_lessons.path_html())
        entries.append(Entry(file, texts.PATH_TITLE, texts.PATH_ABOUT))
        tell("the lessons' answers")
        file = f"{site_lessons.NAME}.html"
        _write(folder / file, site_lessons.lessons_html(base))
        entries.append(Entry(file, learn_texts.TITLE, texts.lessons_about(len(LESSONS))))
    if base:
        tell(f"the exercise sheets{exercise_sheet.without_codes()}")
        for file, title, about, solved in SHEETS:
            _write(folder / file, exercise_sheet.sheet(solved=solved, base=base))
            entries.append(Entry(file, title, about))
    for number, (title, text) in enumerate(left, start=1):
        file = "release.html" if number == 1 else f"release-{number}.html"
        entries.append(Entry(file, title, texts.RELEASED))
        _write(folder / file, text)
    _write(folder / INDEX, index_html(entries))
    return [folder / INDEX, *(folder / entry.file for entry in entries)]


def _made(name: str, tell: Tell) -> Page:
    """A page by its name; what only lessons lead to opens as they say."""
    if name == COMPOSE:
        return compose_page(tell)
    bundled = {table.name for table in offered()}
    choices = opening(name) if name in bundled else site_lessons.needed()[name]
    if isinstance(choices, Composition):
        return compose_page(tell, choices)
    return explore_page(choices, tell, beside=name in bundled)


def _write(path: Path, text: str) -> None:
    size = len(text.encode())
    if size > LARGEST:
        raise InputError(path.stem, texts.too_large(size), texts.LEAVE_OUT)
    path.write_text(text, encoding="utf-8")


# ---------------------------------------------------------------- Explore


def explore_page(scenario: Scenario, tell: Tell, *, beside: bool = True) -> Page:
    """The page of a scenario on bundled data. beside: with the dials that slide beside epsilon."""
    data = data_of(scenario)
    assert data is not None  # bundled data is there
    scenes = dict(_scenes(scenario, data, tell, beside=beside))
    dials = [
        _dial(scenario, "epsilon", scenes, ""),
        *(
            _dial(scenario, dial.name, scenes, dial.why_not)
            for dial in sliding(scenario, data, store_of(data))
            if beside
        ),
    ]
    return Page(
        kind="explore",
        title=f"{data.title}: {scenario.title}",
        about=PROVENANCE[data.provenance],
        heading=explore_texts.HEADING,
        lead=explore.lead(scenario, data, standing_in=False),
        facts={
            "Data": explore.sources()[scenario.data],
            "Model": scenario.title,
            "Method": explore.method_title(scenario.recipe),
            "Composition": scenario.titles(scenario.methods())[scenario.count_by],
        },
        dials=dials,
        says="sentence",
        promise="guarantee",
        note=judged_on(scenario, data),
        below=_below(scenario, data, tell),
        foot=_foot(f'dpcore explore "{scenario.as_link() or f"data={scenario.data}"}"'),
    )


def _dial(scenario: Scenario, name: str, scenes: Mapping[str, Scene], why_not: str) -> Dial:
    """A slider of Explore in its words."""
    key, (label, ends, help) = f"{name}_step", explore.words_of(scenario, name)
    return Dial(name, explore.word_of(name), key, label, ends, why_not or help, scenes.get(key))


def _scenes(
    scenario: Scenario, data: Data, tell: Tell, *, beside: bool
) -> Iterator[tuple[str, Scene]]:
    """Each dial's scene by the key of its slider, epsilon's first."""
    store = store_of(data)
    tell(f"{data.title}: ε")
    study = compute.study(scenario, data, store)
    while not study.complete:
        sleep(LOOK)
        study = compute.study(scenario, data, store)
    yield "epsilon_step", picture(scenario, data, study)
    for dial in sliding(scenario, data, store):
        if dial.why_not or not beside:
            continue
        tell(f"{data.title}: {explore.words_of(scenario, dial.name)[0]}")
        while not done(scenario, data, store, dial):
            work_out(scenario, data, store, dial)
            sleep(LOOK)
        curve = swept(scenario, data, store, dial, study.references)
        if curve is not None:  # else its stops were refused, which the dial says now
            yield dial.key, swept_picture(scenario, data, dial, curve)


def _below(scenario: Scenario, data: Data, tell: Tell) -> tuple[Figure, ...]:
    """Class by class, for a labelled release."""
    if scenario.declared.reads != "label":
        return ()
    store = store_of(data)
    tell(f"{data.title}: {explore_texts.CLASSES.lower()}")
    study = compute.study(scenario, data, store)
    while (worth := compute.worth(scenario, data, store, study)) is None:
        sleep(LOOK)
    study, step = compute.with_extra_budget(study, scenario, data, store)
    scene = classes.scene_of(scenario, data, study, worth, step).at(step)
    return (Figure(explore_texts.CLASSES, {"epsilon_step": scene}),)


# ---------------------------------------------------------------- Compose

FILM = ("loss", "attack", "moments", "orders")


def compose_page(tell: Tell, composition: Composition | None = None) -> Page:
    """The page of a list of releases [Compose's opening]."""
    alone = composition is None
    composition = first_list(Composition.preset) if composition is None else composition
    tell("Composition: k")
    result = _priced(composition)
    scene = compose.picture(composition, result)
    return Page(
        kind="compose",
        title=texts.COMPOSE_TITLE,
        about=PROVENANCE["none"],
        heading=compose_texts.HEADING,
        lead=compose_texts.LEAD,
        facts={
            "Start from": PRESETS[composition.preset].title
            if composition.preset in PRESETS
            else compose_texts.OWN_LIST,
            "Hold": compose_texts.HOLDS[composition.hold],
            "Show": compose_texts.SHOWS[composition.show],
        },
        dials=[
            Dial(
                "k",
                "k",
                "repeats_step",
                compose_texts.count_label(composition.repeats),
                compose_texts.ENDS,
                compose_texts.HELP["k"],
                scene,
            )
        ],
        says="sentence",
        promise="promise",
        note=finding(composition, result.prices),
        below=(_film(composition),) if alone else (),
        foot=_foot(f'dpcore explore "compose?{composition.as_link()}"'.replace('?"', '"')),
    )


def _film(composition: Composition) -> Figure:
    """More pictures of the same list, which play together; its prices stand above them."""
    lists = [replace(composition, show=show) for show in FILM]
    scenes = [compose.picture(composition_at, _priced(composition_at)) for composition_at in lists]
    panels = tuple(panel for scene in scenes for panel in scene.panels[1:])
    return Figure(
        texts.FILM_TITLE, {"repeats_step": replace(scenes[0], panels=panels, live_text={})}
    )


def _priced(composition: Composition) -> Priced:
    """All prices, waited for."""
    while (result := priced(composition)).left:
        sleep(LOOK)
    return result


# ---------------------------------------------------------------- a release


def release_page(place: Path) -> tuple[str, str]:
    """Title and file of the page of a release: what left, with its picture, and never a row.

    place: the release's folder. Raises ReplayError where it does not verify, InputError where it is
    none.
    """
    verify(place)
    file = place / DOSSIER if place.is_dir() else place
    dossier = read_dossier(file)
    title = texts.release_title(title_of(dossier))
    try:
        scene = released(place, dossier)
        sentence = texts.release_checks(escape(dossier["created"]), sha256(file.read_bytes()))
        body = [
            brand_html(texts.RELEASED),
            f'<div class="dp-release"><h1 class="dp-title">{escape(title)}</h1>',
            f'<p class="dp-quiet">{sentence}</p>',
            *promise(dossier),
            "<div data-figure></div>" if scene is not None else "",
            *sections(dossier),
            "</div>",
        ]
        stored = None if scene is None else stored_alone(scene)
        return title, document(title, "\n".join(body), stored)
    except InputError:
        raise
    except ODD:  # of another version, whose report was compared by its hash alone
        raise odd() from None


def released(place: Path, dossier: dict[str, Any]) -> Scene | None:
    """The picture of a release's parameters; ``None`` for a model that cannot be opened again, and
    for limits that are too long to be read back."""
    schema, model = schema_of(dossier), declaration(dossier["model"])
    if schema is None or not model.estimator:
        return None
    parameters = open_release(place).fit.parameters
    documents = model.reads == "documents"
    public: Any = Vocabulary(parameters.columns) if documents else PublicFrame.of(schema)
    fit = parameters.in_units(public)
    if model.reads == "target":
        public = with_target(public, target_frame(schema))
    return released_scene(
        model.name,
        fit,
        public,
        epsilon=dossier["guarantee"]["epsilon"],
        unit=dossier["guarantee"]["unit"],
        protects=dossier["guarantee"]["protects"],
        image=None if schema.image is None else (schema.image.height, schema.image.width),
        places=CITIES,
    )


# ---------------------------------------------------------------- what all pages have


def _foot(command: str) -> str:
    """Where the page comes from, and how it goes on from here."""
    import dpcore

    return texts.foot(dpcore.__version__, escape(command))


def index_html(entries: list[Entry]) -> str:
    """The page that lists the others."""
    lines = "".join(
        f'<li><a href="{escape(entry.file)}">{escape(entry.title)}</a><p>{escape(entry.about)}</p>'
        "</li>"
        for entry in entries
    )
    return document(
        TITLE,
        f"{brand_html(texts.INDEX_ABOUT)}\n"
        '<div class="dp-head"><h1 class="dp-title">'
        f'{explore_texts.HEADING}</h1><p class="dp-lead">{texts.INDEX_LEAD}</p></div>\n'
        f'<ul class="dp-list">{lines}</ul>\n<div class="dp-foot">{_foot("dpcore explore")}</div>',
    )
