"""Summaries: curves over repeats, time to a gap, profiles, the winner, and colors and dashes that differ."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dualgap.workbench import looks, summary
from dualgap.workbench.report.content import content
from dualgap.workbench.store import FinishedRun
from dualgap.workbench.verdict import verdict
from pages import SOLVERS, made_rival, made_run, many_runs


def drawn(solver: str, seed: int, status: str = "EPOCHS_EXHAUSTED", **records: Any) -> FinishedRun:
    """A run with exactly these records."""
    return dataclasses.replace(made_run(solver, seed), status=status, records=records)


def test_groups_keep_apart_what_does_not_compete() -> None:
    runs = many_runs(("sdca", "sgd"), 2, ("digits", "wine"), (0.1, 0.01))
    groups = summary.groups(runs)
    assert list(groups) == [(d, "hinge", s) for d in ("digits", "wine") for s in (0.1, 0.01)]
    assert all(len(heat) == 4 for heat in groups.values())


def test_a_curve_is_the_median_with_its_band() -> None:
    runs = [drawn("a", seed, epoch=[0, 1, 2], primal=[9.0, seed, 1.0]) for seed in range(101)]
    (curve,) = summary.curves(runs, y="primal", x="epoch")
    assert curve.runs == 101
    assert curve.x == [0, 1, 2]
    assert curve.median == [9.0, 50.0, 1.0]
    assert curve.low == [9.0, 5.0, 1.0]
    assert curve.high == [9.0, 95.0, 1.0]


@pytest.mark.parametrize("count", [1, 2, 3, 20, 100])
def test_quantiles_are_numpys(count: int) -> None:
    rng = np.random.default_rng(count)
    values = rng.standard_normal((count, 4))
    runs = [drawn("a", seed, epoch=[0, 1, 2, 3], primal=row.tolist()) for seed, row in enumerate(values)]
    (curve,) = summary.curves(runs, y="primal")
    for quantile, found in ((0.05, curve.low), (0.5, curve.median), (0.95, curve.high)):
        assert found == pytest.approx(np.quantile(values, quantile, axis=0).tolist())


def test_certified_runs_hold_their_last_value_and_others_are_left_out() -> None:
    long = [drawn("a", seed, epoch=[0, 1, 2], primal=[8.0, 6.0, 4.0]) for seed in range(2)]
    ended = {"epoch": [0, 1], "primal": [8.0, 2.0]}
    (held,) = summary.curves([*long, drawn("a", 2, "CERTIFIED", **ended)], y="primal")
    assert (held.low[-1], held.median[-1]) == (pytest.approx(2.2), 4.0)
    (left,) = summary.curves([*long, drawn("a", 2, **ended)], y="primal")
    assert (left.low[-1], left.median[-1]) == (4.0, 4.0)


def test_a_curve_ends_where_fewer_than_half_of_the_repeats_are_left() -> None:
    short = [drawn("a", seed, epoch=[0, 1], primal=[2.0, 1.0]) for seed in range(2)]
    (curve,) = summary.curves([*short, drawn("a", 2, epoch=[0, 1, 2], primal=[2.0, 1.0, 0.0])], y="primal")
    assert curve.x == [0, 1]


def test_gaps_are_interpolated_geometrically() -> None:
    runs = [
        drawn("a", 0, seconds=[0.0, 2.0], relative_gap=[1.0, 1e-4]),
        drawn("a", 1, seconds=[0.0, 1.0, 2.0], relative_gap=[1.0, 1e-2, 1e-4]),
    ]
    (curve,) = summary.curves(runs, x="seconds")
    assert curve.median == pytest.approx([1.0, 1e-2, 1e-4])
    assert curve.low == pytest.approx(curve.high)


def test_curves_are_thinned_in_the_middle_and_not_at_the_ends() -> None:
    runs = [made_run("a", seed, length=3000, tol=0.0, rate=1e-3) for seed in range(3)]
    for x in ("epoch", "updates", "cpu_seconds", "seconds"):
        (curve,) = summary.curves(runs, x=x, points=50)
        assert 40 <= len(curve.x) <= 50
        assert curve.x[0] == 0
        assert curve.x == sorted(curve.x)
        assert curve.x[1] < curve.x[-1] / 500, "the beginning is dense"
        assert len(runs[0].records["epoch"]) == 3000


def test_missing_values_are_skipped() -> None:
    holes = {"epoch": [0, 1, 2, None], "primal": [3.0, None, 1.0, 0.5]}
    (curve,) = summary.curves([drawn("a", 0, **holes)], y="primal")
    assert (curve.x, curve.median) == ([0, 2], [3.0, 1.0])
    assert summary.curves([drawn("a", 0, **holes)], y="test_score") == []
    assert summary.curves([drawn("a", 0, epoch="nonsense", primal=[1.0])], y="primal") == []


def test_a_rival_has_points_by_seconds_and_no_epochs() -> None:
    runs = [made_rival(0), made_rival(1)]
    assert summary.curves(runs, x="epoch") == []
    (curve,) = summary.curves(runs, x="call_seconds")
    assert curve.x == [0.001, 0.002, 0.003, 0.008, 0.02]
    assert curve.median == [0.5, 0.1, 0.05, 1e-3, 1e-7]
    assert summary.seconds_to(runs, 1e-2) == 0.008
    assert summary.epochs_to(runs, 1e-2) is None
    (standing,) = summary.standings(runs)
    assert standing.median("call_seconds") == 0.02
    assert standing.median("seconds") is None, "the updates of another package's fit are unknown"
    assert standing.certified


def test_time_to_a_gap_is_a_median_over_repeats_that_never_reach_it_too() -> None:
    there = [drawn("a", s, epoch=[0, 1, 2], relative_gap=[1, 0.1, 0.001], call_seconds=[0, s, 10.0]) for s in (1, 2)]
    never = [drawn("a", s, epoch=[0, 1], relative_gap=[1, 0.5], call_seconds=[0, 1]) for s in (3, 4)]
    assert summary.seconds_to(there, 0.1) == 1.5
    assert summary.epochs_to(there, 1e-2) == 2
    assert summary.epochs_to([*there, never[0]], 1e-2) == 2
    assert summary.epochs_to([*there, *never], 1e-2) is None
    assert summary.epochs_to([], 1e-2) is None


def test_a_profile_has_the_fraction_of_problems_within_each_ratio() -> None:
    runs = []
    for data, quick, slow in (("p", 1.0, 2.0), ("q", 3.0, 12.0), ("r", 5.0, None)):
        for solver, needed in (("quick", quick), ("slow", slow)):
            gaps = [1.0, 1e-9 if needed else 0.5]
            run = drawn(solver, 0, call_seconds=[0.0, needed or 9.0], relative_gap=gaps, epoch=[0, 1])
            runs.append(dataclasses.replace(run, settings=run.settings | {"data": data}))
    quick, slow = summary.performance_profile(runs, 1e-6)
    assert (quick.solver, quick.ratio, quick.fraction) == ("quick", [1.0], [1.0])
    assert (slow.solver, slow.ratio, slow.fraction) == ("slow", [2.0, 4.0], [1 / 3, 2 / 3])
    assert summary.performance_profile(runs, 1e-12) == []


def test_styles_of_solvers_differ_in_more_than_color() -> None:
    found = looks.styles(f"solver {i}" for i in range(72))
    assert len(set(found.values())) == 72
    first = list(looks.styles(SOLVERS).values())
    assert len({color for color, _, _ in first}) == 8
    assert len({(dash, symbol) for _, dash, symbol in first}) == 8


def test_bounds_and_verdicts_stand_missing_numbers() -> None:
    bare = made_run(certificate={}, records={}, status="STRANGE")
    assert summary.best_bounds([bare]) is None
    assert summary.bounds([bare]) == ""
    assert "came closest" in verdict([bare, made_run("sgd", rate=0.1)], 1e-6)
    assert verdict([], 1e-6) == "No run was finished, so there is no winner."
    runs = many_runs(("sdca", "sgd"))
    dual, primal = summary.best_bounds(runs) or (math.nan, math.nan)
    assert dual <= primal
    assert verdict(runs, 1e-6).startswith("sdca wins")


# Three digits whatever they are rounded to: a fourth would make a table wider than the screen.
ROUNDED_UP = [(9.996e-4, "1.00 ms"), (9.996e-3, "10.0 ms"), (0.09996, "100 ms"), (0.9996, "1.00 s")]


@pytest.mark.parametrize(
    ("seconds", "text"), [(4.2e-7, "0.42 µs"), (0.0042, "4.20 ms"), (12.34, "12.3 s"), *ROUNDED_UP]
)
def test_durations_have_three_digits(seconds: float, text: str) -> None:
    assert summary.duration(seconds) == text


@pytest.mark.parametrize(
    ("dual", "primal", "words"),
    [
        (0.01251385285, 0.01251385435, ("0.0125138528", "0.0125138544")),
        (4828197711.123, 4828197712.456, ("4828197711", "4828197713")),
        (4828197711.000013, 4828197711.000024, ("4828197711.00001", "4828197711.00003")),
        (0.0, 0.25, ("0", "0.25")),
        (1 / 3, 1 / 3, ("0.33333333333333331", "0.33333333333333332")),
    ],
)
def test_bounds_are_told_apart_and_hold_as_they_are_read(dual: float, primal: float, words: tuple[str, str]) -> None:
    assert summary.bounds_words(dual, primal) == words
    low, high = map(Fraction, words)
    assert low <= Fraction(dual) <= Fraction(primal) <= high


CHOICE = "newton: the loss is smooth"


@pytest.mark.parametrize(
    ("order", "said", "lead"),
    [
        (("auto", "newton", "sdca"), "auto wins: it chose newton and reached a relative gap of 1e-06", "sdca"),
        (
            ("newton", "auto", "sdca"),
            "call of 1.00 s (auto, which chose it, took 1.50 times as much), sdca next",
            "sdca",
        ),
        (("auto", "newton"), "(newton by itself took 1.50 times as much), without a rival.", None),
    ],
)
def test_auto_and_what_it_chose_are_no_rivals(order: tuple[str, ...], said: str, lead: str | None) -> None:
    runs = []
    for place, solver in enumerate(order):
        run = made_run(solver, length=80, reason=CHOICE if solver == "auto" else "")
        records = run.records | {"call_seconds": [1.0 + 0.5 * place] * len(run.records["epoch"])}
        runs.append(replace(run, records=records, status="CERTIFIED"))
    assert said in verdict(runs, 1e-6)
    assert "newton next" not in verdict(runs, 1e-6)
    found = content(runs)["heats"][0]["lead"]
    assert (found and found[0]) == lead
