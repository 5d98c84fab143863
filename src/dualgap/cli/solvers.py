"""The command `solvers`: the table of solvers, with options and defaults."""

from __future__ import annotations

from dualgap.cli.console import options_of, print_list

# Typer keeps the line ends of a paragraph, so a paragraph is one line.
HELP = (
    "List the solvers, with their options and defaults.\n\n"
    "Options are written in brackets behind the name, option=value, and only those that differ from their default."
)
EPILOG = 'Example:  dualgap race -s sdca -s "pegasos(batch_size=8, projection=true)"'


def solvers() -> None:
    """List the solvers, with their options and defaults, as `-s` takes them."""
    from dualgap.solvers import SOLVERS

    rows = [(name, solver.summary, options_of(solver)) for name, solver in SOLVERS.items()]
    print_list(("solver", "what it does", "options and defaults"), rows)
