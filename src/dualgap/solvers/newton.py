"""Newton: second-order steps on P, along a path of smoothed losses where there is a kink, and on few rows where that is enough.

It starts on samples that grow. On all rows, a loss with a kink alternates between steps on the rows near a kink, while γ
falls, and a look at all of them, which says how large the gap is and which rows come next.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dualgap.losses import Squared
from dualgap.memory import available_bytes
from dualgap.problem import Problem
from dualgap.solvers.base import Answer, Random, Solver, Vector, first_intercept
from dualgap.solvers.forecast import foretold
from dualgap.solvers.gram import compile_for
from dualgap.solvers.path import (
    NEAR,
    Iterate,
    Terms,
    about_primal,
    arrived,
    between,
    evaluated,
    gap_parts,
    newton_direction,
    stepped,
)
from dualgap.solvers.pieces import Piece, nearest, sample, samples, whole
from dualgap.solvers.reduction import Anchor, lowered, reduced, restored, scores_error
from dualgap.solvers.smooth import smooth_step

# γ falls by this much at first, once the gradient's share of the gap is below SETTLED of the smoothing's; faster where a
# stage took one step or two, more slowly where it took more than three.
FALL, SETTLED = 0.2, 1.0
QUICKER, SLOWER = {1: 0.3, 2: 0.7, 3: 1.0}, 1.5
FASTEST, SLOWEST = 0.01, 0.5
# γ never falls below this part of what a constant costs: the gap it leaves is far below any tol.
SMALLEST_GAMMA = 1e-14
# A piece is solved to this part of tol, or of the gap of all rows; a sample to this part of what its smallness costs.
OF_TOL, OF_GAP, OF_SAMPLE = 0.5, 0.02, 0.3
# Under a smooth loss a sample is left after a step that was to lower its P by half of this part of what its smallness costs:
# solved any better, its point would fit these rows alone. Or after one that foretold to leave this part of it.
OF_SMOOTH_SAMPLE, OF_FORETOLD = 3.0, 0.05
# Truncated steps foretell less than exact ones: their duals are worth a look where a step was to lower P by this part of it
# at most.
NEAR_TRUNCATED, LEAST_TOL = 0.1, 1e-12
# After an exact step they are where the point's own leave a gap of at most so many times what is wanted.
BETTER = 30.0
# Beyond so many columns and rows, a smooth loss finds its steps by products with the Hessian.
EXACT_SIDE = 300
# Bytes that no machine lacks, so that small problems need not ask.
ALWAYS_FREE = 1 << 26
# A piece holds this part of the rows, is left when its scores moved by this part of its radius, and is followed by another
# where the gap fell to this part.
PART, MOVED, HELPED = 0.125, 0.5, 0.5
# From a given start γ is so many times its gap: about four times as much smoothing as that is worth, because a start from
# elsewhere is away from the path, and there the steps at a smaller γ are short.
WARMER = 32.0
# Scores in fewer columns are made anew from the problem's own rows where they may be off by this part of the rows' gap.
OFF = 0.5


class State(NamedTuple):
    """The iterate on the piece at hand, the last look at all rows, and how the path is going."""

    inner: Problem
    """The problem that is solved: with fewer columns, where there are more of them than rows."""
    back: Vector | None
    terms: Terms
    piece: Piece
    it: Iterate
    parts: tuple[float, float]
    """The gap on the piece, from its rows and from the gradient."""
    primal: float
    """P at the last look, or what a constant costs."""
    base: Iterate | None
    """The last look at all rows."""
    gap: float
    """The gap there."""
    is_done: bool
    """Whether the piece has nothing more to give."""
    strides: tuple[int, ...]
    """Samples still to come."""
    fall: float
    stage: int
    """Steps at this γ."""
    tol: float
    truncation: Any
    """How truncated steps are going, where the columns are too many for a matrix; None where they are not."""
    averages: tuple[Vector, Vector, int] | None
    is_unseen: bool = False
    """Whether a solve alone led to the point, so that its scores are not known, nor what follows from them."""
    is_refused: bool = False
    """Whether the judge did not accept what a step alone foretold."""
    anchor: Anchor | None = None
    """Where scores in fewer columns were last made from the problem's own rows."""


@dataclass(frozen=True, kw_only=True)
class Newton(Solver):
    """Newton's method with a line search; continuation in γ for losses with kinks. A step on all rows is one epoch."""

    name: ClassVar[str] = "newton"
    summary: ClassVar[str] = "second-order steps on P, along a path of smoothed losses where there is a kink"
    suggests_its_duals: ClassVar[bool] = True
    twin: ClassVar[str] = "compiled_newton"

    def check(self, problem: Problem) -> None:
        if _is_truncated(problem):
            return
        size = min(problem.rows.dimension, problem.rows.count)
        # The matrix, its scaled copy and its factor; where rows are few, their products and eigenvectors.
        needed = 3 * 8 * size**2
        if needed > ALWAYS_FREE and needed > (half := available_bytes() // 2):
            raise ValueError(
                f"newton needs {needed / 2**30:.1f} GiB for a Hessian of {size} columns, "
                f"more than half of the free memory ({half / 2**30:.1f} GiB); use sdca"
            )

    def prepare(self, problem: Problem) -> None:
        """Compile products with the Hessian where no matrix holds it, and those of sparse rows; dense ones need nothing."""
        if _is_truncated(problem):
            from dualgap.solvers import truncated

            truncated.compiled(problem)
        elif problem.rows.is_sparse and problem.rows.dimension <= problem.rows.count:
            compile_for(problem.rows, np.zeros(problem.rows.count))

    def batch(self, problem: Problem) -> int:
        return problem.rows.count

    def start(self, problem: Problem, warm: Answer | None) -> State:
        is_truncated = _is_truncated(problem)
        inner, back = (problem, None) if is_truncated else reduced(problem, is_smooth=not problem.loss.has_kink)
        terms = Terms(inner.loss, inner.strength, inner.intercept)
        strides: tuple[int, ...] = ()
        gamma = 2.0 * problem.baseline / problem.loss.lipschitz**2 or 1.0 if problem.loss.has_kink else 0.0
        if warm is not None and warm.duals is not None and gamma:
            wanted = _warm_gamma(problem, warm.weights, warm.intercept, warm.duals)
            # From a start that far off, or beyond float64's range, it takes longer than from where the path begins.
            gamma, warm = (wanted, warm) if wanted <= gamma else (gamma, None)
        if warm is None:
            weights, intercept = np.zeros(inner.rows.dimension), first_intercept(problem)
            strides = () if is_truncated or isinstance(problem.loss, Squared) else tuple(samples(inner))
        else:
            weights, intercept = lowered(problem, back, warm.weights).copy(), warm.intercept
        piece = sample(inner, strides[0]) if strides else whole(inner)
        if warm is None:
            it = evaluated(piece, terms, weights, intercept, np.zeros(piece.rows.count), gamma)
        else:
            it = arrived(piece, terms, weights, intercept, gamma)
        base = None if strides else it
        truncation = None
        if is_truncated:
            from dualgap.solvers import truncated

            truncation = truncated.begun(problem)
        return State(
            inner, back, terms, piece, it, gap_parts(piece, terms, it), problem.baseline, base, np.inf, False,
            strides[1:], FALL, 0, 0.0, truncation, None,
        )  # fmt: skip

    def aim(self, state: State, tol: float) -> State:
        return state._replace(tol=tol)

    def plan(self, problem: Problem, state: State, epoch: int, random: Random) -> range:
        return range(problem.rows.count if state.is_done else state.piece.rows.count)

    def advance(self, problem: Problem, state: State, steps: Any) -> State:
        state = _next_piece(state) if state.is_done else _step(problem, state)
        if state.averages is not None and (state.base is not None or state.is_unseen):
            weight_sums, dual_sums, count = state.averages
            at = state.base or _seen(state)
            sums = (weight_sums + at.weights, dual_sums + at.duals, count + 1)
            state = state._replace(averages=sums)
        return state

    def believed_gap(self, problem: Problem, state: State) -> float | None:
        return state.gap / state.primal if state.primal > 0.0 else 0.0

    def answer(self, problem: Problem, state: State) -> Answer:
        at = state.base or state.it
        duals = None if state.base is None else state.base.duals
        return Answer(restored(problem, state.back, at.weights, state.anchor), at.intercept, duals)

    def begin_average(self, problem: Problem, state: State) -> State:
        return state._replace(averages=(np.zeros(state.it.weights.size), np.zeros(problem.rows.count), 0))

    def average(self, problem: Problem, state: State) -> Answer:
        if state.averages is None or state.averages[2] == 0:
            return self.answer(problem, state)
        weight_sums, dual_sums, count = state.averages
        weights = restored(problem, state.back, weight_sums / count, state.anchor)
        return Answer(weights, state.it.intercept, dual_sums / count)


def _warm_gamma(problem: Problem, weights: Vector, intercept: float, duals: Vector) -> float:
    """A γ whose smoothing costs more than the start is away from the optimum."""
    duals = problem.loss.clip(duals, problem.labels)
    primal = problem.primal(problem.scores(weights, intercept), weights)
    gap = primal - problem.dual(duals, problem.weights_of(duals))
    return max(WARMER * gap / problem.loss.lipschitz**2, SMALLEST_GAMMA * problem.baseline)


def _is_truncated(problem: Problem) -> bool:
    """Whether steps are found by products with the Hessian, because a matrix would be large."""
    return not problem.loss.has_kink and min(problem.rows.count, problem.rows.dimension) > EXACT_SIDE


def _truncated_step(state: State) -> State:
    # Compiled products are imported only where they are used: small problems need no compiler.
    from dualgap.solvers import truncated
    from dualgap.solvers.conjugate import wanted_norm

    wanted = wanted_norm(state.terms.strength, state.primal, state.tol)
    it, going = truncated.stepped(state.piece, state.terms, state.it, state.truncation, wanted)
    parts, base = gap_parts(state.piece, state.terms, it), it
    primal, tol = state.inner.primal(it.scores + it.intercept, it.weights), max(state.tol, LEAST_TOL)
    is_near = it.decrement <= min(NEAR_TRUNCATED, np.cbrt(NEAR * tol)) * state.primal
    # Foretold duals leave about as much as the solve did; mixed with the point's own, half of it at best.
    if is_near and going.left <= 2.0 * tol * primal < 2.0 * sum(parts):
        duals, gap = foretold(state.piece, state.terms, state.it, it)
        parts, base = (0.0, gap), it._replace(duals=duals)
    return state._replace(it=it, parts=parts, truncation=going, base=base, gap=sum(parts), primal=primal)


def _step(problem: Problem, state: State) -> State:
    """One Newton step on the piece, at a smaller γ where the last one is settled."""
    if state.truncation is not None:
        return _truncated_step(state)
    if isinstance(state.terms.loss, Squared):
        return _solved_step(problem, state)
    gamma, fall, stage = state.it.gamma, state.fall, state.stage
    of_rows, of_gradient = state.parts
    if gamma and of_gradient <= SETTLED * of_rows:
        if state.piece.picked is None:
            state = _narrowed(state)
        if stage:
            fall = min(max(fall * QUICKER.get(stage, SLOWER), FASTEST), SLOWEST)
        # No smaller than tol needs: the smoothing's part of the gap falls about as γ does.
        enough = OF_TOL * state.tol * state.primal / of_rows * gamma if of_rows else 0.0
        smaller = max(fall * gamma, min(enough, 0.5 * gamma), SMALLEST_GAMMA * state.inner.baseline)
        state = _with_scores_anew(problem, state, of_rows * smaller / gamma)
        gamma, stage = smaller, 0
    elif not gamma and state.back is not None and state.gap <= state.tol * state.primal:
        # Enough was proved here, but not to the judge, who sees the problem's own columns.
        state = _anchored(problem, state, state.back)
    if not gamma:
        return _smooth_step(state)
    piece, terms = state.piece, state.terms
    it = stepped(piece, terms, state.it, gamma)
    state = state._replace(it=it, parts=gap_parts(piece, terms, it), fall=fall, stage=stage + 1)
    if piece.picked is None:
        return _looked(state, it)
    return state._replace(is_done=_is_done(state))


def _smooth_step(state: State) -> State:
    """One Newton step on the piece under a smooth loss."""
    if state.is_unseen:
        # The judge was not convinced by what a step foretold: from here on nothing is taken on trust.
        state = state._replace(it=_seen(state), is_unseen=False, is_refused=True)
    piece, terms, before = state.piece, state.terms, state.it
    it = smooth_step(piece, terms, before, 0.0 if state.is_refused else _wanted(state), state.primal)
    if piece.picked is not None:
        if it.left is not None:
            return state._replace(it=it, is_done=True)
        state = state._replace(it=it, parts=gap_parts(piece, terms, it))
        return state._replace(is_done=_is_done(state))
    if it.left is None:
        return _proved(state, before, it)
    return state._replace(it=it, base=it, gap=it.left, is_unseen=True)


def _proved(state: State, before: Iterate, it: Iterate) -> State:
    """The state after a step on all rows under a smooth loss, with the duals it foretold where they may be better."""
    piece, terms = state.piece, state.terms
    gap, primal, duals = sum(gap_parts(piece, terms, it)), about_primal(piece, terms, it), it.duals
    wanted = max(state.tol, LEAST_TOL) * primal
    if wanted < gap <= BETTER * wanted:
        duals, gap = foretold(piece, terms, before, it)
    it = it._replace(foretold=None)
    return state._replace(it=it, parts=(0.0, gap), base=it._replace(duals=duals), gap=gap, primal=primal)


def _smallness(piece: Piece) -> float:
    """What part of P it costs to know these rows alone, about."""
    return piece.rows.dimension / piece.rows.count


def _wanted(state: State) -> float:
    """The relative gap that a step may leave: less than that is worth nothing."""
    return state.tol if state.base is not None else max(state.tol, OF_FORETOLD * _smallness(state.piece))


def _seen(state: State) -> Iterate:
    """The point with its scores and what follows from them."""
    it = state.it
    if not state.is_unseen:
        return it
    return arrived(state.piece, state.terms, it.weights, it.intercept, it.gamma)


def _solved_step(problem: Problem, state: State) -> State:
    """The squared loss: one solve is the answer, and the judge will look at it; further ones mend what rounding left."""
    if state.is_unseen and state.back is not None:
        # In fewer columns nothing is left to mend; the problem's own still show what the way back cost.
        state = _anchored(problem, state, state.back)
    it = _seen(state)
    direction, shift = newton_direction(state.piece, state.terms, it)
    it = it._replace(weights=it.weights + direction, intercept=it.intercept + shift)
    return state._replace(it=it, base=None, gap=0.0, is_unseen=True)


def _with_scores_anew(problem: Problem, state: State, of_rows: float) -> State:
    """The state with scores from the problem's own rows, where those in fewer columns are too inexact for such a gap."""
    if state.back is None or scores_error(state.inner, state.back, state.it.weights, state.anchor) <= OFF * of_rows:
        return state
    return _anchored(problem, state, state.back)


def _anchored(problem: Problem, state: State, back: Vector) -> State:
    """The state with scores from the problem's own rows, and weights there that others are restored from."""
    it = state.it
    anchor = Anchor(it.weights, restored(problem, back, it.weights, state.anchor))
    it = evaluated(state.piece, state.terms, it.weights, it.intercept, problem.rows.scores(anchor.own), it.gamma)
    return state._replace(it=it, anchor=anchor, is_unseen=False, is_refused=state.is_refused or state.is_unseen)


def _narrowed(state: State) -> State:
    """The state on the rows near a kink, from a settled one on all rows; itself where those would be most of them."""
    base, inner = state.it, state.inner
    curved = base.bends > 0.0
    wanted = max(int(PART * inner.rows.count), 2 * int(np.count_nonzero(curved)))
    combination = inner.strength * base.weights - base.gradient
    piece = nearest(inner, base.scores + base.intercept, base.duals, curved, combination, wanted)
    if piece is None:
        return state
    picked = piece.picked
    it = base._replace(scores=base.scores[picked], duals=base.duals[picked], bends=base.bends[picked])
    return state._replace(piece=piece, it=it)


def _looked(state: State, base: Iterate) -> State:
    """The state with an iterate on all rows as its last look."""
    if base.gamma:
        primal = state.inner.primal(base.scores + base.intercept, base.weights)
    else:
        primal = about_primal(state.piece, state.terms, base)
    return state._replace(base=base, gap=sum(state.parts), primal=primal)


def _is_done(state: State) -> bool:
    """Whether a sample or a piece is solved as well as it is worth, or has moved too far to be trusted."""
    piece, it, gap = state.piece, state.it, sum(state.parts)
    if state.base is None:
        primal = about_primal(piece, state.terms, it)
        if not it.gamma:
            return it.decrement <= OF_SMOOTH_SAMPLE * _smallness(piece) * primal
        return gap <= max(OF_TOL * state.tol, OF_SAMPLE * _smallness(piece)) * primal
    if gap <= max(OF_TOL * state.tol * state.primal, OF_GAP * state.gap):
        return True
    moves = it.scores + it.intercept - state.base.scores[piece.picked] - state.base.intercept
    return bool(np.sqrt(np.mean(moves * moves)) > MOVED * piece.radius)


def _next_piece(state: State) -> State:
    """The next sample, or a look at all rows and then those of them near a kink."""
    inner, terms, it, strides = state.inner, state.terms, state.it, state.strides
    if strides:
        piece = sample(inner, strides[0])
        it = arrived(piece, terms, it.weights, it.intercept, it.gamma)
        parts = gap_parts(piece, terms, it)
        return state._replace(piece=piece, it=it, parts=parts, strides=strides[1:], is_done=False, stage=0)
    everything, before = whole(inner), state.gap
    if state.base is None:
        base = arrived(everything, terms, it.weights, it.intercept, it.gamma)
    else:
        base = between(everything, terms, state.base, it, inner.rows.scores(it.weights), state.piece.picked)
    state = _looked(state._replace(piece=everything, it=base, parts=gap_parts(everything, terms, base), stage=0), base)
    state = state._replace(is_done=False)
    # Where leaving rows out did not help, the next steps are on all of them until they settle again.
    helped = terms.loss.has_kink and state.tol * state.primal < state.gap < HELPED * before
    return _narrowed(state) if helped else state
