"""The content of a page: everything it shows, as plain values, computed from finished runs."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from dualgap.workbench import looks, summary
from dualgap.workbench.report import provenance
from dualgap.workbench.report.cards import card_of
from dualgap.workbench.report.coefficients import coefficients
from dualgap.workbench.report.packing import Pool
from dualgap.workbench.store import FinishedRun
from dualgap.workbench.summary import Standing
from dualgap.workbench.verdict import verdict

X_FIELDS = ("call_seconds", "seconds", "cpu_seconds", "epoch", "updates")
Y_FIELDS = ("suboptimality", "relative_gap", "primal", "test_score", "support")
# The charts that every race has, the words above them and their names; where other packages race, whose duals the judge has to guess,
# the distance from the optimum says more than their own gap.
GAP_CHART = ("relative_gap", "Relative gap, as the judge certified it", "relative gap")
SUBOPTIMALITY_CHART = ("suboptimality", "P − P*: at most this, by the best certified dual", "suboptimality")
PRIMAL_CHART = ("primal", "Primal value", "primal")
MEASURES = ("call_seconds", "epoch")
MAX_POINTS, MIN_POINTS = 200, 24
# Some 0.9 MB as packed in the page.
MAX_NUMBERS = 160_000
MAX_CURVES = 32
# The contender that does nothing is a line to compare with, not a curve.
ZEROS = "zeros"
# float64 resolves no relative gap below this, and a logarithmic axis would drop a zero.
SMALLEST_GAP = 1e-16


def content(runs: Sequence[FinishedRun], notes: Sequence[str] = (), command: str | None = None) -> dict[str, Any]:
    """What the template shows by itself, and under `data` what the page's scripts show."""
    if not runs:
        raise ValueError("a page needs at least one finished run")
    refused = [run for run in runs if run.is_refused]
    everything, runs = runs, [run for run in runs if not run.is_refused]
    if not runs:
        raise ValueError("a page needs at least one finished run")
    groups = summary.groups(runs)
    turned_down = summary.groups(refused)
    drawn = {key: _drawn(heat) for key, heat in groups.items()}
    points = _points(sum(map(len, drawn.values())))
    solvers = list(dict.fromkeys(solver for names in drawn.values() for solver in names))
    if any(len(summary.by_solver(heat)) > MAX_CURVES + 1 for heat in groups.values()):
        notes = [*notes, f"curves show the best {MAX_CURVES} solvers of each problem; the table shows all"]
    pool = Pool()
    heats = [_heat(key, heat, drawn[key], points, pool, turned_down.pop(key, ())) for key, heat in groups.items()]
    # Of a problem that every contender refused there is nothing to show but that.
    notes = [
        *notes,
        *(
            f"{run.data.get('name')}: {summary.solver_of(run)} refused: {run.sentence}"
            for heat in turned_down.values()
            for run in heat
        ),
    ]
    data = {
        "heats": heats,
        "styles": {solver: list(style) for solver, style in looks.styles(solvers).items()},
        "rivals": sorted({summary.solver_of(run) for run in runs if summary.is_rival(run)}),
        "gaps": list(summary.GAPS),
        "profiles": _profiles(runs) if len(heats) > 1 else {},
        "pool": pool.texts,
    }
    return {
        "title": _title(heats),
        "question": _question(heats),
        "answer": _answer(heats),
        "heats": heats,
        "notes": list(notes),
        "cards": _cards(everything),
        "charts": [
            *((SUBOPTIMALITY_CHART, GAP_CHART) if data["rivals"] else (GAP_CHART, SUBOPTIMALITY_CHART)),
            PRIMAL_CHART,
        ],
        "has_coefficients": any(heat["coefficients"] for heat in heats),
        "has_profiles": bool(data["profiles"]),
        "has_tests": any(heat["has_tests"] for heat in heats),
        "provenance": provenance.facts(runs),
        "commands": command.splitlines() if command else provenance.commands(everything),
        "data": data,
    }


def _drawn(heat: Sequence[FinishedRun]) -> list[str]:
    """The solvers that get a curve, in the order of their first run."""
    contenders = [standing.solver for standing in summary.standings(heat) if standing.solver != ZEROS]
    best = set(contenders[:MAX_CURVES])
    return [solver for solver in summary.by_solver(heat) if solver in best]


def _points(curves: int) -> int:
    """How many points of a curve fit into the page: each has a list of x, and three lists for each y."""
    numbers = len(X_FIELDS) * (1 + 3 * len(Y_FIELDS))
    return max(MIN_POINTS, min(MAX_POINTS, MAX_NUMBERS // max(1, curves * numbers)))


def _heat(
    key: tuple[str, str, float],
    heat: Sequence[FinishedRun],
    drawn: Sequence[str],
    points: int,
    pool: Pool,
    refused: Sequence[FinishedRun] = (),
) -> dict[str, Any]:
    data, loss, strength = key
    ranked = summary.standings(heat)
    tol = summary.tol_of(heat)
    shown = [finished for finished in heat if summary.solver_of(finished) in set(drawn)]
    shown = summary.with_suboptimality(shown, summary.best_bounds(heat))
    facts = heat[0].data
    return {
        "data": data,
        "loss": loss,
        "strength": strength,
        "typed_strength": summary.strength_words(heat[0]),
        "facts": {name: facts[name] for name in ("name", "task", "rows", "columns", "test_rows") if name in facts},
        "tol": tol,
        "gap_tol": heat[0].settings.get("gap_tol"),
        "goal": summary.goal_words(tol, heat[0].settings.get("gap_tol")),
        "verdict": verdict(heat, tol),
        "winner": ranked[0].solver,
        "certified": ranked[0].certified,
        "lead": _lead(ranked),
        "bounds": (found := summary.best_bounds(heat)),
        "bounds_words": found and summary.bounds_words(*found),
        "zeros": _zeros(heat),
        "repeats": max(len(standing.runs) for standing in ranked),
        "has_tests": any(row.median("test_score") is not None for row in ranked),
        "rows": [_row(place, standing) for place, standing in enumerate(ranked, start=1)],
        "refusals": [[summary.solver_of(run), run.sentence] for run in refused],
        "curves": {x: {y: _curves(shown, x, y, points, pool) for y in Y_FIELDS} for x in X_FIELDS},
        "coefficients": coefficients(shown, pool),
    }


def _row(place: int, standing: Standing) -> dict[str, Any]:
    """A line of the leaderboard."""
    return {
        "place": place,
        "solver": standing.solver,
        "runs": len(standing.runs),
        "call": standing.median("call_seconds"),
        "updates": standing.median("seconds"),
        "epoch": standing.median("epoch"),
        "gap": standing.median("relative_gap"),
        "primal": standing.median("primal"),
        "test": standing.median("test_score"),
        "support": standing.median("support"),
        "epochs": [summary.epochs_to(standing.runs, gap) for gap in summary.GAPS],
        "seconds": [summary.seconds_to(standing.runs, gap) for gap in summary.GAPS],
        "status": standing.ending,
        "certified": standing.certified,
        "sentence": standing.runs[-1].sentence,
    }


def _curves(runs: Sequence[FinishedRun], x: str, y: str, points: int, pool: Pool) -> list[list[Any]]:
    """Per solver: its name, and the places of x, median, low and high; a single run has no band."""
    packed = []
    for curve in summary.curves(runs, y, x, points):
        lists = [curve.median] if curve.runs == 1 else [curve.median, curve.low, curve.high]
        if y in summary.GEOMETRIC:
            lists = [[max(value, SMALLEST_GAP) for value in values] for values in lists]
        packed.append([curve.solver, curve.runs, pool.add(curve.x), *map(pool.add, lists)])
    return packed


def _zeros(heat: Sequence[FinishedRun]) -> dict[str, float]:
    """What the zero vector scores: the first record of every run that starts at epoch 0, or of the contender `zeros`."""
    found: dict[str, float] = {}
    for name in ("primal", "relative_gap", "test_score"):
        starts = [
            summary.column(run, name)[:1].tolist()
            for run in heat
            if summary.solver_of(run) == ZEROS or summary.column(run, "epoch")[:1].tolist() == [0.0]
        ]
        known = [value for start in starts for value in start if value == value]
        if known:
            found[name] = statistics.median(known)
    return found


def _lead(ranked: Sequence[Standing]) -> tuple[str, float] | None:
    """The next contender of another algorithm, and how many times as much it needs, in seconds if both are certified, else in gap."""
    best, *others = ranked
    rival = next((other for other in others if other.algorithm != best.algorithm), None)
    if rival is None or rival.certified != best.certified:
        return None
    first, second = best.median(best.measure), rival.median(rival.measure)
    return (rival.solver, second / first) if first and second else None


def _profiles(runs: Sequence[FinishedRun]) -> dict[str, list[dict[str, Any]]]:
    """Performance profiles by measure and gap, without those that no solver reached."""
    asked = [summary.tol_of(heat) for heat in summary.groups(runs).values()]
    # First the tolerance that was asked for; of several, the loosest, which every run went on to.
    gaps = list(dict.fromkeys([max(asked), *summary.GAPS]))
    found = {
        f"{measure} {gap:g}": [asdict(profile) for profile in summary.performance_profile(runs, gap, measure)]
        for measure in MEASURES
        for gap in gaps
    }
    return {name: profiles for name, profiles in found.items() if any(profile["ratio"] for profile in profiles)}


def _cards(runs: Sequence[FinishedRun]) -> list[dict[str, Any]]:
    """One card per algorithm that ran, with the specs it ran under."""
    found: dict[str, dict[str, Any]] = {}
    for solver, repeats in summary.by_solver(runs).items():
        card = card_of(solver, summary.is_rival(repeats[0]), own="code" in repeats[0].settings)
        entry = found.setdefault(card.title, asdict(card) | {"solvers": []})
        entry["solvers"].append(solver)
    return list(found.values())


def _title(heats: Sequence[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(heat["data"] for heat in heats))
    return names[0] if len(names) == 1 else f"{len(names)} data sets"


def _question(heats: Sequence[dict[str, Any]]) -> str:
    goals = {heat["goal"] for heat in heats}
    goal = goals.pop() if len(goals) == 1 else "the smallest gap"
    return f"Which algorithm is first to reach {goal} on {_title(heats)}?"


def _answer(heats: Sequence[dict[str, Any]]) -> str:
    """The winner in one sentence; over several problems, how many of them each solver won."""
    if len(heats) == 1:
        return str(heats[0]["verdict"])
    wins: dict[str, int] = {}
    for heat in heats:
        if heat["certified"]:
            wins[heat["winner"]] = wins.get(heat["winner"], 0) + 1
    if not wins:
        return f"No solver: on none of the {len(heats)} problems did one get there; the table says which came closest."
    ordered = sorted(wins.items(), key=lambda item: -item[1])
    said = f"{ordered[0][0]} wins {ordered[0][1]} of {len(heats)} problems"
    others = ", ".join(f"{solver} {number}" for solver, number in ordered[1:4])
    open_ones = len(heats) - sum(wins.values())
    return said + (f", {others}" if others else "") + (f"; {open_ones} stay unproven." if open_ones else ".")
