"""The problems of the sparse bench: data, loss, L1 part and strength; and the others that minimize the same objective."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

import dualgap as dg
from rival_problems import DATA, Data, Pair, standardized, stored

RATIOS = (1.0, 0.5)
# The strength as a part of `problem.strength_max`, from which on every weight is zero.
PARTS = (0.1, 0.01, 0.001)
LOSSES = ("logistic", "squared", "hinge", "quantile")


def cubic() -> Pair:
    from sklearn.preprocessing import PolynomialFeatures

    X, y = stored("california_housing")
    products = PolynomialFeatures(3, include_bias=False).fit_transform(standardized(X))
    return np.ascontiguousarray(standardized(products)), standardized(y)


def scaled_spambase() -> Pair:
    X, y = stored("spambase")
    return np.ascontiguousarray(standardized(X)), y


# Small data first; all of ρ = 1 before ρ = 0.5. Regression losses see labels of −1 and +1 as numbers.
SPARSE_DATA = {
    "golub": DATA["golub"],
    "prostate": DATA["prostate"],
    "spambase": Data(scaled_spambase, "mean 0, deviation 1", LOSSES),
    "california": Data(
        cubic, "all products of at most 3 columns, mean 0, deviation 1; y standardized", ("squared", "quantile")
    ),
    "a9a": DATA["a9a"],
    "newsgroups": DATA["newsgroups"],
    "news20": DATA["news20"],
    "mnist": DATA["mnist"],
}


@dataclass(frozen=True)
class SparseProblem:
    """A data set, a loss, ρ, and λ as a part of its largest useful value."""

    data: str
    loss: str
    l1_ratio: float
    part: float

    @property
    def name(self) -> str:
        return f"{self.loss} {self.data} ρ={self.l1_ratio:g} λ_max·{self.part:g}"

    @property
    def family(self) -> tuple[str, str, float]:
        """The problems that differ in their strength alone."""
        return self.data, self.loss, self.l1_ratio


SPARSE_PROBLEMS = {
    problem.name: problem
    for ratio in RATIOS
    for name in SPARSE_DATA
    for loss in LOSSES
    if name != "california" or loss in SPARSE_DATA[name].losses
    for part in PARTS
    for problem in [SparseProblem(name, loss, ratio, part)]
}


def rows_of(name: str) -> Pair:
    X, y = SPARSE_DATA[name].make()
    if sp.issparse(X):
        X = sp.csr_matrix(X)
        X.sort_indices()
    return X, np.asarray(y, dtype=np.float64)


# Values that coordinate descent reads between two looks at the clock: about a second of them.
VALUES_AT_ONCE = 1e9


class SparseRival(ABC):
    """A way to minimize P(w) = (1/n) Σ φ_i(⟨x_i, w⟩) + λ(ρ‖w‖₁ + (1 − ρ)/2 ‖w‖²) that somebody else wrote."""

    name: ClassVar[str]
    package: ClassVar[str] = "scikit-learn"
    module: ClassVar[str] = "sklearn"
    losses: ClassVar[tuple[str, ...]]
    ratios: ClassVar[tuple[float, ...]] = RATIOS
    tightest: ClassVar[int] = 9  # its last tolerance is ten to the minus this
    seconds: ClassVar[float] = 10.0  # of its ladder

    def fits(self, problem: SparseProblem) -> bool:
        if find_spec(self.module) is None:
            return False
        return problem.loss in self.losses and problem.l1_ratio in self.ratios

    def tolerances(self) -> list[float]:
        """The ladder of its own stopping tolerance, one rung a decade."""
        return [10.0**-power for power in range(1, self.tightest + 1)]

    def table(self, X: Any, y: np.ndarray) -> tuple[Any, Any]:
        """The rows in the form it reads without converting them again."""
        return X, y

    @abstractmethod
    def fit(self, X: Any, y: Any, problem: dg.Problem, tolerance: float, left: float) -> np.ndarray:
        """The weights at a tolerance of its own; what it can, it does to end within `left` seconds."""


class ByColumns(SparseRival):
    """It reads columns."""

    def table(self, X: Any, y: np.ndarray) -> tuple[Any, Any]:
        return (np.asfortranarray(X) if isinstance(X, np.ndarray) else sp.csc_matrix(X)), y


def timed(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


class Liblinear(SparseRival):
    name = "scikit-learn liblinear"
    losses = ("logistic",)
    ratios = (1.0,)

    def fit(self, X: Any, y: Any, problem: dg.Problem, tolerance: float, left: float) -> np.ndarray:
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(
            l1_ratio=1,
            C=1.0 / (problem.strength * len(y)),
            solver="liblinear",
            fit_intercept=False,
            tol=tolerance,
            max_iter=10**6,
        )
        return np.asarray(model.fit(X, y).coef_.ravel())


class Saga(SparseRival):
    name = "scikit-learn saga"
    losses = ("logistic",)
    tightest = 6

    def __init__(self) -> None:
        self.each: dict[tuple[int, ...], float] = {}  # seconds of an epoch, by the shape of X

    def fit(self, X: Any, y: Any, problem: dg.Problem, tolerance: float, left: float) -> np.ndarray:
        from sklearn.linear_model import LogisticRegression

        made = lambda epochs: LogisticRegression(
            l1_ratio=problem.l1_ratio,
            C=1.0 / (problem.strength * len(y)),
            solver="saga",
            fit_intercept=False,
            tol=tolerance,
            max_iter=epochs,
            random_state=0,
        )
        if X.shape not in self.each:
            # The least of two, because other work may stop either, without what a fit takes besides its epochs.
            few, many = (min(timed(lambda some=epochs: made(some).fit(X, y)) for _ in range(2)) for epochs in (2, 12))
            self.each[X.shape] = max(0.1 * (many - few), 1e-6)
        epochs = max(1, int(left / self.each[X.shape]))
        return np.asarray(made(epochs).fit(X, y).coef_.ravel())


class CoordinateDescent(ByColumns):
    """Its objective is half of ours: r²/2 a row, so alpha = λ/2."""

    name = "scikit-learn coordinate descent"
    losses = ("squared",)
    tightest = 10

    def fit(self, X: Any, y: Any, problem: dg.Problem, tolerance: float, left: float) -> np.ndarray:
        from sklearn.linear_model import ElasticNet

        # It does not look at the clock, so it goes on from where it was, some iterations at a time; only one that converges makes fewer.
        stored_values = X.size if isinstance(X, np.ndarray) else X.nnz
        steps = max(10, int(VALUES_AT_ONCE / stored_values))
        model = ElasticNet(
            alpha=0.5 * problem.strength,
            l1_ratio=problem.l1_ratio,
            fit_intercept=False,
            tol=tolerance,
            max_iter=steps,
            warm_start=True,
        )
        end = time.perf_counter() + left
        while model.fit(X, y).n_iter_ == steps and time.perf_counter() < end:
            pass
        return np.asarray(model.coef_)


class LinearProgram(SparseRival):
    """HiGHS, on ρ = 1 as a linear program: it ends at a vertex, and its tolerances are those of feasibility."""

    losses: ClassVar[tuple[str, ...]]
    ratios = (1.0,)
    package, module = "scipy", "scipy"
    seconds = 30.0

    def tolerances(self) -> list[float]:
        return [1e-7]


class HighsHinge(LinearProgram):
    name = "HiGHS"
    losses = ("hinge",)

    def table(self, X: Any, y: np.ndarray) -> tuple[Any, Any]:
        signed = sp.csr_matrix(sp.diags(y) @ sp.csr_matrix(X))
        return sp.csc_matrix(sp.hstack([-signed, signed, -sp.eye(len(y))])), y

    def fit(self, X: Any, y: Any, problem: dg.Problem, tolerance: float, left: float) -> np.ndarray:
        from scipy.optimize import linprog

        rows, columns = len(y), (X.shape[1] - len(y)) // 2
        costs = np.r_[np.full(2 * columns, problem.strength), np.full(rows, 1.0 / rows)]
        done = linprog(costs, A_ub=X, b_ub=-np.ones(rows), method="highs", options={"time_limit": left})
        if done.x is None:
            raise TimeoutError
        return np.asarray(done.x[:columns] - done.x[columns : 2 * columns])


class HighsQuantile(LinearProgram):
    """scikit-learn's QuantileRegressor, which makes the linear program and gives it to HiGHS."""

    name = "scikit-learn QuantileRegressor"
    losses = ("quantile",)
    package, module = "scikit-learn", "sklearn"

    def fit(self, X: Any, y: Any, problem: dg.Problem, tolerance: float, left: float) -> np.ndarray:
        from sklearn.linear_model import QuantileRegressor

        options = {"time_limit": left}
        model = QuantileRegressor(alpha=problem.strength, fit_intercept=False, solver_options=options)
        return np.asarray(model.fit(X, y).coef_)


class Skglm(ByColumns):
    """Anderson-accelerated coordinate descent on a working set; for the logistic loss its proximal Newton method."""

    name = "skglm"
    package = module = "skglm"
    losses = ("logistic", "squared")

    def fit(self, X: Any, y: Any, problem: dg.Problem, tolerance: float, left: float) -> np.ndarray:
        from skglm import GeneralizedLinearEstimator, datafits, penalties, solvers

        is_squared = problem.loss.name == "squared"
        alpha = (0.5 if is_squared else 1.0) * problem.strength
        penalty = penalties.L1(alpha) if problem.l1_ratio == 1.0 else penalties.L1_plus_L2(alpha, problem.l1_ratio)
        options = {"tol": tolerance, "fit_intercept": False, "max_iter": 1000}
        solver = solvers.AndersonCD(**options) if is_squared else solvers.ProxNewton(**options)
        datafit = datafits.Quadratic() if is_squared else datafits.Logistic()
        return np.asarray(GeneralizedLinearEstimator(datafit, penalty, solver).fit(X, y).coef_.ravel())


class Celer(ByColumns):
    name = "celer"
    package = module = "celer"
    losses = ("logistic", "squared")

    def fits(self, problem: SparseProblem) -> bool:
        return super().fits(problem) and (problem.l1_ratio == 1.0 or problem.loss == "squared")

    def fit(self, X: Any, y: Any, problem: dg.Problem, tolerance: float, left: float) -> np.ndarray:
        import celer

        options = {"tol": tolerance, "fit_intercept": False, "max_iter": 1000}
        if problem.loss.name == "logistic":
            model: Any = celer.LogisticRegression(C=1.0 / (problem.strength * len(y)), **options)
        elif problem.l1_ratio == 1.0:
            model = celer.Lasso(alpha=0.5 * problem.strength, **options)
        else:
            model = celer.ElasticNet(alpha=0.5 * problem.strength, l1_ratio=problem.l1_ratio, **options)
        return np.asarray(model.fit(X, y).coef_.ravel())


SPARSE_RIVALS: dict[str, SparseRival] = {
    rival.name: rival
    for rival in (Liblinear(), Celer(), Skglm(), CoordinateDescent(), HighsHinge(), HighsQuantile(), Saga())
}
