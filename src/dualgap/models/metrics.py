"""How well a model predicts: accuracy, log loss and AUC, or R² and the mean absolute error, beside the best constant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dualgap.problem.scoring import accuracy, score

if TYPE_CHECKING:
    from dualgap.models.model import Model

Vector = NDArray[np.float64]
Metrics = dict[str, dict[str, float]]

ACCURACY, LOG_LOSS, AUC, R2, ABSOLUTE = "accuracy", "log loss", "AUC", "R²", "mean absolute error"
TRAIN, TEST, BASELINE = "train", "test", "baseline"
# The least probability that a log loss takes, so that one sure mistake does not make it infinite.
LEAST_PROBABILITY = 1e-15
# What another machine's rounding may change; an accuracy may besides change by one row at the border.
SLACK = 1e-6


def metrics_of(model: Model, parts: Mapping[str, tuple[Vector, NDArray[Any]]]) -> Metrics:
    """The metrics of the parts (scores and targets, by name), and of the best constant of the training part.

    The constant is scored on the test part where there is one, else on the training part.
    """
    found = {name: of_scores(model, scores, y) for name, (scores, y) in parts.items()}
    judged = parts.get(TEST, parts[TRAIN])[1]
    constant = _of_constant(model, np.asarray(parts[TRAIN][1]), np.asarray(judged))
    last = found.get(TEST, found[TRAIN])
    return found | {BASELINE: {name: constant[name] for name in last}}


def of_scores(model: Model, scores: Vector, y: NDArray[Any]) -> dict[str, float]:
    """The metrics of scores, one for each row."""
    y = np.asarray(y)
    predictions = model.decided(scores)
    if model.classes is None:
        targets = y.astype(np.float64)
        return {R2: score(predictions, targets, "regression"), ABSOLUTE: float(np.abs(predictions - targets).mean())}
    found = {ACCURACY: accuracy(predictions == y)}
    if model.has_probabilities:
        found[LOG_LOSS] = _log_loss(model.probabilities(scores), _places(model.classes, y))
    if scores.ndim == 1 and 0 < np.count_nonzero(y == model.classes[1]) < y.size:
        found[AUC] = _auc(scores, y == model.classes[1])
    return found


def faults(said: Mapping[str, float], found: Mapping[str, float], part: str, rows: int) -> list[str]:
    """Where a file's metrics are not those of the data."""
    differing = []
    for name, value in said.items():
        slack = SLACK * max(1.0, abs(value)) + (1.0 / rows if name == ACCURACY else 0.0)
        real = found.get(name, np.nan)
        if not abs(value - real) <= slack:
            differing.append(f"{part} {name}: the file says {value:.6g}, and it is {real:.6g}")
    return differing


def _of_constant(model: Model, train: NDArray[Any], y: NDArray[Any]) -> dict[str, float]:
    if model.classes is None:
        targets = y.astype(np.float64)
        mean, median = float(train.astype(np.float64).mean()), float(np.median(train.astype(np.float64)))
        constant = np.full(targets.shape, mean)
        return {R2: score(constant, targets, "regression"), ABSOLUTE: float(np.abs(targets - median).mean())}
    values, counts = np.unique(train, return_counts=True)
    rates = np.array([counts[values == label].sum() for label in model.classes]) / train.size
    constant = np.broadcast_to(rates, (y.size, rates.size))
    return {
        ACCURACY: float((y == values[counts.argmax()]).mean()),
        LOG_LOSS: _log_loss(constant, _places(model.classes, y)),
        AUC: 0.5,
    }


def _places(classes: NDArray[Any], y: NDArray[Any]) -> NDArray[np.intp]:
    """The place of each label among the classes; one past the end for a label that is none of them."""
    places = np.searchsorted(classes, y)
    known = classes[np.minimum(places, classes.size - 1)] == y
    return np.where(known, places, classes.size)


def _log_loss(probabilities: Vector, places: NDArray[np.intp]) -> float:
    padded = np.column_stack([probabilities, np.zeros(len(probabilities))])
    chosen = padded[np.arange(places.size), places]
    return float(-np.log(np.maximum(chosen, LEAST_PROBABILITY)).mean())


def _auc(scores: Vector, positive: NDArray[np.bool_]) -> float:
    """The chance that a positive row scores higher than a negative one, ties half."""
    from scipy.stats import rankdata

    count = int(positive.sum())
    ranks = rankdata(scores)[positive].sum()
    return float((ranks - count * (count + 1) / 2.0) / (count * (positive.size - count)))
