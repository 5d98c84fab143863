"""The command `losses`: the table of losses, with formulas, options and defaults."""

from __future__ import annotations

from dualgap.cli.console import options_of, print_list

# Typer keeps the line ends of a paragraph, so a paragraph is one line.
HELP = (
    "List the losses, with their formulas, options and defaults.\n\n"
    "z is the score; m = y·z in a classification, with labels y = −1 and +1; r = z − y in a regression."
)
EPILOG = 'Example:  dualgap race --loss "smoothed_hinge(gamma=0.5)"'


def losses() -> None:
    """List the losses, with their formulas, options and defaults."""
    from dualgap.losses import LOSSES

    rows = [(name, loss.task, loss.formula, options_of(loss)) for name, loss in LOSSES.items()]
    print_list(("loss", "task", "formula", "options and defaults"), rows)
