"""Streams: steps of pegasos and sgd over rows in the order they come, in any number of calls, with the same bits.

A solver that sees all rows takes its step size from them. A stream has only what came so far, and what it takes from
there must not depend on where a call ends: the longest row so far, rounded up to a power of two, and means over the
first 1, 2, 4, … rows. Between two changes of these the steps are the solver's own.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualgap.certificate import Certificate, certify
from dualgap.data.rows import Rows
from dualgap.losses import Loss
from dualgap.problem import Problem

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class BatchCertificate(Certificate):
    """A certificate that speaks of the last batch of a stream alone."""

    batch: int = 0
    """How many rows that batch had."""

    def __str__(self) -> str:
        return f"{super().__str__()}, on the last batch of {self.batch} rows"


def certificate_on(problem: Problem, weights: Vector, intercept: float) -> BatchCertificate:
    """P at the stream's own w and b on the batch, and the best D known there."""
    known = certify(problem, weights, intercept).certificate
    primal = problem.primal(problem.scores(weights, intercept), weights)
    gap = known.gap + max(primal - known.primal, 0.0) + 2.0 * known.primal_error
    return BatchCertificate(**asdict(known) | {"primal": primal, "gap": gap}, batch=problem.rows.count)


@dataclass
class Stream:
    """Where one stream stands: the kernel's state, and what the rows so far were like."""

    strength: float
    weights: Vector
    moving: Vector
    first: float = 0.0
    """The constant that a free intercept started from."""
    count: int = 0
    longest: float = 0.0
    """The largest s‖x‖² so far."""
    sums: Vector = field(default_factory=lambda: np.zeros(3))
    """Of s‖x‖², of the loss at 0, and of the loss at `first`."""
    means: Vector = field(default_factory=lambda: np.zeros(3))
    """The same as means, over the first 1, 2, 4, … rows."""

    @staticmethod
    def starting(strength: float, dimension: int, start: tuple[Vector, float, int] | None, first: float) -> Stream:
        """At zero weights, or at weights and intercept of a fit that took so many updates."""
        from dualgap.kernels import primal  # kernels bring Numba, which a fit without a stream does not need

        moving = np.zeros(primal.MOVING)
        moving[primal.SCALE], moving[primal.INTERCEPT] = 1.0, first
        if start is None:
            return Stream(strength, np.zeros(dimension), moving, first)
        weights, intercept, updates = start
        moving[primal.INTERCEPT], moving[primal.UPDATES] = intercept, updates
        moving[primal.SQUARED_NORM] = weights @ weights
        return Stream(strength, weights.copy(), moving, first)

    @property
    def updates(self) -> int:
        from dualgap.kernels import primal

        return int(self.moving[primal.UPDATES])

    def answer(self) -> tuple[Vector, float]:
        """Weights and intercept."""
        from dualgap.kernels import primal

        return self.moving[primal.SCALE] * self.weights, float(self.moving[primal.INTERCEPT])

    def advance(self, solver: Any, loss: Loss, rows: Rows, labels: Vector, weights: Vector | None, free: bool) -> None:
        """Step over the rows in their order."""
        from dualgap.kernels import primal
        from dualgap.kernels.steps import kernel_loss
        from dualgap.solvers.base import integer_type, intercept_mobility

        batch, count = solver.batch_size, rows.count
        order = np.arange(count, dtype=integer_type(count))
        unused_duals = np.zeros(count)  # a stream keeps none, because they are as many as its rows
        at_zero = loss.value(np.zeros(count), labels)
        at_first = loss.value(np.full(count, self.first), labels)
        shares = np.ones(count) if weights is None else weights
        norms = shares * rows.squared_norms
        # Summed one after the other, as they would be in a single call.
        sums = np.cumsum(np.vstack([self.sums, np.column_stack([norms, at_zero, at_first])]), axis=0)
        longest = np.maximum.accumulate(np.append(self.longest, norms))
        for begin, end in self._pieces(longest, count, batch):
            if self.count + begin == 0:
                self.means = sums[1].copy()
            elif _doubles(self.count + begin, batch):
                self.means = sums[begin] / (self.count + begin)
            facts = self._facts(loss, free, longest[end])
            primal.primal_steps(
                rows.arrays,
                labels,
                weights,
                kernel_loss(loss),
                self.strength,
                1.0,
                *solver.step_for(facts),
                solver.radius(facts),
                intercept_mobility(facts),
                batch,
                order[begin:end],
                self.weights,
                unused_duals,
                self.moving,
                None,
                None,
            )
        self.count, self.longest, self.sums = self.count + count, float(longest[-1]), sums[-1]

    def _pieces(self, longest: Vector, count: int, batch: int) -> list[tuple[int, int]]:
        """Whole batches, as rows [begin, end), over which nothing that the step size depends on changes."""
        begins = np.arange(0, count, batch)
        ends = np.minimum(begins + batch, count)
        is_longer = _exponent(longest[ends]) != _exponent(longest[begins])
        cuts = begins[is_longer | _doubles(self.count + begins, batch) | (begins == 0)]
        return list(zip(cuts.tolist(), [*cuts[1:].tolist(), count], strict=True))

    def _facts(self, loss: Loss, free: bool, longest: float) -> Any:
        """What a solver asks of a problem to choose its step, answered from the stream so far."""
        mean_squared_norm, at_zero, at_first = self.means
        return SimpleNamespace(
            loss=loss,
            strength=self.strength,
            intercept=free,
            rows=SimpleNamespace(count=1, squared_norms=np.array([2.0 ** int(_exponent(longest)) if longest else 0.0])),
            sample_weight=None,
            total_weight=1.0,
            mean_squared_norm=float(mean_squared_norm),
            primal_at_zero=float(at_zero),
            baseline=float(at_first if free else at_zero),
        )


def _exponent(value: Any) -> Any:
    """e of the smallest power 2^e above a value."""
    return np.frexp(value)[1]


def _doubles(seen: Any, batch: int) -> Any:
    """Whether the number of rows seen has passed a power of two since the batch before."""
    return _exponent(seen) != _exponent(np.maximum(seen - batch, 0))
