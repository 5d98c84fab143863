"""Problems on which cancellation is likely: data far from zero, tiny strengths, fits that are almost perfect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from data import Random, happens, pick
from exact import Facts

import dualgap as dg
from dualgap.losses import Absolute, EpsilonInsensitive, Hinge, Huber, Logistic, Quantile, Squared

TIGHT = (1e-6, 1e-8, 1e-10, 1e-12)


def _size(random: Random) -> tuple[int, int]:
    return int(random.integers(4, 40)), int(random.integers(1, 12))


def _tol(random: Random) -> float:
    return float(random.choice(TIGHT))


def shifted_columns(random: Random) -> tuple[Facts, float]:
    """X = 1e7 + normal, targets linear in X − 1e7 with noise of 1e-4: scores are sums of huge products that cancel."""
    count, dimension = _size(random)
    shift = float(random.choice([1e5, 1e7, 1e8]))
    centered = random.normal(size=(count, dimension))
    y = centered @ random.normal(size=dimension) + float(random.choice([1e-2, 1e-4, 1e-6])) * random.normal(size=count)
    loss = _regression_loss(random)
    strength = float(10.0 ** random.uniform(-10.0, -4.0))
    return Facts(shift + centered, y, loss, strength, None, happens(random, 0.5)), _tol(random)


def shifted_targets(random: Random) -> tuple[Facts, float]:
    """Targets of 1e5 + normal, more columns than rows, a tiny strength: P is far below what is summed for it."""
    count = int(random.integers(4, 12))
    X = random.normal(size=(count, int(random.integers(10, 30))))
    y = float(random.choice([1e5, 1e7, 1e8])) + random.normal(size=count)
    loss = pick(random, ((Absolute(), 3), (_regression_loss(random), 2)))
    strength = float(10.0 ** random.uniform(-12.0, -8.0))
    return Facts(X, y, loss, strength, None, happens(random, 0.7)), _tol(random)


def separable_classes(random: Random) -> tuple[Facts, float]:
    """Classes that a plane separates, with a tiny strength: P is almost zero, and weights and duals are of far sizes."""
    count, dimension = _size(random)
    X = random.normal(size=(count, dimension))
    y = np.where(X @ random.normal(size=dimension) > 0.0, 1.0, -1.0)
    y[:2] = -1.0, 1.0
    if happens(random, 0.3):
        X = X + float(random.choice([1e3, 1e5]))
    losses = [loss() for loss in dg.LOSSES.values() if loss.task == "classification"]
    loss = pick(random, ((Hinge(), 3), (Logistic(), 1), (losses[int(random.integers(len(losses)))], 2)))
    strength = float(10.0 ** random.uniform(-12.0, -6.0))
    return Facts(X, y, loss, strength, None, happens(random, 0.4)), _tol(random)


def near_perfect_fit(random: Random) -> tuple[Facts, float]:
    """Targets that are linear up to noise of 1e-10 of their size."""
    count, dimension = _size(random)
    X = random.normal(size=(count, dimension))
    line = X @ random.normal(size=dimension)
    y = line + float(random.choice([0.0, 1e-12, 1e-10, 1e-8])) * random.normal(size=count)
    strength = float(10.0 ** random.uniform(-12.0, -4.0))
    return Facts(X, y, _regression_loss(random), strength, None, happens(random, 0.5)), _tol(random)


def one_huge_target(random: Random) -> tuple[Facts, float]:
    """One target of 1e7 among small ones, a tiny strength."""
    count, dimension = _size(random)
    y = random.normal(size=count)
    y[int(random.integers(count))] = float(random.choice([1e7, 1e9]))
    loss = pick(random, ((Squared(), 2), (_regression_loss(random), 1)))
    strength = float(10.0 ** random.uniform(-12.0, -6.0))
    return Facts(random.normal(size=(count, dimension)), y, loss, strength, None, happens(random, 0.6)), _tol(random)


def unequal_columns(random: Random) -> tuple[Facts, float]:
    """Columns whose scales differ by up to 16 decades, one of them constant."""
    count, dimension = _size(random)
    X = random.normal(size=(count, dimension)) * 10.0 ** random.uniform(-8.0, 8.0, dimension)
    X[:, 0] = 1e6
    y = X @ (random.normal(size=dimension) / np.abs(X).max(axis=0)) + 1e-3 * random.normal(size=count)
    strength = float(10.0 ** random.uniform(-12.0, -3.0))
    return Facts(X, y, _regression_loss(random), strength, None, happens(random, 0.5)), _tol(random)


def _regression_loss(random: Random) -> Any:
    tau = float(random.choice([0.1, 0.3, 0.5, 0.9]))
    return pick(
        random, ((Quantile(tau), 3), (Absolute(), 2), (Squared(), 2), (Huber(), 2), (EpsilonInsensitive(1e-3), 1))
    )


KINDS: tuple[tuple[Callable[[Random], tuple[Facts, float]], float], ...] = (
    (shifted_columns, 4.0),
    (shifted_targets, 3.0),
    (separable_classes, 3.0),
    (near_perfect_fit, 2.0),
    (one_huge_target, 1.0),
    (unequal_columns, 1.0),
)


def binary(random: Random) -> tuple[Facts, float]:
    """One aimed problem and its tol."""
    return pick(random, KINDS)(random)


def softmax(random: Random) -> tuple[Facts, float]:
    """Three classes or more on shifted, separable or unequally scaled data."""
    count, dimension, classes = int(random.integers(6, 24)), int(random.integers(1, 6)), int(random.integers(3, 5))
    X = random.normal(size=(count, dimension))
    y = (X @ random.normal(size=(dimension, classes))).argmax(axis=1)
    if happens(random, 0.4):
        y = random.integers(0, classes, count)
    y[:classes] = np.arange(classes)
    if happens(random, 0.6):
        X = X + float(random.choice([1e3, 1e5, 1e7, 1e8]))
    if happens(random, 0.2):
        X = X * 10.0 ** random.uniform(-6.0, 6.0, dimension)
    strength = float(10.0 ** random.uniform(-12.0, -4.0))
    return Facts(X, y, None, strength, None, happens(random, 0.6), classes), _tol(random)
