"""The one loop over epochs: when to look, when to stop, and which iterate is the output."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable
from math import ceil, floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualgap.certificate import Certificate, Judgement
from dualgap.examiner import Examiner
from dualgap.interrupts import Interrupt
from dualgap.limits import Limits
from dualgap.linalg.parallel import RunOver, checked
from dualgap.problem import MultinomialProblem, Problem
from dualgap.result import Result, Status
from dualgap.solvers import Answer, Auto, Solver
from dualgap.trace import Clock, Record, Trace

Vector = NDArray[np.float64]
log = logging.getLogger("dualgap")

# One slice of an epoch takes about this long, so that Ctrl-C and the time limit are noticed soon.
SLICE_SECONDS = 0.1
FIRST_SLICE_VALUES = 1 << 19

# Where nobody asked for records, a look comes after so many epochs, then after this share more than at the last look; it
# costs about as much as two epochs. A solver that guesses its own gap is looked at unasked so many times less often; not
# quite so rarely for the first time where what is seen may change the choice of it, and as often as
# others where it guesses that its relative gap is still this large.
FIRST_LOOK, LOOK_GROWTH = 5, 0.2
PATIENCE, UNDECIDED, FAR_OFF = 4.0, 2.4, 0.2

# A run that moved neither P nor D nor b by a bit for so many epochs never will.
FROZEN_EPOCHS = 50
# Where rounding spoils a proof, the solver aims at tol minus rounding, but at this part of tol at least.
LEAST_TARGET = 0.1


class Loop:
    """One run in progress."""

    def __init__(
        self,
        problem: Problem | MultinomialProblem,
        chosen: Solver | Auto,
        limits: Limits,
        seed: int,
        warm: Answer | None,
        examiner: Examiner,
        interrupt: Interrupt,
    ) -> None:
        self.problem, self.limits, self.seed = problem, limits, seed
        self.examiner, self.interrupt = examiner, interrupt
        self.auto = chosen if isinstance(chosen, Auto) else None
        self.trace = Trace()
        self.solver, self.reason = (
            chosen.choose(problem, (), limits.tol) if isinstance(chosen, Auto) else (chosen, "as asked")
        )
        self.solver.check(problem)
        self.asked, self.solver = self.solver, self.solver.specialized(problem)
        if self.solver.output != "last" and not limits.has_given_epochs:
            raise ValueError(
                f"output={self.solver.output} needs max_epochs, because it starts at a part of them; pass max_epochs"
            )
        self.solver.prepare(problem)
        self.clock = Clock()
        self.touched, self.updates = 0, 0
        self.candidates = 0  # updates since the output began to be collected
        self.picked: Answer | None = None  # the iterate drawn so far, for output="random"
        self.collecting = False
        self.target = limits.tol  # the relative gap the solver has to estimate before the judge is asked
        self.judged: Judgement | None = None
        self.warm = warm
        try:
            self.state = self.started(self.solver, warm)
        except RunOver:
            self.state = None
        self.left: set[str] = set()
        self.seen: tuple[float, ...] = ()
        self.moved_at = 0.0  # the epoch of the last look that saw something new
        self.next_thorough = 0.0  # the epoch from which a look may use double-double arithmetic again
        self.thorough_gap = np.inf  # the gap at the last such look

    def started(self, solver: Solver, warm: Answer | None) -> Any:
        """A solver's first state."""
        # A start far off may leave float64's range, as an iterate may; looks and solvers check.
        with checked(self.check_time), np.errstate(over="ignore", invalid="ignore"):
            return solver.start(self.problem, warm, self.target)

    def check_time(self) -> None:
        """Leave long work where the run is over."""
        if self.interrupt.asked or self.clock.elapsed() >= self.limits.max_seconds:
            raise RunOver

    def random(self, epoch: int, partition: int = 0) -> np.random.Generator:
        return np.random.default_rng((self.seed, epoch, partition))

    def run(self, tell: Callable[[Record], bool]) -> Result:
        # An iterate may leave float64's range; every look at it checks, so NumPy need not warn as well.
        with np.errstate(over="ignore", invalid="ignore"):
            # With nothing known, the judge has nothing to say about zero weights that the end of the run would need.
            is_due = self.limits.has_record_schedule or self.warm is not None or self.state is None
            ending = self.look(tell) if is_due else None
            if self.state is None:
                ending = ending or self.out_of_budget()
            for epoch in itertools.count():
                if ending is not None:
                    break
                steps = self.solver.plan(self.problem, self.state, epoch, self.random)
                ending = self.one_epoch(steps, epoch, tell)
        judged = self.judged
        assert ending is not None
        assert judged is not None
        log.debug("%s ended at epoch %g: %s", self.solver.name, self.touched / self.problem.rows.count, ending.value)
        return Result(
            judged.weights,
            judged.intercept,
            judged.duals,
            judged.certificate,
            ending,
            self.reason,
            self.trace,
            self.asked,
            self.problem.classes,
        )

    def one_epoch(self, steps: Any, epoch: int, tell: Callable[[Record], bool]) -> Status | None:
        batch = self.solver.batch(self.problem)
        total = -(-len(steps) // batch)
        at = 0
        self.start_collecting_if_due()
        picks = self.draw_picks(total, epoch)
        while at < total:
            stop = min(total, at + self.until_next_event(batch))
            if picks and at < picks[0] <= stop:
                stop = picks.pop(0)
                picked = True
            else:
                picked = False
            slice_ = steps[at * batch : stop * batch]
            try:
                self.advance(slice_, stop == total)
            except RunOver:
                return self.look(tell) or self.out_of_budget()
            self.touched += len(slice_)
            self.updates += -(-len(slice_) // batch)
            self.candidates += (stop - at) if self.collecting else 0
            at = stop
            if picked:
                self.picked = _copied(self.solver.answer(self.problem, self.state))
            ending = self.out_of_budget()
            if ending is not None or self.is_record_due(stop == total):
                ending = self.look(tell) or ending
                if ending is not None:
                    return ending
                if self.switch():
                    return None
            if self.start_collecting_if_due():
                picks = [at + k for k in self.draw_picks(total - at, epoch)]
        return None

    def advance(self, slice_: Any, ends_epoch: bool) -> None:
        """Carry out a slice of the plan, on the clock."""
        # An update in place that stops in the middle would leave weights and duals that do not belong together.
        with self.clock, checked(self.check_time if self.solver.keeps_its_state else None):
            self.state = self.solver.advance(self.problem, self.state, slice_)
            if ends_epoch:
                self.state = self.solver.end_epoch(self.problem, self.state)

    def until_next_event(self, batch: int) -> int:
        """Updates until a record, the start of collecting, the end, or the end of a slice, whichever comes first."""
        n = self.problem.rows.count
        due = [self.slice_examples(), self.limits.max_epochs * n - self.touched]
        if self.limits.record_updates is not None:
            due.append((self.next_record_at() - self.updates) * batch)
        elif self.limits.has_record_schedule:
            due.append(self.next_record_at() - self.touched)
        if self.solver.output != "last" and not self.collecting:
            due.append(self.collect_from() - self.touched)
        return max(1, ceil(min(due) / batch - 1e-9))

    def slice_examples(self) -> float:
        if self.clock.seconds < 0.01:
            return max(1.0, FIRST_SLICE_VALUES / self.solver.values_a_row(self.problem))
        return max(1.0, self.touched * SLICE_SECONDS / self.clock.seconds)

    def next_record_at(self) -> float:
        """The next record's place, in updates or in rows touched, after the last record's."""
        last = self.trace[-1]
        if self.limits.record_updates is not None:
            return (last.updates // self.limits.record_updates + 1) * self.limits.record_updates
        every = float(self.limits.record_every or 1.0)
        return (floor(last.epoch / every + 1e-9) + 1) * every * self.problem.rows.count

    def is_record_due(self, ends_epoch: bool) -> bool:
        if not self.limits.has_record_schedule:
            return ends_epoch and self.is_look_worthwhile()
        if self.limits.record_updates is not None:
            return self.updates >= self.next_record_at()
        return self.touched >= self.next_record_at() - 1e-6

    def is_look_worthwhile(self) -> bool:
        """Whether the solver believes to be done, or so much was done since the last look that another costs little.

        Counted in epochs and not in seconds, so that the same run ends at the same place on any machine.
        """
        estimate = self.solver.estimated_gap(self.problem, self.state)
        if estimate is not None and estimate <= self.target:
            return True
        epoch, last = self.epoch, self.trace[-1].epoch if len(self.trace) else 0.0
        if 0.0 < self.next_thorough <= epoch:
            return True  # rounding spoiled the last look, and whether the gap still falls ends the run or not
        patience = 1.0 if estimate is None else PATIENCE
        if estimate is not None and not len(self.trace) and self.auto is not None and self.auto.is_open(self.problem):
            patience = UNDECIDED if estimate < FAR_OFF else 1.0
        return epoch >= last + max(FIRST_LOOK, LOOK_GROWTH * last) * patience

    def out_of_budget(self) -> Status | None:
        if self.interrupt.asked:
            return Status.INTERRUPTED
        if self.touched >= self.limits.max_epochs * self.problem.rows.count - 1e-6:
            return Status.EPOCHS_EXHAUSTED
        if self.clock.elapsed() >= self.limits.max_seconds:
            return Status.TIME_EXHAUSTED
        return None

    def collect_from(self) -> float:
        return self.solver.average_from * self.limits.max_epochs * self.problem.rows.count

    def start_collecting_if_due(self) -> bool:
        """Begin the average or the draw at T₀ = average_from·T, once."""
        if self.solver.output == "last" or self.collecting or self.touched < self.collect_from() - 1e-6:
            return False
        self.collecting = True
        if self.solver.output == "average":
            self.state = self.solver.begin_average(self.problem, self.state)
        return True

    def draw_picks(self, total: int, epoch: int) -> list[int]:
        """After which updates of this epoch the drawn iterate is replaced: reservoir sampling, ahead of time."""
        if self.solver.output != "random" or not self.collecting or total <= 0:
            return []
        position = self.candidates + np.arange(1, total + 1)
        chosen = self.random(epoch, 1).random(total) * position < 1.0
        return (np.flatnonzero(chosen) + 1).tolist()

    def output(self) -> Answer:
        if self.state is None:  # the start took longer than the run may
            return self.warm or self.examiner.zero_answer()
        if self.collecting and self.candidates and self.solver.output == "average":
            return self.solver.average(self.problem, self.state)
        if self.picked is not None:
            return self.picked
        return self.solver.answer(self.problem, self.state)

    def look(self, tell: Callable[[Record], bool]) -> Status | None:
        """Judge the output, write a record, and say whether the run is over."""
        self.judged = None  # its vectors are as long as the data has rows; two judgements at once are one too many
        answer = self.output()
        broken = not (np.isfinite(answer.weights).all() and np.isfinite(answer.intercept).all())
        judged = None if broken else self.judge(answer)
        if judged is None or judged.certificate.is_broken:
            if judged is None or not np.isfinite(judged.certificate.primal):
                # The iterate left float64's range; zero weights are an answer that can be judged.
                judged = self.examiner.judge(self.examiner.zero_answer(), 0.0, 0.0)
            self.append(judged)
            is_proven = judged.certificate.proves(self.limits.tol) and not judged.certificate.is_broken
            return Status.CERTIFIED if is_proven else Status.BROKEN
        # The judge chooses b itself, so a solver's own b may still be on its way while P and D stand still.
        seen = (judged.certificate.primal, judged.certificate.dual, *np.ravel(answer.intercept))
        if self.seen != seen:
            self.seen, self.moved_at = seen, self.epoch
        is_stalled = False
        if not judged.certificate.proves(self.limits.tol):
            judged, is_stalled = self.judge_thoroughly(answer, judged)
        stop = tell(self.append(judged))
        if judged.certificate.proves(self.limits.tol):
            return Status.CERTIFIED
        if stop:
            return Status.STOPPED
        self.tell_rejection(judged.certificate)
        return Status.STALLED if is_stalled else None

    @property
    def epoch(self) -> float:
        """Rows touched, divided by the number of rows."""
        return self.touched / self.problem.rows.count

    def judge(self, answer: Answer, thorough: bool = False) -> Judgement:
        """The judgement of an answer, as far as it has to go."""
        # An ascent's own duals are the best known; other solvers' are compared with those the scores suggest.
        carried_target = np.inf if self.solver.is_ascent or self.solver.suggests_its_duals else self.limits.tol
        return self.examiner.judge(answer, carried_target, self.limits.tol, thorough)

    def judge_thoroughly(self, answer: Answer, judged: Judgement) -> tuple[Judgement, bool]:
        """The judgement again in double-double arithmetic where rounding spoils it, and whether that ends the run."""
        tol, certificate = self.limits.tol, judged.certificate
        is_frozen = self.epoch - self.moved_at >= FROZEN_EPOCHS
        is_spoiled = (judged.is_rounding or certificate.seems_to_prove(tol)) and not certificate.could_prove(tol)
        if not is_frozen and not (is_spoiled and self.epoch >= self.next_thorough):
            return judged, False
        self.next_thorough = self.epoch + max(FIRST_LOOK, LOOK_GROWTH * self.epoch)
        better = self.judge(answer, thorough=True)
        if better.certificate.gap < certificate.gap:
            judged, certificate = better, better.certificate
        is_proof_impossible = certificate.seems_to_prove(tol) and not certificate.could_prove(tol)
        is_falling = certificate.gap <= 0.5 * self.thorough_gap
        self.thorough_gap = certificate.gap
        return judged, is_frozen or is_proof_impossible or not is_falling

    def tell_rejection(self, certificate: Certificate) -> None:
        """Where the certificate did not confirm the solver's estimate, ask for half of it, and for tol minus rounding."""
        if self.state is None:  # the start took longer than the run may
            return
        estimate, tol = self.solver.estimated_gap(self.problem, self.state), self.limits.tol
        if estimate is None or not estimate <= self.target:
            return
        self.target = min(self.target, 0.5 * estimate)
        if certificate.seems_to_prove(tol) and certificate.could_prove(tol):
            self.target = min(self.target, max(tol - certificate.rounding / certificate.scale, LEAST_TARGET * tol))
        self.state = self.solver.on_rejected(self.problem, self.state, self.target)

    def append(self, judged: Judgement) -> Record:
        record = self.examiner.record(judged, self.epoch, self.updates, self.clock)
        self.trace.append(record)
        self.judged = judged._replace(scores=np.empty(0))
        return record

    def switch(self) -> bool:
        """Ask the policy, if there is one, whether another solver should go on from here."""
        if self.auto is None or self.judged is None:
            return False
        chosen, reason = self.auto.choose(self.problem, self.trace.records, self.limits.tol)
        if chosen == self.asked or chosen.name in self.left:
            return False
        self.left.add(self.solver.name)  # what was given up is not tried again
        chosen.prepare(self.problem)
        start = Answer(self.judged.weights, self.judged.intercept, self.judged.duals)
        self.target = self.limits.tol
        try:
            self.state = self.started(chosen, start)
        except RunOver:
            return False  # the next slice ends the run where it is
        self.asked, self.solver, self.reason = chosen, chosen, reason
        return True


def _copied(answer: Answer) -> Answer:
    duals = None if answer.duals is None else answer.duals.copy()
    return Answer(answer.weights.copy(), answer.intercept, duals)
