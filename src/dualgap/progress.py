"""Progress on standard error: bars drawn by rich in a terminal, plain lines elsewhere, and callbacks that stop a run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dualgap.trace import Record


@contextmanager
def watch(visible: bool, max_epochs: float, tol: float) -> Iterator[Callable[[Record], None]]:
    """A function to call with each record; it draws only where `visible`."""
    if not visible:
        yield lambda record: None
        return
    if find_spec("rich") is None:
        with _line() if sys.stderr.isatty() else _lines() as write:
            yield lambda record: write(_sentence(record, tol))
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    # In a notebook rich needs ipywidgets, and in a pipe it draws nothing.
    if console.is_jupyter or not console.is_terminal:
        with _lines() as write:
            yield lambda record: write(_sentence(record, tol))
        return
    columns = (BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("no gap yet", total=max_epochs if isfinite(max_epochs) else None)
        yield lambda record: bar.update(task, completed=record.epoch, description=_sentence(record, tol))


def say(text: str) -> None:
    """A line of its own on standard error."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def _sentence(record: Record, tol: float) -> str:
    return f"epoch {record.epoch:g}  relative gap {record.relative_gap:.2e} → {tol:.0e}"


@contextmanager
def _lines() -> Iterator[Callable[[str], None]]:
    """A function for pipes and notebooks: lines 1, 2, 4, 8, … of what it is given, and the last one."""
    count, kept = 0, ""

    def write(text: str) -> None:
        nonlocal count, kept
        count, kept = count + 1, text
        if count & (count - 1) == 0:
            say(kept)
            kept = ""

    try:
        yield write
    finally:
        if kept:
            say(kept)


@contextmanager
def counting(visible: bool, unit: str) -> Iterator[Callable[[int, int], None]]:
    """A function to call with the number done and the total, counted in `unit`; it draws only where `visible`."""
    if not visible:
        yield lambda done, total: None
        return
    if find_spec("rich") is None:
        with _line() as rewrite:
            yield lambda done, total: rewrite(f"{done}/{total} {unit}")
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (MofNCompleteColumn(), TextColumn(unit), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def _line() -> Iterator[Callable[[str], None]]:
    """A function that replaces the text of one line on standard error; the last text stays."""

    def rewrite(text: str) -> None:
        sys.stderr.write(f"\r\033[K{text}")
        sys.stderr.flush()

    try:
        yield rewrite
    finally:
        sys.stderr.write("\n")


def asks_to_stop(answer: object) -> bool:
    """Whether a callback's answer is True, Python's or NumPy's; any other object means nothing."""
    return isinstance(answer, bool | np.bool_) and bool(answer)
