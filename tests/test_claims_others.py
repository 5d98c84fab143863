"""The rules of the claims of R1 to R4 on made-up frames: each verdict, for the right reasons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from claimed import POINTS, frame_of, made_optimum, made_trial
from dualgap.replication import rules_r1 as r1
from dualgap.replication import rules_r2 as r2
from dualgap.replication import rules_r3 as r3
from dualgap.replication import rules_r4 as r4
from dualgap.replication.claims import CLAIMS, chosen
from dualgap.replication.figures_r4 import chosen_settings
from dualgap.replication.frames import Frame
from dualgap.replication.gathering import Gathered
from dualgap.replication.verdicts import Outcome
from test_claims_r0 import CASES as FIRST

HOLDS, PARTLY, FAILS = Outcome.HOLDS, Outcome.PARTLY, Outcome.FAILS


def images(
    *,
    error: float = 0.26,
    settled: int = 4,
    pace: float = 3.0,
    first: float = 500,
    apart: float = 0.0,
    reduced_pace: float = 0.2,
    reduced_apart: float = 0.0,
) -> Frame:
    """Six epochs of 1,000 updates; P of Pegasos costs `pace` times SDCA's CPU time on raw images."""
    epochs = np.linspace(0.0, 6.0, POINTS)
    sdca = np.where(epochs < 1.0, 0.5, 1.0 - error)
    pegasos = np.where(epochs < settled, 0.5, 1.0 - error)
    common: dict[str, Any] = dict(data="blood_cells", total=6000.0)
    return frame_of(
        made_trial("R1.raw", r1.SDCA, down=1500, score=sdca, **common),
        made_trial("R1.raw", r1.SGD_FIRST, down=first, score=sdca - apart, **common),
        made_trial("R1.raw", r1.PEGASOS, down=1500, score=pegasos, pace=pace * 1e-3, **common),
        made_trial("R1.reduced", r1.SDCA, score=sdca, **common),
        made_trial("R1.reduced", r1.SGD_FIRST, score=sdca, **common),
        made_trial("R1.reduced", r1.PEGASOS, score=sdca - reduced_apart, pace=reduced_pace * 1e-3, **common),
    )


def permutations(breast: float, simulated: float, pegasos: float) -> Frame:
    return frame_of(
        made_trial(r2.BREAST, r2.SDCA, down=1000),
        made_trial(r2.BREAST, r2.PERMUTATION, down=breast),
        made_trial(r2.SIMULATED, r2.SDCA, down=1000),
        made_trial(r2.SIMULATED, r2.PERMUTATION, down=simulated),
        made_trial(r2.BREAST, r2.PEGASOS, down=1000),
        made_trial(r2.BREAST, r2.PEGASOS_PERMUTATION, down=pegasos),
    )


def labels(score: float, downs: tuple[float, float], pegasos_first: float) -> Frame:
    """Scores with labels −1/+1; updates of SDCA and Pegasos; how much of the way Pegasos has left from the start."""
    start = made_trial(r2.BREAST, r2.PEGASOS, down=0, end=pegasos_first)
    late = made_trial(r2.BREAST, r2.PEGASOS, down=downs[1])
    primal = [min(pair) for pair in zip(start.records["primal"], late.records["primal"], strict=True)]  # type: ignore[type-var]
    pegasos = made_trial(r2.BREAST, r2.PEGASOS)
    return frame_of(
        made_trial(r2.BREAST, r2.PERMUTATION, down=downs[0]),
        made_trial(r2.SIGNS, r2.PERMUTATION, score=score),
        made_trial(r2.SIGNS, r2.PEGASOS, score=score),
        type(pegasos)(**{**pegasos.__dict__, "records": {**pegasos.records, "primal": [1.0, *primal[1:]]}}),
        made_trial(r2.ZEROS, r2.PERMUTATION, score=0.63),
        made_trial(r2.ZEROS, r2.PEGASOS, score=0.63),
    )


def outputs(breast: float, simulated: float, early: float) -> Frame:
    """By how much the average scores more than the random iterate."""
    trials = []
    for experiment, suffix, more in (
        (r2.SIGNS, "", breast),
        (r2.SIMULATED, "", simulated),
        (r2.SIMULATED, r2.EARLY, early),
    ):
        trials.append(made_trial(experiment, r2.AVERAGE + suffix, score=0.8 + more))
        trials.append(made_trial(experiment, r2.RANDOM + suffix, score=0.8))
    return frame_of(*trials)


def two_alike(down: float, jump: float, score: float) -> Frame:
    return frame_of(
        made_trial(r2.SIMULATED, r2.PERMUTATION, down=500, jump=0.01, score=0.82),
        made_trial(r2.SIMULATED, r2.PEGASOS, down=down, jump=jump, score=score),
    )


def methods(
    scores: tuple[float, float, float],
    epochs: tuple[float, float, float],
    ends: tuple[float, ...],
    down: tuple[float, float] = (4.0, 4.0),
) -> Frame:
    """Accuracy and the epoch at which it is reached, per method; how far projected ascent ends with three steps, and box;
    the epoch at which P of both dual methods comes down."""
    grid = np.linspace(0.0, 200.0, POINTS)
    trials = []
    names = (r3.SUBGRADIENT, r3.PROJECTED, r3.BOX)
    for name, score, epoch, last in zip(names, scores, epochs, (100.0, *down), strict=True):
        curve = np.where(grid < epoch, 0.5, score)
        trials.append(made_trial(r3.ACCURACY, name, total=200.0, rows=1, score=curve, down=last))
    names = (*(f"{r3.PROJECTED}, step {number}" for number in range(3)), r3.BOX)
    trials += [made_trial(r3.STEPS, name, end=end) for name, end in zip(names, ends, strict=True)]
    return frame_of(*trials)


def learning(better: float, waves: float, gap: float) -> Frame:
    """SGD scores higher by `better`, and its accuracy keeps going up and down by `waves`, and SDCA ends at `gap`."""
    trials = []
    for data, strengths in r4.STRENGTHS.items():
        experiment = r4.COMPLETE[data]
        wavy = 0.7 + better + waves * np.where(np.arange(POINTS) % 2 == 0, 0.0, 1.0)
        for strength in strengths:
            trials.append(made_trial(experiment, r4.SGD, strength=strength, score=wavy))
            trials.append(made_trial(experiment, r4.SDCA, strength=strength, score=0.7, gap=gap))
    return frame_of(*trials)


def stopping(arrhythmia: int, adult: int, first_small: int) -> Frame:
    gaps = np.where(np.arange(POINTS) < first_small, 1.0, 1e-4)
    return frame_of(
        made_trial("R4.stopping, arrhythmia", r4.SDCA, gap=gaps, total=500_000.0),
        made_trial("R4.stopping, adult", r4.SDCA, gap=gaps, total=500_000.0),
        **{"R4.stopping/arrhythmia": arrhythmia, "R4.stopping/adult": adult},
    )


def steps(closed: str, newton: str, pace: float) -> Frame:
    trials = []
    for data in r4.STEP_SETS.values():
        trials.append(made_trial("R4.steps", r4.CLOSED, data=data, status=closed))
        trials.append(made_trial("R4.steps", r4.NEWTON, data=data, status=newton, pace=pace * 1e-3))
    return frame_of(*trials)


def selections(better: dict[tuple[str, str], float]) -> Frame:
    """By how much another value than the printed one is more accurate."""
    trials = []
    for (data, setting), printed in r4.SELECTED.items():
        experiment = f"R4.{setting}, {'adult, complete' if data == 'adult' else data}"
        for value, score in ((printed, 0.8), (printed * 100, 0.8 + better.get((data, setting), 0.0))):
            if setting == "c of SDCA":
                trials.append(made_trial(experiment, r4.SDCA, strength=value, score=score))
            else:
                trials.append(made_trial(experiment, f"SGD {value:g}", score=score))
    return frame_of(*trials)


def endings(random_score: float, average_end: float) -> Frame:
    trials = []
    for data, (_, strength) in r4.STRENGTHS.items():
        experiment = r4.COMPLETE[data]
        trials.append(made_trial(experiment, r4.RANDOM, strength=strength, score=random_score))
        trials.append(made_trial(experiment, r4.AVERAGE, strength=strength, score=0.75, end=average_end))
        trials.append(made_optimum(experiment, strength=strength, score=0.75))
    return frame_of(*trials)


FAR, NEAR = (0.98, 0.995, 0.995), (180.0, 4.0, 4.0)
CASES: list[tuple[str, Outcome, Callable[[], Frame]]] = [
    ("R1.1", HOLDS, images),
    ("R1.1", PARTLY, lambda: images(error=0.15)),
    ("R1.1", FAILS, lambda: images(error=0.15, settled=1, pace=0.5)),
    ("R1.2", HOLDS, images),
    ("R1.2", PARTLY, lambda: images(apart=0.05)),
    ("R1.2", FAILS, lambda: images(apart=0.05, first=2000)),
    ("R1.3", HOLDS, images),
    ("R1.3", PARTLY, lambda: images(reduced_pace=2.0)),
    ("R1.3", FAILS, lambda: images(reduced_pace=2.0, reduced_apart=0.1)),
    ("R1.4", HOLDS, images),
    ("R1.4", PARTLY, lambda: images(reduced_pace=2.0)),
    ("R1.4", FAILS, lambda: images(reduced_pace=2.0, pace=0.5)),
    ("R2.1", HOLDS, lambda: permutations(500, 500, 1100)),
    ("R2.1", PARTLY, lambda: permutations(500, 1500, 1100)),
    ("R2.1", FAILS, lambda: permutations(1500, 1500, 3000)),
    ("R2.2", HOLDS, lambda: labels(0.6, (500, 3000), 0.5)),
    ("R2.2", PARTLY, lambda: labels(0.9, (500, 3000), 0.5)),
    ("R2.2", FAILS, lambda: labels(0.9, (500, 600), 1.5)),
    ("R2.3", HOLDS, lambda: outputs(0.0, 0.01, -0.02)),
    ("R2.3", PARTLY, lambda: outputs(0.0, 0.01, 0.02)),
    ("R2.3", FAILS, lambda: outputs(0.05, 0.05, 0.02)),
    ("R2.4", HOLDS, lambda: two_alike(600, 0.01, 0.81)),
    ("R2.4", PARTLY, lambda: two_alike(600, 0.04, 0.81)),
    ("R2.4", FAILS, lambda: two_alike(3000, 0.04, 0.9)),
    ("R3.1", HOLDS, lambda: methods(FAR, NEAR, (1e-3, 0.1, 0.5, 0.0))),
    ("R3.1", PARTLY, lambda: methods(FAR, (4.0, 4.0, 4.0), (1e-3, 0.1, 0.5, 0.0))),
    ("R3.1", FAILS, lambda: methods((0.9, 0.9, 0.9), (5.0, 50.0, 50.0), (1e-3, 0.1, 0.5, 0.0))),
    ("R3.2", HOLDS, lambda: methods(FAR, NEAR, (1e-3, 0.1, 0.5, 0.0))),
    ("R3.2", PARTLY, lambda: methods(FAR, NEAR, (1e-3, 1e-3, 1e-3, 0.0))),
    ("R3.2", FAILS, lambda: methods((0.98, 0.995, 0.9), NEAR, (1e-3, 1e-3, 1e-3, 0.1))),
    ("R3.3", HOLDS, lambda: methods(FAR, NEAR, (1e-3, 0.1, 0.5, 0.0), down=(4.0, 4.0))),
    ("R3.3", PARTLY, lambda: methods(FAR, NEAR, (1e-3, 0.1, 0.5, 0.0), down=(50.0, 4.0))),
    ("R3.3", FAILS, lambda: methods(FAR, NEAR, (1e-3, 0.1, 0.5, 0.0), down=(50.0, 50.0))),
    ("R4.1", HOLDS, lambda: learning(0.05, 0.01, 0.1)),
    ("R4.1", PARTLY, lambda: learning(0.05, 0.01, 1e-6)),
    ("R4.1", FAILS, lambda: learning(-0.05, 0.0, 1e-6)),
    ("R4.2", HOLDS, lambda: stopping(401_549, 629_840, 2)),
    ("R4.2", PARTLY, lambda: stopping(401_550, 629_840, 2)),
    ("R4.2", FAILS, lambda: stopping(401_550, 629_841, 40)),
    ("R4.3", HOLDS, lambda: steps("BROKEN", "CERTIFIED", 20.0)),
    ("R4.3", PARTLY, lambda: steps("CERTIFIED", "CERTIFIED", 2.0)),
    ("R4.3", FAILS, lambda: steps("CERTIFIED", "BROKEN", 2.0)),
    ("R4.4", HOLDS, lambda: endings(0.75, 0.0)),
    ("R4.4", PARTLY, lambda: endings(0.75, 0.1)),
    ("R4.4", FAILS, lambda: endings(0.5, 0.1)),
    ("R4.5", HOLDS, lambda: selections({})),
    ("R4.5", PARTLY, lambda: selections({("adult", "c of SGD"): 0.05})),
    ("R4.5", FAILS, lambda: selections(dict.fromkeys(r4.SELECTED, 0.05))),
]


@pytest.mark.parametrize(("claim", "outcome", "frame"), CASES, ids=[f"{case[0]} {case[1].value}" for case in CASES])
def test_a_rule_gives_the_verdict_its_frame_was_made_for(
    claim: str, outcome: Outcome, frame: Callable[[], Frame]
) -> None:
    found = CLAIMS[claim].rule(frame())
    assert found.outcome is outcome, found
    assert all(part.numbers for part in found.parts), "every part says what it rests on"


def test_a_reading_under_which_the_loss_never_comes_down_is_not_judged() -> None:
    """Of two readings of the pictures the one with the printed error loses, because its curve contradicts the figure."""
    near = made_trial("R1.raw", r1.SDCA, data="bytes", down=1e9, score=0.74)
    down = made_trial("R1.raw", r1.SDCA, data="shares", down=1000, score=0.88)
    assert r1.fitting(frame_of(near, down)) == "shares"
    also_down = made_trial("R1.raw", r1.SDCA, data="bytes", down=1000, score=0.74)
    assert r1.fitting(frame_of(also_down, down)) == "bytes"


def test_outputs_without_a_difference_are_no_slight_difference() -> None:
    says = "a slight difference on simulated data (at most 2 points, not 0)"
    states = {
        more: next(one.holds for one in CLAIMS["R2.3"].rule(outputs(0.0, more, 0.0)).parts if one.says == says)
        for more in (-0.01, 0.0, 0.01, 0.05)
    }
    assert states == {-0.01: True, 0.0: False, 0.01: True, 0.05: False}


def test_table_1_shows_the_accuracies_by_which_a_value_is_selected() -> None:
    """Of two values the one with the better mean is selected, though its median may be lower."""
    frame = selections({})
    first_rows = [replace(t, experiment=t.experiment.removesuffix(", complete")) for t in frame.trials]
    uneven = [
        made_trial("R4.c of SGD, arrhythmia", "SGD 1000000", score=score, seed=seed)
        for seed, score in enumerate((0.7, 0.7, 0.7, 0.7, 1.0, 1.0))
    ]
    even = [made_trial("R4.c of SGD, arrhythmia", "SGD 1000", score=0.75, seed=seed) for seed in range(6)]
    others = [t for t in (*frame.trials, *first_rows) if t.experiment != "R4.c of SGD, arrhythmia"]
    (table,) = chosen_settings(Gathered((), {}, frame_of(*others, *uneven, *even)))
    assert table.rows[0] == ("arrhythmia", "c of SGD", "1000", "0.750", "1e+06", "0.800")


def test_labels_are_a_hypothesis_that_the_numbers_support_or_not() -> None:
    blamed = CLAIMS["R2.2"].rule(labels(0.9, (500, 3000), 0.5)).sentence
    assert "agree with the hypothesis, which they do not prove" in blamed
    assert "do not support the hypothesis" in CLAIMS["R2.2"].rule(labels(0.6, (500, 3000), 0.5)).sentence


EVERY = (*FIRST, *CASES)


def test_every_claim_is_tested_for_every_verdict() -> None:
    tested = {(claim, outcome) for claim, outcome, _ in EVERY}
    # A claim of one part cannot hold in part.
    assert tested == {(claim, outcome) for claim in CLAIMS for outcome in (HOLDS, PARTLY, FAILS)} - {("R0.9", PARTLY)}


def test_claims_are_chosen_by_report_and_by_id() -> None:
    assert [claim.id for claim in chosen(["r4.2", "R3"])] == ["R3.1", "R3.2", "R3.3", "R4.2"]
    assert [claim.id for claim in chosen(["r0.5B"])] == ["R0.5b"]
    assert len(chosen([])) == len(CLAIMS) == 29
    with pytest.raises(ValueError, match="no report or claim 'R5'"):
        chosen(["R5"])
