"""``dpcore account`` and ``dpcore calibrate``: questions in, answers out."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import wording
from commands import (
    BUDGET,
    Run,
    account,
    gaussian,
    precision,
    written,
)

import dpcore as dp
from dpcore.accounting import ACCOUNTANTS, most_repeats


def asked(run: Run, folder: Path, *questions: Any) -> list[dict[str, Any]]:
    """Answers to questions in a file."""
    path = folder / "q.json"
    path.write_text(json.dumps(questions))
    found: list[dict[str, Any]] = run("account", "--file", path, "--json").json
    assert len(found) == len(questions)
    return found


def test_answers_stand_in_the_order_of_the_questions(run: Run, tmp_path: Path) -> None:
    found = asked(
        run,
        tmp_path,
        {"events": [gaussian(5.0, count=100)], "delta": 1e-5, "method": "exact"},
        "nonsense",
        {"events": [gaussian(5.0)], "delta": 1e-5, "method": "kow"},
        {"events": [gaussian(5.0, count=100)], "delta": 1e-5, "method": "zcdp"},
        {"events": [], "delta": 1e-5},
        {"events": [gaussian(0.0)], "delta": 1e-5},
    )
    assert [sorted(each) for each in found[1:3]] == [["error"], ["error"]]
    keys = {"epsilon", "lower", "kind", "assumptions", "source"}
    assert all(set(found[i]) == keys for i in (0, 3, 4, 5))
    assert found[0]["epsilon"] == pytest.approx(9.9973, rel=1e-4)
    assert (found[0]["kind"], found[3]["kind"]) == ("exact", "upper bound")
    assert found[3]["epsilon"] == pytest.approx(11.597, rel=1e-4)
    assert "choose one of linear" in found[2]["error"]
    assert found[4]["epsilon"] == 0.0
    assert found[5]["epsilon"] == "Infinity"


# What differs from one Gaussian release at delta 1e-5, and the refusal.
UNANSWERABLE: list[tuple[dict[str, Any], str]] = [
    ({"events": 5}, "events: there is no list"),
    ({"events": [5]}, "event: it is not an object"),
    ({"events": [{"mechanism": "cauchy"}]}, "mechanism: 'cauchy'"),
    ({"events": [gaussian()]}, "noise_multiplier: none was given"),
    ({"events": [gaussian("x")]}, "noise_multiplier: 'x' is not a number"),
    ({"events": [gaussian(1, scale=1)]}, "scale: gaussian events have none"),
    ({"events": [gaussian(1, noise_steps=4)]}, "leave it out, or say discrete_gau"),
    ({"events": [gaussian(1, sigma=2)]}, "event: 'sigma' is not known"),
    ({"events": [gaussian(1, count=-1)]}, "count: -1 is below 0"),
    ({"events": [gaussian(1, count=10**400)], "max_lambda": 3}, "max_lambda"),
    ({"events": [gaussian(10**400)]}, "noise_multiplier: the number is too large"),
    ({"events": [gaussian(1, parallel="yes")]}, "parallel: 'yes'"),
    ({"events": [gaussian(1, parallel=True)]}, "group: an event on a disjoint part"),
    ({"events": [gaussian(1, delta_each=2)]}, "delta_each: 2 is not strictly between"),
    (
        {"events": [gaussian(1, adjacency="label")], "adjacency": "add_remove"},
        "differs from the question's",
    ),
    ({"delta": 1}, "delta: 1.0 is not strictly between"),
    ({"delta": "x"}, "delta: 'x' is not a number"),
    ({"method": ["ma"]}, "method: ['ma'] is not known"),
    ({"adjacency": "x"}, "adjacency: 'x' is not known"),
    ({"solve": "delta"}, "solve: 'delta' is not known"),
    ({"solve": "noise_multiplier"}, "epsilon: none was"),
    (
        {"events": [], "solve": "noise_multiplier", "epsilon": 1},
        "events: there are no events whose noise could be solved for",
    ),
    (
        {
            "events": [{"mechanism": "epsilon_delta", "epsilon": 1}],
            "solve": "noise_multiplier",
            "epsilon": 1,
        },
        "solve: an epsilon_delta event has no noise",
    ),
    ({"method": "zcdp", "conversion": "best"}, "conversion: method zcdp has no choice"),
    (
        {"events": [gaussian(1, count=10, delta_each=2e-6)], "method": "advanced"},
        "delta_each: the deltas of the individual releases add up to",
    ),
    (
        {"events": [{"mechanism": "laplace", "scale": 1}], "method": "exact"},
        wording.EXACT_COVERS_GAUSSIAN,
    ),
]


@pytest.mark.parametrize(("differs", "words"), UNANSWERABLE, ids=[w for _, w in UNANSWERABLE])
def test_what_cannot_be_answered_says_why(
    differs: dict[str, Any], words: str, run: Run, tmp_path: Path
) -> None:
    (found,) = asked(run, tmp_path, {"events": [gaussian(1)], "delta": 1e-5} | differs)
    assert list(found) == ["error"]
    assert found["error"].startswith(words) or words in found["error"]
    assert found["error"].endswith(".")


SAMPLED = {
    ("poisson", "add_remove"): {"linear", "advanced", "kov", "ma", "rdp", "pld"},
    ("poisson", "replace_one"): {"pld"},
    ("without_replacement", "replace_one"): {"linear", "advanced", "kov", "wbk9", "wbk27", "pld"},
    ("without_replacement", "add_remove"): set(),
}


@pytest.mark.parametrize(("sampling", "adjacency"), list(SAMPLED))
@pytest.mark.parametrize("method", list(ACCOUNTANTS))
def test_sampling_is_counted_by_the_methods_that_have_a_theorem_and_refused_by_others(
    sampling: str, adjacency: str, method: str, run: Run, tmp_path: Path
) -> None:
    event = gaussian(1.0, sampling=sampling, sampling_rate=0.1)
    base = {"delta": 1e-5, "method": method, "adjacency": adjacency}
    found, whole = asked(
        run, tmp_path, {"events": [event], **base}, {"events": [gaussian(1.0)], **base}
    )
    if method in SAMPLED[sampling, adjacency]:
        assert found["epsilon"] < whole["epsilon"]
    else:
        assert list(found) == ["error"]
        assert re.match(r"(sampling|adjacency): .*; .*(choose|leave the sampling)", found["error"])


def test_noise_is_solved_for_by_every_method(run: Run, tmp_path: Path) -> None:
    shapes = [[gaussian(count=20)], [gaussian(1.0, count=3), gaussian(2.0)]]
    for events in shapes:
        questions = [
            {
                "events": events,
                "delta": 1e-5,
                "method": m,
                "solve": "noise_multiplier",
                "epsilon": 2,
            }
            for m in ACCOUNTANTS
        ]
        for question, found in zip(questions, asked(run, tmp_path, *questions), strict=True):
            noises = found["noise_multipliers"]
            assert found["noise_multiplier"] == noises[0] > 0.0
            known = [
                {**event, "noise_multiplier": noise}
                for event, noise in zip(events, noises, strict=True)
            ]
            again = {"events": known, "delta": 1e-5, "method": question["method"]}
            (back,) = asked(run, tmp_path, again)
            near = pytest.approx(2.0, rel=max(1e-8, precision(question["method"])))
            assert back["epsilon"] == near
    assert noises[1] == pytest.approx(2.0 * noises[0])


def test_delta_each_is_the_share_of_each_release(run: Run, tmp_path: Path) -> None:
    def question(each: float | None) -> dict[str, Any]:
        event = gaussian(5.0, count=10, **({} if each is None else {"delta_each": each}))
        return {"events": [event], "delta": 1e-5, "method": "linear"}

    default, same, more = asked(run, tmp_path, question(None), question(5e-7), question(1e-6))
    assert default["epsilon"] == pytest.approx(same["epsilon"], rel=1e-12)
    assert more["epsilon"] < same["epsilon"]


def test_black_boxes_add_up_with_and_without_a_delta(run: Run, tmp_path: Path) -> None:
    def question(each: Any, method: str) -> dict[str, Any]:
        box = {"mechanism": "epsilon_delta", "epsilon": 0.1, "delta_each": each, "count": 10}
        return {"events": [box], "delta": 1e-5, "method": method}

    pure, zero, some, refused = asked(
        run,
        tmp_path,
        question(None, "linear"),
        question(0, "linear"),
        question(1e-7, "linear"),
        question(1e-7, "zcdp"),
    )
    assert [each["epsilon"] for each in (pure, zero, some)] == pytest.approx([1.0] * 3)
    assert "choose linear or advanced" in refused["error"]


def test_many_equal_parts_cost_what_one_does_and_too_many_kinds_are_refused(
    run: Run, tmp_path: Path
) -> None:
    equal = [gaussian(3.0, group="g", parallel=True)] * 500
    kinds = [gaussian(3.0 + i, group=f"g{g}", parallel=True) for g in range(6) for i in range(8)]
    cheap, costly, refused = asked(
        run,
        tmp_path,
        {"events": equal, "delta": 1e-5},
        {"events": [gaussian(3.0, count=2)], "delta": 1e-5},
        {"events": kinds, "delta": 1e-5},
    )
    assert cheap["epsilon"] == pytest.approx(costly["epsilon"], rel=1e-12)
    assert "too many combinations" in refused["error"]


def test_the_cap_on_orders_is_an_option_of_the_moments_accountant(run: Run, tmp_path: Path) -> None:
    base = {"events": [gaussian(100.0)], "delta": 1e-5, "method": "ma"}
    default, same, higher, other, unreachable = asked(
        run,
        tmp_path,
        base,
        {**base, "max_lambda": 64, "conversion": "classic"},
        {**base, "max_lambda": 255},
        {**base, "method": "zcdp", "max_lambda": 64},
        {**base, "solve": "noise_multiplier", "epsilon": 0.1},
    )
    assert default["epsilon"] == same["epsilon"] == pytest.approx(0.18314, rel=1e-4)
    assert higher["epsilon"] < default["epsilon"]
    assert "no highest order" in other["error"]
    assert "0.180" in unreachable["error"]  # ln(1/delta)/64: the smallest reachable epsilon
    found = run(
        *account("--noise-multiplier", 100, "--method", "ma", "--max-lambda", 255, "--json")
    )
    assert found.json[0]["epsilon"] == higher["epsilon"]


def test_the_cap_on_orders_is_64_and_255_with_poisson_samples(run: Run, tmp_path: Path) -> None:
    event = gaussian(40.0, sampling="poisson", sampling_rate=0.1, count=10)
    for events, cap in (([gaussian(40.0)], 64), ([event], 255)):
        base = {"events": events, "delta": 1e-5, "method": "ma", "adjacency": "add_remove"}
        default, same, lower = asked(
            run, tmp_path, base, {**base, "max_lambda": cap}, {**base, "max_lambda": cap - 1}
        )
        assert default["epsilon"] == same["epsilon"] < lower["epsilon"]


def test_the_conversion_is_a_choice_of_the_fixed_size_methods(run: Run, tmp_path: Path) -> None:
    event = gaussian(1.24, sampling="without_replacement", sampling_rate=0.05, count=20)
    base = {"events": [event], "delta": 1e-4, "method": "wbk27"}
    plain, best, classic, moments, refused, other = asked(
        run,
        tmp_path,
        base,
        {**base, "conversion": "best"},
        {**base, "conversion": "classic"},
        {**base, "events": [gaussian(5.0)], "method": "rdp", "conversion": "best"},
        {**base, "events": [gaussian(5.0)], "method": "rdp", "conversion": "classic"},
        {**base, "conversion": "worst"},
    )
    assert plain["epsilon"] == best["epsilon"] == pytest.approx(1.904, rel=1e-3)
    assert classic["epsilon"] == pytest.approx(2.3826, rel=1e-4)  # VIPS, topic model: 2.38
    assert moments["epsilon"] > 0.0
    assert "rdp has only the best conversion" in refused["error"]
    assert "'worst' is not known" in other["error"]
    words = ["--noise-multiplier", 1.24, "--count", 20, "--sampling", "without_replacement"]
    words += ["--sampling-rate", 0.05, "--method", "wbk9,wbk27,ma", "--conversion", "classic"]
    nine, found, ma = run("account", "--delta", 1e-4, *words, "--json").json
    assert found["epsilon"] == classic["epsilon"]
    assert nine["epsilon"] >= found["epsilon"]
    assert "error" in ma


def test_the_most_repeats_are_solved_for_by_every_method(run: Run, tmp_path: Path) -> None:
    question = {"events": [gaussian(12.0)], "delta": 1e-5, "solve": "count", "epsilon": 1}
    found = asked(run, tmp_path, *({**question, "method": name} for name in ACCOUNTANTS))
    words = ["--noise-multiplier", 12, "--solve", "count", "--epsilon", 1, "--json"]
    library = [dp.privacy.Event(dp.privacy.Gaussian(12.0))]
    for each, single in zip(found, run(*account(*words)).json, strict=True):
        count = most_repeats(library, 1.0, 1e-5, single["method"])
        assert each["count"] == single["count"] == count
        assert each["epsilon"] == single["epsilon"] <= 1.0


TOML = """
[[events]]
mechanism = "gaussian"
noise_multiplier = 5.0
count = 100

[[events]]
mechanism = "laplace"
scale = 40
"""


def test_questions_and_events_come_from_json_or_toml(run: Run, tmp_path: Path) -> None:
    events = [gaussian(5.0, count=100), {"mechanism": "laplace", "scale": 40}]
    question = {"events": events, "delta": 1e-5, "method": "kov"}
    (expected,) = asked(run, tmp_path, question)
    files = {
        "one.json": json.dumps(question),
        "many.json": json.dumps({"questions": [question]}),
        "one.toml": f'delta = 1e-5\nmethod = "kov"\n{TOML}',
        "many.toml": '[[questions]]\ndelta = 1e-5\nmethod = "kov"\n'
        + TOML.replace("[[events]]", "[[questions.events]]"),
    }
    for name, text in files.items():
        path = written(tmp_path, name, text, None)
        assert run("account", "--file", path, "--json").json == [expected]
    for name, text in (
        ("e.json", json.dumps(events)),
        ("o.json", json.dumps({"events": events})),
        ("e.toml", TOML),
    ):
        words = ["--events", written(tmp_path, name, text, None), "--method", "kov", "--json"]
        assert run(*account(*words)).json == [{"method": "kov", **expected}]


def test_the_ledger_of_a_fit_is_a_file_of_events(run: Run, table: Path, tmp_path: Path) -> None:
    words = ["--adjacency", "add_remove", "--seed", 1, "--json"]
    fitted = run("fit", "gmm", table, *BUDGET, *words)
    path = written(tmp_path, "fit.json", fitted.out, None)
    priced = run("account", "--events", path, "--delta", 1e-3, "--json").json
    by_name = {each["method"]: each for each in priced}
    assert by_name["exact"]["epsilon"] == fitted.json["guarantee"]["epsilon"]
    assert by_name["kov"]["epsilon"] > by_name["exact"]["epsilon"]
    text = run("account", "--events", path, "--delta", 1e-3).out
    assert "adding or removing one person's row" in " ".join(text.split())
    noise = run("calibrate", "--events", path, *BUDGET, "--method", "exact", "--json").json[0]
    ledger = fitted.json["ledger"]
    assert noise["noise_multipliers"] == pytest.approx([e["noise_multiplier"] for e in ledger])
    other = run("account", "--events", path, "--delta", 1e-3, "--adjacency", "label")
    assert (other.code, other.err[:18]) == (2, "dpcore: adjacency:")


@pytest.mark.parametrize("command", ["account", "calibrate"])
def test_events_may_come_through_a_pipe_or_from_an_editor_that_marks_its_files(
    run: Run, tmp_path: Path, command: str
) -> None:
    """A pipe can be read once; the mark is the one before a text in UTF-8."""
    words = [command, "--delta", "1e-5", *(["--epsilon", "1"] if command == "calibrate" else [])]
    content = json.dumps([gaussian(5.0, count=10)])
    path = tmp_path / "events.json"
    path.write_text(content, encoding="utf-8-sig")
    answer = run(*words, "--events", path)
    assert answer.code == 0
    reader, writer = os.pipe()
    with os.fdopen(writer, "w") as end:
        end.write(content)
    assert run(*words, "--events", f"/dev/fd/{reader}") == answer
    os.close(reader)


def test_the_table_puts_answers_first_and_names_its_columns(run: Run) -> None:
    lines = run(*account("--mechanism", "laplace", "--scale", 10)).out.splitlines()
    assert lines[0].split()[:2] == ["method", "epsilon"]
    assert "kind" in lines[0]
    assert "noise" not in lines[0]
    rows = [line.split()[0] for line in lines if line.split()[0] in ACCOUNTANTS]
    assert rows[-1] == "exact"
    assert rows[:-1] == [name for name in ACCOUNTANTS if name != "exact"]
    refused = next(line for line in lines if line.split()[0] == "exact")
    assert "refused" in refused
    solved = run("calibrate", *BUDGET).out.splitlines()[0].split()
    assert solved[:3] == ["method", "noise", "epsilon"]


def test_a_file_of_questions_is_a_table_by_question(run: Run, tmp_path: Path) -> None:
    questions = [{"events": [gaussian(5.0)], "delta": 1e-5}, {"events": 5}]
    path = written(tmp_path, "q.json", json.dumps(questions), None)
    lines = run("account", "--file", path).out.splitlines()
    assert lines[0].split()[:3] == ["question", "epsilon", "kind"]
    assert lines[1].split()[:3] == ["1", "0.7256", "exact"]
    assert any(line.split()[:3] == ["2", "-", "refused"] for line in lines)


def test_options_and_questions_give_the_same_answers(run: Run, tmp_path: Path) -> None:
    found = run(*account("--noise-multiplier", 5, "--count", 100, "--json")).json
    assert [each["method"] for each in found] == list(ACCOUNTANTS)
    events = [gaussian(5.0, count=100)]
    again = asked(
        run, tmp_path, *({"events": events, "delta": 1e-5, "method": m} for m in ACCOUNTANTS)
    )
    assert [each["epsilon"] for each in found] == [each["epsilon"] for each in again]
    laplace = run(*account("--mechanism", "laplace", "--scale", 10, "--count", 40, "--json")).json
    assert laplace[0]["epsilon"] == pytest.approx(4.0)
    refused = {each["method"] for each in laplace if "error" in each}
    assert refused == {"exact"}  # it says so in its own line
    box = account("--mechanism", "epsilon_delta", "--epsilon", 0.5, "--method", "linear", "--json")
    assert run(*box).json[0]["epsilon"] == 0.5
