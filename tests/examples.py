"""Small problems with the rows that break things: an empty one, a repeated one, a constant column and an unused one."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from scipy import sparse

import dualgap as dg
from dualgap.spec import build

FORMS = ("dense", "csr")
EMPTY_ROW, REPEATED_ROWS, WEIGHTLESS_ROW = 5, (2, 11), 8
CONSTANT_COLUMN, UNUSED_COLUMN = 3, 4


def small_rows(count: int = 24) -> np.ndarray:
    """count × 5: three columns of noise with holes, a column of ones (zero in the empty row only) and one of zeros."""
    random = np.random.default_rng(20130215)
    X = random.normal(size=(count, 5)) * (random.random((count, 5)) < 0.8)
    X[:, CONSTANT_COLUMN] = 1.0
    X[:, UNUSED_COLUMN] = 0.0
    X[EMPTY_ROW] = 0.0
    X[REPEATED_ROWS[1]] = X[REPEATED_ROWS[0]]
    return X


def small_problem(
    loss: str | dg.Loss,
    form: str = "dense",
    weights: bool = False,
    intercept: bool = False,
    strength: float = 1e-2,
    dtype: type = np.float64,
    l1_ratio: float = 0.0,
) -> dg.Problem:
    """24 rows × 5 columns of noisy data, the same at every call; one of the weights, if asked for, is zero.

    Labels −1/+1 that no plane separates, or real targets, as the loss's task wants.
    """
    X = small_rows().astype(dtype)
    random = np.random.default_rng(20070620)
    signal = X @ np.array([1.0, -0.7, 0.4, 0.3, 0.0]) + 0.8 * random.normal(size=X.shape[0])
    sample_weight = random.uniform(0.5, 2.0, X.shape[0])
    sample_weight[WEIGHTLESS_ROW] = 0.0
    built = build(loss, dg.LOSSES, "loss") if isinstance(loss, str) else loss
    return dg.Problem(
        sparse.csr_matrix(X) if form == "csr" else X,
        targets_for(built, signal),
        loss=built,
        strength=strength,
        sample_weight=sample_weight if weights else None,
        intercept=intercept,
        l1_ratio=l1_ratio,
    )


def targets_for(loss: dg.Loss, signal: np.ndarray) -> np.ndarray:
    """Labels −1/+1, counts or real targets that follow a signal, as the loss wants them."""
    if loss.task == "classification":
        return np.where(signal > 0.0, 1, -1)
    return signal if loss.smallest_label < 0.0 else np.floor(2.0 * np.exp(0.5 * signal))


def loss_variants() -> list[Any]:
    """Every loss of the table, with its defaults and with each of its numbers made smaller and larger."""
    found = []
    for kind in dg.LOSSES.values():
        found.append(kind())
        for field in fields(kind) if is_dataclass(kind) else ():
            found += [kind(**{field.name: factor * field.default}) for factor in (0.3, 1.7)]
    return found


def l2_model(kind: Any, **options: Any) -> Any:
    """An estimator with the L2 penalty, which every solver fits and which is the default of all but one."""
    return kind(**options, **({"l1_ratio": 0.0} if kind is dg.QuantileRegressor else {}))
