"""Watching a run: progress bars on standard error, with its gap or for things that are counted, and callbacks that stop it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dualgap.trace import Record


@contextmanager
def watch(wanted: bool, max_epochs: float, tol: float) -> Iterator[Callable[[Record], None]]:
    """A function to call with each record; it draws only where a bar is wanted."""
    if not wanted:
        yield lambda record: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("epoch {task.completed:g}"),
        BarColumn(),
        TextColumn("relative gap {task.fields[gap]:.2e} → {task.fields[tol]:.0e}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=max_epochs if isfinite(max_epochs) else None, gap=float("nan"), tol=tol)
        yield lambda record: bar.update(task, completed=record.epoch, gap=record.relative_gap)


@contextmanager
def counting(wanted: bool, what: str) -> Iterator[Callable[[int, int], None]]:
    """A function to call with how many things are done and how many there are; it draws only where a bar is wanted."""
    if not wanted:
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (MofNCompleteColumn(), TextColumn(what), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def asks_to_stop(answer: object) -> bool:
    """Whether a callback's answer is True, Python's or NumPy's; any other object means nothing."""
    return isinstance(answer, bool | np.bool_) and bool(answer)
