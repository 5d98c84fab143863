"""The loop of a fit on row blocks: rounds in which every block answers the judge and Newton, and steps between them.

A round sends a point to all blocks and adds what comes back. It is a function of the blocks and of what is sent, so nothing is lost
where a block has to be loaded again, and the bits are the same wherever the blocks are.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from math import inf, isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap.certificate.blocks import BlockJudgement, DualRecipe, Question, judge_block, question, verdict
from dualgap.data.blocks import Block
from dualgap.data.blocks.homes import HomeLost
from dualgap.examiner import Examiner
from dualgap.interrupts import Interrupt
from dualgap.limits import Limits
from dualgap.linalg.floats import UNIT
from dualgap.linalg.krylov import conjugate_residuals
from dualgap.linalg.parallel import RunOver, checked
from dualgap.linalg.partial_sums import Partial, add, add_pairs
from dualgap.loop import Loop
from dualgap.problem import BlockProblem
from dualgap.result import BlockDuals, Result, Status, sentence_of
from dualgap.solvers import Auto, Newton, Solver
from dualgap.solvers.newton.rounds import (
    Evaluate,
    Evaluated,
    Multiply,
    Place,
    Probe,
    Step,
    evaluate_block,
    multiply_block,
    probe_block,
    slopes,
)
from dualgap.trace import Clock, Record, Trace

log = logging.getLogger("dualgap")
Vector = NDArray[np.float64]


class RoundSettings(NamedTuple):
    """The numbers that decide how the rounds go."""

    dense_columns: int = 2000
    """More columns than this take Hessian products, a round each, in place of a matrix of d² numbers a round."""
    max_products: int = 200
    """Rounds of products for one step at most."""
    sample_gap: float = 0.1
    """The sample is solved to this part of d/m: more accuracy fits its sampling error."""
    first_curved: float = 20.0
    """γ begins where about this many times as many rows are on a curved segment as there are columns: with few, a step that keeps rows
    on their segments leads far astray."""
    gamma_decay: float = 0.35
    """γ is multiplied by this factor once the gradient's part of the gap is no larger than the smoothing's."""
    smallest_gamma: float = 1e-14
    """The smallest γ, as a part of what a constant costs."""
    accepted_slope: float = 0.6
    """A whole step is taken where the slope at its end is below this part of the decrement; otherwise a round looks for its size."""
    pair_noise: float = 1e-9
    """The last steps become part of the point they started from where their rounding could move a dual by more than this."""
    max_idle: int = 25
    """Rounds without a gap smaller by 10 % after which float64 is taken to have no more to give."""


SETTINGS = RoundSettings()
# Step sizes that a probe looks at. They crowd towards zero, where a step under an exponential loss may have to end.
PROBED = np.array([0.0, 1 / 256, 1 / 64, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4])


class Asked(NamedTuple):
    """What a round sends."""

    judge: Question
    newton: Evaluate


def answer_block(block: Block, asked: Asked) -> tuple[Partial, Partial]:
    """A block's answers to the judge and to Newton, which share nothing but the data."""
    return judge_block(block, asked.judge), evaluate_block(block, asked.newton)


class Visited(NamedTuple):
    """A point that a round evaluated."""

    asked: Question
    judged: BlockJudgement
    newton: Evaluated

    @property
    def gap(self) -> float:
        return self.judged.certificate.gap


def solve_blocks(
    problem: BlockProblem,
    chosen: Solver | Auto,
    limits: Limits,
    seed: int,
    tell: Callable[[Record], bool],
    interrupt: Interrupt,
    start: tuple[Vector, float] | None = None,
) -> Result:
    """Solve a problem on row blocks to its limits."""
    if not isinstance(chosen, Auto | Newton):
        raise ValueError(
            f"row blocks need solver 'auto' or 'newton', got {chosen.name}; fit a sample in memory with it"
        )
    if problem.loss.has_kink and problem.dimension > SETTINGS.dense_columns:
        raise ValueError(
            f"{problem.loss.name} on row blocks needs at most {SETTINGS.dense_columns:,} columns, got {problem.dimension:,}; "
            "use a smooth loss such as squared_hinge or huber, or fit in memory"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        return _Run(problem, limits, seed, tell, interrupt).run(start)


class _Run:
    """One run in progress."""

    def __init__(
        self,
        problem: BlockProblem,
        limits: Limits,
        seed: int,
        tell: Callable[[Record], bool],
        interrupt: Interrupt,
    ) -> None:
        self.problem, self.limits, self.seed, self.tell, self.interrupt = problem, limits, seed, tell, interrupt
        self.clock, self.trace = Clock(), Trace()
        self.has_matrix = problem.dimension <= SETTINGS.dense_columns
        self.constant = float(problem.sample_problem.constant)
        self.rounds, self.steps, self.idle = 0, 0, 0
        self.best: Visited | None = None
        self.first_norm = inf
        self.ending: Status | None = None
        self.sentence: str | None = None
        """How the run ended, where its status does not say it."""

    def run(self, start: tuple[Vector, float] | None) -> Result:
        """Rounds until the run ends."""
        place = self._start(start)
        here = self._visit(place)
        try:
            while self.ending is None:
                with checked(self._check):
                    here = self._step(here)
        except RunOver:
            self.ending = Status.INTERRUPTED if self.interrupt.asked else Status.TIME_EXHAUSTED
        except HomeLost as lost:
            self.ending, self.sentence = Status.INTERRUPTED, f"{lost}; the certificate is the best of the rounds before"
        assert self.best is not None
        return self._result(self.best, self.ending)

    def _result(self, best: Visited, ending: Status) -> Result:
        problem, certificate = self.problem, best.judged.certificate
        number = problem.home.count
        return Result(
            best.asked.weights,
            best.asked.intercept,
            BlockDuals(
                best.asked.recipe,
                best.judged.factors,
                problem.loss,
                problem.coding,
                best.asked.weights,
                best.asked.intercept,
            ),
            certificate,
            ending,
            f"newton in {self.rounds} rounds over {number} row block" + "s" * (number > 1),
            self.trace,
            Newton(),
            problem.classes,
            self.sentence or sentence_of(ending, certificate, self.limits.tol, self.limits.gap_tol),
        )

    # Points.

    def _start(self, start: tuple[Vector, float] | None) -> Place:
        """The start that was given, or the answer of the sample."""
        problem, sample = self.problem, self.problem.sample_problem
        error = 1.0 if problem.is_all_sampled else min(problem.dimension / sample.rows.count, 1.0)
        if problem.is_all_sampled:
            error = self.limits.tol
        if start is None:
            tol = max(SETTINGS.sample_gap * error, self.limits.tol)
            limits = Limits.of(
                tol, None, self.limits.max_seconds if isfinite(self.limits.max_seconds) else None, inf, None
            )
            loop = Loop(sample, Auto(), limits, self.seed, None, Examiner(sample, None), self.interrupt)
            found = loop.run(lambda record: False)
            weights, intercept = found.weights, float(found.intercept)
        else:
            weights, intercept = start
        gamma = self._first_gamma(weights, intercept) if problem.loss.has_kink else 0.0
        return Place(np.array(weights), np.zeros(problem.dimension), intercept, 0.0, gamma)

    def _first_gamma(self, weights: Vector, intercept: float) -> float:
        """A γ at which enough rows are curved to determine w, by the sampled rows' distances from a kink."""
        sample = self.problem.sample_problem
        scores = sample.scores(weights, intercept)
        distances = np.min([np.abs(scores - kink) for kink in self.problem.loss.kinks(sample.labels)], axis=0)
        part = min(SETTINGS.first_curved * self.problem.dimension / self.problem.count, 1.0)
        return max(float(np.quantile(distances, part)), self._smallest_gamma)

    @property
    def _smallest_gamma(self) -> float:
        return SETTINGS.smallest_gamma * self.problem.sample_problem.baseline or 1.0

    def _moved(self, place: Place, step: Step, size: float, gamma: float) -> Place:
        """The place after a part of a step, with the point the steps count from moved where they are long."""
        moved = Place(
            place.weights,
            place.step + size * step.weights,
            place.intercept,
            place.intercept_step + size * step.shift,
            gamma,
        )
        if not gamma:
            weights, intercept = moved.at
            return Place(weights, np.zeros_like(weights), intercept, 0.0, 0.0)
        length = np.sqrt(self.problem.mean_squared_norm * float(moved.step @ moved.step)) + abs(moved.intercept_step)
        if UNIT * length > SETTINGS.pair_noise * gamma:
            weights, intercept = moved.at
            return Place(weights, np.zeros_like(weights), intercept, 0.0, gamma)
        return moved

    # Rounds.

    def _ask(self, function: Any, message: Any, plus: Any) -> Any:
        """What the blocks answer, added; the clock runs."""
        self.rounds += 1
        with self.clock:
            return self.problem.home.sum(function, message, plus)

    def _visit(self, place: Place) -> Visited:
        """A round at a place, and its record."""
        problem = self.problem
        weights, intercept = place.at
        asked = question(problem, weights, intercept, DualRecipe(*place), self.constant)
        judge, newton = self._ask(answer_block, Asked(asked, Evaluate(problem.loss, place, self.has_matrix)), add_pairs)
        found = Visited(asked, verdict(problem, asked, judge), Evaluated.of(problem, place, newton.sums))
        self.idle = 0 if self.best is None or found.gap < 0.9 * self.best.gap else self.idle + 1
        if self.best is None or found.gap < self.best.gap:
            self.best = found
        self._record(found)
        return found

    def _record(self, found: Visited) -> None:
        c, best = found.judged.certificate, self.best
        assert best is not None
        record = Record(
            float(self.rounds),
            self.steps,
            self.clock.seconds,
            self.clock.cpu_seconds,
            c.primal,
            c.dual,
            c.gap,
            c.relative_gap,
            found.judged.support,
            found.judged.score,
        )
        self.trace.append(record)
        log.debug("round %d: %s", self.rounds, c)
        asks_to_stop = self.tell(record)
        shown = best.judged.certificate
        if c.is_broken and c.contradicts_weak_duality:
            self.ending = Status.BROKEN
        elif shown.proves(self.limits.tol, self.limits.gap_tol):
            self.ending = Status.CERTIFIED
        elif asks_to_stop:
            self.ending = Status.STOPPED
        elif self.rounds >= self.limits.max_epochs:
            self.ending = Status.EPOCHS_EXHAUSTED
        elif self.idle >= SETTINGS.max_idle:
            self.ending = Status.STALLED
        elif self.interrupt.asked:
            self.ending = Status.INTERRUPTED
        elif self.clock.elapsed() >= self.limits.max_seconds:
            self.ending = Status.TIME_EXHAUSTED

    def _check(self) -> None:
        """Leave a round where the run is over."""
        if self.interrupt.asked or self.clock.elapsed() >= self.limits.max_seconds:
            raise RunOver

    # Steps.

    def _step(self, here: Visited) -> Visited:
        """The next point: a Newton step, at a smaller γ where the smoothing's part of the gap is the larger one."""
        place = here.newton.place
        gamma = place.gamma
        if gamma and here.newton.gradient_gap(self.problem) <= here.judged.rows_gap:
            gamma = self._next_gamma(here)
        self.steps += 1
        step = here.newton.step_to(self.problem, gamma) if self.has_matrix else self._truncated(here)
        there = self._visit(self._moved(place, step, 1.0, gamma))
        if (
            self.ending is not None
            or there.newton.slope(self.problem, step) <= SETTINGS.accepted_slope * step.decrement
        ):
            return there
        size = self._step_size(place._replace(gamma=gamma), step)
        return self._visit(self._moved(place, step, size, gamma))

    def _next_gamma(self, here: Visited) -> float:
        """A smaller γ, but no smaller than tol needs: the smoothing's part of the gap decreases about as γ does."""
        gamma, judged = here.newton.place.gamma, here.judged
        goal = self.limits.relative_goal(judged.certificate.primal) * judged.certificate.primal
        # Half of tol is left to the gradient's part of the gap.
        needed = 0.5 * goal / judged.rows_gap * gamma if judged.rows_gap else 0.0
        return max(SETTINGS.gamma_decay * gamma, min(needed, 0.5 * gamma), min(self._smallest_gamma, gamma))

    def _step_size(self, place: Place, step: Step) -> float:
        """About the step size with the smallest value of the smoothed objective; 0 where the step leads uphill at once."""
        asked = Probe(self.problem.loss, place, step.weights, step.shift, PROBED)
        found, _ = slopes(self.problem, asked, self._ask(probe_block, asked, add))
        falling = np.flatnonzero(found <= 0.0)
        if falling.size == 0:
            return 0.0
        low = int(falling[-1])
        high, at_high = (float(PROBED[low + 1]), float(found[low + 1])) if low + 1 < PROBED.size else (1.0, inf)
        if not isfinite(at_high):
            return float(PROBED[low]) or high
        begin, at_low = float(PROBED[low]), float(found[low])
        return begin + (high - begin) * at_low / (at_low - at_high)

    def _truncated(self, here: Visited) -> Step:
        """A Newton step by conjugate residuals, a round for each product with the Hessian."""
        problem, place = self.problem, here.newton.place
        gradient = here.newton.gradient(problem)
        if not problem.intercept:
            gradient = gradient[:-1]
        d = problem.dimension

        def product(direction: Vector, _: Vector) -> Vector:
            shift = float(direction[d]) if problem.intercept else 0.0
            asked = Multiply(problem.loss, place, direction[:d], shift)
            sums = self._ask(multiply_block, asked, add).sums / problem.total_weight
            sums[:d] += problem.strength * direction[:d]
            return np.asarray(sums[: gradient.size])

        norm = float(np.linalg.norm(gradient))
        self.first_norm = norm if self.first_norm == inf else self.first_norm
        # As in memory: a solve ends at half of ‖gradient‖, earlier the smaller the gradient has become.
        goal = self.limits.relative_goal(here.judged.certificate.primal) * here.judged.certificate.primal
        target = max(min(0.5, np.sqrt(norm / self.first_norm)) * norm, np.sqrt(problem.strength * goal))
        solution = conjugate_residuals(product, -gradient, target, SETTINGS.max_products, 0).solution
        shift = float(solution[d]) if problem.intercept else 0.0
        return Step(solution[:d], shift, -float(gradient @ solution))
