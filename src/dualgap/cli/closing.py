"""The end of a race on the screen, and the same as a picture."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

from dualgap.cli.screen import show
from dualgap.cli.standings import bounds, heading, table, verdict
from dualgap.cli.views import LiveView, View
from dualgap.files import write_text
from dualgap.workbench.plan import Plan
from dualgap.workbench.runner import RaceResult


def closing_screen(console: Console, outcome: RaceResult, plan: Plan) -> None:
    """Per heat: what was raced, the table, the refusals, the winner, and what is proven."""
    for heat in outcome.heats:
        if len(outcome.heats) > 1:
            console.print(heading(heat.heat, heat.data, heat.strength, plan))
        console.print()
        show(console, table(heat))
        console.print()
        # Lines in a pipe have told the refusals already.
        for solver, sentence in heat.refusals.items() if console.is_terminal else ():
            console.print(Text(f"{solver}: refused: {sentence}", style="red"))
        console.print(Text(verdict(heat, plan.tol), style="bold"))
        console.print(Text(bounds(heat.runs)))


def save_picture(path: Path, view: View | None, outcome: RaceResult, plan: Plan) -> None:
    """The last frame of the live view, where there was one, and the closing screen, as an SVG picture."""
    paper = Console(record=True, file=io.StringIO(), width=80, force_terminal=True, highlight=False)
    if isinstance(view, LiveView):
        paper.print(view.frame())
    closing_screen(paper, outcome, plan)
    # Rich's picture would fetch its font from a network; the fonts of whoever looks at it do as well.
    offline = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    write_text(path, paper.export_svg(title="dualgap race", code_format=offline))
