"""What all estimators share: data is read, problems on the same rows are solved, and what came out is kept."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from joblib import effective_n_jobs  # type: ignore[import-untyped]
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from dualgap.estimators.callbacks import CallbackSupport, FitTasks
from dualgap.estimators.canonical import Gathered, gathered
from dualgap.estimators.endings import conclude
from dualgap.estimators.settings import check_limits, seed_of, solver_of, weights_of
from dualgap.estimators.streaming import streams
from dualgap.estimators.warm import previous, unchanged
from dualgap.linalg.parallel import parallel_map, use_threads
from dualgap.losses import Loss
from dualgap.models.saving import FitFacts, SavesModels
from dualgap.problem import Problem
from dualgap.result import Result, Status
from dualgap.run import solve

if TYPE_CHECKING:
    from dualgap.estimators.streams import Stream

Vector = NDArray[np.float64]


class CertifiedModel(CallbackSupport, SavesModels, BaseEstimator):  # type: ignore[misc]
    """A linear model that is fitted by solving one problem, or several on the same rows."""

    solver: Any
    tol: float
    fit_intercept: bool
    max_iter: int | None
    max_seconds: float | None
    warm_start: bool
    n_jobs: int | None
    random_state: Any
    verbose: int
    coef_: Any
    intercept_: Any
    dual_coef_: Any
    n_iter_: Any
    _streams: list[Stream]

    def _loss(self) -> Loss:
        """The loss that the parameters stand for."""
        raise NotImplementedError

    def _strength(self, total_weight: float, k: int) -> float:
        """λ of the problem number k, whose weights sum to `total_weight`."""
        raise NotImplementedError

    def _read(self, X: Any, y: Any, sample_weight: Any, **checks: Any) -> tuple[Any, NDArray[Any], Vector | None]:
        """X as dense or CSR rows, y, and weights as float64; parameters that cannot work are refused first."""
        check_limits(type(self).__name__, self.tol, self.max_iter, self.max_seconds)
        solver_of(self.solver)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", **checks)
        return X, y, weights_of(sample_weight, X.shape[0])

    def _gather(self, X: Any, targets: NDArray[Any], weights: Vector | None) -> Gathered:
        # A solver of streams draws the rows it was given, as often as it was given them.
        return gathered(X, targets, weights, wanted=not streams(self))

    def _solve(self, problems: Sequence[Problem], table: Gathered, tasks: FitTasks) -> list[Result]:
        """One result for each problem: threads work on problems first, and inside each with what is left of them."""
        solver, seed = solver_of(self.solver), seed_of(self.random_state)
        starts = previous(self, table, len(problems))
        jobs = effective_n_jobs(self.n_jobs)
        # Callbacks and progress bars are told of one problem after the other.
        at_once = 1 if tasks.is_watched or self.verbose else min(jobs, len(problems))

        def run(k: int) -> Result:
            start = starts[k]
            known = None if start is None else unchanged(problems[k], start, self.tol, solver)
            if known is not None:
                return known
            with tasks.epochs_of(k) as callback:
                result = solve(
                    problems[k],
                    solver,
                    tol=self.tol,
                    max_epochs=self.max_iter,
                    max_seconds=self.max_seconds,
                    seed=seed,
                    start=start,
                    record_every=1.0 if self.verbose else None,
                    progress=bool(self.verbose),
                    callback=callback,
                    n_jobs=max(1, jobs // at_once),
                )
            if result.status is Status.INTERRUPTED and len(problems) > 1:
                raise KeyboardInterrupt(f"{type(self).__name__} was interrupted before all of its problems were solved")
            return result

        if len(problems) == 1:
            return [run(0)]
        with use_threads(at_once):
            return list(parallel_map(run, range(len(problems))))

    def _fit(
        self,
        problems: Sequence[Problem],
        table: Gathered,
        given: tuple[Any, Any, Vector | None],
        several: bool,
        class_factors: Sequence[tuple[float, ...]] | None = None,
    ) -> Self:
        """Solve the problems, keep what came out, and say where it is not certified.

        Attributes are lists, or have a row for each problem, where there are `several`.
        """
        tasks = FitTasks(self, *given, len(problems), self.max_iter)
        results = self._solve(problems, table, tasks)
        self.coef_ = np.stack([result.weights for result in results])
        self.intercept_ = np.array([result.intercept for result in results])
        self.dual_coef_ = np.stack([table.spread(result.duals) for result in results])
        self._keep(results, [problem.strength for problem in problems], several)
        self._facts = FitFacts.of(self, problems[0].loss, results[0].solver.name, given, class_factors)
        tasks.end(self.certificate_)
        conclude(type(self).__name__, results, self.tol)
        return self

    def _keep(self, results: Sequence[Any], strengths: list[float], several: bool) -> None:
        """The attributes that say how the runs went."""
        self.n_iter_ = np.array([ceil(result.trace[-1].epoch - 1e-9) for result in results], dtype=np.int32)
        for name, values in (
            ("certificate_", [result.certificate for result in results]),
            ("status_", [result.status for result in results]),
            ("trace_", [result.trace for result in results]),
            ("reason_", [result.reason for result in results]),
            ("strength_", strengths),
        ):
            setattr(self, name, values if several else values[0])
        self._shape_attributes(several)
        self.__dict__.pop("_streams", None)

    def _shape_attributes(self, several: bool) -> None:
        """Give coef_, intercept_, dual_coef_ and n_iter_ the shapes they have in scikit-learn's estimator of the name."""

    def _scores(self, X: Any) -> Vector:
        """⟨x, w⟩ + b for each row, and for each problem where there are several."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        with np.errstate(over="ignore"):  # a score beyond float64's range is infinite, with the right sign
            scores: Vector = X @ np.asarray(self.coef_).T + self.intercept_
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
