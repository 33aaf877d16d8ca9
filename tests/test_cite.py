"""Whatever can be used can be cited."""

from __future__ import annotations

import json

import pytest

from dpcore.accounting import ACCOUNTANTS
from dpcore.cli import main
from dpcore.cli.cite import PAPERS, USED
from dpcore.registry import MODELS


def test_every_model_and_every_way_of_counting_has_its_papers() -> None:
    assert set(USED) == {*MODELS, *ACCOUNTANTS, "release"}
    cited = {key for keys in USED.values() for key in keys}
    assert cited == set(PAPERS)


def test_only_what_was_used_is_printed_each_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cite", "gmm", "kmeans", "exact", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert sum("DP-EM" in line for line in told) == 1
    assert any("Gaussian differential privacy" in line for line in told)
    assert not any("Latent Dirichlet" in line for line in told)
    assert told[-1].startswith("dpcore ")
    assert main(["cite", "nothing"]) == 2
