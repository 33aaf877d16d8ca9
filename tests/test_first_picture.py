"""The first picture: it is that of the page, needs no library, and leaves nothing behind."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from studio.precomputed import picture_of_the_page
from support import ROOT

from app.first_picture import stored_picture

AGAIN = "python -m tests.studio.precomputed --first"


def run(code: str) -> Any:
    """What a fresh process prints, as JSON."""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(ran.stdout.splitlines()[-1])


def test_it_shows_both_fits_and_the_curve() -> None:
    first = stored_picture()
    scene = json.loads(first["scene"])
    assert [panel["id"] for panel in scene["panels"]] == ["exact", "private", "curve"]
    assert scene["labels"][scene["step"]] == "1.00"
    assert scene["positions"] == list(range(len(scene["steps"])))
    assert "nearest" not in scene["panels"][1], "every stop has its own fit"
    assert 'data-live="sentence"' in first["sentence"]


@pytest.mark.merge
def test_it_is_that_of_the_page() -> None:
    first, anew = dict(stored_picture()), picture_of_the_page()
    same(json.loads(first.pop("scene")), json.loads(anew.pop("scene")))
    assert first == anew, AGAIN


def same(first: Any, anew: Any) -> None:
    """Words are equal; numbers may differ as between processors."""
    assert type(first) is type(anew), AGAIN
    if isinstance(first, dict):
        assert first.keys() == anew.keys(), AGAIN
        for name in first.keys() - {"id"}:
            same(first[name], anew[name])
    elif isinstance(first, list):
        assert len(first) == len(anew), AGAIN
        for one, other in zip(first, anew, strict=True):
            same(one, other)
    elif isinstance(first, float):
        assert first == pytest.approx(anew, rel=1e-2, abs=1e-3), AGAIN
    else:
        assert first == anew, AGAIN


@pytest.mark.merge
def test_it_needs_neither_a_model_nor_a_library_of_numbers() -> None:
    code = (
        "import json, sys\n"
        "import app.explorer\n"
        "from app import first_picture\n"
        "first_picture.stored_picture()\n"
        "rooms = {name.partition('.')[0] for name in sys.modules}\n"
        "slow = rooms & {'numpy', 'scipy', 'pandas', 'sklearn'}\n"
        "print(json.dumps([*slow, *(name for name in sys.modules if 'dpcore.' in name)]))\n"
    )
    assert sorted(run(code)) == ["dpcore.lazy", "dpcore.registry"]


SLOW = ("sklearn", "scipy.stats", "scipy.linalg", "scipy.optimize", "scipy.fft")


@pytest.mark.merge
def test_every_visitor_sees_it_once_before_the_page_which_needs_no_scikit_learn() -> None:
    code = (
        "import json, sys\n"
        "from streamlit.testing.v1 import AppTest\n"
        "from app import compute, first_picture\n"
        "compute.load_ahead = lambda store: None\n"
        "drawn, live_texts = [], first_picture.live_texts\n"
        "first_picture.live_texts = lambda *a, **b: (drawn.append(1), live_texts(*a, **b))\n"
        f"new = lambda: AppTest.from_file({str(ROOT / 'app/explorer.py')!r}, default_timeout=120)\n"
        "assert new().run().select_slider and len(drawn) == 1\n"
        "page = new().run().run()\n"  # another visitor, whose page runs twice
        "assert page.select_slider and not page.exception\n"
        "nodes = [str(getattr(node, 'proto', '')) for node in page.main]\n"
        "left, heads = (sum(word in node for node in nodes) for word in ('dp-soon', 'dp-title'))\n"
        f"there = [name for name in {SLOW} if name in sys.modules]\n"
        "print(json.dumps([len(drawn), left, heads, there]))\n"
    )
    special = "import json, sys, scipy.special\n"  # older ones need linear algebra
    special += f"print(json.dumps([name for name in {SLOW} if name in sys.modules]))"
    assert run(code) == [2, 0, 1, run(special)]


@pytest.mark.merge
def test_what_is_loaded_behind_a_page_is_all_that_another_choice_needs() -> None:
    """Of libraries that take long to load: one part fewer is fitted without loading any more."""
    code = (
        "import json, sys\n"
        "from dataclasses import replace\n"
        "from app import compute\n"
        "from app.scenario import opening\n"
        "from app.tables import data_of, store_of\n"
        "slow = lambda: {name for name in sys.modules if name.startswith(('scipy.', 'sklearn.'))}\n"
        "compute.in_background = lambda store, key, work: work()\n"
        "compute.load_ahead(None)\n"
        "compute.in_background = lambda *_: None\n"
        "before, asked = slow(), []\n"
        "for name in ('three_groups', 'places', 'digits'):\n"
        "    scenario, data = opening(name), data_of(opening(name))\n"
        "    fewer = replace(scenario, components=scenario.components - 1)\n"
        "    compute.study(fewer, data, store_of(data))\n"
        "compute.in_background = lambda *job: asked.append(job)\n"
        "compute.load_ahead(None)\n"
        "print(json.dumps([len(before) > 0, sorted(slow() - before), asked]))\n"
    )
    assert run(code) == [True, [], []]
