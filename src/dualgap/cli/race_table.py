"""The closing table of a heat, the sentences around it, and the end of a race on the screen and as a picture."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from dualgap.cli.console import count, duration, score, show, small
from dualgap.data.files import write_text
from dualgap.workbench import summary
from dualgap.workbench.plan import Heat, Plan
from dualgap.workbench.runner import HeatResult, RaceResult
from dualgap.workbench.summary import Standing, bounds, goal_words, standings
from dualgap.workbench.verdict import verdict

if TYPE_CHECKING:
    from rich.console import RenderableType

COLORS = {"CERTIFIED": "green", "BROKEN": "bold red"}
OTHER_COLOR = "yellow"
ENDINGS = {status: (words, COLORS.get(status, OTHER_COLOR)) for status, words in summary.ENDINGS.items()}


def heading(heat: Heat, data: Mapping[str, Any], strength: float, plan: Plan) -> Text:
    """What is raced on what, in two lines."""
    form = "sparse rows" if data["sparse"] else "rows"
    tested = f", {data['test_rows']:,} held out for the test" if data["test_rows"] else ""
    text = Text(data["name"] if data["source"] == heat.data else heat.data, style="bold")
    text.append(f": {data['rows']:,} {form} × {data['columns']:,}{tested}", style="not bold")
    limits = [f"{plan.epochs:g} epochs" if plan.epochs else "", f"{plan.seconds:g} s" if plan.seconds else ""]
    limit = " or ".join(filter(None, limits))
    free = " with intercept" if plan.intercept else ", targets centered" if data.get("centered") else ""
    goal = f"to {goal_words(plan.tol, plan.gap_tol)}, {limit} at most"
    typed = f"{heat.strength} = " if heat.strength.endswith("/n") else ""
    text.append(f"\n{plan.loss}{free}, strength {typed}{strength:.4g}; {goal}", "not bold")
    return text


def table(result: HeatResult) -> Table:
    """The closing table, 80 columns wide at most with the solvers of a race without arguments."""
    repeats = max((len(standing.runs) for standing in standings(result.runs)), default=1)
    note = f"medians of {repeats} runs; " if repeats > 1 else ""
    out = Table(
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        show_edge=False,
        pad_edge=False,
        caption=f"{note}call: time of the whole call; updates: that of the updates alone",
        caption_justify="left",
        caption_style="dim",
    )
    out.add_column("solver", overflow="fold")
    for heading in ("rel gap", _score_heading(result), "epochs", "call", "updates"):
        out.add_column(heading, justify="right", no_wrap=True)
    out.add_column("status", no_wrap=True)
    for place, standing in enumerate(standings(result.runs)):
        out.add_row(
            Text(standing.solver, style="bold" if place == 0 else ""),
            small(standing.median("relative_gap")),
            score(standing.median("test_score")),
            count(standing.median("epoch")),
            duration(standing.median("call_seconds")),
            duration(standing.median("seconds")),
            Text(standing.ending, style=_color(standing)),
        )
    for solver in result.refusals:
        out.add_row(Text(solver, style="dim"), "–", "–", "–", "–", "–", Text("refused", style="red"))
    return out


def _score_heading(result: HeatResult) -> str:
    return "test" if result.data["task"] == "classification" else "test R²"


def _color(standing: Standing) -> str:
    """Green where all repeats are certified, red where none is and the last one broke."""
    others = [finished.status for finished in standing.runs if finished.status != "CERTIFIED"]
    if len(others) < len(standing.runs):
        return OTHER_COLOR if others else COLORS["CERTIFIED"]
    return COLORS.get(others[-1], OTHER_COLOR)


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
        console.print(Text(verdict(heat.runs, plan.tol), style="bold"))
        console.print(Text(bounds(heat.runs)))


def save_picture(path: Path, last_frame: RenderableType | None, outcome: RaceResult, plan: Plan) -> None:
    """The last frame of the live view, where there was one, and the closing screen, as an SVG picture."""
    paper = Console(record=True, file=io.StringIO(), width=80, force_terminal=True, highlight=False)
    if last_frame is not None:
        paper.print(last_frame)
    closing_screen(paper, outcome, plan)
    # Rich's picture would fetch its font from a network; the fonts of the reader's own system serve as well.
    offline = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    write_text(path, paper.export_svg(title="dualgap race", code_format=offline))
