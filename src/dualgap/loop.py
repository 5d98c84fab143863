"""The one loop of a run: it advances the solver plan by plan, asks the judge, and ends the run.

A plan is the rows of one epoch in order, or what a solver does in one go: a Newton step, or passes that touch some number of rows.
It is cut into slices. A slice ends where a record is due, where iterates begin to count for the output or one is drawn, at
max_epochs, and after about a tenth of a second, so that Ctrl-C and time limits are noticed. Cutting changes no bit of the result.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Any

import numpy as np

from dualgap.certificate import Certificate, Judgement
from dualgap.examiner import Examiner
from dualgap.interrupts import Interrupt
from dualgap.limits import Limits
from dualgap.linalg import partition
from dualgap.linalg.parallel import RunOver, checked
from dualgap.outputs import Output
from dualgap.problem import MultinomialProblem, Problem
from dualgap.result import Result, Status, sentence_of
from dualgap.schedule import ROW_ROUNDING, Schedule
from dualgap.solvers import Answer, AnySolver, Auto
from dualgap.stalling import StallDetector
from dualgap.trace import Clock, Record, Trace

log = logging.getLogger("dualgap")


@dataclass(frozen=True)
class LoopSettings:
    """The numbers that decide how long a slice is, and what a solver is asked for after a rejected estimate."""

    # Seconds of a slice. Longer slices notice Ctrl-C and time limits later; shorter ones add the time of their calls.
    slice_seconds: float = 0.1
    # After a certificate that did not confirm the solver's estimate, the next target is the estimate times this factor. A larger
    # factor asks the judge more often, a smaller one asks the solver for more than tol needs. Where rounding alone spoiled the
    # proof, the target is also at most tol minus rounding, but no smaller than tol times this factor.
    rejected_part: float = 0.5


SETTINGS = LoopSettings()


class Loop:
    """One run in progress."""

    def __init__(
        self,
        problem: Problem | MultinomialProblem,
        chosen: AnySolver | Auto,
        limits: Limits,
        seed: int,
        warm: Answer | None,
        examiner: Examiner,
        interrupt: Interrupt,
    ) -> None:
        self.problem, self.limits, self.seed = problem, limits, seed
        self.examiner, self.interrupt, self.warm = examiner, interrupt, warm
        self.auto = chosen if isinstance(chosen, Auto) else None
        self.chosen: AnySolver
        self.chosen, self.reason = (
            chosen.choose(problem, (), limits.tol) if isinstance(chosen, Auto) else (chosen, f"{chosen.name}, as asked")
        )
        """The solver as the caller or `auto` named it, and why."""
        if self.chosen.output != "last" and not limits.has_given_epochs:
            raise ValueError(
                f"output={self.chosen.output} needs max_epochs, because it starts at a part of them; pass max_epochs"
            )
        self.solver = self.prepared(self.chosen)
        """The solver that runs: the one above, or its variant for the softmax model."""
        self.abandoned: set[str] = set()
        """Names of solvers that `auto` replaced; they are not used again."""
        self.clock, self.trace = Clock(), Trace()
        self.schedule = Schedule(limits, problem.rows.count, self.trace)
        self.tolerances = (limits.tol, limits.gap_tol)
        """The relative and the absolute gap of which either ends the run once it is proven."""
        self.stall = StallDetector(*self.tolerances)
        self.output = Output(self.solver, problem, limits.max_epochs)
        self.touched, self.updates = 0, 0
        self.rejected_target = np.inf
        """The relative gap that the solver has to estimate after a rejection; infinite before any."""
        self.judged: Judgement | None = None
        self.state: Any = None
        with suppress(RunOver):  # a start that takes longer than the run is allowed leaves no state
            self.state = self.first_state(self.solver, warm)

    def prepared(self, chosen: AnySolver) -> AnySolver:
        """The variant of a solver for this problem, with its kernels compiled; or a refusal."""
        chosen.check_penalty(self.problem)
        chosen.check(self.problem)
        solver = chosen.specialized(self.problem)
        solver.prepare(self.problem)
        return solver

    def first_state(self, solver: AnySolver, warm: Answer | None) -> Any:
        # A start far from the solution may leave float64's range, as an iterate may; the judge and solvers check it.
        with checked(self.leave_if_over), np.errstate(over="ignore", invalid="ignore"):
            return solver.start(self.problem, warm, self.relative_goal())

    def relative_goal(self) -> float:
        """The relative gap that ends the run, at the P that the solver estimates, or else at that of the last record.

        Without either P is at most that of a constant, which gives a goal that is small enough.
        """
        if self.limits.gap_tol == 0.0:
            return self.limits.tol
        estimate = None if self.state is None else self.solver.estimated_primal(self.problem, self.state)
        if estimate is None:
            estimate = self.trace[-1].primal if len(self.trace) else self.problem.baseline
        return self.limits.relative_goal(estimate)

    @property
    def target(self) -> float:
        """The relative gap that the solver has to estimate before the judge is asked."""
        return min(self.relative_goal(), self.rejected_target)

    def leave_if_over(self) -> None:
        """Leave long work where the run is over."""
        if self.interrupt.asked or self.clock.elapsed() >= self.limits.max_seconds:
            raise RunOver

    def random(self, plan_number: int, stream: int = 0) -> np.random.Generator:
        """The random numbers of a plan: stream 0 draws the plan, 1 the random output."""
        return np.random.default_rng((self.seed, plan_number, stream))

    @property
    def epoch(self) -> float:
        """Rows touched, divided by the number of rows."""
        return self.touched / self.problem.rows.count

    def run(self, tell: Callable[[Record], bool]) -> Result:
        """Advance plan by plan until the run ends; `tell` receives each record and returns True to stop."""
        # An iterate may leave float64's range; every certificate is checked for it, so NumPy need not warn as well.
        with np.errstate(over="ignore", invalid="ignore"):
            # A record of zero weights at a cold start is made only where records come at fixed intervals.
            is_due = self.limits.has_record_schedule or self.warm is not None or self.state is None
            ending = self.check(tell) if is_due else None
            if self.state is None:
                ending = ending or self.out_of_budget()
            for plan_number in itertools.count():
                if ending is not None:
                    break
                plan = self.solver.plan(self.problem, self.state, plan_number, self.random)
                ending = self.carry_out(plan, plan_number, tell)
        judged = self.judged
        assert ending is not None
        assert judged is not None
        log.debug("%s ended at epoch %g: %s", self.solver.name, self.epoch, ending.value)
        return Result(
            judged.weights,
            judged.intercept,
            judged.duals,
            judged.certificate,
            ending,
            self.reason,
            self.trace,
            self.chosen,
            self.problem.classes,
            sentence_of(ending, judged.certificate, *self.tolerances),
        )

    def carry_out(self, plan: Any, plan_number: int, tell: Callable[[Record], bool]) -> Status | None:
        """Carry out a plan slice by slice; the ending, if the run ends, or None."""
        batch = self.solver.batch(self.problem)
        update_count = -(-len(plan) // batch)
        done = 0
        self.begin_output_if_due()
        random = partial(self.random, plan_number, 1)
        draws = self.output.draws(update_count, random)
        while done < update_count:
            stop = min(update_count, done + self.updates_until_event(batch))
            is_draw = bool(draws) and done < draws[0] <= stop
            if is_draw:
                stop = draws.pop(0)
            rows = plan[done * batch : stop * batch]
            try:
                self.advance(rows, ends_plan=stop == update_count)
            except RunOver:
                return self.check(tell) or self.out_of_budget()
            # `advance` may touch fewer rows than it was given; the slice then has the smaller length.
            self.touched += len(rows)
            self.updates += -(-len(rows) // batch)
            self.output.count(stop - done)
            done = stop
            if is_draw:
                self.output.draw(self.state)
            ending = self.out_of_budget()
            if ending is not None or self.is_check_due(ends_plan=done == update_count):
                ending = self.check(tell) or ending
                if ending is not None:
                    return ending
                if self.switch():
                    return None
            if self.begin_output_if_due():
                draws = [done + k for k in self.output.draws(update_count - done, random)]
        return None

    def begin_output_if_due(self) -> bool:
        """Whether iterates begin to count for the output now."""
        self.state, begins = self.output.begin_if_due(self.touched, self.state)
        return begins

    def advance(self, rows: Any, ends_plan: bool) -> None:
        """Carry out a slice of the plan, on the clock."""
        # An update in place that stops in the middle would leave weights and duals that do not belong together.
        with self.clock, checked(self.leave_if_over if self.solver.leaves_old_state else None):
            self.state = self.solver.advance(self.problem, self.state, rows)
            if ends_plan:
                self.state = self.solver.end_epoch(self.problem, self.state)

    def updates_until_event(self, batch: int) -> int:
        """Updates until a record, the beginning of the output, max_epochs, or the end of a slice, whichever comes first."""
        rows = [
            self.slice_rows(),
            self.limits.max_epochs * self.problem.rows.count - self.touched,
            self.schedule.rows_until_record(self.touched, self.updates, batch),
        ]
        if not self.output.is_collecting:
            rows.append(self.output.first_row - self.touched)
        return max(1, ceil((min(rows) - ROW_ROUNDING) / batch))

    def slice_rows(self) -> float:
        """Rows of a slice, by the seconds that the rows so far took."""
        if self.clock.seconds == 0.0:
            # The first slice has as many stored values as a slice of the partition; they take some milliseconds.
            return max(1.0, partition.SETTINGS.slice_values / self.solver.values_a_row(self.problem))
        return max(1.0, self.touched * SETTINGS.slice_seconds / self.clock.seconds)

    def is_check_due(self, ends_plan: bool) -> bool:
        """Whether the judge is asked now: at fixed intervals, or at the end of a plan that calls for it."""
        if self.limits.has_record_schedule:
            return self.schedule.is_record_due(self.touched, self.updates)
        if not ends_plan:
            return False
        estimate = self.solver.estimated_gap(self.problem, self.state)
        if (estimate is not None and estimate <= self.target) or self.stall.is_precise_due(self.epoch):
            return True
        may_change_solver = self.auto is not None and self.auto.is_open(self.problem)
        return self.schedule.is_check_due(self.epoch, estimate, may_change_solver)

    def out_of_budget(self) -> Status | None:
        """The ending where a limit was reached."""
        if self.interrupt.asked:
            return Status.INTERRUPTED
        if self.touched >= self.limits.max_epochs * self.problem.rows.count - ROW_ROUNDING:
            return Status.EPOCHS_EXHAUSTED
        if self.clock.elapsed() >= self.limits.max_seconds:
            return Status.TIME_EXHAUSTED
        return None

    def check(self, tell: Callable[[Record], bool]) -> Status | None:
        """Judge the output, write a record, and say whether the run is over."""
        self.judged = None  # its vectors have one number a row; two judgements at once would double their memory
        answer = self.answer()
        is_finite = bool(np.isfinite(answer.weights).all() and np.isfinite(answer.intercept).all())
        judged = self.judge(answer) if is_finite else None
        if judged is not None and self.solver.is_ascent and not np.isfinite(judged.certificate.primal):
            # D never falls, so this is no divergence: e^z of a large score left float64's range, and later iterates return.
            answer = self.examiner.zero_answer()._replace(duals=answer.duals)
            judged = self.examiner.judge(answer, np.inf, *self.tolerances)
        if judged is None or judged.certificate.is_broken:
            return self.end_broken(answer, judged, tell)
        is_last = self.solver.output == "last" or self.state is None
        running = answer if is_last else self.solver.answer(self.problem, self.state)
        self.stall.observe(self.epoch, judged.certificate, running, is_last)
        is_stalled = False
        if not judged.certificate.proves(*self.tolerances):
            judged, is_stalled = self.stall.recheck(self.epoch, judged, lambda: self.judge(answer, thorough=True))
        is_stop_asked = tell(self.append(answer, judged))
        if judged.certificate.proves(*self.tolerances):
            return Status.CERTIFIED
        if is_stop_asked:
            return Status.STOPPED
        self.reject_estimate(judged.certificate)
        return Status.STALLED if is_stalled else None

    def answer(self) -> Answer:
        """The output of the run so far."""
        if self.state is None:
            return self.warm or self.examiner.zero_answer()
        return self.output.answer(self.state)

    def judge(self, answer: Answer, thorough: bool = False) -> Judgement:
        """The judgement of an answer; `thorough` allows double-double sums."""
        # An ascent's own duals are the best known; other solvers' are compared with those that the scores suggest.
        is_carried_best = self.solver.is_ascent or self.solver.suggests_its_duals
        carried_target = np.inf if is_carried_best else self.limits.tol
        return self.examiner.judge(answer, carried_target, *self.tolerances, thorough)

    def end_broken(self, answer: Answer, judged: Judgement | None, tell: Callable[[Record], bool]) -> Status:
        """End a run whose numbers left float64's range or contradict weak duality; zero weights are judged where P is not finite."""
        if judged is None or not np.isfinite(judged.certificate.primal):
            answer = self.examiner.zero_answer()
            judged = self.examiner.judge(answer, 0.0, 0.0)
        tell(self.append(answer, judged))
        is_proven = judged.certificate.proves(*self.tolerances) and not judged.certificate.is_broken
        return Status.CERTIFIED if is_proven else Status.BROKEN

    def reject_estimate(self, certificate: Certificate) -> None:
        """Where the certificate did not confirm the solver's estimate, tell the solver a smaller gap to estimate."""
        if self.state is None:
            return
        estimate = self.solver.estimated_gap(self.problem, self.state)
        if estimate is None or not estimate <= self.target:
            return
        target = min(self.target, SETTINGS.rejected_part * estimate)
        if certificate.seems_to_prove(*self.tolerances) and certificate.could_prove(*self.tolerances):
            # Rounding alone spoiled the proof.
            tol = self.limits.relative_goal(certificate.scale)
            without_rounding = tol - certificate.rounding / certificate.scale
            target = min(target, max(without_rounding, SETTINGS.rejected_part * tol))
        self.rejected_target = target
        self.state = self.solver.on_rejected(self.problem, self.state, self.target)

    def append(self, answer: Answer, judged: Judgement) -> Record:
        """Write the record of an answer's judgement."""
        record = self.examiner.record(judged, self.epoch, self.updates, self.clock, answer)
        self.trace.append(record)
        self.judged = judged._replace(scores=np.empty(0))  # the result needs no scores, and they have one number a row
        return record

    def switch(self) -> bool:
        """Ask `auto`, where it chose the solver, for another one to go on with from here; whether there is one."""
        if self.auto is None or self.judged is None:
            return False
        chosen, reason = self.auto.choose(self.problem, self.trace.records, self.relative_goal())
        if chosen == self.chosen or chosen.name in self.abandoned:
            return False
        self.abandoned.add(self.chosen.name)
        solver = self.prepared(chosen)
        start = Answer(self.judged.weights, self.judged.intercept, self.judged.duals)
        self.rejected_target = np.inf
        try:
            self.state = self.first_state(solver, start)
        except RunOver:
            return False  # the next slice of the old solver ends the run
        self.chosen, self.solver, self.reason = chosen, solver, reason
        self.output = Output(solver, self.problem, self.limits.max_epochs)
        return True
