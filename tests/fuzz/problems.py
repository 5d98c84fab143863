"""One case from a seed: a problem and how to solve it. Losses and solvers come from the package's tables.

A family says what a case is about: `random` data, `aimed` at cancellation, `extreme` numbers, `warm` starts, `large` data,
the softmax model (`softmax`, `softmax_aimed`, `softmax_large`), row `blocks`, a `path`, and the estimators (`estimator`,
`estimator_aimed`). `sparse` cases have a penalty with an L1 part; so have some of the aimed, extreme and warm ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

import aimed
import data
import numpy as np
from data import Random, happens, pick
from exact import Facts

import dualgap as dg
from dualgap.spec import text_of

TOLERANCES = (1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-4, 1e-3, 1e-2, 1e-1)
# A fit ends after these, so that a campaign of 100,000 cases takes less than an hour.
SECONDS, EPOCHS = 0.4, 150
# Specs of solvers beside the bare names of the table.
SPECS = (
    "sdca(sampling=random)",
    "sdca(sampling=cyclic)",
    "sdca(shrinking=true)",
    "sdca(logistic_step=closed_form)",
    "pegasos(projection=true)",
)
# The smallest and the largest τ − 1 of these round, or are next to a bound.
TAUS = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0 / 3.0, 1e-3, 1e-9, 1e-17, 1.0 - 1e-9)


@dataclass(frozen=True)
class Case:
    """A problem, how to solve it, and a line that says what it is."""

    seed: int
    family: str
    facts: Facts
    options: dict[str, Any] = field(default_factory=dict)
    estimator: Any = None
    """A factory of an estimator that is fitted to (X, y); None where solve is called."""
    claims: Callable[[Case], list[Any]] | None = None
    """Solves the case otherwise than by one call of solve, and returns what is claimed."""

    @property
    def loss_name(self) -> str:
        return "softmax" if self.facts.is_softmax else str(self.facts.loss.name)

    def __str__(self) -> str:
        facts, options = self.facts, dict(self.options)
        start = options.pop("start", None)
        rows, columns = facts.X.shape
        form = f"{'dense' if isinstance(facts.X, np.ndarray) else 'csr'} {facts.X.dtype}"
        loss = "softmax" if facts.is_softmax else text_of(facts.loss)
        parts = [f"{rows}×{columns} {form}, {loss}, strength={facts.strength:.4g}"]
        if facts.is_softmax:
            parts.append(f"{facts.class_count} classes")
        if facts.sample_weight is not None:
            parts.append(f"weights {facts.sample_weight.min():.3g}…{facts.sample_weight.max():.3g}")
        if facts.l1_ratio:
            parts.append(f"l1_ratio={facts.l1_ratio:.4g}")
        if facts.intercept:
            parts.append("intercept")
        if start is not None:
            parts.append("start")
        if self.estimator is not None:
            parts.append(type(self.estimator()).__name__)
        return ", ".join(parts + [f"{name}={value}" for name, value in options.items()])


def random_loss(random: Random) -> Any:
    """A loss of the table with random numbers."""
    kind = dg.LOSSES[str(random.choice(list(dg.LOSSES)))]
    names = [option.name for option in fields(kind)] if is_dataclass(kind) else []
    return kind(**{name: _parameter(random, name, kind) for name in names if happens(random, 0.7)})


def _parameter(random: Random, name: str, kind: Any) -> float:
    if name == "tau":
        return float(random.choice(TAUS)) if happens(random, 0.6) else float(random.uniform(0.01, 0.99))
    if name == "epsilon" and happens(random, 0.2):
        return 0.0
    default = next(option.default for option in fields(kind) if option.name == name)
    spread = 4.0 if happens(random, 0.2) else 1.0
    return float(default * data.scale(random, spread))


def random_options(random: Random, solver: str) -> dict[str, Any]:
    """Arguments of a fit: the solver, tol, limits, seed, threads."""
    options: dict[str, Any] = {"solver": solver, "tol": float(random.choice(TOLERANCES)), "max_seconds": SECONDS}
    options["max_epochs"] = int(random.integers(1, 20)) if happens(random, 0.15) else EPOCHS
    if happens(random, 0.04):
        options["max_seconds"] = float(random.choice([1e-4, 1e-3, 1e-2]))
    if happens(random, 0.3):
        options["seed"] = int(random.integers(1000))
    if happens(random, 0.02):
        options["n_jobs"] = 2
    if happens(random, 0.1):
        options["record_every"] = float(random.choice([1.0, 3.0, 0.5]))
    return options


def random_solver(random: Random) -> str:
    """`auto` in six cases of ten, else any name of the table or one of the specs."""
    if happens(random, 0.6):
        return "auto"
    return str(random.choice([*dg.SOLVERS, *SPECS]))


def make_y(random: Random, X: np.ndarray, loss: Any) -> np.ndarray:
    """Labels −1/+1, real targets or targets ≥ 0, as the loss wants them."""
    if loss.task == "classification":
        return np.where(data.labels(random, X) > 0, 1.0, -1.0)
    targets = data.targets(random, X)
    if loss.smallest_label < 0.0:
        return targets
    # Counts and other numbers ≥ 0, some of them large.
    return np.abs(targets) if happens(random, 0.3) else np.floor(np.abs(targets))


def both_classes(y: np.ndarray, weights: np.ndarray | None) -> np.ndarray | None:
    """The weights, or none where zeros leave a single class."""
    if weights is None or len(set(y[weights > 0.0])) == len(set(y)):
        return weights
    return None


def binary_facts(random: Random, X: np.ndarray, loss: Any, y: np.ndarray | None = None) -> Facts:
    """A problem on these rows with random labels, strength and weights."""
    y = make_y(random, X, loss) if y is None else y
    weights = data.sample_weights(random, len(y))
    if loss.task == "classification":
        weights = both_classes(y, weights)
    return Facts(data.stored(random, X), y, loss, data.strength(random, len(y)), weights, happens(random, 0.5))


def some_rows(random: Random, least: int) -> np.ndarray:
    """A matrix of at least the given number of rows."""
    count, dimension = data.shape(random)
    return data.matrix(random, max(count, least), dimension)


def random_case(random: Random, seed: int) -> Case:
    loss = random_loss(random)
    facts = binary_facts(random, some_rows(random, 2 if loss.task == "classification" else 1), loss)
    return Case(seed, "random", facts, random_options(random, random_solver(random)))


def random_l1_ratio(random: Random) -> float:
    """The l1_ratio of a penalty of the table that has an L1 part."""
    name = str(random.choice([name for name, penalty in dg.PENALTIES.items() if penalty().is_sparse]))
    ratio = dg.PENALTIES[name]().l1_ratio
    return float(random.uniform(0.01, 0.99)) if ratio < 1.0 and happens(random, 0.5) else float(ratio)


def with_l1_part(random: Random, case: Case) -> Case:
    """The case under a penalty with an L1 part, by a solver of the table that fits it."""
    able = [name for name, solver in dg.SOLVERS.items() if getattr(solver, "largest_l1_ratio", 0.0)]
    solver = str(random.choice(["auto", *able]))
    return replace(
        case, facts=replace(case.facts, l1_ratio=random_l1_ratio(random)), options={**case.options, "solver": solver}
    )


def sometimes_l1(random: Random, case: Case) -> Case:
    """The case, or in one of eight the case under a penalty with an L1 part."""
    return with_l1_part(random, case) if happens(random, 1 / 8) else case


def sparse_case(random: Random, seed: int) -> Case:
    """A random case under a penalty of the table that has an L1 part."""
    return replace(with_l1_part(random, random_case(random, seed)), family="sparse")


def warm_case(random: Random, seed: int) -> Case:
    """A start of random weights, intercept and duals of sizes up to 100."""
    case = random_case(random, seed)
    size = 10.0 ** random.uniform(-3.0, 2.0)
    count, dimension = case.facts.X.shape
    duals = size * random.normal(size=count) if happens(random, 0.7) else None
    start = (size * random.normal(size=dimension), float(size * random.normal()), duals)
    return sometimes_l1(random, Case(seed, "warm", case.facts, {**case.options, "start": start}))


def extreme_rows(random: Random, X: np.ndarray, kind: str) -> np.ndarray:
    """The matrix with zeros, denormal numbers, or scales near the ends of float64's range."""
    if kind == "zero":
        # Some branches of the package are for data of at least 24 columns and more rows.
        return np.zeros((50, 30)) if happens(random, 0.4) else np.zeros_like(X)
    if kind == "denormal":
        return np.where(random.random(X.shape) < 0.5, data.DENORMAL * random.integers(-50, 50, X.shape), X)
    if kind == "tiny":
        return X * 1e-160
    return X * 10.0 ** random.uniform(10.0, 140.0) if kind == "large" else X


def extreme_case(random: Random, seed: int) -> Case:
    """Denormal numbers, all-zero rows, weights near the ends of float64's range, huge targets."""
    loss = random_loss(random)
    kind = pick(random, (("zero", 2), ("denormal", 2), ("tiny", 1), ("large", 2), ("weights", 3), ("y", 2)))
    X, y = extreme_rows(random, some_rows(random, 2), kind), None
    if kind == "y" and loss.task == "regression":
        y = make_y(random, X, loss)
        y = y * 10.0 ** (random.uniform(-320.0, -100.0) if happens(random, 0.5) else random.uniform(20.0, 140.0))
    facts = binary_facts(random, X, loss, y)
    if kind == "weights":
        factor = float(random.choice([1e200, 1e-310, 1e-300, 1e290, 5e-324]))
        weights = factor * np.ceil(random.uniform(0.5, 5.0, len(facts.labels)))
        facts = Facts(facts.X, facts.labels, loss, facts.strength, weights, facts.intercept)
    return sometimes_l1(random, Case(seed, "extreme", facts, random_options(random, random_solver(random))))


def large_case(random: Random, seed: int) -> Case:
    """2000 × 30, 3000 × 3 or 300 × 3000 with few values."""
    loss = random_loss(random)
    kind = pick(random, (("tall", 3), ("narrow", 5), ("wide", 2)))
    if kind == "wide":
        X = random.normal(size=(300, 3000)) * (random.random((300, 3000)) < 0.01)
    else:
        X = data.matrix(random, *((2000, 30) if kind == "tall" else (3000, 3)))
    if happens(random, 0.1):
        X[:] = 0.0
    facts = binary_facts(random, X, loss)
    return Case(seed, "large", facts, random_options(random, "auto"))


def aimed_case(random: Random, seed: int) -> Case:
    facts, tol = aimed.binary(random)
    options = {"solver": "auto", "tol": tol, "max_epochs": EPOCHS, "max_seconds": SECONDS}
    return sometimes_l1(random, Case(seed, "aimed", facts, options))


def softmax_facts(random: Random, X: np.ndarray, intercept: bool) -> Facts:
    classes = int(min(random.integers(2, 6), len(X)))
    y = data.labels(random, X, classes)
    weights = both_classes(y, data.sample_weights(random, len(y)))
    return Facts(data.stored(random, X), y, None, data.strength(random, len(y)), weights, intercept, classes)


def softmax_options(random: Random) -> dict[str, Any]:
    options = random_options(random, pick(random, (("auto", 7), ("newton", 1), ("sdca", 2))))
    options.pop("record_every", None)
    return options


def softmax_rows(random: Random) -> np.ndarray:
    """At least 2 rows, at most 24 × 10: exact exponentials take 80 µs a row and class."""
    count, dimension = data.shape(random)
    return data.matrix(random, max(2, min(count, 24)), min(dimension, 10))


def softmax_case(random: Random, seed: int) -> Case:
    kind = pick(random, (("none", 6), ("zero", 1), ("denormal", 1), ("large", 1), ("tiny", 1)))
    facts = softmax_facts(random, extreme_rows(random, softmax_rows(random), kind), happens(random, 0.5))
    options = softmax_options(random)
    if happens(random, 0.15):
        count, dimension = facts.X.shape
        size = 10.0 ** random.uniform(-3.0, 2.0)
        shapes = ((dimension, facts.class_count), facts.class_count, (count, facts.class_count))
        weights, constants, duals = (size * random.normal(size=part) for part in shapes)
        options["start"] = (weights, constants, duals if happens(random, 0.7) else None)
    return Case(seed, "softmax", facts, options)


def softmax_aimed_case(random: Random, seed: int) -> Case:
    facts, tol = aimed.softmax(random)
    options = {"solver": "auto", "tol": tol, "max_epochs": EPOCHS, "max_seconds": SECONDS}
    return Case(seed, "softmax_aimed", facts, options)


def softmax_large_case(random: Random, seed: int) -> Case:
    """400 × 4 or 250 × 300: too many rows, or too large a Hessian, for the ways of small data."""
    X = data.matrix(random, *((400, 4) if happens(random, 0.5) else (250, 300)))
    facts = softmax_facts(random, X, happens(random, 0.5))
    return Case(seed, "softmax_large", facts, softmax_options(random))


def estimator_case(random: Random, seed: int) -> Case:
    from estimators import random_estimator

    return random_estimator(random, seed)


def estimator_aimed_case(random: Random, seed: int) -> Case:
    from estimators import aimed_estimator

    return aimed_estimator(random, seed)


def blocks_case(random: Random, seed: int) -> Case:
    from row_blocks import blocks_case

    return blocks_case(random, seed)


def path_case(random: Random, seed: int) -> Case:
    from paths import path_case

    return path_case(random, seed)


FAMILIES: tuple[tuple[Callable[[Random, int], Case], float], ...] = (
    (random_case, 34.0),
    (aimed_case, 12.0),
    (sparse_case, 8.0),
    (blocks_case, 10.0),
    (path_case, 2.0),
    (warm_case, 6.0),
    (extreme_case, 8.0),
    (large_case, 0.6),
    (softmax_case, 6.0),
    (softmax_aimed_case, 2.0),
    (softmax_large_case, 0.4),
    (estimator_case, 14.0),
    (estimator_aimed_case, 4.0),
)


def make_case(seed: int) -> Case:
    """The case of a seed; the same at every call."""
    random = np.random.default_rng((seed, 20130215))
    with np.errstate(all="ignore"):
        return pick(random, FAMILIES)(random, seed)
