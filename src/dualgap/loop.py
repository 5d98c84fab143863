"""The one loop over epochs: when to look, when to stop, and which iterate is the output."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dualgap.certificate import Certificate, Judgement, certify
from dualgap.intake import as_rows
from dualgap.interrupts import Interrupt
from dualgap.problem import Problem, score
from dualgap.result import Result, Status
from dualgap.rows import Rows
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
# The gap has been within rounding for so many records without halving.
STALLED_RECORDS = 5


@dataclass(frozen=True)
class Limits:
    """When to stop and when to look."""

    tol: float
    max_epochs: float
    max_seconds: float
    record_every: float | None
    record_updates: int | None
    given_epochs: bool

    @property
    def asks_for_records(self) -> bool:
        """Whether somebody said how often to look; otherwise looks come where they pay."""
        return self.record_updates is not None or self.record_every != np.inf

    @staticmethod
    def of(tol: float, epochs: float | None, seconds: float | None, every: float | None, updates: int | None) -> Limits:
        if not tol >= 0.0:
            raise ValueError(f"tol needs to be a number ≥ 0, got {tol!r}; 1e-6 is the default")
        for name, value in (
            ("max_epochs", epochs),
            ("max_seconds", seconds),
            ("record_every", every),
            ("record_updates", updates),
        ):
            if value is not None and not value > 0:
                raise ValueError(f"{name} needs to be a number > 0, got {value!r}; leave it out for the default")
        if every is not None and updates is not None:
            raise ValueError(
                "records are made every record_every epochs or every record_updates updates, got both; choose one"
            )
        if updates is None and every is None:
            every = 1.0
        given = epochs is not None
        if epochs is None:
            epochs = 1000.0 if seconds is None else np.inf
        return Limits(float(tol), float(epochs), float(seconds or np.inf), every, updates, given)


class Examiner:
    """Makes records: the judge's certificate, the support, and the scores on training and test rows."""

    def __init__(self, problem: Problem, test: tuple[Any, ArrayLike] | None) -> None:
        self.problem = problem
        self.test: tuple[Rows, Vector] | None = None
        if test is not None:
            rows = as_rows(test[0], "test X").of_width(problem.rows.dimension)
            self.test = (rows, problem.labels_of(test[1]))
            if self.test[1].size != rows.count:
                raise ValueError(
                    f"the test part needs one label a row ({rows.count}), got {self.test[1].size}; check that they belong together"
                )

    def judge(self, answer: Answer, enough: float, tol: float) -> Judgement:
        """The judgement of an answer."""
        return certify(self.problem, *answer, enough=enough, tol=tol)

    def nothing(self) -> Answer:
        """Zero weights: an answer that can always be judged."""
        return Answer(np.zeros(self.problem.rows.dimension), 0.0, None)

    def record(self, judged: Judgement, epoch: float, updates: int, clock: Clock) -> Record:
        c = judged.certificate
        test_score = None
        if self.test is not None:
            scores = self.test[0].scores(judged.weights) + judged.intercept
            test_score = score(scores, self.test[1], self.problem.loss.task)
        return Record(
            epoch,
            updates,
            clock.seconds,
            clock.cpu_seconds,
            c.primal,
            c.dual,
            c.gap,
            c.relative_gap,
            int(np.count_nonzero(judged.duals)),
            self.problem.score(judged.scores),
            test_score,
        )


class Loop:
    """One run in progress."""

    def __init__(
        self,
        problem: Problem,
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
        if self.solver.output != "last" and not limits.given_epochs:
            raise ValueError(
                f"output={self.solver.output} needs max_epochs, because it starts at a part of them; pass max_epochs"
            )
        self.solver.prepare(problem)
        self.clock = Clock()
        self.touched, self.updates = 0, 0
        self.candidates = 0  # updates since the output began to be collected
        self.picked: Answer | None = None  # the iterate drawn so far, for output="random"
        self.collecting = False
        self.judged: Judgement | None = None
        self.state = self.solver.aim(self.solver.start(problem, warm), limits.tol)
        self.is_warm = warm is not None
        self.left: set[str] = set()
        self.seen: tuple[float, ...] = ()
        self.moved_at = 0.0  # the epoch of the last look that saw something new
        self.believed = np.inf  # the gap the solver guessed at the last look

    def random(self, epoch: int, partition: int = 0) -> np.random.Generator:
        return np.random.default_rng((self.seed, epoch, partition))

    def run(self, tell: Callable[[Record], bool]) -> Result:
        # An iterate may leave float64's range; every look at it checks, so NumPy need not warn as well.
        with np.errstate(over="ignore", invalid="ignore"):
            # With nothing known, the judge has nothing to say about zero weights that the end of the run would need.
            ending = self.look(tell) if self.limits.asks_for_records or self.is_warm else None
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
            self.solver,
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
            with self.clock:
                self.state = self.solver.advance(self.problem, self.state, slice_)
                if stop == total:
                    self.state = self.solver.end_epoch(self.problem, self.state)
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

    def until_next_event(self, batch: int) -> int:
        """Updates until a record, the start of collecting, the end, or the end of a slice, whichever comes first."""
        n = self.problem.rows.count
        due = [self.slice_examples(), self.limits.max_epochs * n - self.touched]
        if self.limits.record_updates is not None:
            due.append((self.next_record_at() - self.updates) * batch)
        elif self.limits.asks_for_records:
            due.append(self.next_record_at() - self.touched)
        if self.solver.output != "last" and not self.collecting:
            due.append(self.collect_from() - self.touched)
        return max(1, ceil(min(due) / batch - 1e-9))

    def slice_examples(self) -> float:
        if self.clock.seconds < 0.01:
            return max(1.0, FIRST_SLICE_VALUES * self.problem.rows.count / max(self.problem.rows.stored, 1))
        return max(1.0, self.touched * SLICE_SECONDS / self.clock.seconds)

    def next_record_at(self) -> float:
        """The next record's place, in updates or in rows touched, after the last record's."""
        last = self.trace[-1]
        if self.limits.record_updates is not None:
            return (last.updates // self.limits.record_updates + 1) * self.limits.record_updates
        every = float(self.limits.record_every or 1.0)
        return (floor(last.epoch / every + 1e-9) + 1) * every * self.problem.rows.count

    def is_record_due(self, ends_epoch: bool) -> bool:
        if not self.limits.asks_for_records:
            return ends_epoch and self.is_look_worthwhile()
        if self.limits.record_updates is not None:
            return self.updates >= self.next_record_at()
        return self.touched >= self.next_record_at() - 1e-6

    def is_look_worthwhile(self) -> bool:
        """Whether the solver believes to be done, or so much was done since the last look that another costs little.

        Counted in epochs and not in seconds, so that the same run ends at the same place on any machine.
        """
        believed = self.solver.believed_gap(self.problem, self.state)
        if believed is not None and believed <= min(self.limits.tol, 0.5 * self.believed):
            self.believed = believed
            return True
        epoch, last = self.touched / self.problem.rows.count, self.trace[-1].epoch if len(self.trace) else 0.0
        patience = 1.0 if believed is None else PATIENCE
        if believed is not None and not len(self.trace) and self.auto is not None and self.auto.is_open(self.problem):
            patience = UNDECIDED if believed < FAR_OFF else 1.0
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
        # An ascent's own duals are the best known; other solvers' are compared with those the scores suggest.
        enough = np.inf if self.solver.is_ascent or self.solver.suggests_its_duals else self.limits.tol
        judged = None if broken else self.examiner.judge(answer, enough, self.limits.tol)
        if judged is None or judged.certificate.is_broken:
            if judged is None or not np.isfinite(judged.certificate.primal):
                # The iterate left float64's range; zero weights are an answer that can be judged.
                judged = self.examiner.judge(self.examiner.nothing(), 0.0, 0.0)
            self.append(judged)
            return Status.BROKEN
        record = self.append(judged)
        # The judge chooses b itself, so a solver's own b may still be on its way while P and D stand still.
        if self.seen != (seen := (record.primal, record.dual, *np.ravel(answer.intercept))):
            self.seen, self.moved_at = seen, record.epoch
        stop = tell(record)
        if judged.certificate.proves(self.limits.tol):
            return Status.CERTIFIED
        if stop:
            return Status.STOPPED
        return Status.STALLED if self.is_stalled(judged.certificate) else None

    def append(self, judged: Judgement) -> Record:
        record = self.examiner.record(judged, self.touched / self.problem.rows.count, self.updates, self.clock)
        self.trace.append(record)
        self.judged = judged._replace(scores=np.empty(0))
        return record

    def is_stalled(self, certificate: Certificate) -> bool:
        if certificate.relative_gap <= self.limits.tol:
            return True  # small enough, but rounding alone could have made it so
        tol, recent = self.limits.tol, self.trace.records[-STALLED_RECORDS:]
        if certificate.gap <= certificate.floor and not certificate.could_prove(tol) and len(recent) > 1:
            # P has no more than rounding left to fall by, and at this P rounding is too large for a proof.
            return recent[-1].gap > 0.5 * recent[-2].gap
        if len(recent) == STALLED_RECORDS and all(r.gap <= certificate.floor for r in recent):
            return min(r.gap for r in recent[1:]) > 0.5 * recent[0].gap
        return self.trace[-1].epoch - self.moved_at >= FROZEN_EPOCHS

    def switch(self) -> bool:
        """Ask the policy, if there is one, whether another solver should go on from here."""
        if self.auto is None or self.judged is None:
            return False
        chosen, reason = self.auto.choose(self.problem, self.trace.records, self.limits.tol)
        if chosen == self.solver or chosen.name == self.solver.twin or chosen.name in self.left:
            return False
        self.left.add(self.solver.name)  # what was given up is not tried again
        chosen.prepare(self.problem)
        self.solver, self.reason, self.believed = chosen, reason, np.inf
        start = Answer(self.judged.weights, self.judged.intercept, self.judged.duals)
        self.state = chosen.aim(chosen.start(self.problem, start), self.limits.tol)
        return True


def _copied(answer: Answer) -> Answer:
    duals = None if answer.duals is None else answer.duals.copy()
    return Answer(answer.weights.copy(), answer.intercept, duals)
