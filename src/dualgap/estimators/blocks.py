"""Estimators on row blocks and on Dask: `fit` solves the same problems in rounds, and predictions are streamed or lazy.

A Dask collection, or a list of delayed blocks, is fitted where Dask holds it; `dg.Blocks` in this process. The fitted attributes are
those of a fit in memory, but `dual_coef_`: it has the duals' recipe, whose `of(X, y)` computes those of given rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from dualgap.data.blocks import Block, Blocks
from dualgap.data.blocks.blocks import Scanned
from dualgap.data.blocks.on_dask import is_on_dask
from dualgap.data.blocks.transformed import Signs
from dualgap.data.labels import check_total_weight
from dualgap.estimators.callbacks import FitTasks
from dualgap.estimators.convergence import report_convergence
from dualgap.estimators.parameters import check_limits, seed_of, solver_of
from dualgap.estimators.synonyms import check_synonyms
from dualgap.models.from_estimator import FitFacts
from dualgap.problem import BlockProblem, MultinomialBlockProblem
from dualgap.problem.block_base import BaseBlockProblem
from dualgap.result import Result
from dualgap.run import solve

if TYPE_CHECKING:
    from dualgap.estimators.base import CertifiedModel
    from dualgap.estimators.classifiers import LinearClassifier
    from dualgap.estimators.regressors import LinearRegressor

Vector = NDArray[np.float64]
# What works on row blocks in the place of an estimator that does not.
INSTEAD_OF_L1 = (
    "fit a sample of the rows in memory to find the columns that matter, and these columns with an L2 penalty"
)
INSTEAD = {
    "HuberRegressor": "choose delta yourself and solve dg.Problem(blocks, loss='huber(delta=1.35)'), or fit LinearSVR",
    "RidgeCV": "fit Ridge for each alpha and score it on blocks that it was not fitted to",
    "LogisticRegressionCV": "fit LogisticRegression for each C and score it on blocks that it was not fitted to",
    "LinearSVCCV": "fit LinearSVC for each C and score it on blocks that it was not fitted to",
    "LinearSVRCV": "fit LinearSVR for each C and score it on blocks that it was not fitted to",
    "LassoCV": INSTEAD_OF_L1,
    "ElasticNetCV": INSTEAD_OF_L1,
}
Method = TypeVar("Method", bound=Callable[..., Any])


def are_blocks(X: Any) -> bool:
    """Whether rows come as row blocks or on Dask."""
    return isinstance(X, Blocks) or is_on_dask(X)


def fit_classifier(estimator: LinearClassifier, X: Any, y: Any, sample_weight: Any) -> Any:
    """Fit a classifier: one problem for two classes, or one for each class against the rest."""
    blocks = _blocks(estimator, X, y, sample_weight)
    found = blocks.scanned(True)
    classes = estimator.classes_ = found.classes
    totals = found.of_classes(lambda facts: facts.class_weights)
    estimator._check_classes(np.flatnonzero(totals > 0.0))
    if classes.size > 2 and estimator.fits_softmax:
        return _fit_softmax(estimator, blocks, found, totals)
    factors = estimator._class_factors(np.arange(classes.size), totals)
    loss = estimator._loss()
    positives = classes[1:] if classes.size == 2 else classes
    problems = []
    for k, positive in enumerate(positives):
        own = (1.0, 1.0) if factors is None else factors[k]
        if loss.task == "regression":
            # Labels −1 and +1 as real targets, and a factor for each class, as in RidgeClassifier.
            of_class = None if factors is None else np.asarray(factors[k])
            weight = float(totals.sum() if of_class is None else totals @ of_class)
            strength = _strength(estimator, found.as_given(weight), k)
            signed = blocks.transformed(Signs(classes, positive, of_class))
            problems.append(BlockProblem(signed, loss, strength, estimator.fit_intercept))
            continue
        weight = float(totals @ np.where(classes == positive, own[1], own[0]))
        strength = _strength(estimator, found.as_given(weight), k)
        given = None if classes.size == 2 else positive
        problems.append(
            BlockProblem(
                blocks,
                loss,
                strength,
                estimator.fit_intercept,
                positive=given,
                class_factors=None if factors is None else (own[0], own[1]),
                l1_ratio=estimator._l1_ratio(),
            )
        )
    starts = [_start(estimator, k, len(problems), problem) for k, problem in enumerate(problems)]
    return _fitted(estimator, blocks, list(zip(problems, starts, strict=True)), factors)


def _fit_softmax(estimator: LinearClassifier, blocks: Blocks, found: Scanned, totals: Vector) -> Any:
    """Fit all classes at once; a row of weights for each of them."""
    class_weights = estimator._class_weights(np.arange(totals.size), totals)
    own = totals if class_weights is None else totals * class_weights
    problem = MultinomialBlockProblem(
        blocks,
        _strength(estimator, found.as_given(float(own.sum())), 0),
        estimator.fit_intercept,
        class_factors=None if class_weights is None else class_weights.tolist(),
    )
    start = None
    if estimator.warm_start and np.shape(getattr(estimator, "coef_", ())) == problem.weights_shape[::-1]:
        start = (*_unfolded(blocks, np.asarray(estimator.coef_).T, np.asarray(estimator.intercept_)), None)
    factors = None if class_weights is None else [tuple(class_weights.tolist())]
    return _fitted(estimator, blocks, [(problem, start)], factors)


def fit_regressor(estimator: LinearRegressor, X: Any, y: Any, sample_weight: Any) -> Any:
    """Fit a regressor of one target."""
    blocks = _blocks(estimator, X, y, sample_weight)
    found = blocks.scanned(False)
    strength = _strength(estimator, found.as_given(sum(facts.weight for facts in found.facts)), 0)
    problem = BlockProblem(blocks, estimator._loss(), strength, estimator.fit_intercept, l1_ratio=estimator._l1_ratio())
    return _fitted(estimator, blocks, [(problem, _start(estimator, 0, 1, problem))], None)


def _blocks(estimator: CertifiedModel, X: Any, y: Any, sample_weight: Any) -> Blocks:
    """The blocks to fit, after the estimator's parameters are checked."""
    name = type(estimator).__name__
    if not estimator.fits_blocks:
        raise ValueError(f"{name} needs rows in memory, got row blocks; {INSTEAD[name]}")
    if estimator._l1_ratio() > 0.0:
        simple = "pass l1_ratio=0, or " if "l1_ratio" in estimator.get_params(deep=False) else ""
        raise ValueError(f"{name} needs rows in memory for an L1 penalty, got row blocks; {simple}{INSTEAD_OF_L1}")
    check_synonyms(estimator)
    check_limits(name, estimator.tol, estimator.max_iter, estimator.max_seconds)
    solver_of(estimator.solver)
    if not isinstance(X, Blocks):
        return Blocks(X, y, sample_weight)
    if X.scaling is not None and X.scaling.means.any() and not estimator.fit_intercept:
        raise ValueError(
            "standardize=True centers columns, which needs an intercept, got fit_intercept=False; leave one of the two out"
        )
    if y is not None or sample_weight is not None:
        raise ValueError("Blocks hold y and sample_weight themselves, got them apart; pass them to Blocks")
    return X


def _strength(estimator: CertifiedModel, total_weight: float, k: int) -> float:
    check_total_weight(total_weight)
    strength = estimator._strength(total_weight, k)
    if not strength > 0.0:
        raise ValueError(
            f"{type(estimator).__name__} on row blocks needs a penalty, got none; choose a finite C, or an alpha above 0"
        )
    return strength


def _fitted(
    estimator: Any,
    blocks: Blocks,
    problems: Sequence[tuple[BaseBlockProblem, Any]],
    factors: Sequence[tuple[float, ...]] | None,
) -> Any:
    """Solve the problems, each from its start, one after the other, and set the fitted attributes."""
    tasks = FitTasks(estimator, blocks, None, None, len(problems), estimator.max_iter)
    results: list[Result] = []
    for k, (problem, start) in enumerate(problems):
        with tasks.epochs_of(k) as callback:
            results.append(
                solve(
                    problem,
                    solver_of(estimator.solver),
                    tol=estimator.tol,
                    max_epochs=estimator.max_iter,
                    max_seconds=estimator.max_seconds,
                    seed=seed_of(estimator.random_state),
                    start=start,
                    progress=bool(estimator.verbose),
                    callback=callback,
                    n_jobs=estimator.n_jobs,
                )
            )
    several = len(problems) > 1
    first = problems[0][0]
    estimator.n_features_in_ = first.dimension
    estimator.__dict__.pop("feature_names_in_", None)
    estimator.__dict__.pop("dual_coef_", None)
    if blocks.column_names is not None:
        estimator.feature_names_in_ = np.array(blocks.column_names, dtype=object)
    answers = [(result.weights, result.intercept) for result in results]
    if blocks.scaling is not None:
        answers = [blocks.scaling.folded(*answer) for answer in answers]
    if first.is_softmax:
        estimator.coef_, estimator.intercept_ = np.ascontiguousarray(answers[0][0].T), np.array(answers[0][1])
    else:
        estimator.coef_ = np.stack([weights for weights, _ in answers])
        estimator.intercept_ = np.array([intercept for _, intercept in answers])
    estimator._set_run_attributes(results, [problem.strength for problem, _ in problems], several)
    estimator.dual_coef_ = [result.duals for result in results] if several else results[0].duals
    facts = FitFacts.without_data(estimator, estimator._loss(), results[0].solver.name, factors)
    estimator._facts = facts._replace(preparation=blocks.preparation, scaling=blocks.scaling)
    tasks.end(estimator.certificate_)
    report_convergence(type(estimator).__name__, results, estimator.tol)
    return estimator


def _start(estimator: Any, k: int, count: int, problem: BlockProblem) -> tuple[Vector, float, None] | None:
    """The last fit's answer with warm_start=True, where it has the same shape."""
    if not estimator.warm_start or not hasattr(estimator, "coef_"):
        return None
    weights = np.atleast_2d(estimator.coef_)
    if weights.shape != (count, problem.dimension):
        return None
    own, intercept = _unfolded(problem.blocks, weights[k], np.atleast_1d(estimator.intercept_)[k])
    return own, float(intercept), None


def _unfolded(blocks: Blocks, weights: Vector, intercept: Any) -> tuple[Vector, Any]:
    """Weights and intercept for the columns as the fit sees them."""
    return (weights, intercept) if blocks.scaling is None else blocks.scaling.unfolded(weights, intercept)


def on_blocks(kind: str) -> Callable[[Method], Method]:
    """Makes a method of rows stream over `Blocks`, and return a lazy Dask array for a Dask collection.

    `kind` says what the method returns: "labels" for one label a row, "scores" for a score or one for each class, "probabilities" for
    a number for each class, "values" for one number a row.
    """

    def decorate(method: Method) -> Method:
        @wraps(method)
        def of_rows(self: Any, X: Any) -> Any:
            if isinstance(X, Blocks):
                return X.answers(_of_block, (method, bare(self)), fitted_names(self))
            if is_on_dask(X):
                return _lazy(method, self, X, kind)
            return method(self, X)

        return of_rows  # type: ignore[return-value]

    return decorate


def fitted_names(estimator: Any) -> Any:
    """The names of the columns of the fit, where it had some."""
    check_is_fitted(estimator)
    return getattr(estimator, "feature_names_in_", None)


def bare(estimator: Any) -> Any:
    """The estimator for rows without names, whose columns were compared before."""
    made = copy(estimator)
    made.__dict__.pop("feature_names_in_", None)
    return made


def _of_block(block: Block, called: tuple[Any, Any]) -> Any:
    method, estimator = called
    rows = block.rows
    return method(estimator, rows.block(slice(0, rows.count)))


def _lazy(method: Any, estimator: Any, X: Any, kind: str) -> Any:
    """The method's answer for each chunk, with a known type and without a trial call."""
    import dask.array as da

    if isinstance(X, list | tuple):
        raise TypeError("predictions on Dask need an array or a DataFrame, got a list; predict for each of its blocks")
    dtype = estimator.classes_.dtype if kind == "labels" else np.dtype(np.float64)
    classes = getattr(estimator, "classes_", np.empty(0)).size
    columns = classes if kind == "probabilities" or (kind == "scores" and classes > 2) else 0
    empty = np.empty((0, columns) if columns else (0,), dtype)
    called = _Called(method, estimator, empty)
    if not hasattr(X, "numblocks"):
        return X.map_partitions(called, meta=empty)
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    chunks = (X.chunks[0], (columns,)) if columns else (X.chunks[0],)
    return da.map_blocks(called, X, dtype=dtype, meta=empty, chunks=chunks, drop_axis=None if columns else 1)


class _Called:
    """A method of an estimator as a function of a chunk; an empty chunk has an empty answer."""

    def __init__(self, method: Any, estimator: Any, empty: Any) -> None:
        self.__name__, self.estimator, self.empty = method.__name__, estimator, empty

    def __call__(self, chunk: Any) -> Any:
        return getattr(self.estimator, self.__name__)(chunk) if chunk.shape[0] else self.empty
