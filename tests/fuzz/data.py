"""Random matrices, targets, labels and sample weights, ordinary and awkward, from a random generator."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

Random = np.random.Generator

# Shapes: (largest number of rows, of columns) and how often they are drawn.
SHAPES = (((3, 3), 0.12), ((12, 6), 0.38), ((30, 15), 0.35), ((60, 40), 0.15))
# Decades on either side of 1 within which scales lie.
DECADES = 8.0
SHIFTS = (1e5, 1e7, 1e8)
NOISES = (1.0, 1e-1, 1e-2, 1e-4, 1e-6, 1e-10, 0.0)
DENORMAL = 5e-324


def pick(random: Random, table: Any) -> Any:
    """A value of a table of (value, how often)."""
    values, weights = zip(*table, strict=True)
    probabilities = np.array(weights) / sum(weights)
    return values[int(random.choice(len(values), p=probabilities))]


def happens(random: Random, chance: float) -> bool:
    return bool(random.random() < chance)


def scale(random: Random, decades: float = DECADES, size: Any = None) -> Any:
    """Powers of ten, spread evenly over the decades on both sides of 1."""
    return 10.0 ** random.uniform(-decades, decades, size)


def shape(random: Random) -> tuple[int, int]:
    """Numbers of rows and of columns; small ones are the most frequent."""
    rows, columns = pick(random, SHAPES)
    return int(random.integers(1, rows + 1)), int(random.integers(1, columns + 1))


def plain_matrix(random: Random, count: int, dimension: int) -> np.ndarray:
    """A matrix of one of the usual kinds."""
    size = (count, dimension)
    kind = pick(random, (("normal", 5), ("uniform", 1), ("integer", 2), ("binary", 1), ("low_rank", 1), ("heavy", 1)))
    if kind == "uniform":
        return random.random(size)
    if kind == "integer":
        return random.integers(-3, 4, size).astype(np.float64)
    if kind == "binary":
        return (random.random(size) < 0.3).astype(np.float64)
    if kind == "low_rank":
        return random.normal(size=(count, 1)) @ random.normal(size=(1, dimension))
    if kind == "heavy":
        return np.clip(random.standard_t(1.0, size), -1e6, 1e6)
    return random.normal(size=size)


def matrix(random: Random, count: int, dimension: int) -> np.ndarray:
    """A matrix with any of the things that break fits: scales, shifts, constants, repetitions, zeros."""
    X = plain_matrix(random, count, dimension)
    if happens(random, 0.12):
        X *= random.random(X.shape) < 0.3
    if happens(random, 0.15):
        X *= scale(random)
    if happens(random, 0.10):
        X *= scale(random, size=dimension)
    if happens(random, 0.06):
        X *= scale(random, size=count)[:, None]
    if happens(random, 0.10):
        X += random.choice(SHIFTS)
    if happens(random, 0.10):
        X[:, random.integers(dimension)] = random.choice([0.0, 1.0, 1e6])
    if happens(random, 0.15):
        X = X[random.integers(0, count, count)]
    if happens(random, 0.08):
        X[random.integers(count)] = 0.0
    if happens(random, 0.01):
        X[:] = 0.0
    return X


def stored(random: Random, X: np.ndarray) -> Any:
    """The matrix as dense or CSR, in float64 or float32; float32 only where no value leaves its range."""
    form = pick(random, (("dense", 6), ("csr", 3)))
    largest = float(np.abs(X).max(initial=0.0))
    if largest < 1e18 and happens(random, 0.2):
        X = X.astype(np.float32)
    return sparse.csr_matrix(X) if form == "csr" else X


def targets(random: Random, X: np.ndarray) -> np.ndarray:
    """Real targets: a linear function with more or less noise, or something degenerate."""
    count, dimension = X.shape
    kind = pick(random, (("linear", 6), ("noise", 2), ("constant", 1), ("integer", 1), ("outlier", 1)))
    if kind == "constant":
        return np.full(count, random.choice([0.0, 1.0, -3.5, 1e7]))
    if kind == "integer":
        return random.integers(-5, 6, count).astype(np.float64)
    y = random.normal(size=count)
    if kind == "linear":
        line = X @ random.normal(size=dimension)
        y = line + random.choice(NOISES) * (float(np.abs(line).max()) or 1.0) * y
    if kind == "outlier":
        y[random.integers(count)] = 1e7
    if happens(random, 0.10):
        y = y + random.choice(SHIFTS)
    if happens(random, 0.10):
        y = y * scale(random)
    return y


def labels(random: Random, X: np.ndarray, classes: int = 2) -> np.ndarray:
    """Class numbers, each present where there are rows enough: by a linear rule with noise, separable, or at random."""
    count, dimension = X.shape
    scores = X @ random.normal(size=(dimension, classes))
    spread = float(np.abs(scores).max()) or 1.0
    kind = pick(random, (("linear", 5), ("separable", 2), ("random", 2), ("rare", 1)))
    if kind == "rare":
        found = np.zeros(count, dtype=np.intp)
    else:
        noise = {"linear": random.choice(NOISES[:4]), "separable": 0.0, "random": 1e3}[kind]
        found = (scores + noise * spread * random.normal(size=scores.shape)).argmax(axis=1)
    every = min(classes, count)
    found[random.permutation(count)[:every]] = np.arange(every)
    return found


def sample_weights(random: Random, count: int) -> np.ndarray | None:
    """Weights of rows: none, ordinary, with zeros, or of extreme sizes."""
    kind = pick(
        random,
        (("none", 60), ("uniform", 12), ("integer", 6), ("zeros", 7), ("spread", 7), ("huge", 3), ("denormal", 3)),
    )
    if kind == "none":
        return None
    if kind == "integer":
        return random.integers(1, 5, count).astype(np.float64)
    if kind == "spread":
        return scale(random, 6.0, count)
    weights = random.uniform(0.5, 2.0, count)
    if kind == "zeros":
        weights[random.random(count) < 0.4] = 0.0
        weights[random.integers(count)] = 1.0
    return weights * {"huge": 1e200, "denormal": 1e-310}.get(kind, 1.0)


def strength(random: Random, count: int) -> float:
    """λ: 1/n, small, or anything from 1e-12 to 1e6."""
    kind = pick(random, (("usual", 4), ("small", 2), ("any", 4)))
    if kind == "usual":
        return float(random.choice([1.0, 1e-2, 10.0])) / count
    return float(10.0 ** (random.uniform(-12.0, -6.0) if kind == "small" else random.uniform(-12.0, 6.0)))
