"""Probabilities of the classes, and their logarithms, from the scores of a logistic or softmax model.

Scores are one number a row where there are two classes, the log-odds of the second; else rows × classes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_softmax, softmax

Vector = NDArray[np.float64]


def chances(scores: Vector) -> Vector:
    """The probability of each class, rows × classes."""
    if scores.ndim == 1:
        return np.column_stack([expit(-scores), expit(scores)])
    return np.asarray(softmax(scores, axis=1), dtype=np.float64)


def log_chances(scores: Vector) -> Vector:
    """Logarithms of the probabilities, which keep their digits where a probability is too small to write down."""
    if scores.ndim == 1:
        return np.column_stack([log_expit(-scores), log_expit(scores)])
    return np.asarray(log_softmax(scores, axis=1), dtype=np.float64)
