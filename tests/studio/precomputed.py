"""Make the exact fits that the explorer keeps anew: ``python -m tests.studio.precomputed``."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

from app.precomputed import FILE, mark_of, model_of, steps_of
from app.result_store import Data
from app.scenario import offered, opening
from app.tables import data_of
from dpcore.evaluation.study import References, Setting, references
from dpcore.evaluation.yardstick import yardstick

NUMBERS = tuple(field.name for field in fields(References) if field.name != "converged")


def record_of(data: Data, setting: Setting) -> dict[str, Any]:
    """Work out what is to be kept of a table as it opens."""
    judge, options = yardstick(setting.model), setting.options()
    exact = judge.converged(data.table, setting.components, options)
    numbers = references(data.table, setting, exact, data.held_out)
    return {
        "data": data.key,
        "table": mark_of(data, setting),
        "model": model_of(setting),
        "steps": steps_of(setting),
        "kind": [type(exact).__module__, type(exact).__name__],
        "fit": {field.name: getattr(exact, field.name).tolist() for field in fields(exact)},
        "numbers": {name: getattr(numbers, name) for name in NUMBERS},
    }


def main() -> None:
    """Write the file, a line for each table."""
    lines = []
    for table in offered():
        scenario = opening(table.name)
        data = data_of(scenario)
        if data is not None:
            lines.append(json.dumps(record_of(data, scenario.setting())))
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
