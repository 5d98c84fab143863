"""The commands `solvers` and `losses`: the tables of the library, with options and defaults."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from dualgap.cli.screen import make_console, show

# Typer keeps the line ends of a paragraph, so a paragraph is one line.
SOLVERS_HELP = (
    "List the solvers, with their options and defaults.\n\n"
    "Options are written in brackets behind the name, option=value, and only those that differ from their default."
)
SOLVERS_EPILOG = 'Example:  dualgap race -s sdca -s "pegasos(batch_size=8, projection=true)"'
LOSSES_HELP = (
    "List the losses, with their formulas, options and defaults.\n\n"
    "z is the score; m = y·z in a classification, with labels y = −1 and +1; r = z − y in a regression."
)
LOSSES_EPILOG = 'Example:  dualgap race --loss "smoothed_hinge(gamma=0.5)"'


def solvers() -> None:
    """List the solvers, with their options and defaults, as `-s` takes them."""
    from dualgap.solvers import SOLVERS

    rows = [(name, solver.summary, options_of(solver)) for name, solver in SOLVERS.items()]
    print_list(("solver", "what it does", "options and defaults"), rows)


def losses() -> None:
    """List the losses, with their formulas, options and defaults."""
    from dualgap.losses import LOSSES

    rows = [(name, loss.task, loss.formula, options_of(loss)) for name, loss in LOSSES.items()]
    print_list(("loss", "task", "formula", "options and defaults"), rows)


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
    return ", ".join(f"{parameter.name}={_written(parameter.default)}" for parameter in parameters)


def _written(value: Any) -> str:
    """A default as it is typed on the command line."""
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)
