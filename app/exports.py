"""Reproduce: a command, a script and a notebook that give the numbers on the screen."""

from __future__ import annotations

import json
import shlex

from app.scenario import GENERATED, RECIPES, Made, Scenario
from dpcore.privacy.guarantee import show


def command(scenario: Scenario) -> str:
    """The fit as a command line."""
    recipe = RECIPES[scenario.method]
    words = ["dpcore", "fit", "gmm", _source(scenario)]
    options = {
        "components": scenario.components,
        "iterations": scenario.iterations,
        "epsilon": f"{scenario.epsilon:g}",
        "delta": show(scenario.delta),
        "accountant": scenario.count_by,
        "mode": recipe.mode,
        "combination": recipe.combination,
        "covariance": scenario.covariance,
        "adjacency": scenario.adjacency,
        "rows-per-person": scenario.rows_per_person,
        "clip": f"{scenario.clip:g}",
        "seed": scenario.noise,
    }
    words += [word for name, value in options.items() for word in (f"--{name}", str(value))]
    return shlex.join(words)


def _source(scenario: Scenario) -> str:
    if scenario.data == GENERATED:
        return f"generated:{Made.parse(scenario.made)}"
    return f"bundled:{scenario.data}"


def script(scenario: Scenario) -> str:
    """The fit as a Python script that prints parameters and guarantee as JSON."""
    return "\n\n".join(_cells(scenario)) + "\n"


def notebook(scenario: Scenario) -> str:
    """The same as a Jupyter notebook."""
    cells = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"cell-{i}",
            "metadata": {},
            "outputs": [],
            "source": cell,
        }
        for i, cell in enumerate(_cells(scenario))
    ]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return json.dumps(
        {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}, indent=1
    )


def _cells(scenario: Scenario) -> list[str]:
    recipe = RECIPES[scenario.method]
    fit = f"""fit = dp.fit(
    "gmm",
    table,
    privacy=dp.Privacy(
        epsilon={scenario.epsilon!r},
        delta={scenario.delta!r},
        adjacency={scenario.adjacency!r},
        accountant={scenario.count_by!r},
        mode={recipe.mode!r},
        rows_per_person={scenario.rows_per_person!r},
    ),
    n_components={scenario.components!r},
    iterations={scenario.iterations!r},
    covariance={scenario.covariance!r},
    combination={recipe.combination!r},
    clip={scenario.clip!r},
    seed={scenario.noise!r},  # a rehearsal; leave the seed out for fresh noise
)"""
    return [
        "import json\n\nimport dpcore as dp",
        f"table = dp.load({_source(scenario)!r})",
        fit,
        "print(json.dumps({**fit.parameters.as_dict(), "
        '"epsilon": fit.guarantee.epsilon, "sentence": fit.guarantee.sentence()}))',
    ]
