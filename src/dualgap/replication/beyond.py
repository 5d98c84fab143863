"""Beyond the reports: the certified optimum of every problem, its test accuracy, and how far each setting ended from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dualgap.replication.frames import OPTIMUM
from dualgap.replication.gathering import Gathered
from dualgap.replication.naming import data_words
from dualgap.workbench import summary
from dualgap.workbench.store import FinishedRun

# Sweeps over settings are figures; here stand the settings the reports chose.
LEFT_OUT = ("R4.c of", "R4.eps of", "R4.widths")


@dataclass(frozen=True)
class Ending:
    """How a solver's runs ended on a problem: the median of P/P* − 1, and of the test accuracy."""

    solver: str
    excess: float
    score: float | None


@dataclass(frozen=True)
class Problem:
    """A problem of an experiment: between which values its optimum is proven to lie, and how far everybody ended from it."""

    experiment: str
    data: str
    shape: str
    strength: float
    dual: float
    primal: float
    relative_gap: float
    score: float | None
    draws: int
    endings: tuple[Ending, ...]


def problems(gathered: Gathered) -> list[Problem]:
    """A line per problem; draws of generated data, and splits, count as one problem, with medians over them."""
    found: dict[tuple[str, str, float], list[FinishedRun]] = {}
    for run in gathered.runs:
        experiment = str(run.settings["experiment"])
        if not experiment.startswith(LEFT_OUT):
            found.setdefault((experiment, data_words(str(run.settings["data"])), run.strength), []).append(run)
    made = [_problem(key, runs) for key, runs in found.items()]
    return [problem for problem in made if problem is not None]


def _problem(key: tuple[str, str, float], runs: Sequence[FinishedRun]) -> Problem | None:
    optima = {_drawn(run): run for run in runs if run.settings["solver"] == OPTIMUM}
    if not optima:
        return None
    proofs = list(optima.values())
    endings = []
    for solver, repeats in summary.by_solver(runs).items():
        if solver == OPTIMUM:
            continue
        excess = [
            (summary.final(run, "primal") or math.nan) / float(optima[_drawn(run)].certificate["primal"] or math.nan)
            - 1.0
            for run in repeats
            if _drawn(run) in optima
        ]
        endings.append(Ending(solver, _middle(excess), _score(repeats)))
    facts = proofs[0].data
    return Problem(
        *key[:2],
        f"{facts.get('rows', 0):,} × {facts.get('columns', 0):,}",
        key[2],
        _middle([float(run.certificate["dual"] or math.nan) for run in proofs]),
        _middle([float(run.certificate["primal"] or math.nan) for run in proofs]),
        max(_gap(run) for run in proofs),
        _score(proofs),
        len(proofs),
        tuple(sorted(endings, key=lambda ending: (math.isnan(ending.excess), ending.excess))),
    )


def _drawn(run: FinishedRun) -> tuple[str, int]:
    """Which draw and which split of the data a run is about: each has an optimum of its own."""
    return str(run.settings["data"]), int(run.settings.get("split_seed", 0))


def _gap(run: FinishedRun) -> float:
    """A certificate without a relative gap proves nothing."""
    known = run.certificate["relative_gap"]
    return math.inf if known is None else float(known)


def _score(runs: Sequence[FinishedRun]) -> float | None:
    scores = [score for run in runs if (score := summary.final(run, "test_score")) is not None]
    return float(np.median(scores)) if scores else None


def _middle(values: Sequence[float]) -> float:
    kept = [value for value in values if math.isfinite(value)]
    return float(np.median(kept)) if kept else math.nan
