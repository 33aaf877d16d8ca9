"""Whatever a browser sends that means nothing gets one sentence, and nothing of the rows."""

from __future__ import annotations

import re

from studio.refusals import SECRET, of_files, of_lines, of_links


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
