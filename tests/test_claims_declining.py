"""Rules decline to decide what their input does not show: censored, too short and noisy frames for every claim."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from claimed import BEST, POINTS, START, censored, frame_of, made_trial, noisy, too_short
from dualgap.replication.claims import CLAIMS
from dualgap.replication.frames import Frame
from dualgap.replication.heights import faster
from dualgap.replication.intervals import (
    Interval,
    above_zero,
    inside,
    is_some,
    mean_interval,
    median_interval,
    ratio_interval,
    regret_interval,
)
from dualgap.replication.measures import at_epoch
from dualgap.replication.verdicts import Finding, Outcome, all_of
from test_claims_others import EVERY

# Parts that rest on no run: formulas without chance, and β, whose accuracy needs no solver.
WITHOUT_RUNS = {"censored": {"R4.2": "suffice for", "R0.4": "β itself"}, "too_short": {"R4.2": "suffice for"}}


def whole(claim: str) -> Frame:
    """A frame on which a claim holds; a claim without one is not tested, and fails here."""
    return next(frame for name, outcome, frame in EVERY if name == claim and outcome is Outcome.HOLDS)()


@pytest.mark.parametrize("spoil", [censored, too_short, noisy], ids=["censored", "too short", "noisy"])
@pytest.mark.parametrize("claim", CLAIMS)
def test_a_rule_declines_to_decide_what_its_input_does_not_show(claim: str, spoil: Callable[[Frame], Frame]) -> None:
    found = CLAIMS[claim].rule(spoil(whole(claim)))
    assert found.outcome is Outcome.UNDECIDED, found
    if spoil is noisy:
        return
    exempt = WITHOUT_RUNS[spoil.__name__].get(claim)
    for part in found.parts:
        assert part.holds is None or (exempt is not None and exempt in part.says), part
        assert part.numbers


def test_a_start_is_no_record_of_a_later_epoch() -> None:
    """A run whose records are its start and its end says nothing of what was between them."""
    trial = made_trial("made up", "SDCA", score=np.linspace(0.5, 1.0, POINTS))
    ends = replace(trial, records={name: [values[0], values[-1]] for name, values in trial.records.items()})
    assert at_epoch([trial], "test_score", 2.0) == pytest.approx([0.7])
    assert np.isnan(at_epoch([ends], "test_score", 2.0)).all()
    assert at_epoch([ends], "test_score", 0.0) == pytest.approx([0.5])
    assert at_epoch([ends], "test_score", 5.0) == pytest.approx([1.0])


def test_the_best_of_a_few_noisy_values_is_not_certain_to_be_the_best() -> None:
    """Eight repeats of three values that differ by chance alone: which is the best is open, and so is by how much."""
    draws = np.random.default_rng(3).normal(0.0, 0.05, (3, 8))
    best = draws[np.argmax(draws.mean(axis=1))]
    found = regret_interval(draws - best)
    assert found.estimate == 0.0
    assert found.low == 0.0
    assert found.high > 0.01
    assert inside(found, -0.01, 0.01) is None
    far = regret_interval(np.array([np.zeros(8), draws[0] - 1.0]))
    assert (far.low, far.high) == (0.0, 0.0)
    assert not regret_interval(np.array([[np.nan] * 8])).is_known


def test_a_validation_that_was_interrupted_decides_nothing() -> None:
    """Values of a setting are compared split by split; where one of them lacks a split, none is the best."""
    frame = whole("R4.5")
    dropped = next(
        one for one in frame.trials if one.experiment == "R4.c of SGD, adult, complete" and one.solver != "SGD 10000"
    )
    found = CLAIMS["R4.5"].rule(Frame(tuple(one for one in frame.trials if one is not dropped), frame.facts))
    states = {part.says: part for part in found.parts}
    lacking = states["c of SGD on adult data: 10000 is within a point of the best"]
    assert lacking.holds is None
    assert "not every value of c of SGD was tried on every split" in lacking.numbers
    assert sum(part.holds is True for part in found.parts) == len(found.parts) - 1


def test_a_small_lead_in_speed_is_neither_refuted_nor_proven_by_an_interval_that_includes_none() -> None:
    """Twenty percent ahead, or not at all: the claim of a lead stays open, however narrow the interval is."""
    trials = []
    for seed in range(9):
        trials.append(made_trial("made up", "quick", down=1000, seed=seed))
        trials.append(made_trial("made up", "slow", down=1200 if seed % 2 else 1000, seed=seed))
    frame = frame_of(*trials)
    found = faster(frame, frame.of("made up", "quick"), frame.of("made up", "slow"))
    assert "(1 to 1.2)" in found.brief
    assert found.holds is None
    equal = faster(
        frame, frame.of("made up", "quick"), [replace(t, solver="as quick") for t in frame.of("made up", "quick")]
    )
    assert equal.holds is None


@pytest.mark.parametrize(
    ("values", "ahead", "differs"),
    [
        ((0.02, 0.03), True, True),
        ((-0.02, -0.03), False, True),
        ((0.001, -0.001), False, False),
        ((0.02, -0.02), None, None),
        ((0.001, 0.002), True, True),
    ],
)
def test_a_difference_below_the_least_that_counts_is_none(
    values: tuple[float, float], ahead: bool | None, differs: bool | None
) -> None:
    found = mean_interval(np.array(values * 8))
    assert above_zero(found, 0.005) is ahead
    assert is_some(found, 0.005) is differs
    assert above_zero(mean_interval(np.array(values)), 0.005) is None, "two repeats decide nothing"


def test_an_interval_without_its_own_estimate_decides_nothing() -> None:
    """The median of resamples is mostly at 9 where that of the sample, on the edge between two values, is at 0.2."""
    assert inside(Interval(0.2, 0.3, 9.0, 20), 0.1, 10.0) is None
    assert inside(Interval(0.3, 0.3, 9.0, 20), 0.1, 10.0) is True
    assert inside(Interval(0.3 - 1e-16, 0.3, 9.0, 20), 0.1, 10.0) is True
    assert inside(Interval(np.inf, 5.0, np.inf, 20), 1.0, np.inf) is True


def test_few_unknown_repeats_widen_a_median_and_many_make_it_unknown() -> None:
    """An unknown repeat may be anything: with one of 40 the median is bounded, with 20 of 40 it is not."""
    values = np.random.default_rng(5).uniform(4.0, 6.0, 40)
    one, half = (np.where(np.arange(40) < unknown, np.nan, values) for unknown in (1, 20))
    whole, wider = median_interval(values), median_interval(one)
    assert wider.low <= whole.low <= whole.high <= wider.high
    assert inside(wider, 4.0, 6.0) is True
    assert inside(median_interval(half), 4.0, 6.0) is None
    assert not median_interval(np.full(40, np.nan)).is_known
    assert inside(ratio_interval(10.0 * values, one), 5.0, 20.0) is True
    assert inside(ratio_interval(10.0 * values, half), 5.0, 20.0) is None
    assert inside(ratio_interval(half, values), 0.1, 10.0) is None


def test_what_decides_is_told_in_brief_and_the_rest_in_full() -> None:
    """The quick solver comes down to 5 % early and all the way late: it is ahead above 5 % and behind below."""
    updates = np.linspace(0.0, 5000.0, POINTS)
    left = np.select([updates < 400, updates < 3000], [1.0, 0.05], 0.0)
    one = made_trial("made up", "early")
    records = dict(one.records) | {"primal": (BEST + (START - BEST) * left).tolist()}
    frame = frame_of(replace(one, records=records), made_trial("made up", "late", down=1000))
    found = faster(frame, frame.of("made up", "early"), frame.of("made up", "late"))
    assert found.holds is False
    assert found.brief == "late takes 0.333 (0.333 to 0.333) times early's updates (at 3 %, 1 % and 0.1 %)"
    assert "at 30 %" in found.numbers
    both = all_of([found, Finding(True, "holds by these")])
    assert both.holds is False
    assert both.brief == found.brief
    assert "holds by these" in both.numbers
    many = all_of([Finding(True, str(place)) for place in range(5)])
    assert many.brief == "0; 1; 2; and 2 more"


def test_heights_reached_while_two_solvers_are_the_same_run_compare_nothing() -> None:
    """Both come down to 5 % alike; from 2,500 updates on they differ, and one takes twice as long to go on."""
    updates = np.linspace(0.0, 5000.0, POINTS)
    trials = []
    for name, down in (("one order", 4000), ("permutations", 2500)):
        left = np.select([updates < 400, updates < down], [1.0, 0.05], 0.0)
        trial = made_trial("made up", name)
        records = dict(trial.records) | {"primal": (BEST + (START - BEST) * left).tolist()}
        trials.append(replace(trial, records=records))
    frame = frame_of(*trials)
    found = faster(frame, frame.of("made up", "permutations"), frame.of("made up", "one order"))
    assert found.holds is True
    assert found.brief == "one order takes 1.6 (1.6 to 1.6) times permutations's updates (at 3 %, 1 % and 0.1 %)"
    assert "30 %, 10 % reached while both are the same run" in found.numbers
    flat = replace(trial, solver="flat", records=dict(records) | {"primal": [START] * POINTS})
    frame = frame_of(*trials, flat)
    found = faster(frame, frame.of("made up", "permutations"), frame.of("made up", "flat"))
    assert found.holds is None
    assert found.brief.startswith("flat against permutations: 30 %, 10 %, 3 %")


def test_a_verdict_in_short_names_the_part_it_rests_on() -> None:
    found = CLAIMS["R2.1"].rule(too_short(whole("R2.1")))
    assert found.deciding.holds is None
    assert found.in_short.startswith("0 of 3 parts hold. Undecided: permutation helps SDCA on breast cancer data: ")
    assert found.in_short.endswith("(and 2 more).")
    assert CLAIMS["R2.1"].rule(whole("R2.1")).in_short.startswith("3 of 3 parts hold. Holds: permutation helps SDCA")
