"""A link holds every choice, and nothing that a link says can break the page."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from dataclasses import fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from methods import MODELS_OF_METHODS
from support import ROOT, every

import dpcore as dp
from app.choices import FIELDS as OWN_FIELDS
from app.choices import read_words, value_of, write_words
from app.scenario import (
    GENERATED,
    UPLOAD,
    GeneratedTable,
    Scenario,
    from_query,
    misread,
    offered,
    opening,
    sane,
)
from app.settings import flags, settings
from app.state import step_of
from dpcore.accounting import ACCOUNTANTS as ALL_ACCOUNTANTS
from dpcore.datasets.catalogue import bundled
from dpcore.datasets.corpora import is_corpus
from dpcore.declaration import ACCOUNTANTS, MOST_COMPONENTS, declaration, declarations
from dpcore.evaluation.study import EPSILONS
from dpcore.figures.scene import Scene
from dpcore.fitting.recipe import recipe
from dpcore.options import BY_METHOD

NAMES = {table.name: table for table in offered()} | {UPLOAD: None, GENERATED: None}
MADE = st.builds(
    GeneratedTable,
    st.integers(20, 200_000),
    st.integers(2, 20),
    st.integers(1, 10),
    st.integers(0, 999_999),
)
FIELDS = {
    "data": st.sampled_from(sorted(NAMES)),
    "model": st.sampled_from(list(declarations())),
    "components": st.integers(1, MOST_COMPONENTS),
    "pool": st.integers(1, 64),
    "method": st.sampled_from(list(MODELS_OF_METHODS)),
    "count_by": st.sampled_from(list(ALL_ACCOUNTANTS)),
    "epsilon": st.floats(0.01, 100.0),
    "delta": st.floats(1e-12, 0.5),
    "clip": st.floats(0.1, 1.0),
    "iterations": st.integers(1, 50),
    "covariance": st.sampled_from(["full", "diag", "spherical"]),
    "words": st.fixed_dictionaries(
        {},
        optional={
            "sigma": st.floats(0.001, 1e6),
            "tau": st.floats(1e-6, 1e12),
            "threshold": st.floats(1e-6, 1e6),
            "missing_rate": st.floats(0.0, 0.9),
            "start": st.integers(0, 999),
            "start_norm": st.floats(0.001, 1e6),
            "own": st.booleans(),
        },
    ).map(write_words),
    "metric": st.sampled_from(
        ["", *(metric.name for model in declarations().values() for metric in model.metrics)]
    ),
    "show": st.sampled_from(
        sorted({name for model in declarations().values() for name in model.shows()})
    ),
    "adjacency": st.sampled_from(["replace_one", "add_remove", "label", "feature"]),
    "rows_per_person": st.integers(1, 1000),
    "noise": st.integers(0, 10**6),
    "x": st.integers(0, 999),
    "y": st.integers(0, 999),
    "without": st.booleans(),
    "dial": st.sampled_from(["epsilon", "delta", "clip", "threshold", "iterations"]),
    "third": st.sampled_from(["", "iterations", "tau", "rate", "fitted_rows", "noise_multiplier"]),
    "fitted_rows": st.integers(0, 10**7),
    "made": MADE.map(str),
    "hide": st.lists(st.sampled_from(["data", "model", "method", "count", "epsilon"])).map(
        ",".join
    ),
    "pins": st.lists(st.sampled_from(["", "epsilon=2", "method=dpem_gaussian&noise=3"])).map(
        lambda links: "".join(f"|{link}" for link in links)
    ),
}
SCENARIOS = st.builds(Scenario, **FIELDS).map(sane)


def test_every_field_has_a_strategy_here() -> None:
    assert set(FIELDS) == {field.name for field in fields(Scenario)}


@given(SCENARIOS)
@example(Scenario(delta=0.000012345))
@example(Scenario(delta=1e-12))
@example(Scenario(epsilon=0.05012345))
def test_a_link_gives_back_the_scenario(scenario: Scenario) -> None:
    assert from_query(scenario.as_query(), NAMES) == scenario
    assert misread(scenario.as_query(), NAMES) == ()


@given(SCENARIOS)
def test_the_copied_link_is_the_same_query(scenario: Scenario) -> None:
    assert dict(parse_qsl(scenario.as_link(), keep_blank_values=True)) == scenario.as_query()


@every("name", FIELDS)
def test_one_changed_choice_is_in_the_link_alone(name: str) -> None:
    other: dict[str, Any] = {
        "data": GENERATED,
        "model": "kmeans",
        "method": "dpem_gaussian",
        "count_by": "zcdp",
        "covariance": "diag",
        "words": "sigma:2",
        "adjacency": "add_remove",
        "without": True,
        "made": "300x3x2x1",
        "hide": "data",
        "pins": "|noise=3",
        "noise": 12,
        "dial": "clip",
        "third": "iterations",
        "x": 2,
        "y": 2,
    }
    value = other.get(name, 0.5 if name in ("epsilon", "delta", "clip") else 7)
    changed = replace(Scenario(), **{name: value})
    assert set(changed.as_query()) == {name}
    assert from_query(changed.as_query(), NAMES) == sane(changed)


def test_the_first_screen_needs_no_link() -> None:
    assert Scenario().as_query() == {}
    assert Scenario().as_link() == ""


NONSENSE = ["", "nan", "-1", "inf", "1e999", "²", "²x2x3x0", "0x10", "<b>", "a" * 5000, "9" * 5000]


@every("text", NONSENSE)
@every("name", sorted(set(FIELDS) - {"hide"}))
def test_nonsense_is_ignored(name: str, text: str) -> None:
    found = from_query({name: text}, NAMES)
    if name == "made":  # kept as written, read as the default
        assert GeneratedTable.parse(found.made) == GeneratedTable()
    else:
        assert found == Scenario()


@given(st.dictionaries(st.sampled_from([*FIELDS, "other"]), st.text(max_size=12)))
def test_no_link_raises_and_what_comes_out_is_sane(query: dict[str, str]) -> None:
    found = from_query(query, NAMES)
    assert sane(found) == found
    assert found.data in NAMES
    GeneratedTable.parse(found.made)


@given(st.builds(Scenario, **FIELDS))
def test_sane_choices_stand_together(scenario: Scenario) -> None:
    found = sane(scenario)
    assert found.count_by in found.methods()
    assert found.method in found.recipes()
    assert found.declared.least <= found.components <= found.declared.most
    for name in read_words(found.words):
        assert name in found.offered()
    assert found.dial in ("epsilon", "delta", found.beside)
    assert found.x != found.y
    assert found.adjacency in found.adjacencies()
    if found.recipe.mode == "paper":
        assert found.adjacency in (found.recipe.adjacencies or ("replace_one",))
    assert found.declared.clips_rows or found.clip == 1.0
    assert sane(found) == found


@every("model", declarations())
def test_every_model_begins_an_upload_with_whole_rows_protected(model: str) -> None:
    """As in Python and on the command line; a labelled mixture of a bundled table protects its
    labels alone, whose other columns are public indeed."""
    assert sane(opening(UPLOAD, model)).adjacency == dp.Privacy(epsilon=1, delta=1e-5).adjacency


@every("model", declarations())
def test_every_composition_method_is_offered_or_refused_with_its_reason(model: str) -> None:
    first = opening("few_bars") if declaration(model).reads == "documents" else Scenario()
    for method in ("recommended", *declaration(model).methods):
        one = sane(replace(first, model=model, method=method))
        refused = one.refused()
        ways = set(ALL_ACCOUNTANTS) - ({"pld"} if one.on_samples else set())  # there "exact" is it
        assert one.methods()
        assert {*one.methods(), *refused} == ways
        assert not {*one.methods()} & {*refused}
        assert all(why.endswith(".") for why in refused.values())


def test_samples_are_counted_by_loss_distributions_and_say_so() -> None:
    sampled = sane(replace(opening("few_bars"), words="rate:0.1"))
    titles = sampled.titles(sampled.methods())
    assert titles["exact"] == "PLD (upper bound)"
    assert "pld" not in titles  # it is the same
    assert {"zcdp", "ma"} <= set(sampled.refused())
    assert "on a random sample of the table" in sampled.refused()["zcdp"]
    assert sane(replace(sampled, words="rate:1")).titles(("exact",)) != {"exact": titles["exact"]}


def test_every_composition_method_can_be_picked_where_all_noise_is_gaussian() -> None:
    assert set(Scenario().methods()) == set(ALL_ACCOUNTANTS)
    assert Scenario().curves() == ACCOUNTANTS
    assert Scenario(count_by="rdp").curves() == (*ACCOUNTANTS, "rdp")
    published = sane(Scenario(method="dpem_gaussian", count_by="kov"))
    assert "kov" not in published.methods()
    assert published.count_by == published.methods()[0]


def test_exact_counting_is_not_offered_for_laplace_noise() -> None:
    assert "exact" in Scenario().methods()
    laplace = sane(replace(Scenario(), method="dpem_laplace"))
    assert "exact" not in laplace.methods()
    assert laplace.count_by == "zcdp"


@given(MADE)
def test_a_generated_table_reads_back(made: GeneratedTable) -> None:
    assert GeneratedTable.parse(str(made)) == made


@pytest.mark.parametrize(
    "text", ["", "5000", "5000x2x3", "5000x2x3x0x1", "19x2x3x0", "5000x1x3x0", "5000x2x11x0", "1x"]
)
def test_a_table_that_cannot_be_generated_is_the_default(text: str) -> None:
    assert GeneratedTable.parse(text) == GeneratedTable()


# ---------------------------------------------------------------- settings


def test_the_settings_are_those_of_the_checkout() -> None:
    text = (ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8")
    assert settings() == tomllib.loads(text)


BY_FLAGS = """
import click
from streamlit.web import bootstrap
from streamlit.web.cli import configurator_options

@click.command()
@configurator_options
def take(**options):
    bootstrap.load_config_options(flag_options=options)

take(sys.argv[2:], standalone_mode=False)
"""


@pytest.mark.full
def test_streamlit_reads_the_flags_as_it_reads_the_file(tmp_path: Path) -> None:
    """Both in fresh processes: the flags in an empty folder, as from a wheel."""
    assert _as_read(BY_FLAGS, tmp_path, *flags()) == _as_read("", ROOT)


def _as_read(prelude: str, at: Path, *given: str) -> Any:
    """Value of every setting in a process that starts in the folder ``at``."""
    code = (
        f"import json, sys\nfrom streamlit import config\n{prelude}\n"
        "print(json.dumps({name: config.get_option(name) for name in json.loads(sys.argv[1])}))"
    )
    words = [sys.executable, "-c", code, json.dumps(sorted(_options(settings()))), *given]
    done = subprocess.run(words, cwd=at, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _options(table: dict[str, Any], prefix: str = "") -> set[str]:
    """Full names of every setting of a table."""
    found: set[str] = set()
    for key, value in table.items():
        inner = isinstance(value, dict)
        found |= _options(value, f"{prefix}{key}.") if inner else {f"{prefix}{key}"}
    return found


def test_every_setting_is_a_flag() -> None:
    given = {flag.removeprefix("--").partition("=")[0] for flag in flags()}
    assert given == _options(settings())


def test_the_server_stays_on_this_machine() -> None:
    assert "--server.address=127.0.0.1" in flags()
    assert "--browser.gatherUsageStats=false" in flags()
    assert {"--client.showErrorDetails=none", "--client.showErrorLinks=false"} <= set(flags())


def test_another_table_opens_with_what_suits_it() -> None:
    assert opening("iris").as_query() == {"data": "iris"}
    assert from_query({"data": "iris"}, NAMES).iterations == 10
    assert from_query({"data": "iris", "iterations": "5"}, NAMES).iterations == 5
    assert from_query({"data": "nonsense"}, NAMES) == Scenario()
    for name, value in (
        ("epsilon", "1_0"), ("epsilom", "1"), ("Delta", "1"), ("metric", "acc"), ("hide", "x,says"),
        ("words", "combination:LLL"), ("words", "x"), ("without", "yes"), ("pins", "zzz"),
        ("pins", "|epsilon=abc"),
    ):  # fmt: skip
        assert misread({name: value}, NAMES) == (name,)
        assert from_query({name: value}, NAMES).epsilon == 1.0
    bad = {"data": "x", "model": "zzz", "epsilon": "abc", "made": "2x2", "noise": "1", "utm": "9"}
    assert misread(bad, NAMES) == ("data", "model", "epsilon", "made")
    assert misread({"data": "iris", "model": "lda"}, {"iris"}) == ("model",)  # it needs documents
    assert misread({"adjacency": "label"}, NAMES) == ("adjacency",)  # of another model
    assert misread({"show": "zzz"}, NAMES) == ("show",)
    assert misread({"pins": "|k=x"}, NAMES) == ("pins",)  # a word of another page


@pytest.mark.parametrize("model", declarations())
def test_a_model_opens_on_any_table_and_its_link_names_it(model: str) -> None:
    """Where the table does not name the model, it begins with the model's own few parts."""
    for name in NAMES:
        first = opening(name, model)
        assert first.model == model
        reads_documents = declaration(model).reads == "documents"
        if name != UPLOAD and reads_documents != is_corpus(name):  # rows are no documents
            assert sane(first).model == opening(name).model
            continue
        assert sane(first) == first
        own = opening(name).model == model
        assert ("model" in first.as_query()) is not own
        assert from_query(first.as_query(), NAMES) == first
    assert from_query({"model": "nonsense"}, NAMES) == Scenario()


def test_every_recipe_is_for_a_model_and_fits_it() -> None:
    for model, declared in declarations().items():
        for name in ("recommended", *declared.methods):
            first = opening("few_bars") if declared.reads == "documents" else Scenario()
            scenario = sane(replace(first, model=model, method=name))
            assert scenario.method == name
            every_way = name in ("recommended", "dplloyd_proved")  # Gaussian and Laplace noise
            for way in scenario.methods() if every_way else scenario.compared_methods():
                setting = replace(scenario, count_by=way).setting()
                assert np.isfinite(setting.noise([8.0], way)).all(), (name, way)


@given(st.floats(0.01, 100.0))
@example(0.53)
def test_slider_and_picture_agree_where_the_thumb_stands(epsilon: float) -> None:
    """Else the picture would take the thumb for moved, and show another budget than was typed."""
    labels = tuple(f"{i}" for i in range(len(EPSILONS) + 1))
    scene = Scene(
        (*EPSILONS, epsilon), labels, (), step=len(EPSILONS), positions=range(len(EPSILONS))
    )
    assert scene.thumb == step_of(epsilon)


def test_settings_of_few_models_reach_the_fit_and_no_other_model() -> None:
    clouds = opening("two_clouds")
    assert clouds.setting().options() == {"n_components": None, "iterations": 8, "sigma": 2.0}
    asked = sane(replace(clouds, words="tau:9;sigma:1.5;missing_rate:0.5;start:-1;nonsense:2"))
    assert asked.words == "sigma:1.5;tau:9"
    assert asked.setting().words == (("sigma", 1.5), ("tau", 9.0))
    assert sane(replace(asked, model="gmm")).words == ""


def test_a_published_threshold_cannot_be_changed() -> None:
    wanted = sane(replace(opening("two_lines"), words="sigma:2;threshold:7"))
    assert wanted.setting().options()["threshold"] == 7.0
    published = sane(replace(wanted, method="clipped_at_1"))
    assert published.words == "sigma:2"
    assert published.setting().options()["threshold"] == 1.0
    assert published.setting().options()["algorithm"] == "clipped"


READ_ONCE = {  # methods without steps to choose
    ("covariance", "recommended"),
    ("ppca", "recommended"),
    ("limits", "recommended"),
    *(("mean", name) for name in ("recommended", *declaration("mean").methods)),
    *(("gmm-release", name) for name in ("recommended", *declaration("gmm-release").methods)),
    *(("logistic", method) for method in ("recommended", "objective", "printed_objective", "dpvi")),
}


@pytest.mark.parametrize("model", declarations())
def test_steps_are_sent_where_a_method_takes_them_and_nowhere_else(model: str) -> None:
    data = "few_bars" if declaration(model).reads == "documents" else Scenario.data
    for method in Scenario(model=model).recipes():
        chosen = sane(Scenario(data=data, model=model, method=method, iterations=7))
        assert chosen.method == method
        setting = chosen.setting()
        options = setting.options()
        assert chosen.steps is (options.get("iterations") == 7)
        assert chosen.steps is ((model, method) not in READ_ONCE)
        words = {name: value for name, value in options.items() if name != "n_components"}
        recipe(model).settings(components=chosen.components, mode=setting.mode, **words)


DIALS = [(model, name) for model, declared in declarations().items() for name in declared.dials()]
OPTIONS = [
    (model, name) for model, one in declarations().items() for name in one.settings.options()
]


@every("model, name", OPTIONS)
def test_every_option_is_asked_for_or_says_why_it_is_not(model: str, name: str) -> None:
    """A dial, a box or a list; else a reason, which for an entry of *Method* is that it is one."""
    declared = declaration(model)
    option = declared.settings.options()[name]
    assert (option.dial is None) is bool(option.not_asked)
    if option.dial is None:
        ways = [*(dict(one.words) for one in declared.methods.values()), dict(declared.recommended)]
        varied = {"algorithm", "combination", "bend"} | {word for one in ways for word in one}
        assert name in varied or option.not_asked != BY_METHOD
        return
    assert option.flag, "else no command could repeat it"
    assert not option.dial.form or bool(option.dial.slide) is not bool(option.dial.still)
    assert set(option.dial.methods) <= {"recommended", *declared.methods}


@every("model, name", [one for one in DIALS if one[1] not in OWN_FIELDS])
def test_a_dial_has_a_usual_value_that_may_be_chosen(model: str, name: str) -> None:
    for known in ({}, {"sigma": 3.0}, {"sigma": 0.001, "tau": 2.0}):
        value = value_of(model, declaration(model).method("recommended"), name, known, 4)
        dial = declaration(model).dials()[name].dial
        assert dial is not None
        assert dial.empty if value is None else dial.takes(value)
        if value is not None:
            assert read_words(write_words({name: value})) == {name: value}


def test_the_usual_settings_are_those_that_a_fit_takes() -> None:
    settings = recipe("symmetric-mixture").settings(sigma=3.0)

    def usual(name: str) -> Any:
        clouds = declaration("symmetric-mixture").method("recommended")
        return value_of("symmetric-mixture", clouds, name, {"sigma": 3.0}, 4)

    assert usual("tau") == settings.public_tau
    assert usual("threshold") == settings.radius(4)
    assert usual("own") is settings.own
    assert usual("start") == settings.start
    assert settings.start_norm is None  # as far as sigma
    assert usual("start_norm") == settings.sigma


def test_a_table_opens_with_a_delta_below_one_over_its_rows() -> None:
    assert opening("three_groups").delta == Scenario().delta == 1e-5
    assert opening("million_places", "gmm").delta == pytest.approx(1e-7)
    assert opening("million_places").delta == pytest.approx(1e-7)
    for table in bundled():
        assert opening(table.name).delta * table.rows < 1


def test_any_model_opens_on_pictures_of_the_pixels_that_suit_them() -> None:
    assert {opening("faces_like", model).pool for model in ("fa", "gmm", "ppca")} == {4}
