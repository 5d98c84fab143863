"""Coefficients against the true ones: what each solver found, beside the direction the data were drawn with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualgap.workbench import summary
from dualgap.workbench.report.packing import Pool
from dualgap.workbench.store import FinishedRun

MAX_COLUMNS = 300


def coefficients(runs: Sequence[FinishedRun], pool: Pool) -> dict[str, Any] | None:
    """Per solver its first repeat's weights and their cosine with β; None where β or all weights are unknown.

    Labels say nothing of β's length, so for classification both are scaled to length 1.
    """
    truth = _vector(runs[0].data.get("beta")) if runs else None
    if truth is None:
        return None
    scaled = runs[0].data.get("task", "classification") == "classification"
    shown = np.unique(np.linspace(0, truth.size - 1, min(truth.size, MAX_COLUMNS)).round().astype(int))
    found = []
    for solver, repeats in summary.by_solver(runs).items():
        weights = _vector(getattr(repeats[0], "weights", None))
        if weights is None or weights.size != truth.size:
            continue
        lengths = float(np.linalg.norm(weights) * np.linalg.norm(truth))
        cosine = float(weights @ truth) / lengths if lengths else 0.0
        found.append([solver, pool.add((_unit(weights) if scaled else weights)[shown].tolist()), cosine])
    if not found:
        return None
    return {
        "truth": pool.add((_unit(truth) if scaled else truth)[shown].tolist()),
        "columns": pool.add(shown.tolist()),
        "scaled": scaled,
        "left_out": int(truth.size - shown.size),
        "solvers": found,
    }


def _vector(values: Any) -> NDArray[np.float64] | None:
    """Numbers as a vector, None where these are none or not all finite."""
    if values is None or isinstance(values, (str, dict)):
        return None
    try:
        vector = np.asarray(values, dtype=float).ravel()
    except (TypeError, ValueError):
        return None
    return vector if vector.size and bool(np.isfinite(vector).all()) else None


def _unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    length = np.linalg.norm(vector)
    unit: NDArray[np.float64] = vector / length if length else vector
    return unit
