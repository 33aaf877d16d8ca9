"""Who may import whom: the rules that keep rows behind the wall, and no module left unreached."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

from support import ROOT, every, syntax

from dpcore.wall.noise import GridNoise, NoiseSource

PACKAGE = ROOT / "dpcore"

# room -> what it may import of dpcore, beside itself and checks and errors, which every room may
ROOMS = {
    "options": "",
    "declaration": "options registry schema",
    "privacy": "",
    "schema": "",
    "mechanisms": "privacy",
    "accounting": "privacy registry",
    "wall": "privacy schema mechanisms",
    "fitting": "privacy accounting wall schema registry",
    "auditing": "models fitting privacy accounting wall schema registry",
    "evaluation": "fitting accounting privacy wall schema registry",
    "figures": "auditing evaluation planning accounting privacy schema wall registry",
    "datasets": "schema wall",
    "papers": "accounting datasets evaluation figures fitting models privacy wall schema registry",
    "releases": "fitting accounting privacy wall schema",
    "planning": "accounting datasets evaluation fitting privacy registry releases schema wall",
    "fuzzing": "datasets fitting mechanisms privacy wall schema registry",
    "lessons": "accounting privacy",
    "sklearn": "fitting models privacy releases schema wall",
    "bench": "accounting fitting models privacy wall schema datasets evaluation",
}
LOWEST = ("arrays", "short_rows", "errors", "registry", "lazy")
MAY_IMPORT: dict[str, set[str]] = {
    **{room: set() for room in LOWEST},
    "checks": {"errors"},
    **{room: {*names.split(), "checks", "errors"} for room, names in ROOMS.items()},
}

# What declares a model, which every room above the schema may read but these.
DECLARING = {"declaration", "options"}
BELOW_DECLARING = {"wall", "mechanisms", "accounting", "lessons", "privacy", "schema", "checks"}
# What the files of a model's folder may import, by what they are for; ``None``: the rest of them.
FITTING = MAY_IMPORT["fitting"] | {"fitting"}
OF_A_MODEL: dict[str | None, set[str]] = {
    "mathematics": {"schema", "wall", "mechanisms", "checks", "errors"},
    None: FITTING,
    "scoring": FITTING | {"evaluation"},
    "worth": FITTING | {"evaluation"},
    "picture": FITTING | {"evaluation", "figures"},
    "class_pictures": FITTING | {"evaluation", "figures"},
    "attack": FITTING | {"auditing"},
    "fuzz": FITTING | {"fuzzing"},
    "estimator": FITTING | {"sklearn"},
}
MATHEMATICS = {
    "mathematics",
    "visible",
    "published_mathematics",
    "class_shapes",
    "public_shapes",
    "shaped_noise",
    "min_trace",
    "group_frames",
    "symmetric",
    "regressions",
    "missing",
    "bernoulli",
    "poisson",
    "cells",
    "variational",
    "probabilistic_pca",
    "newton",
}

# The promise: all of the wall that whoever fits may import. Rows are sealed in a table, a session
# opens it and releases, statistics and public values are named by their folders' own lists.
PROMISE = {"table", "session", "noise", "subsample", "data", "statistics"}

# The parts of the wall that a room of dpcore, or the app, may touch; evaluation may touch all.
PARTS = {
    "app": {"custodian", "data", "data.clipping", "data.corpus", "kernels.threads", "table"},
    "bench": {
        "data",
        "data.corpus",
        "data.dask_engine",
        "data.partitions",
        "data.word_counts",
        "kernels",
        "kernels.nearest_centres",
        "kernels.threads",
        "table",
    },
    "cli": {"data.dask_engine", "table"},
    "papers": {
        "custodian",
        "data",
        "data.corpus",
        "data.design_matrix",
        "noise",
        "session",
        "statistics",
        "statistics.mixture_moments",
        "statistics.second_moments",
        "table",
    },
    "releases": {"data.clipping", "data.corpus", "grid", "noise", "session", "table"},
    "sklearn": {"data.clipping", "data.corpus", "data.word_counts", "table"},
    "models": {"data", "statistics", "kernels.threads"},  # types, and one thread for linear algebra
    "fitting": PROMISE,
    "auditing": {"noise", "table", "data.corpus"},
    "figures": {"data", "data.clipping"},
    "planning": {"table"},  # to seal rows that it has drawn from a schema
    "fuzzing": {  # which looks at sums before their noise, of rows that it has invented itself
        "data",
        "data.corpus",
        "kernels",
        "kernels.balls",
        "kernels.bounded_sums",
        "kernels.nearest_centres",
        "noise",
        "session",
        "statistics",
        "statistics.local_vectors",
        "statistics.logistic_statistics",
        "statistics.perturbed_objective",
        "statistics.row_vectors",
        "statistics.sigmoid_belief",
        "statistics.topic_words",
        "table",
    },
    "datasets": {"table", "data.corpus", "data.partitions", "data.dask_engine"},
}
STARTING_THE_APP = ("dpcore.cli.bench", "dpcore.cli.explore", "dpcore.cli.serve", "dpcore.cli.site")

# Ways to draw from the noise source, and who in the wall may.
DRAWN_BY = {
    "normal": {"session"},
    "laplace": {"session"},
    "whole_numbers": {"session"},
    "long_tailed": {"statistics.perturbed_objective"},
    "coins": {"subsample", "data.corpus"},
}
SIMULATED = {"dpcore.auditing.observe", "dpcore.fuzzing.forced"}
PUBLIC_COINS = {
    "table.divided",
    "custodian.custodian_documents",
    "session._coin",
}


def _modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def _name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def _imports(path: Path, checking: bool = True) -> set[str]:
    """Every module imported anywhere in a file, also inside functions and for type checking."""
    found = set()
    left: list[ast.AST] = [syntax(path)]
    while left:
        node = left.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        if checking or getattr(getattr(node, "test", None), "id", "") != "TYPE_CHECKING":
            left.extend(ast.iter_child_nodes(node))
    return found


def _at_run_time(path: Path) -> set[str]:
    """The same without imports under ``if TYPE_CHECKING``."""
    return _imports(path, checking=False)


def _room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


EVERYWHERE = {"arrays", "lazy", "short_rows"}
ASKS = {"all_rows", "location", "uneven_columns"}  # what several models ask a session for


def _is_mathematics(module: str) -> bool:
    """Whether a file of the models is mathematics alone."""
    _, _, folder, name = module.split(".")
    return (folder == "shared" and name not in ASKS) or name in MATHEMATICS


def _may_import(module: str) -> set[str]:
    """The rooms from which a module of dpcore may import."""
    if _room(module) != "models":
        below = MAY_IMPORT[_room(module)]
        return below if _room(module) in BELOW_DECLARING else below | DECLARING
    name = module.rpartition(".")[2]
    if module.count(".") < 3:  # a model's declaration
        return FITTING | DECLARING
    purpose = "mathematics" if _is_mathematics(module) else name
    return OF_A_MODEL.get(purpose, OF_A_MODEL[None]) | DECLARING


@every("path", _modules())
def test_a_room_imports_only_what_it_may(path: Path) -> None:
    room = _room(_name(path))
    if room not in MAY_IMPORT and room != "models":
        assert room in ("", "cli", "__main__"), f"{room} has no rule"
        return
    allowed = _may_import(_name(path)) | EVERYWHERE
    for target in _at_run_time(path):
        if target.startswith("dpcore.") and _room(target) != room:
            assert _room(target) in allowed, f"{_name(path)} imports {target}"


OF_KIND = {
    "scoring": "evaluation",
    "worth": "evaluation",
    "picture": "figures",
    "class_pictures": "figures",
}


def _kind(module: str) -> str:
    """Of which room a module is, as to rows: a model's scoring is evaluation, its private fit is
    fitting."""
    if _room(module) != "models" or module.count(".") < 3:
        return _room(module)
    if _is_mathematics(module):
        return "models"
    return OF_KIND.get(module.rpartition(".")[2], "fitting")


def _part(target: str) -> str:
    """The module of the wall that an imported name is in; of a folder's own list, the folder."""
    name = target.removeprefix("dpcore.wall.").split(".")
    inside = len(name) > 1 and (PACKAGE / "wall" / name[0] / f"{name[1]}.py").exists()
    return ".".join(name[:2]) if inside else name[0]


@every("path", [*_modules(), *sorted((ROOT / "app").rglob("*.py"))])
def test_rows_are_reached_only_through_the_parts_named_here(path: Path) -> None:
    name = _name(path)
    kind = _kind(name) if name.startswith("dpcore") else "app"
    if kind in ("wall", "evaluation"):
        return
    for target in _at_run_time(path):
        if target.startswith("dpcore.wall."):
            assert _part(target) in PARTS.get(kind, ()), f"{name} imports {target}"


def test_the_promise_is_read_in_an_hour() -> None:
    """Six modules that a fit may import, and the two that it rests on."""
    assert len(PROMISE) <= 6
    files = [
        f"{name}.py" if name not in ("data", "statistics") else f"{name}/__init__.py"
        for name in sorted(PROMISE | {"grid", "custodian"})
    ]
    lines = sum(len((PACKAGE / "wall" / file).read_text("utf-8").splitlines()) for file in files)
    assert lines <= 1500


def test_sealed_rows_are_touched_by_the_wall_alone() -> None:
    for path in [*_modules(), *sorted((ROOT / "app").rglob("*.py"))]:
        if _room(_name(path)) == "wall":
            continue
        sealed = {"_frame", "_rows", "_bags", "_codes", "_targets", "_observed", "_on"}
        if _room(_name(path)) != "fuzzing":  # which compares what rehearsals release
            sealed |= {"_noise", "_designed", "_outcomes", "_leave"}
        assert not _attributes(path) & sealed, _name(path)


def test_noise_is_drawn_in_one_place() -> None:
    """Each way to draw from the noise source is used where it is named here, and nowhere else."""
    ways = {name for source in (NoiseSource, GridNoise) for name in vars(source)}
    ways -= {"on_grid", "steps"}
    assert {name for name in ways if not name.startswith("_")} == set(DRAWN_BY)
    for path in sorted((PACKAGE / "wall").rglob("*.py")):
        name = _part(_name(path))
        used = {way for way in DRAWN_BY if way in _attributes(path)}
        assert name == "noise" or all(name in DRAWN_BY[way] for way in used), f"{name}: {used}"


def test_no_stream_leaves_the_noise_source() -> None:
    """Nobody else holds the source's streams; a simulated source may put others in their place."""
    for path in [*_modules(), *sorted((ROOT / "app").rglob("*.py"))]:
        name = _name(path)
        for node in ast.walk(syntax(path)):
            if isinstance(node, ast.Attribute) and node.attr in ("_streams", "_stream"):
                simulated = name in SIMULATED and isinstance(node.ctx, ast.Store)
                assert simulated or name == "dpcore.wall.noise", f"{name}, line {node.lineno}"


def test_the_wall_has_no_other_chance() -> None:
    """Generators are made by the noise source and by the public coins that are named here."""
    for path in sorted((PACKAGE / "wall").rglob("*.py")):
        tree, name = syntax(path), _part(_name(path))
        made = {
            f"{name}.{function.name}"
            for function in ast.walk(tree)
            if isinstance(function, ast.FunctionDef)
            for node in ast.walk(function)
            if isinstance(node, ast.Call) and _is_chance(ast.unparse(node.func))
        }
        names = {target.split(".")[0] for target in _imports(path)}
        assert name == "noise" or not names & {"random", "secrets"}, name
        assert name == "noise" or made <= PUBLIC_COINS, made


def _is_chance(called: str) -> bool:
    return called.startswith(("np.random.", "numpy.random.", "os.urandom", "secrets."))


def _attributes(path: Path) -> set[str]:
    tree = ast.walk(syntax(path))
    return {node.attr for node in tree if isinstance(node, ast.Attribute)}


def test_figures_know_no_streamlit_and_dpcore_no_app() -> None:
    for path in _modules():
        names = _imports(path)
        assert not any(n.split(".")[0] == "streamlit" for n in names) or _room(_name(path)) == "cli"
        assert not any(n.split(".")[0] == "app" for n in names) or _name(path) in STARTING_THE_APP


def test_views_hold_no_mathematics() -> None:
    for path in sorted((ROOT / "app" / "views").glob("*.py")):
        assert not any(n.split(".")[0] in ("scipy", "sklearn") for n in _imports(path)), path.name


def _edges(files: dict[str, Path]) -> dict[str, set[str]]:
    """What each module imports of the others, also where a function imports what only it needs;
    a package's own list, which costs nothing until it is used, counts as well."""
    edges = {}
    for name, path in files.items():
        targets = _imports(path, checking=path.stem == "__init__")
        parents = {target.rpartition(".")[0] for target in targets & set(files)}
        edges[name] = {t for t in targets & set(files) if t not in parents or _uses(path, t)}
    return {name: targets - {name} for name, targets in edges.items()}


def _uses(path: Path, package: str) -> bool:
    """Whether a file imports a name of a package, and not only one of its modules."""
    modules = {p.stem for p in (ROOT / package.replace(".", "/")).iterdir()}
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == package
        and any(alias.name not in modules for alias in node.names)
        for node in ast.walk(syntax(path))
    )


@every("room", ["app", "dpcore"])
def test_modules_import_one_another_in_one_direction(room: str) -> None:
    """No module reaches itself through others."""
    edges = _edges({_name(path): path for path in (ROOT / room).rglob("*.py")})
    for name in edges:
        reached: set[str] = set()
        todo = set(edges[name])
        while todo:
            reached |= todo
            todo = set().union(*(edges[target] for target in todo)) - reached
        assert name not in reached, f"{name} imports itself through others"


def test_a_circle_is_seen_where_a_function_or_a_packages_list_closes_it(tmp_path: Path) -> None:
    """That the test above can fail."""
    from dpcore.wall import table

    files = {"dpcore.wall.table": Path(table.__file__), "dpcore.wall.data.clipping": tmp_path / "c"}
    files["dpcore.wall.data.clipping"].write_text(
        "def late():\n    from dpcore.wall.table import PrivateTable\n", encoding="utf-8"
    )
    assert _edges(files)["dpcore.wall.data.clipping"] == {"dpcore.wall.table"}


# What a private mixture fit imports from a sealed table on, as a fresh interpreter counts it: files
# and lines of code. Docstrings do not count: they state shapes, bounds and proofs, however long.
MOST_FILES, MOST_LINES = 76, 7_702
A_FIT = """
import sys
import pandas as pd
from dpcore.schema import Column, Schema
from dpcore.wall.table import PrivateTable
rows = pd.DataFrame({"x": [0.0, 1.0, 2.0, 9.0], "y": [0.0, 1.0, 8.0, 9.0]})
schema = Schema(tuple(Column(name, lower=0, upper=10) for name in rows))
import dpcore as dp
privacy = dp.Privacy(epsilon=1.0, delta=1e-5)
dp.fit("gmm", PrivateTable.seal(rows, schema), privacy=privacy, n_components=2, seed=0)
print("\\n".join(name for name in sys.modules if name.split(".")[0] == "dpcore"))
"""


def test_a_private_fit_imports_what_it_needs_and_no_other_kind_of_table() -> None:
    done = subprocess.run([sys.executable, "-c", A_FIT], capture_output=True, text=True, check=True)
    names = done.stdout.split()
    paths = [path for path in _modules() if _name(path) in names]
    lines = sum(_lines_of_code(path) for path in paths)
    assert len(names) == len(paths) <= MOST_FILES, names
    assert lines <= MOST_LINES, lines
    assert not {"auditing", "figures", "evaluation", "datasets"} & set(map(_room, names))


def _lines_of_code(path: Path) -> int:
    """Lines that hold a token of code: no docstring, comment or blank."""
    docstrings = {
        line
        for node in ast.walk(syntax(path))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
    code = (at for at, line in lines if line.strip() and not line.lstrip().startswith("#"))
    return sum(at not in docstrings for at in code)


OF_ANY_MODEL = (
    "wall",
    "privacy",
    "mechanisms",
    "fitting",
    "accounting",
    "auditing",
    "fuzzing",
    "evaluation",
    "figures",
    "planning",
    "releases",
    "cli",
)
# What is called as a model is: a way to sample, an option, and a number that sums up others.
CALLED_ALIKE = {"poisson", "covariance", "mean", "limits"}
OF_PAPERS = "dpcore.auditing.exhibits."


def test_rooms_that_serve_any_model_name_none() -> None:
    """Neither by its name nor by its folder; counterexamples are of papers, which name theirs."""
    from dpcore.declaration import declarations

    folders = tuple(model.package for model in declarations().values())
    for path in _modules():
        name = _name(path)
        if _room(name) not in OF_ANY_MODEL or name.startswith(OF_PAPERS):
            continue
        imported = {target for target in _imports(path) if target.startswith(folders)}
        assert not imported, f"{name} imports {imported}"
        code = ast.walk(syntax(path))
        texts = {str(node.value) for node in code if isinstance(node, ast.Constant)} - CALLED_ALIKE
        assert not texts & set(declarations()), f"{name} names {texts & set(declarations())}"


def test_a_name_that_a_package_lends_is_no_module_of_it() -> None:
    """Importing the module would put it in the name's place."""
    for path in PACKAGE.rglob("__init__.py"):
        if "attach(__name__)" in path.read_text(encoding="utf-8"):
            lent = {
                alias.name
                for node in ast.walk(syntax(path))
                if isinstance(node, ast.If)
                for part in node.body
                if isinstance(part, ast.ImportFrom)
                for alias in part.names
            }
            assert lent
            assert not lent & {p.stem for p in path.parent.iterdir()}, path


def test_every_module_can_be_imported() -> None:
    """Also one that no test needs: collection imports only files that hold an example."""
    for path in [*_modules(), *(ROOT / "app").rglob("*.py")]:
        import_module(_name(path))


def test_no_module_is_an_orphan() -> None:
    """Everything in the wheel is reached from the public surface, the command line, the explorer's
    page or a registry: what only tests use lies with the tests.
    """
    from dpcore.accounting import ACCOUNTANTS
    from dpcore.auditing.api import AUDITS
    from dpcore.cli import COMMANDS
    from dpcore.declaration import declarations

    files = {_name(path): path for path in [*_modules(), *(ROOT / "app").rglob("*.py")]}
    seen: set[str] = set()
    places = ("recipe", "scorer", "picture", "table", "fuzz", "estimator", "uncertainty")
    targets = [*ACCOUNTANTS.values(), *AUDITS.values()]
    for model in declarations().values():
        targets += [f"{model.package}.{getattr(model, place)}" for place in places]
    todo = ["dpcore", *(target.partition(":")[0] for target in targets)]
    todo += [module for module, _ in COMMANDS.values()]
    todo += ["app.explorer", "dpcore.sklearn", "dpcore.__main__"]
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        text = notebook.read_text(encoding="utf-8")
        todo += [name for name in files if f"{name} import" in text]
    while todo:
        name = todo.pop()
        while name and name not in files:
            name = name.rpartition(".")[0]
        if not name or name in seen:
            continue
        seen.add(name)
        todo += [n for n in _imports(files[name]) if n.startswith(("dpcore", "app"))]
        todo.append(name.rpartition(".")[0])
        text = files[name].read_text(encoding="utf-8")
        todo += [n for n in files if f'"{n}"' in text or f'"{n}:' in text]
    assert set(files) - seen == set()
