"""Results for tests of summaries and pages: runs with made-up but plausible numbers, files of them, and a user's own solver."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

import dualgap as dg
from dualgap.solvers import Answer
from dualgap.workbench import store
from dualgap.workbench.plan import Run
from dualgap.workbench.store import FinishedRun

SOLVERS = (
    "sdca",
    "asdca(theta=16x)",
    "pegasos",
    "pegasos(batch_size=8)",
    "sgd",
    "subgradient",
    "projected_ascent",
    "box_ascent",
)
BETA = np.random.default_rng(1).standard_normal(6)


def made_run(
    solver: str = "sdca",
    seed: int = 0,
    *,
    data: str = "breast_cancer",
    strength: float = 0.01,
    length: int = 40,
    rate: float = 0.3,
    tol: float = 1e-6,
    **changes: Any,
) -> FinishedRun:
    """A run whose gap falls by e^−rate an epoch, with noise of its own; it ends once the gap is below tol."""
    run = Run(data, "hinge", f"{strength:g}", solver, float(length - 1), None, tol, 0.2, seed, 0)
    rng = np.random.default_rng([seed, sum(solver.encode()), length])
    epochs = np.arange(length, dtype=float)
    gaps = np.exp(-rate * epochs + 0.2 * rng.standard_normal(length))
    gaps[0] = 1.0
    certified = bool((gaps <= tol).any())
    kept = int(np.argmax(gaps <= tol)) + 1 if certified else length
    epochs, gaps = epochs[:kept], gaps[:kept]
    pace = 1e-4 * (1.0 + rng.random()) * (1 + sum(solver.encode()) % 5)
    primal = 0.3 + 0.25 * np.minimum(gaps, 1.0)
    dual = primal * (1.0 - np.minimum(gaps, 1.0))
    fields: dict[str, Any] = {
        "run": run.id,
        "settings": run.settings,
        "data": {
            "name": data,
            "task": "classification",
            "rows": 455,
            "columns": 6,
            "test_rows": 114,
            "sparse": False,
            "source": "made up",
        },
        "strength": strength,
        "status": "CERTIFIED" if certified else "EPOCHS_EXHAUSTED",
        "sentence": "the duality gap reached tol" if certified else "max_epochs was reached first",
        "reason": "sdca, as asked",
        "certificate": {
            "primal": float(primal[-1]),
            "dual": float(dual[-1]),
            "gap": float(primal[-1] - dual[-1]),
            "relative_gap": float(gaps[-1]),
        },
        "records": {
            "epoch": epochs.tolist(),
            "updates": (455 * epochs).astype(int).tolist(),
            "seconds": (pace * epochs).tolist(),
            "call_seconds": (pace * (epochs + 0.5)).tolist(),
            "cpu_seconds": (0.9 * pace * epochs).tolist(),
            "primal": primal.tolist(),
            "dual": dual.tolist(),
            "gap": (primal - dual).tolist(),
            "relative_gap": gaps.tolist(),
            "support": (455 * np.exp(-0.1 * epochs)).astype(int).tolist(),
            "train_score": (0.98 - 0.4 * gaps).tolist(),
            "test_score": (0.97 - 0.5 * gaps).tolist(),
        },
        "started": "2025-01-02T03:04:05+00:00",
        "machine": {"system": "Linux 6", "processor": "a processor", "cores": 2},
        "versions": {"dualgap": "0.1.0", "python": "3.11.7", "numpy": "2.0.0"},
    }
    return FinishedRun(**(fields | changes))


def made_rival(seed: int = 0, name: str = "scikit-learn LinearSVC") -> FinishedRun:
    """A rival: five fits at five tolerances, without epochs, not in the order of their seconds."""
    own = made_run(name, seed)
    records: dict[str, list[Any]] = {field: [None] * 5 for field in own.records}
    records |= {
        "call_seconds": [0.001, 0.003, 0.002, 0.008, 0.02],
        "relative_gap": [0.5, 0.05, 0.1, 1e-3, 1e-7],
        "primal": [0.5, 0.32, 0.35, 0.301, 0.3],
        "test_score": [0.9, 0.95, 0.94, 0.96, 0.97],
    }
    return made_run(name, seed, settings=own.settings | {"kind": "rival"}, records=records, status="CERTIFIED")


def many_runs(
    solvers: Iterable[str] = SOLVERS,
    repeats: int = 3,
    data: Iterable[str] = ("breast_cancer",),
    strengths: Iterable[float] = (0.01,),
    **options: Any,
) -> list[FinishedRun]:
    """Every combination; later solvers are slower."""
    return [
        made_run(solver, seed, data=name, strength=strength, rate=0.5 / (1 + place), **options)
        for name, strength, seed, (place, solver) in itertools.product(
            data, strengths, range(repeats), enumerate(solvers)
        )
    ]


def written(folder: Path, runs: Iterable[FinishedRun], name: str = store.FILE) -> Path:
    """A results file of the runs."""
    path = folder / name
    for finished in runs:
        store.append(path, finished)
    return path


class Small(dg.Solver):
    """A user's own: steps toward w(α) of the duals that the scores suggest."""

    name, summary = "small", "a user's own"

    def start(self, problem: Any, warm: Any, tol: float = 0.0) -> Any:
        return np.zeros(problem.rows.dimension), 0

    def plan(self, problem: Any, state: Any, epoch: int, random: Any) -> Any:
        return np.arange(problem.rows.count)

    def batch(self, problem: Any) -> int:
        return int(problem.rows.count)

    def advance(self, problem: Any, state: Any, rows: Any) -> Any:
        weights, steps = state
        duals = problem.loss.dual_candidate(problem.scores(weights, 0.0), problem.labels)
        return weights + 1.0 / (2 + steps) * (problem.weights_of(duals) - weights), steps + 1

    def answer(self, problem: Any, state: Any) -> Any:
        return Answer(state[0], 0.0, None)
