"""Views of a running race: a live table where there is a terminal, plain lines where there is none."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.status import Status
from rich.table import Table
from rich.text import Text

from dualgap.cli.console import count, duration, epochs_words, reading, score, small
from dualgap.cli.race_pace import Pace
from dualgap.cli.race_table import ENDINGS, heading
from dualgap.trace import Record
from dualgap.workbench.plan import Heat, Plan, Run
from dualgap.workbench.store import FinishedRun
from dualgap.workbench.summary import final
from dualgap.workbench.watcher import Watcher

# Reading kernels from the cache takes milliseconds; only a longer wait is compilation, and is said.
PATIENCE = 0.6  # seconds
COMPILING = "compiling kernels, once"
BAR_WIDTH, SHORT_BAR, LONG_NAME = 26, 14, 22
SMALLEST_TOL = 1e-12  # a bar needs an end even where tol is 0
FEW_RUNS = 60  # up to this number each run has a line in a pipe; of more, every tenth of the race has one
SILENCE = 15.0  # seconds; after a longer silence the next finished run has a line too


class View(Watcher):
    """What both views share: the pace, and the word about compilation, said only when it really takes place."""

    def __init__(self, console: Console, plan: Plan, jobs: int = 1) -> None:
        self.console = console
        self.plan = plan
        self.pace = Pace(plan, jobs)
        self._timer: threading.Timer | None = None

    def preparing(self, solver: str) -> None:
        """Say after a while that kernels are compiled."""
        self.ready()
        self._timer = threading.Timer(PATIENCE, self.compiling, (solver,))
        self._timer.daemon = True
        self._timer.start()

    def ready(self) -> None:
        """Preparation is over."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def compiling(self, solver: str) -> None:
        """Kernels are being compiled for `solver`."""

    def already(self, run: Run, finished: FinishedRun) -> None:
        """Found on disk, so not waited for."""
        self.pace.count(run.solver)

    def refused(self, solver: str, sentence: str) -> None:
        """Its runs of this heat will not come; in another it may say otherwise."""
        self.ready()
        self.pace.drop(solver)

    def started(self, run: Run) -> None:
        """Preparation is over."""
        self.ready()
        self.pace.start(run)

    def finished(self, run: Run, finished: FinishedRun) -> None:
        """One more."""
        self.pace.finish(run)

    def close(self) -> None:
        """The race is over."""
        self.ready()

    def last_frame(self) -> RenderableType | None:
        """What a picture of the race begins with; None where nothing moved."""
        return None


class PlainView(View):
    """One line per finished run, for pipes and files; of many runs, a line for every tenth of them."""

    def __init__(self, console: Console, plan: Plan, jobs: int = 1) -> None:
        super().__init__(console, plan, jobs)
        self._said_compiling = False
        self._tenths = 0
        self._spoke = 0.0
        self._found = 0

    def loaded(self, heat: Heat, data: dict[str, Any], strength: float) -> None:
        """Head the lines of a heat."""
        self.console.print(heading(heat, data, strength, self.plan))

    def compiling(self, solver: str) -> None:
        """One line, once."""
        if not self._said_compiling:
            self._said_compiling = True
            self.console.print(f"{COMPILING} …")

    def already(self, run: Run, finished: FinishedRun) -> None:
        """Counted here, said in one line when the next run starts."""
        super().already(run, finished)
        self._found += 1

    def refused(self, solver: str, sentence: str) -> None:
        """The refusal as it came."""
        super().refused(solver, sentence)
        self.console.print(Text(f"{solver}: refused: {sentence}"))

    def started(self, run: Run) -> None:
        """Say first what was there before."""
        super().started(run)
        self._say_found()

    def close(self) -> None:
        """Perhaps all was there before."""
        super().close()
        self._say_found()

    def _say_found(self) -> None:
        if self._found:
            self.console.print(f"{self._found:,} finished run{'s' if self._found > 1 else ''} found and kept")
            self._found = 0

    def finished(self, run: Run, finished: FinishedRun) -> None:
        """Ending, gap, epochs and time of a run; of many, where the race stands."""
        super().finished(run, finished)
        if self.pace.total <= FEW_RUNS:
            self.console.print(self._line(run, finished))
            return
        tenths, now = 10 * self.pace.done // self.pace.total, self.pace.clock.elapsed()
        if tenths > self._tenths or now - self._spoke > SILENCE:
            self._tenths, self._spoke = tenths, now
            self.console.print(Text(f"{self.pace.words()}; latest {self._line(run, finished)}"))

    def _line(self, run: Run, finished: FinishedRun) -> Text:
        repeat = f" {run.seed - self.plan.seed + 1}/{self.plan.repeats}" if self.plan.repeats > 1 else ""
        ending = ENDINGS.get(finished.status, (finished.status.lower(), ""))[0]
        tested = "" if finished.last("test_score") is None else f", test {score(finished.last('test_score'))}"
        epochs = "" if finished.last("epoch") is None else f"{epochs_words(finished.last('epoch'))}, "
        gap, spent = small(finished.certificate["relative_gap"]), duration(final(finished, "call_seconds"))
        return Text(f"{run.solver}{repeat}: {ending}, gap {gap}, {epochs}{spent}{tested}")


@dataclass
class Lane:
    """What the live table shows of one solver."""

    state: str = "waiting"
    color: str = "dim"
    gap: float | None = None
    epoch: float | None = None
    test_score: float | None = None
    done: int = 0

    def update(self, gap: float | None, epoch: float | None, test_score: float | None) -> None:
        """The newest numbers are the ones shown."""
        self.gap, self.epoch, self.test_score = gap, epoch, test_score


class LiveView(View):
    """A row per solver: how far the gap has come on a log scale, the gap, the epoch, the test score, its runs done."""

    def __init__(self, console: Console, plan: Plan, jobs: int = 1) -> None:
        super().__init__(console, plan, jobs)
        self.decades = max(1.0, -math.log10(max(plan.tol, SMALLEST_TOL)))
        self.lanes: dict[str, Lane] = {}
        self.title: Text = Text()
        self.test_heading = "test"
        self.live: Live | Status | None = None

    def loading(self, heat: Heat) -> None:
        """A line that moves until the data is there."""
        self.close()
        self.live = reading(self.console, heat.data)
        self.live.start()

    def loaded(self, heat: Heat, data: dict[str, Any], strength: float) -> None:
        """Set up the lanes of a heat and start to draw."""
        self.close()
        self.title = heading(heat, data, strength, self.plan)
        self.test_heading = "test" if data["task"] == "classification" else "test R²"
        self.lanes = {run.solver: Lane() for run in heat.runs}
        self.live = Live(get_renderable=self.frame, console=self.console, refresh_per_second=12, transient=False)
        self.live.start()

    def preparing(self, solver: str) -> None:
        """The solver's kernels are on their way."""
        self._rest()
        self.lanes[solver].state = "getting ready"
        super().preparing(solver)

    def compiling(self, solver: str) -> None:
        """Show it in the solver's row."""
        self.lanes[solver].state, self.lanes[solver].color = COMPILING, "magenta"

    def refused(self, solver: str, sentence: str) -> None:
        """Mark the lane; the sentence follows below the closing table."""
        super().refused(solver, sentence)
        self.lanes[solver] = Lane("refused", "red")

    def already(self, run: Run, finished: FinishedRun) -> None:
        """A lane starts with the numbers of the run found on disk."""
        super().already(run, finished)
        self._show(run, finished)

    def started(self, run: Run) -> None:
        """The lane is running."""
        super().started(run)
        self._rest()
        lane = self.lanes[run.solver]
        lane.state, lane.color = "running", "cyan"
        if run.kind == "solver":
            lane.update(None, None, None)

    def _rest(self) -> None:
        """A solver that was getting ready now waits for its turn."""
        for lane in self.lanes.values():
            if lane.gap is None and lane.state in ("getting ready", COMPILING):
                lane.state, lane.color = "ready", "dim"

    def recorded(self, run: Run, record: Record) -> None:
        """The newest record is the one shown."""
        self.lanes[run.solver].update(record.relative_gap, record.epoch, record.test_score)

    def finished(self, run: Run, finished: FinishedRun) -> None:
        """Color the lane by how the run ended."""
        super().finished(run, finished)
        self._show(run, finished)

    def _show(self, run: Run, finished: FinishedRun) -> None:
        lane = self.lanes[run.solver]
        lane.state, lane.color = ENDINGS.get(finished.status, (finished.status.lower(), "yellow"))
        lane.update(finished.certificate["relative_gap"], finished.last("epoch"), finished.last("test_score"))
        lane.done += 1

    def close(self) -> None:
        """Take the live table away; the closing table comes instead."""
        super().close()
        if self.live is not None:
            self.live.stop()
            self.live = None

    def last_frame(self) -> RenderableType:
        """The live table as it stood at the end."""
        return self.frame()

    def frame(self) -> Group:
        """The table as it is now."""
        table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
        table.add_column("solver", no_wrap=True)
        # The names of rivals are long, and 80 columns are not many.
        width = BAR_WIDTH if max(map(len, self.lanes), default=0) <= LONG_NAME else SHORT_BAR
        scale = f", 1 to {10**-self.decades:.0e}" if width == BAR_WIDTH else ""
        table.add_column(f"gap closed{scale}", width=width, no_wrap=True)
        for name in ("rel gap", "epoch", self.test_heading):
            table.add_column(name, justify="right", no_wrap=True, min_width=6)
        if self.plan.repeats > 1:
            table.add_column("done", justify="right", no_wrap=True)
        for solver, lane in self.lanes.items():
            turn = [f"{lane.done}/{self.plan.repeats}" if lane.state != "refused" else ""]
            turn = turn if self.plan.repeats > 1 else []
            if lane.gap is None:
                table.add_row(Text(solver), Text(lane.state, style=lane.color), "", "", "", *turn)
                continue
            table.add_row(
                Text(solver),
                self._bar(lane.gap, lane.color, width),
                Text(small(lane.gap), style=lane.color),
                "–" if lane.epoch is None else count(math.floor(lane.epoch)),
                score(lane.test_score),
                *turn,
            )
        return Group(self.title, "", table, "", Text(self.pace.words(), style="dim"))

    def _bar(self, gap: float, color: str, width: int) -> ProgressBar:
        come = -math.log10(gap) if gap > 0 else self.decades
        done = min(self.decades, max(0.0, come)) if math.isfinite(come) else 0.0
        return ProgressBar(total=self.decades, completed=done, width=width, complete_style=color, finished_style=color)
