"""The rules of R0's claims on made-up frames: each verdict, for the right reasons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from claimed import frame_of, made_trial
from dualgap.replication import rules_r0 as r0
from dualgap.replication import rules_r0_outputs as outputs
from dualgap.replication.claims import CLAIMS
from dualgap.replication.frames import Frame, Missing, Trial
from dualgap.replication.verdicts import Outcome

HOLDS, PARTLY, FAILS = Outcome.HOLDS, Outcome.PARTLY, Outcome.FAILS
BETA = (1.0, 0.0)
EXPERIMENTS = {"simulated": "R0.simulated", "genomic": r0.JUDGED.genomic, "skin": "R0.skin"}


def speeds(**sets: tuple[float, float, float, float]) -> Frame:
    """Updates of SDCA, ASDCA, mini-batch Pegasos and Pegasos on the three data sets."""
    usual = {"simulated": (400, 300, 600, 900), "genomic": (500, 600, 200, 900), "skin": (400, 300, 600, 900)}
    trials = []
    for data, downs in (usual | sets).items():
        for name, down in zip((r0.SDCA, "ASDCA 1x", r0.MINI, r0.PEGASOS), downs, strict=True):
            trials.append(made_trial(EXPERIMENTS[data], name, down=down))
    return frame_of(*trials)


def samplings(genomic: Any, skin: Any, jumps: tuple[float, float]) -> Frame:
    names = (r0.SDCA, r0.PERMUTATION, r0.CYCLIC)
    rough = dict(zip(names, (*jumps, 0.0), strict=True))
    return frame_of(
        *(made_trial(r0.JUDGED.genomic, name, down=down) for name, down in zip(names, genomic, strict=True)),
        *(made_trial("R0.skin", name, down=down, jump=rough[name]) for name, down in zip(names, skin, strict=True)),
    )


def accuracies(shift: float = 0.0, apart: float = 0.0, beta: float = 0.878) -> Frame:
    """Table 2 as printed, give or take 0.02 from seed to seed, moved by `shift`, averages moved by `apart` more."""
    trials = []
    for name, printed in outputs.TABLE_2.items():
        for suffix, accuracy in zip(("", outputs.AVERAGED), printed, strict=True):
            for seed, noise in enumerate((-0.02, -0.01, 0.0, 0.01, 0.02)):
                score = accuracy + shift + noise + (apart if suffix else 0.0)
                trials.append(made_trial("R0.table 2", name + suffix, score=score, seed=seed))
    return frame_of(*trials, **{"R0.table 2/accuracy of beta": [beta - 0.01, beta, beta, beta, beta + 0.01]})


def projection(speed: float, end: float, jump: float) -> Frame:
    return frame_of(
        made_trial(r0.JUDGED.genomic, r0.PEGASOS, down=500, jump=0.01),
        made_trial(r0.JUDGED.genomic, r0.PROJECTED, down=speed, end=end, jump=jump),
    )


def projected_scores(averaged: float, last: float) -> Frame:
    trials = []
    for plain, projected in ((r0.PEGASOS, r0.PROJECTED), (r0.MINI, r0.MINI_PROJECTED)):
        for suffix, change in ((outputs.AVERAGED, averaged), ("", last)):
            for seed, noise in enumerate((-0.01, 0.0, 0.01, 0.0, 0.005, -0.005)):
                slight = 0.0001 * seed  # no two differences are alike to the last bit
                options = dict(data=f"set {seed}", seed=seed)
                trials.append(made_trial("R0.table 2", plain + suffix, score=0.87 + noise, **options))
                trials.append(
                    made_trial("R0.table 2", projected + suffix, score=0.87 + noise + change + slight, **options)
                )
    return frame_of(*trials)


def by_strength(downs: tuple[float, ...], ends: tuple[float, ...]) -> Frame:
    trials = []
    for name in (r0.SDCA, r0.PEGASOS, r0.JUDGED.asdca, r0.MINI):
        for strength, down, end in zip((0.01, 0.1, 1.0), downs, ends, strict=True):
            trials.append(made_trial(r0.JUDGED.strengths, name, strength=strength, down=down, end=end))
    return frame_of(*trials)


def coefficients(averaged: dict[str, float], others: float) -> Frame:
    """Weights at an angle to β: 0.3 for the last iterates, as given for the averages."""
    trials = []
    for name in (r0.SDCA, r0.PEGASOS, r0.ASDCA, r0.MINI):
        for suffix, turn in (("", 0.3), (outputs.AVERAGED, averaged.get(name, others))):
            weights = (5.0 * np.cos(turn), 5.0 * np.sin(turn))
            trials.append(made_trial("R0.table 2", name + suffix, weights=weights, beta=BETA))
    return frame_of(*trials)


def projected_weights(pegasos: float, mini: float) -> Frame:
    """The angle by which projection turns the weights."""
    trials = []
    for plain, projected, turn in ((r0.PEGASOS, r0.PROJECTED, pegasos), (r0.MINI, r0.MINI_PROJECTED, mini)):
        for suffix in ("", outputs.AVERAGED):
            trials.append(made_trial("R0.table 2", plain + suffix, weights=(1.0, 0.0), beta=BETA))
            weights = (float(np.cos(turn)), float(np.sin(turn)))
            trials.append(made_trial("R0.table 2", projected + suffix, weights=weights, beta=BETA))
    return frame_of(*trials)


def stopped(ends: tuple[float, ...], radius: float) -> Frame:
    trials = [made_trial("R0.random stop", r0.PEGASOS, end=end, seed=seed) for seed, end in enumerate(ends * 10)]
    return frame_of(*trials, **{"R0.random stop/longest row": radius})


CASES: list[tuple[str, Outcome, Callable[[], Frame]]] = [
    ("R0.1", HOLDS, speeds),
    ("R0.1", PARTLY, lambda: speeds(skin=(200, 200, 1200, 900))),
    ("R0.1", FAILS, lambda: speeds(**dict.fromkeys(EXPERIMENTS, (2000, 300, 600, 900)))),
    ("R0.2", HOLDS, speeds),
    ("R0.2", PARTLY, lambda: speeds(genomic=(200, 600, 500, 900))),
    (
        "R0.2",
        FAILS,
        lambda: speeds(simulated=(900, 900, 200, 900), genomic=(200, 600, 500, 900), skin=(900, 900, 200, 900)),
    ),
    ("R0.3", HOLDS, lambda: samplings((900, 1000, 900), (500, 500, 900), (0.0, 0.005))),
    ("R0.3", PARTLY, lambda: samplings((900, 1000, 900), (500, 500, 400), (0.0, 0.005))),
    ("R0.3", FAILS, lambda: samplings((900, 200, 900), (500, 1000, 400), (0.01, 0.0))),
    ("R0.4", HOLDS, accuracies),
    ("R0.4", PARTLY, lambda: accuracies(shift=0.05)),
    ("R0.4", FAILS, lambda: accuracies(shift=0.05, apart=0.05, beta=0.9)),
    ("R0.5", HOLDS, lambda: projection(500, 0.0, 0.001)),
    ("R0.5", PARTLY, lambda: projection(500, 0.0, 0.02)),
    ("R0.5", FAILS, lambda: projection(2000, 0.03, 0.015)),
    ("R0.5b", HOLDS, lambda: projected_scores(0.01, -0.01)),
    ("R0.5b", PARTLY, lambda: projected_scores(0.01, 0.0)),
    ("R0.5b", FAILS, lambda: projected_scores(-0.01, 0.01)),
    ("R0.6", HOLDS, lambda: by_strength((900, 500, 200), (0.0, 0.0002, 0.0004))),
    ("R0.6", PARTLY, lambda: by_strength((900, 500, 700), (0.0, 0.0002, 0.0004))),
    ("R0.6", FAILS, lambda: by_strength((200, 500, 900), (0.0004, 0.0002, 0.0))),
    ("R0.7", HOLDS, speeds),
    ("R0.7", PARTLY, lambda: speeds(skin=(2000, 300, 300, 900))),
    ("R0.7", FAILS, lambda: speeds(**dict.fromkeys(EXPERIMENTS, (2000, 300, 300, 900)))),
    ("R0.8", HOLDS, speeds),
    ("R0.8", PARTLY, lambda: speeds(skin=(200, 1000, 600, 900))),
    ("R0.8", FAILS, lambda: speeds(**dict.fromkeys(EXPERIMENTS, (200, 500, 500, 200)))),
    ("R0.9", HOLDS, lambda: speeds(skin=(300, 300, 600, 900))),
    ("R0.9", FAILS, lambda: speeds(skin=(200, 1000, 600, 900))),
    ("R0.10", HOLDS, lambda: coefficients({}, 0.3)),
    ("R0.10", PARTLY, lambda: coefficients({r0.PEGASOS: 0.1}, 0.3)),
    ("R0.10", FAILS, lambda: coefficients({}, 0.1)),
    ("R0.11", HOLDS, lambda: stopped((0.0, 0.01, 0.02, 0.5), 1.0)),
    ("R0.11", PARTLY, lambda: stopped((0.0, 0.2, 0.3, 0.35), 0.1)),
    ("R0.11", FAILS, lambda: stopped((0.0, 0.2, 0.3, 0.35), 1e-3)),
    ("R0.12", HOLDS, lambda: projected_weights(0.01, 0.01)),
    ("R0.12", PARTLY, lambda: projected_weights(0.01, 0.5)),
    ("R0.12", FAILS, lambda: projected_weights(0.5, 0.5)),
]


@pytest.mark.parametrize(("claim", "outcome", "frame"), CASES, ids=[f"{case[0]} {case[1].value}" for case in CASES])
def test_a_rule_gives_the_verdict_its_frame_was_made_for(
    claim: str, outcome: Outcome, frame: Callable[[], Frame]
) -> None:
    found = CLAIMS[claim].rule(frame())
    assert found.outcome is outcome, found
    assert all(part.numbers for part in found.parts), "every part says what it rests on"


def test_updates_decide_and_rows_touched_stand_beside_them() -> None:
    """R0.9: a batch of two touches twice as many rows in an update."""
    trials = [made_trial("R0.skin", name, batch=batch) for name, batch in ((r0.SDCA, 1), (r0.JUDGED.asdca, 2))]
    found = CLAIMS["R0.9"].rule(frame_of(*trials))
    assert found.outcome is HOLDS
    assert [other.outcome for words, other in found.beside.items() if "rows touched" in words] == [FAILS]


@pytest.mark.parametrize("claim", ["R0.1", "R0.2", "R0.7", "R0.8"])
def test_speeds_are_counted_in_rows_touched_beside(claim: str) -> None:
    """A batch of eight touches eight times as many rows as updates: what leads by less loses its lead."""
    trials = []
    for data, experiment in EXPERIMENTS.items():
        batch = 2 if data == "skin" else 8
        for name, down, size in (
            (r0.SDCA, 400, 1),
            ("ASDCA 1x", 300, batch),
            (r0.MINI, 200, batch),
            (r0.PEGASOS, 900, 1),
        ):
            trials.append(made_trial(experiment, name, down=down, batch=size))
    (rows,) = [one for words, one in CLAIMS[claim].rule(frame_of(*trials)).beside.items() if "rows touched" in words]
    assert all("rows touched" in part.numbers for part in rows.parts)
    states = {part.says: part.holds for part in rows.parts}
    expected = {
        "R0.1": {"Pegasos is the slowest on simulated data": False, "Pegasos is the slowest on skin data": True},
        "R0.2": {"mini-batch Pegasos is the fastest on genomic data": False},
        "R0.7": dict.fromkeys((f"SDCA is faster than Pegasos on {data} data" for data in EXPERIMENTS), True),
        "R0.8": {"mini-batch Pegasos does best on genomic data (d > n)": False},
    }[claim]
    assert {says: states[says] for says in expected} == expected


def test_the_verdict_comes_from_the_real_problem_and_the_likely_setting_stands_beside_it() -> None:
    real, likely = speeds(), speeds(genomic=(2000, 300, 300, 900))
    other = tuple(replace(t, experiment="R0.genomic") for t in likely.trials if t.experiment == r0.JUDGED.genomic)
    found = CLAIMS["R0.7"].rule(Frame((*real.trials, *other)))
    assert found.outcome is HOLDS
    assert found.beside[r0.LIKELY].outcome is PARTLY


def test_a_certified_run_keeps_its_last_value_and_cuts_no_curve() -> None:
    from dualgap.replication.heights import descent

    def ended(seed: int, count: int, status: str) -> Trial:
        whole = made_trial("R0.skin", r0.SDCA, down=1000, seed=seed)
        return replace(whole, records={name: values[:count] for name, values in whole.records.items()}, status=status)

    early = [ended(seed, 12, "CERTIFIED") for seed in range(6)]
    frame = frame_of(*early, made_trial("R0.skin", r0.SDCA, down=3000, seed=6))
    trials = frame.of("R0.skin", r0.SDCA)
    assert descent(frame, trials).places.tolist() == [1000.0] * 5
    cut = frame_of(*(ended(seed, 12, "BROKEN") for seed in range(6)), made_trial("R0.skin", r0.SDCA, down=3000, seed=6))
    assert np.isinf(descent(cut, cut.of("R0.skin", r0.SDCA)).places).all()


def test_a_curve_that_rises_again_has_not_come_down() -> None:
    from dualgap.replication.heights import descent

    restless = frame_of(made_trial("R0.skin", r0.SDCA, down=500, jump=0.4))
    assert (descent(restless, restless.of("R0.skin", r0.SDCA)).places >= 4900).all()


def test_a_bound_that_says_nothing_is_no_part_of_the_verdict() -> None:
    found = CLAIMS["R0.11"].rule(stopped((0.0, 0.01, 0.02, 0.5), 1.0))
    assert len(found.parts) == 1
    assert "says nothing here" in found.sentence


def test_what_was_not_run_is_missing_and_not_a_verdict() -> None:
    with pytest.raises(Missing, match=r"R0\.simulated"):
        CLAIMS["R0.1"].rule(frame_of())
