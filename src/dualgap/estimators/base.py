"""CertifiedModel, the base class of all estimators: what they share in `fit` and in predicting scores.

`fit` of LinearClassifier and LinearRegressor calls, in this order (the softmax model has its own fit in `softmax.py`):

    _loss()               the loss of the estimator's parameters; each estimator has its own
    _validate(X, y, …)    scikit-learn's checks of X, y and sample_weight
    _deduplicate(X, …)    small data: rows sorted, those of weight 0 dropped, equal ones merged into one of larger weight
    _strength(S, k)       λ of problem k; each estimator has its own
    Problem(…)            one for each class or target; two classes, or one target, make a single problem
    _fit_problems(…)      warm start, `dualgap.solve`, fitted attributes in scikit-learn's shapes, ConvergenceWarning
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs  # type: ignore[import-untyped]
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from dualgap.certificate import certify
from dualgap.data.rows import Rows
from dualgap.estimators.callbacks import CallbackSupport, FitTasks
from dualgap.estimators.convergence import report_convergence
from dualgap.estimators.deduplication import Deduplicated, deduplicate
from dualgap.estimators.display import ShowsCertificate
from dualgap.estimators.parameters import check_limits, check_sample_weight, note_solver, seed_of, solver_of
from dualgap.estimators.partial_fit import supports_partial_fit
from dualgap.estimators.settling import Settled, settle
from dualgap.estimators.synonyms import check_synonyms
from dualgap.estimators.unpenalized import effective_strength, note_tiny_strength
from dualgap.examiner import Examiner
from dualgap.linalg.parallel import parallel_map, use_threads
from dualgap.losses import Loss
from dualgap.models.from_estimator import FitFacts, SavesModels, dense
from dualgap.penalties import penalty_of
from dualgap.problem import BaseProblem, Problem
from dualgap.progress import say
from dualgap.result import Result, Status
from dualgap.run import solve
from dualgap.solvers import AnySolver, Auto
from dualgap.trace import Clock, Trace

if TYPE_CHECKING:
    from dualgap.estimators.partial_fit import Stream

Vector = NDArray[np.float64]
TrainingData = tuple[Any, NDArray[Any], Vector | None]
"""X, y and sample_weight after scikit-learn's checks, before deduplication."""
Start = tuple[Vector, float, Vector | None]
"""Weights, intercept and, where they are known, duals that a run starts from."""

# An epoch that is complete up to rounding counts as one epoch in n_iter_.
EPOCH_ROUNDING = 1e-9


class CertifiedModel(ShowsCertificate, CallbackSupport, SavesModels, BaseEstimator):  # type: ignore[misc]
    """A linear model fitted by solving one problem, or several on the same rows, each with a certificate."""

    fits_blocks: ClassVar[bool] = True
    """Whether `fit` takes row blocks and Dask collections."""
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
    _facts: FitFacts
    """What `save` writes beside the fitted attributes; `fit` sets it."""
    _streams: list[Stream]
    """One stream for each problem; partial_fit sets it, and `fit` deletes it."""

    def _loss(self) -> Loss:
        """The loss that the estimator's parameters describe."""
        raise NotImplementedError

    def _strength(self, total_weight: float, k: int) -> float:
        """λ of problem number k, whose sample weights sum to `total_weight`."""
        raise NotImplementedError

    def _l1_ratio(self) -> float:
        """ρ, the L1 part of the penalty; 0 for estimators with an L2 penalty alone."""
        return penalty_of(getattr(self, "l1_ratio", 0.0)).l1_ratio

    def _check_penalty(self) -> None:
        """Refuse parameters that name no penalty."""
        self._l1_ratio()

    def _l1_ratio_of(self, k: int) -> float:
        """ρ of problem number k for the solver: the tiny penalty of an estimator without one is L2."""
        return self._l1_ratio() if self._strength(1.0, k) > 0.0 else 0.0

    def _strength_on(self, rows: Rows, weights: Vector | None, k: int) -> float:
        """λ of problem number k on its rows, for the solver: a tiny one where the estimator has no penalty."""
        strength = self._strength(float(rows.count if weights is None else weights.sum()), k)
        return effective_strength(strength, rows, weights, self.fit_intercept)

    def _note_no_penalty(self, problems: Sequence[BaseProblem], settled: Sequence[Settled]) -> None:
        """Name the λ of problems that were to have none, and were not certified without one."""
        strengths = [self._strength(problem.total_weight, k) for k, problem in enumerate(problems)]
        tiny = [one.strength for one, given in zip(settled, strengths, strict=True) if one.strength > given == 0.0]
        note_tiny_strength(type(self).__name__, tiny, hasattr(self, "alpha"))

    def _shape_attributes(self, several: bool) -> None:
        """Give coef_, intercept_, dual_coef_ and n_iter_ the shapes of the scikit-learn estimator of the same name.

        They come with one row or entry for each problem; `several` says whether they keep that first axis.
        """

    def _validate(self, X: Any, y: Any, sample_weight: Any, **checks: Any) -> TrainingData:
        """X as a dense or CSR matrix, y, and sample weights as float64; `checks` are options of `validate_data`."""
        check_synonyms(self)
        self._check_penalty()
        check_limits(type(self).__name__, self.tol, self.max_iter, self.max_seconds)
        solver_of(self.solver)  # refuses an unknown solver before the data is checked
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], order="C", **checks)
        return X, y, check_sample_weight(sample_weight, X.shape[0])

    def _deduplicate(self, X: Any, targets: NDArray[Any], weights: Vector | None) -> Deduplicated:
        """Small data with equal rows merged; large data as given, and for pegasos and sgd, which draw each given row by itself."""
        return deduplicate(X, targets, weights, merge=not supports_partial_fit(self))

    def _fit_problems(
        self,
        problems: Sequence[Problem],
        data: Deduplicated,
        training_data: TrainingData,
        several: bool,
        class_factors: Sequence[tuple[float, ...]] | None = None,
    ) -> Self:
        """Solve the problems, set the fitted attributes, and warn if a problem is not certified (or raise after Ctrl-C).

        `certificate_`, `status_`, `strength_`, `trace_` and `reason_` are lists if `several`. `class_factors` has one weight per
        class for each problem; only `save` reads it.
        """
        tasks = FitTasks(self, *training_data, len(problems), self.max_iter)
        results = self._solve(problems, data, tasks)
        dtype, settled = training_data[0].dtype, []
        for k, (problem, result) in enumerate(zip(problems, results, strict=True)):
            is_unpenalized = self._strength(problem.total_weight, k) == 0.0
            settled.append(settle(problem, result, is_unpenalized, dtype, self.tol))
        self._set_answer(settled, problems[0].loss, data, training_data, several, class_factors)
        tasks.end(self.certificate_)
        self._note_no_penalty(problems, settled)
        self._report([one.result for one in settled], problems, dtype == np.float32)
        return self

    def _report(self, results: Sequence[Any], problems: Sequence[BaseProblem], is_float32: bool) -> None:
        """Warn if a run missed tol."""
        report_convergence(type(self).__name__, results, self.tol, problems, is_float32)

    def _set_answer(
        self,
        settled: Sequence[Settled],
        loss: Loss,
        data: Deduplicated,
        training_data: TrainingData,
        several: bool,
        class_factors: Sequence[tuple[float, ...]] | None = None,
    ) -> None:
        """Set the fitted attributes; coef_ has the type of X."""
        results = [one.result for one in settled]
        self.coef_ = np.stack([result.weights for result in results]).astype(training_data[0].dtype, copy=False)
        self.intercept_ = np.array([result.intercept for result in results])
        self.dual_coef_ = np.stack([data.expand(result.duals) for result in results])
        self._set_run_attributes(results, [one.strength for one in settled], several)
        in_file = [one.in_file for one in settled]
        self._facts = FitFacts.of(
            self, loss, results[0].solver.name, training_data, class_factors, in_file[0].l1_ratio, in_file
        )

    def _solve(self, problems: Sequence[Problem], data: Deduplicated, tasks: FitTasks) -> list[Result]:
        """One result for each problem; n_jobs threads are divided between problems first, then within each problem."""
        solver, seed = solver_of(self.solver), seed_of(self.random_state)
        starts = self._warm_starts(data, len(problems))
        jobs = effective_n_jobs(self.n_jobs)
        # Callbacks and progress bars follow one problem at a time.
        at_once = 1 if tasks.has_callbacks or self.verbose else min(jobs, len(problems))

        def run(k: int) -> Result:
            start = starts[k]
            if start is not None:
                result = _result_without_run(problems[k], start, self.tol, solver)
                if result is not None:
                    return result
            if self.verbose and len(problems) > 1:
                say(f"problem {k + 1} of {len(problems)}")
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

    def _warm_starts(self, data: Deduplicated, count: int) -> list[Start | None]:
        """Where each of `count` problems starts: at the last fit's answer with warm_start=True, else None for zero.

        A last fit of another shape gives None. Its duals are used only if it had the same number of rows.
        """
        if not self.warm_start or not hasattr(self, "coef_"):
            return [None] * count
        weights = np.atleast_2d(dense(self.coef_)).astype(np.float64)
        intercepts = np.atleast_1d(self.intercept_)
        if weights.shape != (count, data.rows.dimension):
            return [None] * count
        duals = np.atleast_2d(getattr(self, "dual_coef_", np.empty(0)))
        has_duals = duals.shape == (count, data.given_count)
        return [(weights[k], float(intercepts[k]), data.reduce(duals[k]) if has_duals else None) for k in range(count)]

    def _set_run_attributes(self, results: Sequence[Any], strengths: list[float], several: bool) -> None:
        """Set n_iter_ and the attributes that describe the runs, and give all attributes their shapes."""
        epochs = [ceil(result.trace[-1].epoch - EPOCH_ROUNDING) for result in results]
        self.n_iter_ = np.array(epochs, dtype=np.int32)
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
        note_solver(self.solver, results[0].solver.name)

    def _scores(self, X: Any) -> Vector:
        """⟨x, w⟩ + b of each row: one column for each problem, or flat where coef_ is flat."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        with np.errstate(over="ignore"):  # a score beyond float64's range is infinite, with the right sign
            scores: Vector = X @ dense(self.coef_).T.astype(np.float64) + self.intercept_
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _result_without_run(problem: Problem, start: Start, tol: float, solver: AnySolver | Auto) -> Result | None:
    """The start itself as the result if its certificate already proves tol, else None."""
    judged = certify(problem, *start)
    if not judged.certificate.proves(tol):
        return None
    record = Examiner(problem, None).record(judged, 0.0, 0, Clock())
    chosen = solver.choose(problem, ())[0] if isinstance(solver, Auto) else solver
    return Result(
        judged.weights,
        judged.intercept,
        judged.duals,
        judged.certificate,
        Status.CERTIFIED,
        "none ran: the last fit's answer still proves tol",
        Trace([record]),
        chosen,
        problem.classes,
        str(Status.CERTIFIED.value),
    )
