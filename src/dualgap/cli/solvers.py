"""The command `solvers`: the table of solvers, and of one of them every option with its values."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from dualgap.cli.console import make_console, options_of, print_list, show, written

# Typer keeps the line ends of a paragraph, so a paragraph is one line.
HELP = (
    "List the solvers, or explain one of them: what it does, and every option with its values.\n\n"
    "Options are written in brackets behind the name, option=value, and only those that differ from their default."
)
EPILOG = """Examples:

dualgap solvers

dualgap solvers sdca

dualgap race -s sdca -s "pegasos(batch_size=8, projection=true)"
"""


def solvers(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Explain this solver. (default: list all)")] = None,
) -> None:
    """List the solvers, or explain one of them."""
    from dualgap.solvers import SOLVERS
    from dualgap.spec import known

    if name is not None:
        _explain(SOLVERS[known(name.partition("(")[0], SOLVERS, "solver")])
        return
    rows = [(name, solver.summary, options_of(solver)) for name, solver in SOLVERS.items()]
    print_list(("solver", "what it does", "options and defaults"), rows)


def _explain(solver: Any) -> None:
    """What it does, and its options in a table."""
    from dualgap.solvers.options import OPTIONS

    console = make_console()
    console.print(Text.assemble((solver.name, "bold"), f": {solver.summary}"))
    console.print()
    console.print(Text(_told(solver)), soft_wrap=not console.is_terminal)
    console.print()
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    parameters = inspect.signature(solver).parameters.values()
    for parameter in parameters:
        option = OPTIONS[parameter.name]
        about = Text(option.about)
        about.append(f"\n{option.values}; default {written(parameter.default)}", style="dim")
        table.add_row(Text(parameter.name, style="bold"), about)
    if not parameters:
        console.print("It has no options.")
        return
    show(console, table)
    first = next(iter(parameters))
    example = OPTIONS[first.name].example
    console.print(Text(f'\nFor example: dualgap fit DATA -s "{solver.name}({first.name}={example})"'), soft_wrap=True)


def _told(solver: Any) -> str:
    """The docstring up to its examples, its lines joined to paragraphs."""
    text = (inspect.getdoc(solver) or "").partition("\n\nExamples\n")[0].replace("`", "")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
