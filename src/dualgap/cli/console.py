"""The consoles that every command prints to, tables and lists on them, and numbers as a person reads them."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.status import Status
from rich.table import Table
from rich.text import Text

# Tables of names and options are never cut in a pipe; a race's own table is narrower than this anyway.
PIPE_WIDTH = 240


# What sentences of the library advise, and what it is called here; the longer names first.
ADVICE = {
    "max_epochs": "--epochs",
    "max_seconds": "--seconds",
    "max_iter": "--epochs",
    "raise --epochs or tol": "raise --epochs or --tol",
    "raise --seconds or tol": "raise --seconds or --tol",
    "intercept=False": "--no-intercept",
    "solver='auto'": "--solver auto",
    'solver="auto"': "--solver auto",
}


def make_console() -> Console:
    """Standard output: as wide as the terminal, or without a terminal as wide as it needs to be. NO_COLOR is obeyed."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    return console


def reading(console: Console, data: str) -> Status:
    """A line that moves while data is read; nothing without a terminal."""
    return console.status(Text(f"reading {data}"))


def show(console: Console, table: RenderableType) -> None:
    """Print a table; in a pipe without the blanks that would fill its lines up."""
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as captured:
        console.print(table)
    for line in captured.get().splitlines():
        console.print(line.rstrip(), markup=False, soft_wrap=True)


def print_list(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """In a pipe one line per entry; on a screen, which is narrower, the name and beside it the rest line by line."""
    console = make_console()
    table = Table(box=None if console.is_terminal else SIMPLE_HEAD, padding=(0, 2, 0, 0), show_edge=False)
    if console.is_terminal:
        table.show_header = False
        for name, *cells in rows:
            options = cells.pop()
            about = Text(" · ".join(cells))
            about.append(f"\n{options}\n" if options else "\n", style="dim")
            table.add_row(Text(name, style="bold"), about)
    else:
        # A line of a pipe has no end, and a name that is cut cannot be searched for.
        console.width = sum(max(map(len, column)) + 4 for column in zip(headings, *rows, strict=True))
        for heading in headings:
            table.add_column(heading, overflow="fold")
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
    show(console, table)


def options_of(cls: Any) -> str:
    """`name=default` for each option, in the order they may be written in a spec."""
    parameters = inspect.signature(cls).parameters.values()
    return ", ".join(f"{parameter.name}={written(parameter.default)}" for parameter in parameters)


def written(value: Any) -> str:
    """A default as it is typed on the command line."""
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def in_options(sentence: str) -> str:
    """A sentence of the library with the names that the command line has for what it advises."""
    for python, option in ADVICE.items():
        sentence = sentence.replace(python, option)
    return sentence


def forgive_encoding() -> None:
    """Let a terminal that knows no Greek show a question mark where it would otherwise end the program."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def duration(seconds: float | None) -> str:
    """Three digits and a unit, or a dash where there is no time."""
    # Imported here: help and refusals must not wait for NumPy.
    from dualgap.workbench import summary

    return "–" if seconds is None else summary.duration(seconds)


def small(value: float | None) -> str:
    """A gap: two digits and a power of ten."""
    return "–" if value is None else f"{value:.1e}"


def count(value: float | None) -> str:
    """A number of epochs: whole where it is whole."""
    return "–" if value is None else f"{value:,.0f}" if value == round(value) or value >= 10 else f"{value:.1f}"


def epochs_words(value: float | None) -> str:
    """A number of epochs with its unit."""
    return f"{count(value)} epoch{'' if value == 1 else 's'}"


def bytes_words(size: float) -> str:
    """Bytes with three digits and a unit."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000.0:
            return f"{size:.3g} {unit}"
        size /= 1000.0
    return f"{size:,.3g} TB"


def score(value: float | None) -> str:
    """An accuracy or R² with three decimals."""
    return "–" if value is None else f"{value:.3f}"
