"""Whatever a browser sends that means nothing gets one sentence, and nothing of the rows."""

from __future__ import annotations

import re

import pytest
from streamlit.testing.v1 import AppTest
from studio.refusals import SECRET, of_files, of_lines, of_links

from app.attacking import FARTHEST
from app.texts import explore as texts
from dpcore.declaration import declaration
from dpcore.errors import InputError


def test_every_link_that_means_nothing_is_named() -> None:
    seen = list(of_links())
    assert len(seen) > 75
    assert [(what, got) for _, what, got in seen if not got] == []


def test_every_line_and_every_file_that_cannot_be_used_gets_one_sentence() -> None:
    seen = [*of_lines(), *of_files()]
    assert len(seen) > 55
    for _, what, sentence in seen:
        assert re.fullmatch(r"[^;]+: [^;]+; .+\.", sentence), what
        assert SECRET not in sentence
        assert "\n" not in sentence
    later = dict((what, sentence) for _, what, sentence in seen)[
        "Eintritt: {'lower': '2030-01-01'}"
    ]
    assert "lower = 2030-01-01 is not below upper = 2029-12-31" in later


@pytest.mark.parametrize(
    ("model", "data"),
    [("logistic", "iris"), ("missing-regression", "iris"), ("gmm-release", "three_groups")],
)
@pytest.mark.parametrize("view", ["explore", "attack", "release"])
def test_a_linked_model_whose_column_is_missing_is_refused_as_a_page_can_mend_it(
    view: str, model: str, data: str
) -> None:
    """Not with options of the command line."""
    at = AppTest.from_string(
        f"from app.frame import frame\nfrom app.views.{view} import page\nframe()\npage()",
        default_timeout=60,
    )
    at.session_state["attack_whose"] = FARTHEST
    at.query_params.update(data=data, model=model)
    at.run()
    assert not at.exception
    (refused,) = [str(one.value) for one in at.error]
    kind = declaration(model)
    words = texts.column_missing(kind.title, texts.NEEDED[kind.reads])
    assert refused == str(InputError("model", *words))
    assert "Release" not in [one.label for one in at.button]
