"""partial_fit: the estimator's streams go on over the rows of a call, and the attributes follow them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dualgap.data.validation import as_rows
from dualgap.estimators.settings import name_of, solver_of
from dualgap.problem import Problem
from dualgap.result import Status

if TYPE_CHECKING:
    from dualgap.estimators.base import CertifiedModel
    from dualgap.estimators.streams import Stream

Vector = NDArray[np.float64]

# What a fit leaves behind and a stream has no counterpart of.
OF_A_FIT = ("dual_coef_", "trace_", "reason_", "_facts")


STREAMING = ("pegasos", "sgd")


def streams(estimator: Any) -> bool:
    """Whether the estimator's solver takes rows as they come, and so whether it has partial_fit."""
    return name_of(estimator.solver) in STREAMING


def advance(
    estimator: CertifiedModel, X: Any, targets: Sequence[Vector], weights: Sequence[Vector | None], several: bool
) -> None:
    """One call of partial_fit: a stream for each of the targets."""
    from dualgap.estimators.streams import certificate_on

    solver, loss, free = solver_of(estimator.solver), estimator._loss(), estimator.fit_intercept
    output = getattr(solver, "output", "last")
    if output != "last":
        raise ValueError(f"partial_fit needs output=last, got {output}; a stream has no end to average towards")
    rows = as_rows(X)
    if not hasattr(estimator, "_streams"):
        estimator._streams = _first_streams(estimator, rows.dimension, targets, weights)
    answers, certificates = [], []
    for stream, target, shares in zip(estimator._streams, targets, weights, strict=True):
        stream.advance(solver, loss, rows, target, shares, free)
        answers.append(stream.answer())
        # A batch of one class only is a problem whose optimum says nothing.
        is_judged = loss.task == "regression" or np.unique(target).size == 2
        problem = Problem(rows, target, loss, stream.strength, shares, free) if is_judged else None
        certificates.append(None if problem is None else certificate_on(problem, *answers[-1]))
    _keep(estimator, answers, certificates, several)


def _first_streams(
    estimator: CertifiedModel, dimension: int, targets: Sequence[Vector], weights: Sequence[Vector | None]
) -> list[Stream]:
    """Streams at zero, or at the answer of a fit; where λ depends on a number of rows, it is the first batch's."""
    from dualgap.estimators.streams import Stream

    made = []
    regression = estimator._loss().task == "regression"
    for k, (target, shares) in enumerate(zip(targets, weights, strict=True)):
        total = float(target.size if shares is None else shares.sum())
        first = float(target[0]) if regression and estimator.fit_intercept else 0.0
        start = None
        if hasattr(estimator, "dual_coef_"):
            # As with a warm start, a fit counts as one epoch of steps.
            updates = np.atleast_2d(estimator.dual_coef_).shape[1]
            start = (np.atleast_2d(estimator.coef_)[k], float(np.atleast_1d(estimator.intercept_)[k]), updates)
        made.append(Stream.starting(estimator._strength(total, k), dimension, start, first))
    return made


def _keep(estimator: CertifiedModel, answers: Any, certificates: list[Any], several: bool) -> None:
    for name in OF_A_FIT:
        estimator.__dict__.pop(name, None)
    estimator.coef_ = np.stack([weights for weights, _ in answers])
    estimator.intercept_ = np.array([intercept for _, intercept in answers])
    estimator.n_iter_ = np.ones(len(answers), dtype=np.int32)
    estimator.t_ = estimator._streams[0].updates
    # A stream passes over its rows once; nothing it could be given would make it go on.
    statuses = [Status.EPOCHS_EXHAUSTED for _ in answers]
    strengths = [stream.strength for stream in estimator._streams]
    estimator.certificate_ = certificates if several else certificates[0]
    estimator.status_ = statuses if several else statuses[0]
    estimator.strength_ = strengths if several else strengths[0]
    estimator._shape_attributes(several)
