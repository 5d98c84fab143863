"""Standings: the closing table of a heat, and the sentence that names the winner and how sure that is."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from dualgap.cli.screen import count, duration, score, small
from dualgap.workbench.plan import Heat, Plan
from dualgap.workbench.runner import HeatResult
from dualgap.workbench.store import FinishedRun

# Endings in the words of a narrow column; the sentence of each stands in the results file.
ENDINGS = {
    "CERTIFIED": ("certified", "green"),
    "EPOCHS_EXHAUSTED": ("out of epochs", "yellow"),
    "TIME_EXHAUSTED": ("out of time", "yellow"),
    "STALLED": ("stalled", "yellow"),
    "STOPPED": ("stopped", "yellow"),
    "INTERRUPTED": ("interrupted", "yellow"),
    "BROKEN": ("broken", "bold red"),
}
# Below this many times the winner's seconds a second place is called close.
CLOSE = 1.2
MANY_TIMES = 1e6


@dataclass(frozen=True)
class Standing:
    """A solver's repeats together: medians of what they ended with."""

    solver: str
    runs: tuple[FinishedRun, ...]

    def median(self, name: str) -> float | None:
        """The median over repeats of a field's last value."""
        values = [value for value in (finished.last(name) for finished in self.runs) if value is not None]
        return statistics.median(values) if values else None

    @property
    def certified(self) -> bool:
        """Whether every repeat reached the tolerance."""
        return all(finished.status == "CERTIFIED" for finished in self.runs)

    @property
    def ending(self) -> tuple[str, str]:
        """How its repeats ended, in words and with a color; where only some were certified, how many."""
        others = [finished.status for finished in self.runs if finished.status != "CERTIFIED"]
        if not others:
            return ENDINGS["CERTIFIED"]
        if len(others) < len(self.runs):
            return f"certified {len(self.runs) - len(others)}/{len(self.runs)}", "yellow"
        return ENDINGS.get(others[-1], (others[-1].lower(), "yellow"))

    @property
    def rank(self) -> tuple[bool, float]:
        """Certified solvers by their time, then the others by their gap."""
        value = self.median("seconds" if self.certified else "relative_gap")
        return not self.certified, float("inf") if value is None else value


def standings(runs: Sequence[FinishedRun]) -> list[Standing]:
    """The solvers of a heat, best first."""
    solvers = dict.fromkeys(str(finished.settings["solver"]) for finished in runs)
    table = [Standing(s, tuple(run for run in runs if run.settings["solver"] == s)) for s in solvers]
    return sorted(table, key=lambda standing: standing.rank)


def heading(heat: Heat, data: Mapping[str, Any], strength: float, plan: Plan) -> Text:
    """What is raced on what, in two lines."""
    form = "sparse rows" if data["sparse"] else "rows"
    tested = f", {data['test_rows']:,} held out for the test" if data["test_rows"] else ""
    text = Text(data["name"] if data["source"] == heat.data else heat.data, style="bold")
    text.append(f": {data['rows']:,} {form} × {data['columns']:,}{tested}", style="not bold")
    limits = [f"{plan.epochs:g} epochs" if plan.epochs else "", f"{plan.seconds:g} s" if plan.seconds else ""]
    most = " or ".join(filter(None, limits))
    free = " with intercept" if plan.intercept else ""
    goal = f"to a relative gap of {plan.tol:g}, {most} at most"
    text.append(f"\n{plan.loss}{free}, strength {strength:.4g}; {goal}", "not bold")
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
        caption=f"{note}time is that of the updates alone",
        caption_justify="left",
        caption_style="dim",
    )
    out.add_column("solver", overflow="fold")
    for heading in ("primal", "rel gap", _score_heading(result), "epochs", "time"):
        out.add_column(heading, justify="right", no_wrap=True)
    out.add_column("status", no_wrap=True)
    for place, standing in enumerate(standings(result.runs)):
        ending, color = standing.ending
        primal = standing.median("primal")
        out.add_row(
            Text(standing.solver, style="bold" if place == 0 else ""),
            "–" if primal is None else f"{primal:#.6g}".rstrip("."),
            small(standing.median("relative_gap")),
            score(standing.median("test_score")),
            count(standing.median("epoch")),
            duration(standing.median("seconds")),
            Text(ending, style=color),
        )
    for solver in result.refusals:
        out.add_row(Text(solver, style="dim"), "–", "–", "–", "–", "–", Text("refused", style="red"))
    return out


def _score_heading(result: HeatResult) -> str:
    return "test" if result.data["task"] == "classification" else "test R²"


def bounds(runs: Sequence[FinishedRun]) -> str:
    """Where the optimum lies, by the best primal and the best dual of all runs."""
    primals = [run.certificate["primal"] for run in runs if run.certificate["primal"] is not None]
    duals = [run.certificate["dual"] for run in runs if run.certificate["dual"] is not None]
    if not primals or not duals:
        return ""
    return f"Proven: the optimum lies between {max(duals):.9g} and {min(primals):.9g}."


def verdict(result: HeatResult, tol: float) -> str:
    """One sentence: who won, by how much, and how sure that is."""
    ranked = standings(result.runs)
    if not ranked:
        return "No run was finished, so nobody won."
    best, *others = ranked
    measure = "seconds" if best.certified else "relative_gap"
    value = best.median(measure) or 0.0
    if best.certified and not others:
        said = f"{best.solver} proved a relative gap of {tol:g} after {duration(value)} of updates"
    elif best.certified:
        said = f"{best.solver} wins: it proved a relative gap of {tol:g} after {duration(value)} of updates"
    else:
        said = f"No solver proved a relative gap of {tol:g}; {best.solver} came closest with {small(value)}"
    rivals = [other for other in others if other.certified == best.certified]
    if not others:
        return f"{said}, without a rival."
    if not rivals:
        return f"{said}, and nobody else got there."
    second = rivals[0]
    ratio = (second.median(measure) or 0.0) / value if value else float("inf")
    said += f", {second.solver} next with {_times(ratio)} as much; {_sureness(best, rivals, measure, ratio)}."
    return said


def _times(ratio: float) -> str:
    digits = 2 if ratio < 2 else 1 if ratio < 10 else 0
    return f"{ratio:,.{digits}f} times" if ratio < MANY_TIMES else "millions of times"


def _sureness(best: Standing, rivals: Sequence[Standing], measure: str, ratio: float) -> str:
    repeats = len(best.runs)
    if repeats == 1:
        return f"one run each{', and too close to be sure' if ratio < CLOSE else ''}, so let --repeats 5 confirm it"
    ahead = 0
    for finished in best.runs:
        same_seed = [run for rival in rivals for run in rival.runs if run.settings["seed"] == finished.settings["seed"]]
        ahead += all(finished.last(measure) < run.last(measure) for run in same_seed)
    if ahead == repeats and ratio >= CLOSE:
        return f"ahead in all {repeats} repeats"
    return f"ahead in {ahead} of {repeats} repeats, too close to be sure"
