"""A slice of the fuzzing campaign: no certificate is false, nothing is raised but refusals, nothing hangs.

A campaign of any length is `python tests/fuzz/campaign.py --cases 100000 --jobs 2 --out FILE.json`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any

import pytest
from counting import BAD_STATUSES, compare, counted, described, kinds
from problems import make_case
from workers import outcomes

# Seeds of the slice, which takes about 30 s once kernels are compiled.
COUNT = 300
LIMIT = 120.0
SLOW, FATAL = 2, 3


@pytest.fixture(scope="module")
def fuzzed() -> list[dict[str, Any]]:
    """The outcomes of the slice, from one worker process."""
    return list(outcomes(iter(range(COUNT)), 1, LIMIT))


def lines(found: list[dict[str, Any]]) -> str:
    return "\n".join(["", *map(described, found)])


def test_no_certificate_is_false(fuzzed: list[dict[str, Any]]) -> None:
    wrong = [outcome for outcome in fuzzed if outcome.get("violations")]
    assert not wrong, lines(wrong)
    assert sum(outcome["status"] == "CERTIFIED" for outcome in fuzzed) > COUNT // 3


def test_nothing_is_raised_and_nothing_hangs(fuzzed: list[dict[str, Any]]) -> None:
    wrong = [outcome for outcome in fuzzed if outcome["status"] in BAD_STATUSES]
    assert not wrong, lines(wrong)


def test_a_seed_makes_the_same_case_again() -> None:
    for seed in range(60):
        one, other = make_case(seed), make_case(seed)
        assert str(one) == str(other)
        assert (one.facts.X != other.facts.X).sum() == 0
        assert (one.facts.labels == other.facts.labels).all()


def stub(connection: Connection) -> None:
    """A worker that sleeps, or ends, at some seeds."""
    connection.send(None)
    while (seed := connection.recv()) is not None:
        if seed == SLOW:
            time.sleep(60.0)
        if seed == FATAL:
            os._exit(7)
        connection.send({"seed": seed, "family": "stub", "status": "CERTIFIED"})


def test_a_hang_and_a_crash_are_outcomes() -> None:
    seeds: Iterator[int] = iter(range(6))
    found = {outcome["seed"]: outcome["status"] for outcome in outcomes(seeds, 2, 2.0, stub)}
    assert found.pop(SLOW) == "hang"
    assert found.pop(FATAL) == "crash"
    assert found == dict.fromkeys((0, 1, 4, 5), "CERTIFIED")


def test_two_campaigns_are_compared_seed_by_seed(tmp_path: Any) -> None:
    line = '{{"seed": {}, "family": "random", "loss": "hinge", "case": "x", "status": "{}"}}\n'
    for name, statuses in (("a", ("CERTIFIED", "CERTIFIED")), ("b", ("CERTIFIED", "STALLED"))):
        text = "".join(line.format(seed, status) for seed, status in enumerate(statuses))
        (tmp_path / f"{name}.jsonl").write_text(text)
    assert counted([tmp_path / "a.jsonl", tmp_path / "b.jsonl"]).total == 2
    shown = compare(tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    assert "1 were CERTIFIED before and are not now" in shown
    assert "| hinge | 1 | 1 |" in shown


def test_kinds_of_failure() -> None:
    assert kinds({"status": "CERTIFIED"}) == []
    assert kinds({"status": "exception"}) == ["exception"]
    assert kinds({"status": "CERTIFIED", "violations": [{"kind": "false"}, {"kind": "false"}]}) == ["false"]
