"""Exact fits that are kept: what they would be if made anew, and of nothing but their own table."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields, replace

import numpy as np
import pytest
from studio.precomputed import record_of
from support import ROOT

from app import compute
from app.precomputed import FILE, kept_fit, kept_references
from app.result_store import Data, ResultStore
from app.scenario import offered, opening
from app.tables import data_of
from dpcore.evaluation.study import Setting

NAMES = [table.name for table in offered()]


def opened(name: str) -> tuple[Data, Setting]:
    scenario = opening(name)
    data = data_of(scenario)
    assert data is not None
    return data, scenario.setting()


def test_every_table_that_is_offered_has_its_fit_kept() -> None:
    lines = [json.loads(line)["data"] for line in FILE.read_text().splitlines()]
    assert lines == [opened(name)[0].key for name in NAMES]


@pytest.mark.merge
@pytest.mark.parametrize("name", NAMES)
def test_what_is_kept_is_what_is_found_anew(name: str) -> None:
    data, setting = opened(name)
    known, found = kept_references(data, setting), record_of(data, setting)
    assert known is not None
    for number, value in found["numbers"].items():
        assert getattr(known, number) == pytest.approx(value, rel=1e-3, abs=1e-4)
    for field in fields(known.converged):
        part, anew = getattr(known.converged, field.name), np.array(found["fit"][field.name])
        assert (part.shape, part.dtype.kind) == (anew.shape, anew.dtype.kind)
        if part.dtype.kind == "f":
            np.testing.assert_allclose(part, anew, rtol=1e-2, atol=1e-3)
        else:
            assert part.tolist() == anew.tolist()


def test_other_choices_and_other_rows_are_worked_out() -> None:
    data, setting = opened("three_groups")
    assert kept_references(data, replace(setting, iterations=6)) is None
    assert kept_fit(data, replace(setting, iterations=6)) is not None  # it depends on no steps
    for other in (
        replace(setting, components=4),
        replace(setting, covariance="diag"),
        replace(setting, words=(("start", "public"),)),
    ):
        assert kept_fit(data, other) is None
    assert kept_fit(replace(data, provenance="upload"), setting) is None
    changed = replace(data, table=data.table.neighbour(0, "add_remove"))
    assert kept_fit(data, setting) is not None
    assert kept_fit(changed, setting) is None


def test_a_study_begins_with_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    data, setting = opened("three_groups")

    def never(*_: object) -> None:
        raise AssertionError("a fit that is kept was made anew")

    monkeypatch.setattr(compute, "references", never)
    known = kept_references(data, setting)
    found = compute.references_of(setting, data, ResultStore())
    assert known is not None
    assert found.converged_utility == known.converged_utility


@pytest.mark.merge
def test_the_first_screen_needs_no_scikit_learn() -> None:
    """Its half second of imports was a sixth of the time to the first picture."""
    code = (
        "import sys\n"
        "from streamlit.testing.v1 import AppTest\n"
        f"page = AppTest.from_file({str(ROOT / 'app/explorer.py')!r}, default_timeout=120).run()\n"
        "assert page.select_slider and not page.exception\n"
        "print([name for name in ('sklearn', 'scipy.stats') if name in sys.modules])\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]", ran.stderr
