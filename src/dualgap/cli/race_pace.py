"""The pace of a race: the number of runs done, and an estimate of the seconds that the others take."""

from __future__ import annotations

from dataclasses import dataclass, field

from dualgap.trace import Clock
from dualgap.workbench.plan import Plan, Run


@dataclass
class Pace:
    """Counts runs, and remembers how long each solver's took, from the start to the finish of all that belongs to it."""

    plan: Plan
    jobs: int = 1
    done: int = 0
    clock: Clock = field(default_factory=Clock)
    started_at: dict[str, float] = field(default_factory=dict)
    spans: dict[str, list[float]] = field(default_factory=dict)
    counted: dict[str, int] = field(default_factory=dict)
    dropped: int = 0

    @property
    def heats(self) -> int:
        """How often each solver meets all others."""
        return len(self.plan.data) * len(self.plan.strengths)

    @property
    def each(self) -> int:
        """The runs of one solver in the whole race."""
        return self.heats * self.plan.repeats

    @property
    def total(self) -> int:
        """All runs of the race, but for those of solvers that refused."""
        return self.each * len(self.plan.contenders) - self.dropped

    def start(self, run: Run) -> None:
        """A run begins now."""
        self.started_at[run.id] = self.clock.elapsed()

    def finish(self, run: Run) -> None:
        """A run ends now."""
        self.count(run.solver)
        self.spans.setdefault(run.solver, []).append(self.clock.elapsed() - self.started_at.pop(run.id))

    def count(self, solver: str) -> None:
        """One more run of a solver is done."""
        self.done += 1
        self.counted[solver] = self.counted.get(solver, 0) + 1

    def drop(self, solver: str) -> None:
        """The runs of a solver that are still to come in this heat will not come."""
        repeats = self.plan.repeats
        coming = repeats - self.counted.get(solver, 0) % repeats
        self.dropped += coming
        self.counted[solver] = self.counted.get(solver, 0) + coming

    def remaining_seconds(self) -> float | None:
        """Seconds until the end, by what each solver took so far; None before anything is known."""
        if not self.spans:
            return None
        means = {solver: sum(spans) / len(spans) for solver, spans in self.spans.items()}
        usual = sum(means.values()) / len(means)
        ahead = 0.0
        for solver, _ in self.plan.contenders:
            ahead += means.get(solver, usual) * max(0, self.each - self.counted.get(solver, 0))
        now = self.clock.elapsed()
        running = sum(now - started_at for started_at in self.started_at.values())
        return max(0.0, ahead - running) / self.jobs

    def words(self) -> str:
        """`80 of 800 runs, about 1 min 50 s left`."""
        seconds = self.remaining_seconds()
        said = f"{self.done:,} of {self.total:,} runs"
        return said if seconds is None or self.done >= self.total else f"{said}, about {roughly(seconds)} left"


def roughly(seconds: float) -> str:
    """A length of time as one says it while waiting."""
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 10:
        return f"{minutes} min {rest:02d} s"
    return f"{round(whole / 60):,} min" if minutes < 120 else f"{whole / 3600:.1f} h"
