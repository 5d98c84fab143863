"""Three and more classes of LogisticRegression: the softmax model, one problem with one certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs  # type: ignore[import-untyped]
from numpy.typing import NDArray

from dualgap.estimators.callbacks import FitTasks
from dualgap.estimators.deduplication import Deduplicated
from dualgap.estimators.parameters import seed_of, solver_name, solver_of
from dualgap.estimators.settling import settle
from dualgap.linalg.parallel import use_threads
from dualgap.models.from_estimator import FitFacts, dense

if TYPE_CHECKING:
    from dualgap.estimators.logistic import LogisticRegression

Vector = NDArray[np.float64]

SOLVERS = ("auto", "newton", "sdca")


def has_softmax(solver: Any) -> bool:
    """Whether a solver can fit the softmax model."""
    return solver_name(solver) in SOLVERS


def fit_softmax(
    model: LogisticRegression, table: Deduplicated, given: tuple[Any, Any, Vector | None]
) -> LogisticRegression:
    """Fit all classes at once; a row of weights for each of them."""
    from dualgap.problem import MultinomialProblem
    from dualgap.run import solve

    weights, class_weights = table.weights, model._class_weights(table.targets, table.weights)
    if class_weights is not None:
        factors = class_weights[table.targets]
        weights = factors if weights is None else weights * factors
    strength = model._strength_on(table.rows, weights, 0)
    problem = MultinomialProblem(table.rows, table.targets, strength, weights, model.fit_intercept)
    tasks = FitTasks(model, *given, 1, model.max_iter)
    with tasks.epochs_of(0) as callback, use_threads(effective_n_jobs(model.n_jobs)):
        result = solve(
            problem,
            solver_of(model.solver),
            tol=model.tol,
            max_epochs=model.max_iter,
            max_seconds=model.max_seconds,
            seed=seed_of(model.random_state),
            start=_previous(model, table),
            progress=bool(model.verbose),
            callback=callback,
        )
    held = settle(problem, result, False, given[0].dtype, model.tol)
    result = held.result
    model.coef_ = np.ascontiguousarray(result.weights.T, dtype=given[0].dtype)
    model.intercept_ = np.array(result.intercept)
    model.dual_coef_ = np.stack([table.expand(duals) for duals in result.duals.T])
    model._set_run_attributes([result], [strength], several=False)
    class_factors = None if class_weights is None else [tuple(class_weights.tolist())]
    model._facts = FitFacts.of(model, model._loss(), result.solver.name, given, class_factors, 0.0, [held.in_file])
    tasks.end(model.certificate_)
    model._note_no_penalty([problem], [held])
    model._report([result], [problem], given[0].dtype == np.float32)
    return model


def _previous(model: LogisticRegression, table: Deduplicated) -> tuple[Vector, Vector, Vector | None] | None:
    """The last fit's weights, intercepts and duals under warm_start, where their shapes agree; else None."""
    count = model.classes_.size
    weights = dense(getattr(model, "coef_", np.empty(0)))
    if not model.warm_start or weights.shape != (count, table.rows.dimension):
        return None
    duals: Vector = getattr(model, "dual_coef_", np.empty(0))
    has_duals = duals.shape == (count, table.given_count)
    reduced = np.column_stack([table.reduce(column) for column in duals]) if has_duals else None
    return weights.T.astype(np.float64), model.intercept_, reduced
