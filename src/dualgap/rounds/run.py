"""A run on row blocks: rounds in which every block answers the judge and Newton, their records, and how they end.

A round sends a point to all blocks and adds what comes back. It is a function of the blocks and of what is sent, so nothing is lost
where a block has to be loaded again, and the bits are the same wherever the blocks are.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from math import inf, isfinite
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from dualgap.certificate import Certificate
from dualgap.data.blocks.homes import HomeLost
from dualgap.examiner import Examiner
from dualgap.interrupts import Interrupt
from dualgap.limits import Limits
from dualgap.linalg.parallel import RunOver, checked
from dualgap.loop import Loop
from dualgap.problem.block_base import BaseBlockProblem
from dualgap.result import Result, Status, sentence_of
from dualgap.rounds.settings import PROBED, SETTINGS
from dualgap.solvers import Auto, Newton
from dualgap.trace import Clock, Record, Trace

log = logging.getLogger("dualgap")
Vector = NDArray[np.float64]


class Judged(Protocol):
    """What the judge says of a point."""

    @property
    def certificate(self) -> Certificate: ...
    @property
    def support(self) -> int: ...
    @property
    def score(self) -> float: ...


class RoundPoint(Protocol):
    """A point that a round evaluated."""

    @property
    def judged(self) -> Judged: ...


AProblem = TypeVar("AProblem", bound=BaseBlockProblem)
APoint = TypeVar("APoint", bound=RoundPoint)


class Run(ABC, Generic[AProblem, APoint]):
    """One run in progress."""

    def __init__(
        self,
        problem: AProblem,
        limits: Limits,
        seed: int,
        tell: Callable[[Record], bool],
        interrupt: Interrupt,
    ) -> None:
        self.problem, self.limits, self.seed, self.tell, self.interrupt = problem, limits, seed, tell, interrupt
        self.clock, self.trace = Clock(), Trace()
        self.rounds, self.steps, self.idle = 0, 0, 0
        self.best: APoint | None = None
        self.ending: Status | None = None
        self.sentence: str | None = None
        """How the run ended, where its status does not say it."""

    # What a model adds.

    @abstractmethod
    def first(self, weights: Vector, intercept: Any) -> APoint:
        """The evaluated point where the run begins."""

    @abstractmethod
    def step(self, here: APoint) -> APoint:
        """The next point."""

    @abstractmethod
    def answer(self, point: APoint) -> tuple[Vector, Any, Any]:
        """Weights, intercept and duals of a point."""

    # Rounds.

    def run(self, start: tuple[Vector, Any] | None) -> Result:
        """Rounds until the run ends."""
        begin = self._sample_answer() if start is None else start
        try:
            with checked(self._check):
                here = self.first(*begin)
                while self.ending is None:
                    here = self.step(here)
        except RunOver:
            self.ending = Status.INTERRUPTED if self.interrupt.asked else Status.TIME_EXHAUSTED
        except HomeLost as lost:
            if self.best is None:
                raise
            self.ending, self.sentence = Status.INTERRUPTED, f"{lost}; the certificate is the best of the rounds before"
        assert self.best is not None
        return self._result(self.best, self.ending)

    def ask(self, function: Any, message: Any, plus: Any) -> Any:
        """What the blocks answer, added; the clock runs."""
        self.rounds += 1
        with self.clock:
            return self.problem.home.sum(function, message, plus)

    def recorded(self, found: APoint) -> APoint:
        """The point that a round evaluated, recorded; the best one is kept, and the run may end."""
        gap = found.judged.certificate.gap
        if self.best is None or gap < self.best.judged.certificate.gap:
            self.best, self.idle = found, 0
        else:
            self.idle += 1
        self._record(found.judged, self.best.judged.certificate)
        return found

    def goal(self, primal: float) -> float:
        """The gap that ends the run, at about this P."""
        return self.limits.relative_goal(primal) * primal

    @staticmethod
    def step_size(slopes: Vector) -> float:
        """About the step size with the smallest value, from the slopes at `PROBED`; 0 where the step leads uphill at once."""
        falling = np.flatnonzero(slopes <= 0.0)
        if falling.size == 0:
            return 0.0
        low = int(falling[-1])
        high, at_high = (float(PROBED[low + 1]), float(slopes[low + 1])) if low + 1 < PROBED.size else (1.0, inf)
        if not isfinite(at_high):
            return float(PROBED[low]) or high
        begin, at_low = float(PROBED[low]), float(slopes[low])
        return begin + (high - begin) * at_low / (at_low - at_high)

    def _sample_answer(self) -> tuple[Vector, Any]:
        """Weights and intercept that solve the sample in memory."""
        problem, sample = self.problem, self.problem.sample_problem
        error = min(problem.dimension / sample.rows.count, 1.0)
        if problem.is_all_sampled:
            error = self.limits.tol
        tol = max(SETTINGS.sample_gap * error, self.limits.tol)
        seconds = self.limits.max_seconds if isfinite(self.limits.max_seconds) else None
        loop: Loop = Loop(
            sample,
            Auto(),
            Limits.of(tol, None, seconds, inf, None),
            self.seed,
            None,
            Examiner(sample, None),
            self.interrupt,
        )
        found = loop.run(lambda record: False)
        return found.weights, found.intercept

    def _record(self, judged: Judged, shown: Certificate) -> None:
        c = judged.certificate
        record = Record(
            float(self.rounds),
            self.steps,
            self.clock.seconds,
            self.clock.cpu_seconds,
            c.primal,
            c.dual,
            c.gap,
            c.relative_gap,
            judged.support,
            judged.score,
        )
        self.trace.append(record)
        log.debug("round %d: %s", self.rounds, c)
        asks_to_stop = self.tell(record)
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
        """Leave a round where the run is over; before the first certificate there is nothing to return."""
        if self.best is None:
            if self.interrupt.asked:
                raise KeyboardInterrupt
            if self.clock.elapsed() >= self.limits.max_seconds + SETTINGS.first_round_seconds:
                raise TimeoutError(
                    f"a certificate needs one round over all blocks, got none within max_seconds={self.limits.max_seconds:g} "
                    f"and {SETTINGS.first_round_seconds:g} more; allow more seconds, or add workers"
                )
        elif self.interrupt.asked or self.clock.elapsed() >= self.limits.max_seconds:
            raise RunOver

    def _result(self, best: APoint, ending: Status | None) -> Result:
        assert ending is not None
        certificate, number = best.judged.certificate, self.problem.home.count
        weights, intercept, duals = self.answer(best)
        return Result(
            weights,
            intercept,
            duals,
            certificate,
            ending,
            f"newton in {self.rounds} rounds over {number} row block" + "s" * (number > 1),
            self.trace,
            Newton(),
            self.problem.classes,
            self.sentence or sentence_of(ending, certificate, self.limits.tol, self.limits.gap_tol),
        )
