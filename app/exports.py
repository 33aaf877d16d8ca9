"""Reproduce: a command, a script and a notebook that give the numbers on the screen.

Numbers are written in full, never as the screen rounds them: a fit at delta 0.00001234 is another
fit than one at 0.0000123.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import fields, replace
from typing import Any

from app.composing import Composition
from app.links import number
from app.scenario import GENERATED, UPLOAD, GeneratedTable, Scenario
from app.tables import COIN, HELD_OUT, data_of
from app.texts import explore as texts
from dpcore.accounting import Accountant
from dpcore.cli.models import written
from dpcore.datasets.documents import is_documents
from dpcore.datasets.published import address
from dpcore.errors import InputError
from dpcore.evaluation.composition import ways
from dpcore.privacy import DiscreteGaussian, EpsilonDelta, Event, Gaussian, Laplace


def command(scenario: Scenario) -> str:
    """The fit as a command line; with one person removed, a remark that only a script can do that.

    Raises InputError for an upload.
    """
    source = _source(scenario)
    if scenario.without:
        return texts.NO_COMMAND_WITHOUT
    if _fewer_rows(scenario):
        return texts.NO_COMMAND_OF_SOME
    recipe = scenario.recipe
    own = scenario.setting().options()
    if scenario.declared.clips_rows:
        own["clip"] = number(scenario.clip)
    options: dict[str, Any] = {
        **written(scenario.model, own),
        **{name: own[name] for name in ("trust",) if name in own},
        "epsilon": number(scenario.epsilon),
        "delta": number(scenario.delta),
        "accountant": scenario.count_by,
        "mode": recipe.mode,
        "adjacency": scenario.adjacency,
        "rows-per-person": scenario.rows_per_person,
        "seed": scenario.noise,
    }
    if _holds_out(scenario):  # behind the seed, which fresh noise goes without
        options |= {"test-fraction": HELD_OUT, "test-seed": COIN}
    words = ["dpcore", "fit", scenario.model, source]
    if scenario.pool > 1:
        words += ["--pool", str(scenario.pool)]
    words += [word for name, value in options.items() for word in (f"--{name}", str(value))]
    return shlex.join(words)


def upload_command(scenario: Scenario) -> str:
    """How to fit an upload's own file with fresh noise, which the page never does."""
    documents = scenario.declared.reads == "documents"
    public = "--vocabulary words.txt" if documents else "--schema schema.toml"
    seeded = command(replace(scenario, data=Scenario.data, without=False))
    fresh = seeded.rpartition(" --seed ")[0]
    return fresh.replace(f"bundled:{Scenario.data}", f"FILE {public}")


def script(scenario: Scenario) -> str:
    """The fit as a Python script that prints parameters and guarantee as JSON.

    Raises InputError for an upload.
    """
    return "\n\n".join(_cells(scenario)) + "\n"


def notebook(scenario: Scenario) -> str:
    """The same as a Jupyter notebook, with the picture. Raises InputError for an upload."""
    cells: list[dict[str, Any]] = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"cell-{i}",
            "metadata": {},
            "outputs": [],
            "source": cell,
        }
        for i, cell in enumerate([*_cells(scenario), _picture(scenario)])
    ]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return json.dumps(
        {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}, indent=1
    )


def _picture(scenario: Scenario) -> str:
    """A last cell that draws what the page shows."""
    setting = scenario.setting()
    chosen = {field.name: getattr(setting, field.name) for field in fields(setting)}
    del chosen["secret"]
    words = "".join(f"    {name}={value!r},\n" for name, value in chosen.items())
    more = f"methods={scenario.curves()!r}{_fewer(scenario)}"
    more += ", held_out=held_out" if _holds_out(scenario) else ""
    return f"""setting = dp.Setting(
{words})
dp.figure(dp.study(table, setting, {more})).show(auto_play=False)"""


def _fewer(scenario: Scenario) -> str:
    """Of a slow model a study of few budgets, with one draw."""
    if scenario.cost == 1.0:
        return ""
    return f", epsilons={scenario.budgets(None)!r}, draws=1"


def _holds_out(scenario: Scenario) -> bool:
    """Whether some rows of the scenario's table are seen by no fit."""
    data = data_of(scenario)
    return data is not None and data.held_out is not None


def _fewer_rows(scenario: Scenario) -> str:
    """The line that takes fewer of the rows that are fitted; empty where all are."""
    data = data_of(replace(scenario, without=False)) if scenario.fitted_rows else None
    if data is None or data.every is None:
        return ""
    share = 1.0 - (data.rows or 0) / (data.every.rows or 1)
    return (
        f"\n# {data.rows} of the rows, drawn by a public coin"
        f"\ntable, _ = table.split({share!r}, {COIN})"
    )


def _source(scenario: Scenario) -> str:
    """The data as :func:`dpcore.load` and the command line name it."""
    if scenario.data == UPLOAD:
        raise InputError("data", *texts.SECRET_NOISE)
    if scenario.data == GENERATED:
        return f"generated:{GeneratedTable.parse(scenario.made)}"
    return address(scenario.data)


def _cells(scenario: Scenario) -> list[str]:
    recipe = scenario.recipe
    load = "load_documents" if is_documents(_source(scenario)) else "load"
    source = f"table = dp.{load}({_source(scenario)!r})"
    imports = "import json\n\nimport dpcore as dp"
    if scenario.pool > 1:
        source += f"\ntable = table.pooled({scenario.pool})  # a public step"
    if _holds_out(scenario):
        source += (
            "\n# a public coin for each row number holds out a fifth of the rows, to judge fits"
            f'\ntable, held_out = table.split({HELD_OUT}, {COIN}, "add_remove")'
        )
    source += _fewer_rows(scenario)
    if scenario.without:
        imports += "\nfrom dpcore.evaluation.metrics import loneliest_row"
        source += (
            "\n# the row or document that differs most from the rest is removed or changed"
            f"\ntable = table.neighbour(loneliest_row(table), {scenario.adjacency!r})"
        )
    stated = {n: v for n, v in scenario.setting().options().items() if v is not None}
    own = "".join(f"    {name}={value!r},\n" for name, value in stated.items())
    fit = f"""fit = dp.fit(
    {scenario.model!r},
    table,
    privacy=dp.Privacy(
        epsilon={number(scenario.epsilon)},
        delta={number(scenario.delta)},
        adjacency={scenario.adjacency!r},
        accountant={scenario.count_by!r},
        mode={recipe.mode!r},
        rows_per_person={scenario.rows_per_person!r},
    ),
{own}    clip={number(scenario.clip)},
    seed={scenario.noise!r},  # a rehearsal; leave the seed out for fresh noise
)"""
    show = """print(
    json.dumps(
        {
            "parameters": fit.parameters.as_dict(),
            "guarantee": fit.guarantee.as_dict(),
            "sentence": fit.guarantee.sentence(),
        },
        indent=2,
        default=float,
    )
)"""
    return [imports, source, fit, show]


def account_command(composition: Composition) -> str:
    """The five prices as a command line, where one line of releases on the whole table is all."""
    listed = composition.lines[0]
    methods = _methods(composition)
    plain = (
        len(composition.lines) == 1
        and composition.hold == "noise"
        and listed.mechanism in ("g", "l")
        and not any(getattr(method, "conversion", "") for method in methods)
    )
    if not plain:
        return "dpcore account --file questions.json --json"
    record = _record(composition.events[0], composition.k)
    words = ["dpcore", "account"]
    for name, value in (
        record | {"delta": composition.delta, "adjacency": composition.adjacency}
    ).items():
        text = number(value) if isinstance(value, float) else str(value)
        words += [f"--{name.replace('_', '-')}", text]
    return shlex.join([*words, "--method", ",".join(method.name for method in methods)])


def _methods(composition: Composition) -> list[Accountant]:
    """Those of the ways that have an answer."""
    listed = ways(composition.events, composition.methods)
    return [way.method for way in listed if way.method is not None]


def account_questions(composition: Composition) -> str:
    """The same as questions for ``dpcore account --file``, one for each way that has an answer."""
    questions = [_question(composition, method) for method in _methods(composition)]
    return json.dumps(questions, indent=1)


def _question(composition: Composition, method: Accountant) -> dict[str, Any]:
    """One way's question."""
    solving = composition.hold == "budget"
    question: dict[str, Any] = {
        "events": [_record(event, composition.k) for event in composition.events],
        "delta": composition.delta,
        "adjacency": composition.adjacency,
        "method": method.name,
    }
    if getattr(method, "conversion", "") == "classic":
        question["conversion"] = "classic"
    return question | (
        {"solve": "noise_multiplier", "epsilon": composition.epsilon} if solving else {}
    )


def _record(event: Event, repeats: int) -> dict[str, Any]:
    """An event in the words of ``dpcore account``."""
    record: dict[str, Any]
    match event.mechanism:
        case Gaussian(noise_multiplier=noise):
            record = {"mechanism": "gaussian", "noise_multiplier": noise}
        case DiscreteGaussian(noise_multiplier=noise):
            record = {"mechanism": "discrete_gaussian", "noise_multiplier": noise}
        case Laplace(scale=scale, l2_ratio=ratio):
            record = {"mechanism": "laplace", "scale": scale, "l2_ratio": ratio}
        case EpsilonDelta(epsilon=epsilon, delta=delta):
            record = {"mechanism": "epsilon_delta", "epsilon": epsilon, "delta_each": delta}
    record["count"] = event.count * repeats
    if event.delta_each is not None:
        record["delta_each"] = event.delta_each
    if event.sampling != "none":
        record |= {"sampling": event.sampling, "sampling_rate": event.sampling_rate}
    return record


def account_script(composition: Composition) -> str:
    """The five prices as a Python script that prints them as JSON."""
    events = ",\n    ".join(repr(event) for event in composition.events)
    budget = repr(composition.epsilon) if composition.hold == "budget" else "None"
    named = f", methods={composition.methods!r}" if composition.methods else ""
    return f"""import json
import math

from dpcore.evaluation.composition import price_list
from dpcore.privacy import DiscreteGaussian, EpsilonDelta, Event, Gaussian, Laplace

events = (
    {events},
)
total = price_list(events, {number(composition.delta)}, ({composition.k},), epsilon={budget}{named})
prices = {{slot: float(values[0]) for slot, values in total.values.items()}}
print(json.dumps({{slot: p if math.isfinite(p) else None for slot, p in prices.items()}}))
"""
