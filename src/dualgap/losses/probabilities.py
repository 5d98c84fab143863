"""Probabilities of the classes, and their logarithms, from the scores of a logistic or softmax model.

Two classes have one score for each row, the log-odds of the second class; more classes have scores of shape rows × classes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_softmax, softmax

Vector = NDArray[np.float64]


def class_probabilities(scores: Vector) -> Vector:
    """The probability of each class, of shape rows × classes."""
    if scores.ndim == 1:
        return np.column_stack([expit(-scores), expit(scores)])
    return np.asarray(softmax(scores, axis=1), dtype=np.float64)


def log_class_probabilities(scores: Vector) -> Vector:
    """Logarithms of the probabilities; accurate even for a probability that underflows float64."""
    if scores.ndim == 1:
        return np.column_stack([log_expit(-scores), log_expit(scores)])
    return np.asarray(log_softmax(scores, axis=1), dtype=np.float64)
