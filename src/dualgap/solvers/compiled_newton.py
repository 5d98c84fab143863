"""CompiledNewton: second-order steps on P as one compiled call each, for smooth losses on data so small that calls cost most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dualgap.problem import Problem
from dualgap.rows import DenseRows, Rows, SparseRows
from dualgap.solvers.base import Answer, Random, Solver, Vector, first_intercept
from dualgap.solvers.path import COUNTED, SLOPE_LEFT, TRIALS
from dualgap.solvers.smooth import FROM_ZERO, LENGTHENED, SHORTENED

# A Hessian of more columns is factored quicker by LAPACK; their numbers fit into a byte.
MOST_COLUMNS = 256
# Dense rows are packed where no more than this part of their values is not zero, and as long as that and so many bytes a row,
# for vectors of one number a row here and at the judge's, take no more than half as much as the rows.
SPARSE_PART, ROW_BYTES, OF_ROWS = 0.3, 96, 0.5
# A column's number takes a byte in packed rows, the place where a row ends four.
PLACE, END = np.dtype(np.uint8), np.dtype(np.uint32)
# Which line of numbers holds the duals to answer with.
ANSWER = 1
# Losses and types of rows that steps are compiled for in this process.
_READY: set[tuple[Any, ...]] = set()


class State(NamedTuple):
    """The point and what follows from it, in arrays that steps write to."""

    rows: Rows
    """The problem's, or the same without their zeros."""
    arrays: Any
    """Lines of numbers: see `kernels.newton.Room` for what they are."""
    shares: Vector
    known_loss: Any
    is_at_zero: bool
    gap: float
    primal: float
    """About P, or more."""
    tol: float = 0.0
    averages: tuple[Vector, Vector, int] | None = None

    @property
    def weights(self) -> Vector:
        """w, and b after it where it is free."""
        return np.asarray(self.arrays.columns[0])

    @property
    def answer(self) -> Vector:
        """The duals to answer with."""
        return np.asarray(self.arrays.numbers[ANSWER])


@dataclass(frozen=True, kw_only=True)
class CompiledNewton(Solver):
    """Newton's method with a line search and a correction by the third derivative; a step is one epoch, and one call."""

    name: ClassVar[str] = "compiled_newton"
    summary: ClassVar[str] = "second-order steps on P in one compiled call each, for smooth losses on small data"
    suggests_its_duals: ClassVar[bool] = True

    def check(self, problem: Problem) -> None:
        if problem.loss.has_kink:
            raise ValueError("compiled_newton needs a smooth loss, got one with a kink; use newton")
        if problem.rows.dimension > MOST_COLUMNS:
            raise ValueError(
                f"compiled_newton needs at most {MOST_COLUMNS} columns, got {problem.rows.dimension}; use newton"
            )

    def prepare(self, problem: Problem) -> None:
        """Compile for rows of this kind, by a step on one of them; once, because that takes as long as a small fit."""
        parts = (*problem.rows.arrays, problem.labels)
        kind = (type(problem.loss), *((part.dtype, part.flags.writeable) for part in parts))
        packs = _worth_packing(problem.rows) is not None
        if (packs, kind) in _READY:
            return
        first = _first(problem.rows)
        state = _begun(problem, _packed(first, int(np.count_nonzero(first.arrays[0]))) if packs else first)
        _arrived(problem, problem.labels[:1], state)
        _stepped(problem, problem.labels[:1], state)
        _READY.add((packs, kind))

    def batch(self, problem: Problem) -> int:
        return problem.rows.count

    def start(self, problem: Problem, warm: Answer | None) -> State:
        stored = _worth_packing(problem.rows)
        state = _begun(problem, problem.rows if stored is None else _packed(problem.rows, stored))
        width = problem.rows.dimension
        if warm is not None:
            state.weights[:width] = warm.weights
        if problem.intercept:
            state.weights[width] = first_intercept(problem) if warm is None else warm.intercept
        _arrived(problem, problem.labels, state)
        return state._replace(is_at_zero=not state.weights.any())

    def aim(self, state: State, tol: float) -> State:
        return state._replace(tol=tol)

    def plan(self, problem: Problem, state: State, epoch: int, random: Random) -> range:
        return range(problem.rows.count)

    def advance(self, problem: Problem, state: State, steps: Any) -> State:
        gap, primal = _stepped(problem, problem.labels, state)
        averages = state.averages
        if averages is not None:
            averages = (averages[0] + state.weights, averages[1] + state.answer, averages[2] + 1)
        return state._replace(is_at_zero=False, gap=gap, primal=primal, averages=averages)

    def believed_gap(self, problem: Problem, state: State) -> float | None:
        return state.gap / state.primal if state.primal > 0.0 else 0.0

    def answer(self, problem: Problem, state: State) -> Answer:
        return _answer(problem, state.weights.copy(), state.answer)

    def begin_average(self, problem: Problem, state: State) -> State:
        return state._replace(averages=(np.zeros(state.weights.size), np.zeros(problem.rows.count), 0))

    def average(self, problem: Problem, state: State) -> Answer:
        if state.averages is None or state.averages[2] == 0:
            return self.answer(problem, state)
        weights, duals, count = state.averages
        return _answer(problem, weights / count, duals / count)


def _answer(problem: Problem, weights: Vector, duals: Vector) -> Answer:
    width = problem.rows.dimension
    return Answer(weights[:width], float(weights[width]) if problem.intercept else 0.0, duals)


def _first(rows: Rows) -> Rows:
    """The first row, in place: to a compiler an array that cannot be written to is of another type than a copy of it."""
    arrays = rows.arrays
    if isinstance(arrays, DenseRows):
        return Rows(DenseRows(arrays.values[:1]), 1, rows.dimension)
    stored = int(arrays.indptr[1])
    return Rows(SparseRows(arrays.data[:stored], arrays.indices[:stored], arrays.indptr[:2]), 1, rows.dimension)


def _worth_packing(rows: Rows) -> int | None:
    """How many values of dense rows are not zero, where leaving the zeros out pays; None where not, or rows are sparse."""
    # Imported only where it is used: other solvers of small problems need no compiler.
    from dualgap.kernels import packing

    if not isinstance(rows.arrays, DenseRows):
        return None
    values = rows.arrays.values
    stored = int(packing.count_values(values))
    needed = stored * (values.itemsize + PLACE.itemsize) + ROW_BYTES * rows.count
    fits = needed <= OF_ROWS * values.nbytes and stored <= np.iinfo(END).max
    return stored if stored <= SPARSE_PART * values.size and fits else None


def _packed(rows: Rows, stored: int) -> Rows:
    """Dense rows without their zeros."""
    from dualgap.kernels import packing

    values = rows.arrays[0]
    data, indices = np.empty(stored + 1, values.dtype), np.empty(stored + 1, PLACE)
    ends = np.empty(rows.count + 1, END)
    packing.pack_values(values, data, indices, ends)
    return Rows(SparseRows(data[:-1], indices[:-1], ends), rows.count, rows.dimension)


def _begun(problem: Problem, rows: Rows) -> State:
    """Room for a run on some rows, and what kernels know the loss by."""
    from dualgap import kernels

    count, width = rows.count, rows.dimension
    size = width + problem.intercept
    block, square = (0, 0), (0, 0)
    if isinstance(rows.arrays, DenseRows):
        block, square = (min(kernels.newton.BLOCK, count), width), (width, width)
    arrays = kernels.newton.Arrays(
        np.zeros((6, size)), np.zeros((2, count)), np.zeros((2, size, size)), np.zeros((2, *block)), np.zeros(square)
    )
    if problem.sample_weight is None:
        shares = np.array([1.0 / problem.rows.count])
    else:
        shares = problem.sample_weight[:count] / problem.total_weight
    known_loss = kernels.steps.kernel_loss(problem.loss)
    return State(rows, arrays, shares, known_loss, True, np.inf, problem.baseline)


def _arrived(problem: Problem, labels: Vector, state: State) -> None:
    from dualgap.kernels import newton

    is_free = int(problem.intercept)
    newton.arrive(state.known_loss, state.rows.arrays, labels, state.shares, problem.strength, is_free, state.arrays)


def _stepped(problem: Problem, labels: Vector, state: State) -> tuple[float, float]:
    """About the gap and P after a step."""
    from dualgap.kernels import newton

    has_third = problem.loss.jerk(labels[:1], labels[:1], labels[:1]) is not None
    length = FROM_ZERO if has_third and state.is_at_zero else 1.0
    terms = (problem.strength, int(problem.intercept), has_third, length, state.tol, state.primal)
    rules = newton.Rules(SHORTENED, LENGTHENED, SLOPE_LEFT, TRIALS, COUNTED)
    data = (state.rows.arrays, labels, state.shares)
    gap, primal = newton.newton_step(state.known_loss, *data, *terms, rules, state.arrays)
    return gap, primal
