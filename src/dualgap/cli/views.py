"""Views of a running race: a live table where there is a terminal, plain lines where there is none."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from dualgap.cli.screen import count, duration, score, small
from dualgap.cli.standings import ENDINGS, heading
from dualgap.trace import Record
from dualgap.workbench.plan import Heat, Plan, Run
from dualgap.workbench.runner import Watcher
from dualgap.workbench.store import FinishedRun

# Reading kernels from the cache takes milliseconds; only a wait longer than this is compilation, and worth a word.
PATIENCE = 0.6
COMPILING = "compiling kernels, once"
BAR_WIDTH = 26
SMALLEST_TOL = 1e-12  # a bar needs an end even where tol is 0


class View(Watcher):
    """What both views share: the word about compilation, said only when it really takes place."""

    def __init__(self, console: Console, plan: Plan) -> None:
        self.console = console
        self.plan = plan
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

    def close(self) -> None:
        """The race is over."""
        self.ready()


class PlainView(View):
    """One line per finished run, for pipes and files."""

    def __init__(self, console: Console, plan: Plan) -> None:
        super().__init__(console, plan)
        self._said_compiling = False

    def loaded(self, heat: Heat, data: dict[str, Any], strength: float) -> None:
        """Head the lines of a heat."""
        self.console.print(heading(heat, data, strength, self.plan))

    def compiling(self, solver: str) -> None:
        """One line, once."""
        if not self._said_compiling:
            self._said_compiling = True
            self.console.print(f"{COMPILING} …")

    def started(self, run: Run) -> None:
        """Preparation is over."""
        self.ready()

    def refused(self, solver: str, sentence: str) -> None:
        """The refusal as it came."""
        self.ready()
        self.console.print(Text(f"{solver}: refused: {sentence}"))

    def finished(self, run: Run, finished: FinishedRun) -> None:
        """Ending, gap, epochs and time of a run."""
        repeat = f" {run.seed - self.plan.seed + 1}/{self.plan.repeats}" if self.plan.repeats > 1 else ""
        ending = ENDINGS.get(finished.status, (finished.status.lower(), ""))[0]
        tested = "" if finished.last("test_score") is None else f", test {score(finished.last('test_score'))}"
        gap, epochs = small(finished.certificate["relative_gap"]), count(finished.last("epoch"))
        spent = duration(finished.last("seconds"))
        self.console.print(Text(f"{run.solver}{repeat}: {ending}, gap {gap}, {epochs} epochs, {spent}{tested}"))


@dataclass
class Lane:
    """What the live table shows of one solver."""

    state: str = "waiting"
    color: str = "dim"
    record: Record | None = None
    turn: int = 0


class LiveView(View):
    """A row per solver: how far the gap has come on a log scale, the gap, the epoch, the test score."""

    def __init__(self, console: Console, plan: Plan) -> None:
        super().__init__(console, plan)
        self.decades = max(1.0, -math.log10(max(plan.tol, SMALLEST_TOL)))
        self.lanes: dict[str, Lane] = {}
        self.title: Text = Text()
        self.test_heading = "test"
        self.live: Live | None = None

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
        self.ready()
        self.lanes[solver] = Lane("refused", "red")

    def started(self, run: Run) -> None:
        """The lane is running."""
        self.ready()
        self._rest()
        lane = self.lanes[run.solver]
        lane.state, lane.color, lane.record = "running", "cyan", None
        lane.turn += 1

    def _rest(self) -> None:
        """Whoever was getting ready now waits for its turn."""
        for lane in self.lanes.values():
            if lane.record is None and lane.state in ("getting ready", COMPILING):
                lane.state, lane.color = "ready", "dim"

    def recorded(self, run: Run, record: Record) -> None:
        """The newest record is the one shown."""
        self.lanes[run.solver].record = record

    def finished(self, run: Run, finished: FinishedRun) -> None:
        """Color the lane by how the run ended."""
        lane = self.lanes[run.solver]
        lane.state, lane.color = ENDINGS.get(finished.status, (finished.status.lower(), "yellow"))

    def close(self) -> None:
        """Take the live table away; the closing table comes instead."""
        super().close()
        if self.live is not None:
            self.live.stop()
            self.live = None

    def frame(self) -> Group:
        """The table as it is now."""
        table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
        table.add_column("solver", no_wrap=True)
        table.add_column(f"gap closed, 1 to {10**-self.decades:.0e}", width=BAR_WIDTH, no_wrap=True)
        for name in ("rel gap", "epoch", self.test_heading):
            table.add_column(name, justify="right", no_wrap=True, min_width=6)
        if self.plan.repeats > 1:
            table.add_column("run", justify="right", no_wrap=True)
        for solver, lane in self.lanes.items():
            turn = [f"{lane.turn}/{self.plan.repeats}"] if self.plan.repeats > 1 else []
            if lane.record is None:
                table.add_row(Text(solver), Text(lane.state, style=lane.color), "", "", "", *turn)
                continue
            table.add_row(
                Text(solver),
                self._bar(lane),
                Text(small(lane.record.relative_gap), style=lane.color),
                count(math.floor(lane.record.epoch)),
                score(lane.record.test_score),
                *turn,
            )
        return Group(self.title, "", table)

    def _bar(self, lane: Lane) -> ProgressBar:
        gap = lane.record.relative_gap if lane.record is not None else 1.0
        come = -math.log10(gap) if gap > 0 else self.decades
        done = min(self.decades, max(0.0, come)) if math.isfinite(come) else 0.0
        return ProgressBar(
            total=self.decades,
            completed=done,
            width=BAR_WIDTH,
            complete_style=lane.color,
            finished_style=lane.color,
        )
