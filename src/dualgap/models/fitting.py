"""Fitting a model: the training part of a data set, and one problem, the softmax one, or one for each class against the rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dualgap.data.rows import Rows
from dualgap.data.validation import as_rows
from dualgap.datasets import Dataset, for_task, load, split
from dualgap.datasets.dataset import MANY_LABELS
from dualgap.fitted_features import FittedMap
from dualgap.losses import Loss
from dualgap.models.digests import digest
from dualgap.models.model import ONE_VS_REST, Model
from dualgap.problem import MultinomialProblem, Problem
from dualgap.result import Result, Status
from dualgap.run import solve

# What decides which rows and targets the model is fitted to; certify reads the data by the same.
READING = ("target", "positive", "test_size", "seed")


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
    **options: Any,
) -> Model:
    """Solve and record; `options` are those of `solve`, and `on_result` is called with each problem's result.

    `features` is a feature map by its spec or object: it is fitted to the rows, and the model is one of their features.

    More than two labels are one softmax model under the logistic loss, and under others each fitted against the rest.

    Where a Ctrl-C leaves some classes without any weights there is no model, and KeyboardInterrupt goes on.
    """
    given, labels = as_rows(X), np.asarray(y)
    fitted = None if features is None else FittedMap.fit(features, given)
    rows = given if fitted is None else as_rows(fitted.transform(given))
    recorded: dict[str, Any] = {"tol": tol, "gap_tol": gap_tol, "feature_names": feature_names, "reading": reading}
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
        duals=np.column_stack([result.duals for result in results]) if duals else None,
    )


def training_part(text: str, reading: Mapping[str, Any], task: str) -> Dataset:
    """The data set that `text` names, its training part as X and y, and its test part if there is one.

    `reading` has the options of READING; a model records them, so that the same rows are found again.
    """
    dataset = load(text, reading.get("target"), reading.get("positive") or ())
    if task == "regression" or _is_no_label(dataset.y):
        dataset = for_task(dataset, task)
    test_size = reading.get("test_size") or 0.0
    # Columns are taken as they are, so that the model predicts from the file's own numbers.
    return split(dataset, test_size, reading.get("seed") or 0, standardize=False, stratify=task == "classification")


def _is_no_label(y: np.ndarray[Any, Any]) -> bool:
    """Whether a target is a measurement, or all the same: `for_task` says so in its own words."""
    values = np.unique(y)
    measured = y.dtype.kind == "f" and not np.array_equal(values, np.round(values))
    return len(values) < 2 or len(values) > MANY_LABELS or (measured and len(values) > 2)
