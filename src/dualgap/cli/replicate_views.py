"""Views of a running replication: a bar over all runs on a terminal, a line per experiment in a pipe."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from dualgap.replication import running
from dualgap.replication.experiments import Experiment
from dualgap.trace import Record
from dualgap.workbench import store
from dualgap.workbench.plan import Run


@contextmanager
def view(console: Console, runs: int, quiet: bool) -> Iterator[running.Observer]:
    """A bar over all runs on a terminal, a line per experiment in a pipe, nothing where quiet is asked for."""
    if quiet:
        yield running.Observer()
    elif console.is_terminal:
        columns = (MofNCompleteColumn(), BarColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
        with Progress(*columns, console=console, transient=True) as bar:
            yield _Bar(bar, runs)
    else:
        yield _Lines(console, runs)


class _Bar(running.Observer):
    def __init__(self, bar: Progress, runs: int) -> None:
        self.bar, self.task, self.name = bar, bar.add_task("", total=max(runs, 1)), ""

    def experiment(self, experiment: Experiment, runs: int) -> None:
        self.name = experiment.name
        self.bar.update(self.task, description=self.name)

    def fact(self, name: str) -> None:
        self.bar.update(self.task, description=name)

    def recorded(self, run: Run, record: Record) -> None:
        self.bar.update(self.task, description=f"{self.name}: {run.solver}")

    def finished(self, run: Run, finished: store.FinishedRun) -> None:
        self.bar.advance(self.task)


class _Lines(running.Observer):
    def __init__(self, console: Console, runs: int) -> None:
        self.console, self.runs, self.done = console, runs, 0

    def experiment(self, experiment: Experiment, runs: int) -> None:
        said = f"{experiment.name}: {runs} run{'' if runs == 1 else 's'} to do, {self.done} of {self.runs} done"
        self.console.print(said, markup=False, soft_wrap=True)

    def left_out(self, experiment: str, sentence: str) -> None:
        self.console.print(f"{experiment}: left out: {sentence}", markup=False, soft_wrap=True)

    def finished(self, run: Run, finished: store.FinishedRun) -> None:
        self.done += 1
