"""Fitting a model: one problem, the softmax one, or one for each class against the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dualgap.data.preparation import Preparation
from dualgap.data.rows import Rows
from dualgap.data.validation import as_rows
from dualgap.fitted_features import FittedMap
from dualgap.losses import Loss
from dualgap.models.digests import digest
from dualgap.models.model import ONE_VS_REST, Model, history_of
from dualgap.problem import MultinomialProblem, Problem
from dualgap.result import Result, Status
from dualgap.run import solve


def fit(
    X: Any,
    y: ArrayLike,
    loss: Loss,
    strength: float,
    *,
    intercept: bool = True,
    feature_names: Sequence[str] | None = None,
    reading: dict[str, Any] | None = None,
    duals: bool = False,
    tol: float = 1e-6,
    gap_tol: float | None = None,
    on_result: Callable[[Result], object] = lambda result: None,
    features: object = None,
    preparation: Preparation | None = None,
    **options: Any,
) -> Model:
    """Solve and record; `options` are those of `solve`, and `on_result` is called with each problem's result.

    `features` is a feature map by its spec or object: it is fitted to the rows, and the model is one of their features.
    `preparation` is what made the rows; the model keeps it.

    More than two labels are one softmax model under the logistic loss, and under others each fitted against the rest.

    Where a Ctrl-C leaves some classes without any weights there is no model, and KeyboardInterrupt goes on.
    """
    given, labels = as_rows(X), np.asarray(y)
    fitted = None if features is None else FittedMap.fit(features, given)
    rows = given if fitted is None else as_rows(fitted.transform(given))
    recorded: dict[str, Any] = {"tol": tol, "gap_tol": gap_tol, "feature_names": feature_names, "reading": reading}
    recorded["preparation"] = preparation
    recorded |= {} if fitted is None else {"features": fitted, "X": given}
    classes = np.unique(labels) if loss.task == "classification" else None
    if classes is None or classes.size <= 2:
        problem = Problem(rows, labels, loss, strength, intercept=intercept)
        result = solve(problem, tol=tol, gap_tol=gap_tol, **options)
        on_result(result)
        return Model.of(result, problem, duals=duals, **recorded)
    if loss.name == "logistic":
        many = MultinomialProblem(rows, labels, strength, intercept=intercept)
        found = solve(many, tol=tol, gap_tol=gap_tol, **options)
        on_result(found)
        return Model.of(found, many, duals=duals, **recorded)
    model = _one_against_rest(
        rows, labels, classes, loss, strength, intercept, tol, gap_tol, on_result, options, duals, recorded
    )
    return replace(model, data=digest(given, labels))


def _one_against_rest(
    rows: Rows,
    labels: NDArray[Any],
    classes: NDArray[Any],
    loss: Loss,
    strength: float,
    intercept: bool,
    tol: float,
    gap_tol: float | None,
    on_result: Callable[[Result], object],
    options: dict[str, Any],
    duals: bool,
    recorded: dict[str, Any],
) -> Model:
    results: list[Result] = []
    for k, label in enumerate(classes):
        problem = Problem(rows, np.where(labels == label, 1.0, -1.0), loss, strength, intercept=intercept)
        results.append(solve(problem, tol=tol, gap_tol=gap_tol, **options))
        on_result(results[-1])
        if results[-1].status is Status.INTERRUPTED and k < classes.size - 1:
            raise KeyboardInterrupt
    last = Model.of(results[-1], problem, **recorded)
    return replace(
        last,
        kind=ONE_VS_REST,
        weights=np.column_stack([result.weights for result in results]),
        intercept=np.array([result.intercept for result in results]),
        strengths=(problem.strength,) * classes.size,
        certificates=tuple(result.certificate for result in results),
        statuses=tuple(result.status for result in results),
        classes=classes,
        reason="; ".join(dict.fromkeys(result.reason for result in results)),
        history=tuple(history_of(result) for result in results),
        duals=np.column_stack([result.duals for result in results]) if duals else None,
    )
