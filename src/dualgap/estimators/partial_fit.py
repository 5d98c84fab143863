"""partial_fit: steps of pegasos and sgd over a stream of rows, with the same bits however the stream is cut into calls.

A step size depends on the data: on the longest row, the mean squared norm and the loss at zero. `fit` takes them from all
rows. A stream takes them from the rows so far, and only values that do not depend on where a call ends: the largest
squared norm rounded up to a power of two, and means over the first 1, 2, 4, 8, … rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import update_wrapper
from types import MethodType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dualgap.certificate import Certificate, certify
from dualgap.data.rows import Rows
from dualgap.data.validation import as_rows
from dualgap.estimators.parameters import solver_name, solver_of
from dualgap.estimators.settling import rounded
from dualgap.losses import Loss
from dualgap.models.from_estimator import dense
from dualgap.problem import Problem
from dualgap.result import Status
from dualgap.solvers.base import integer_type, intercept_scale_for
from dualgap.solvers.primal import PrimalSolver, State, StepFacts

if TYPE_CHECKING:
    from dualgap.estimators.base import CertifiedModel

Vector = NDArray[np.float64]

SOLVERS_WITH_PARTIAL_FIT = ("pegasos", "sgd")
# Attributes of `fit` that say nothing about a stream, and are deleted by partial_fit.
FIT_ONLY_ATTRIBUTES = ("dual_coef_", "trace_", "reason_", "_facts")


def supports_partial_fit(estimator: Any) -> bool:
    """Whether the estimator's solver has partial_fit."""
    return solver_name(estimator.solver) in SOLVERS_WITH_PARTIAL_FIT


class for_streams:
    """A partial_fit that exists where the solver can step over a stream; elsewhere the AttributeError names one that can."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method
        update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, estimator: Any, owner: type | None = None) -> Any:
        if estimator is None:
            return self.method
        if not supports_partial_fit(estimator):
            raise AttributeError(
                f"partial_fit of {type(estimator).__name__} needs solver='pegasos' or 'sgd', which step over a stream of "
                f"rows, got {estimator.solver!r}; use solver='pegasos'"
            )
        return MethodType(self.method, estimator)


def advance_streams(
    estimator: CertifiedModel, X: Any, targets: Sequence[Vector], weights: Sequence[Vector | None], several: bool
) -> None:
    """One call of partial_fit: step over the rows of X, with one stream and one entry of `targets` for each problem."""
    solver, loss, fit_intercept = solver_of(estimator.solver), estimator._loss(), estimator.fit_intercept
    assert isinstance(solver, PrimalSolver)  # `supports_partial_fit` admits no other solver
    ratio = estimator._l1_ratio()
    if ratio > 0.0:
        advice = "pass l1_ratio=0, or use fit" if hasattr(estimator, "l1_ratio") else "use fit"
        raise ValueError(
            f"partial_fit of {type(estimator).__name__} needs the L2 penalty, got an L1 part of {ratio:g}; {advice}"
        )
    if solver.output != "last":
        raise ValueError(
            f"partial_fit needs a solver with output=last, got output={solver.output}; leave output out, because a "
            "stream has no last row up to which iterates could be averaged"
        )
    rows = as_rows(X)
    if not hasattr(estimator, "_streams"):
        estimator._streams = _start_streams(estimator, rows.dimension, targets, weights)
    certificates: list[BatchCertificate | None] = []
    for stream, labels, sample_weight in zip(estimator._streams, targets, weights, strict=True):
        stream.advance(solver, loss, rows, labels, sample_weight, fit_intercept)
        if loss.task == "classification" and np.unique(labels).size < 2:
            certificates.append(None)  # rows of one class are no classification problem
            continue
        problem = Problem(rows, labels, loss, stream.strength, sample_weight, fit_intercept)
        coef, intercept = stream.answer()
        certificates.append(certify_batch(problem, rounded(coef, X.dtype), intercept))
    _set_attributes(estimator, certificates, several)
    estimator.coef_ = estimator.coef_.astype(X.dtype, copy=False)


def _start_streams(
    estimator: CertifiedModel, dimension: int, targets: Sequence[Vector], weights: Sequence[Vector | None]
) -> list[Stream]:
    """Streams at zero, or at the coefficients of an earlier `fit`; C and alpha are divided by the first call's weights."""
    streams = []
    is_regression = estimator._loss().task == "regression"
    for k, (target, sample_weight) in enumerate(zip(targets, weights, strict=True)):
        total_weight = float(target.size if sample_weight is None else sample_weight.sum())
        strength = estimator._strength(total_weight, k)
        if strength == 0.0:
            raise ValueError("partial_fit needs a penalty, got none; pass strength=1e-6, or another number above 0")
        constant = float(target[0]) if is_regression and estimator.fit_intercept else 0.0
        if hasattr(estimator, "dual_coef_"):
            coef = np.atleast_2d(dense(estimator.coef_))[k].astype(np.float64)
            intercept = float(np.atleast_1d(estimator.intercept_)[k])
            # As with a warm start, a fit counts as one epoch of updates.
            updates = np.atleast_2d(estimator.dual_coef_).shape[1]
            state = State.at(coef.copy(), intercept, np.empty(0), updates)
        else:
            state = State.at(np.zeros(dimension), constant, np.empty(0))
        streams.append(Stream(strength, state, constant))
    return streams


def _set_attributes(estimator: CertifiedModel, certificates: list[Any], several: bool) -> None:
    for name in FIT_ONLY_ATTRIBUTES:
        estimator.__dict__.pop(name, None)
    streams = estimator._streams
    estimator.coef_ = np.stack([stream.answer()[0] for stream in streams])
    estimator.intercept_ = np.array([stream.answer()[1] for stream in streams])
    estimator.n_iter_ = np.ones(len(streams), dtype=np.int32)
    estimator.t_ = streams[0].state.updates
    # A stream passes over its rows once and never reaches tol on all of them.
    statuses = [Status.EPOCHS_EXHAUSTED for _ in streams]
    strengths = [stream.strength for stream in streams]
    estimator.certificate_ = certificates if several else certificates[0]
    estimator.status_ = statuses if several else statuses[0]
    estimator.strength_ = strengths if several else strengths[0]
    estimator._shape_attributes(several)


@dataclass(frozen=True)
class BatchCertificate(Certificate):
    """A certificate of the problem on the rows of the last call of partial_fit alone."""

    batch: int = 0
    """Number of rows of the last call."""

    def __str__(self) -> str:
        return f"{super().__str__()}, on the last batch of {self.batch} rows"


def certify_batch(problem: Problem, weights: Vector, intercept: float) -> BatchCertificate:
    """P at exactly these weights and this intercept, and the best dual value that the judge finds."""
    found = certify(problem, weights, intercept).certificate
    # The judge may certify a better intercept than the stream's own; the gap grows by the difference in P.
    primal = problem.primal(problem.scores(weights, intercept), weights)
    gap = found.gap + max(primal - found.primal, 0.0) + 2.0 * found.primal_error
    return BatchCertificate(**asdict(found) | {"primal": primal, "gap": gap}, batch=problem.rows.count)


@dataclass
class Stream:
    """One problem's stream: the solver's state, and what the step size needs to know of the rows so far."""

    strength: float
    state: State
    constant: float = 0.0
    """The prediction that the loss is averaged at for `StepFacts.baseline`: the first target, or 0 for classes."""
    count: int = 0
    """Number of rows so far."""
    largest_squared_norm: float = 0.0
    """The largest s_i‖x_i‖² so far."""
    sums: Vector = field(default_factory=lambda: np.zeros(3))
    """Sums over the rows so far: s_i‖x_i‖², the loss at 0, the loss at `constant`."""
    means: Vector = field(default_factory=lambda: np.zeros(3))
    """Means of the same three, taken where the number of rows last reached a power of two, at the end of a batch."""

    def answer(self) -> tuple[Vector, float]:
        """Weights and intercept."""
        weights, intercept, _ = self.state.answer()
        return weights, intercept

    def advance(
        self,
        solver: PrimalSolver,
        loss: Loss,
        rows: Rows,
        labels: Vector,
        sample_weight: Vector | None,
        fit_intercept: bool,
    ) -> None:
        """Step over the rows in the given order."""
        batch, count = solver.batch_size, rows.count
        order = np.arange(count, dtype=integer_type(count))
        # The kernel updates one dual a row; a stream has no use for them after the call.
        state = self.state._replace(duals=np.zeros(count))
        weights = np.ones(count) if sample_weight is None else sample_weight
        squared_norms = weights * rows.squared_norms
        at_zero = loss.value(np.zeros(count), labels)
        at_constant = loss.value(np.full(count, self.constant), labels)
        # One row after the other, so that the sums have the same bits for any division into calls.
        sums = np.cumsum(np.vstack([self.sums, np.column_stack([squared_norms, at_zero, at_constant])]), axis=0)
        largest = np.maximum.accumulate(np.append(self.largest_squared_norm, squared_norms))
        for begin, end in self._spans(largest, count, batch):
            if self.count + begin == 0:
                self.means = sums[1].copy()
            elif _passes_power_of_two(self.count + begin, batch):
                self.means = sums[begin] / (self.count + begin)
            facts = self._step_facts(loss, fit_intercept, largest[end])
            solver.step_over(rows, labels, sample_weight, 1.0, facts, batch, order[begin:end], state)
        self.state = state._replace(duals=np.empty(0))
        self.count, self.largest_squared_norm, self.sums = self.count + count, float(largest[-1]), sums[-1]

    def _spans(self, largest: Vector, count: int, batch: int) -> list[tuple[int, int]]:
        """Rows [begin, end) of whole batches during which the step facts are constant."""
        begins = np.arange(0, count, batch)
        ends = np.minimum(begins + batch, count)
        grows = _exponent(largest[ends]) != _exponent(largest[begins])
        starts = begins[grows | _passes_power_of_two(self.count + begins, batch) | (begins == 0)]
        return list(zip(starts.tolist(), [*starts[1:].tolist(), count], strict=True))

    def _step_facts(self, loss: Loss, fit_intercept: bool, largest: float) -> StepFacts:
        """The step facts of the rows so far; a stream knows no total weight, so that weights are not normalized."""
        mean_squared_norm, at_zero, at_constant = self.means.tolist()
        intercept_scale = intercept_scale_for(mean_squared_norm) if fit_intercept else 0.0
        bound = 2.0 ** int(_exponent(largest)) if largest else 0.0
        baseline = at_constant if fit_intercept else at_zero
        return StepFacts(loss, self.strength, bound + intercept_scale, intercept_scale, at_zero, baseline)


def _exponent(value: Any) -> Any:
    """The smallest e with value < 2^e."""
    return np.frexp(value)[1]


def _passes_power_of_two(count: Any, batch: int) -> Any:
    """Whether a power of two lies between the number of rows one batch ago and the number of rows now."""
    return _exponent(count) != _exponent(np.maximum(count - batch, 0))
