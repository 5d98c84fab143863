"""The section "Sparse models" of docs/speed.md, from the committed tables of the sparse bench."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import rival_tables as tables
from rival_tables import GOALS, OURS, geometric_mean
from sparse_problems import SPARSE_PROBLEMS

LOSSES = ("logistic", "squared", "hinge", "quantile")
# Seconds that a contender which never gets there counts as having taken: ours and a rival's limit, and that of linear programs.
LIMIT, PROGRAM_LIMIT = 10.0, 30.0
PROGRAMS = ("HiGHS", "scikit-learn QuantileRegressor")
# Seconds of the fastest rival from which on a user waits for it.
WAITED = 0.01


class Duel(NamedTuple):
    """One problem and goal: our time, and the fastest rival's; None where it was not reached, and `rivals` where there is none at all."""

    ours: float | None
    rival: str | None
    seconds: float | None
    rivals: tuple[str, ...]

    @property
    def limit(self) -> float:
        return PROGRAM_LIMIT if set(self.rivals) & set(PROGRAMS) else LIMIT

    @property
    def theirs(self) -> float:
        return self.limit if self.seconds is None else self.seconds

    @property
    def ratio(self) -> float | None:
        """Their time by ours; None where there is no rival, or nobody came."""
        if not self.rivals or (self.ours is None and self.seconds is None):
            return None
        return self.theirs / (LIMIT if self.ours is None else self.ours)


class Line(NamedTuple):
    data: str
    loss: str
    l1_ratio: str
    part: str
    size: str
    duels: tuple[Duel, ...]

    @property
    def name(self) -> str:
        return f"{self.loss} {self.data} ρ = {self.l1_ratio}, λ_max·{self.part}"


def lines_of(table: tables.Table) -> list[Line]:
    """The problems of which both goals were measured, by loss, data and strength."""
    found: dict[tuple[str, ...], dict[str, list[dict[str, str]]]] = {}
    for row in table.rows.values():
        key = tuple(row[name] for name in ("data", "loss", "l1_ratio", "part"))
        found.setdefault(key, {}).setdefault(row["goal"], []).append(row)
    lines = []
    for key, goals in found.items():
        if set(goals) != {f"{goal:g}" for goal in GOALS}:
            continue
        first = goals[f"{GOALS[0]:g}"][0]
        size = f"{int(first['rows']):,} × {int(first['columns']):,}"
        lines.append(Line(*key, size, tuple(_duel(goals[f"{goal:g}"]) for goal in GOALS)))
    place = lambda line: (LOSSES.index(line.loss), line.data, -float(line.l1_ratio), -float(line.part))
    return sorted(lines, key=place)


def _duel(rows: list[dict[str, str]]) -> Duel:
    came = {row["contender"]: float(row["seconds"]) for row in rows if row["reached"] == "True"}
    ours = came.pop(OURS, None)
    best = min(came, key=lambda name: came[name], default=None)
    rivals = tuple(sorted(row["contender"] for row in rows if row["contender"] != OURS))
    return Duel(ours, best, None if best is None else came[best], rivals)


def seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.2g}"


def times(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}" if value < 10 else f"{value:.0f}"


def section(folder: Path) -> str:
    """The section; nothing where nothing was measured."""
    table, others = tables.sparse(folder), tables.sparse_paths(folder)
    lines = lines_of(table)
    if not lines:
        return ""
    parts = [_head(table, lines), _summary(lines), _uncertified(lines), _table(lines)]
    return "\n".join(filter(None, (*parts, _paths(others), _million(others), _memory(others))))


def _head(table: tables.Table, lines: list[Line]) -> str:
    rows = table.rows.values()
    loads = [float(row["load"]) for row in rows]
    versions = sorted({word.replace("=", " ") for row in rows for word in row["versions"].split()})
    return HEAD.format(
        count=len(lines),
        total=len(SPARSE_PROBLEMS),
        unmeasured=_unmeasured(lines),
        limit=LIMIT,
        program=PROGRAM_LIMIT,
        first=min(row["date"] for row in rows),
        last=max(row["date"] for row in rows),
        machines="; ".join(sorted({row["machine"] for row in rows})),
        least=min(loads),
        most=max(loads),
        versions=", ".join(versions),
    )


def _unmeasured(lines: list[Line]) -> str:
    """The data and losses with how many of their problems are missing."""
    known = {(line.loss, line.data, line.l1_ratio, line.part) for line in lines}
    missing: dict[tuple[str, str], int] = {}
    for one in SPARSE_PROBLEMS.values():
        if (one.loss, one.data, f"{one.l1_ratio:g}", f"{one.part:g}") not in known:
            missing[one.data, one.loss] = missing.get((one.data, one.loss), 0) + 1
    return ", ".join(f"{data} {loss} ({count})" for (data, loss), count in missing.items()) or "none"


def _summary(lines: list[Line]) -> str:
    head = " | ".join(f"certified to {goal:g} | compared | geometric mean | least" for goal in GOALS)
    text = f"| loss | problems | {head} |\n|{'---|' * (2 + 4 * len(GOALS))}\n"
    for loss in LOSSES:
        chosen = [line for line in lines if line.loss == loss]
        cells = []
        for at in range(len(GOALS)):
            duels = [line.duels[at] for line in chosen]
            waited = [(d.ratio, line) for d, line in zip(duels, chosen, strict=True) if d.ratio and d.theirs >= WAITED]
            cells += [str(sum(duel.ours is not None for duel in duels)), str(len(waited))]
            if waited:
                least, where = min(waited, key=lambda one: one[0])
                cells += [times(geometric_mean([r for r, _ in waited])), f"{times(least)} ({where.data} {where.part})"]
            else:
                cells += ["–", "–"]
        if chosen:
            text += f"| {loss} | {len(chosen)} | {' | '.join(cells)} |\n"
    return text


def _uncertified(lines: list[Line]) -> str:
    words = []
    for at, goal in enumerate(GOALS):
        names = [line.name for line in lines if line.duels[at].ours is None]
        words.append(f"- Not certified to {goal:g} within {LIMIT:g} s: {'; '.join(names) or 'none'}.")
    return "\n".join(words) + "\n"


def _table(lines: list[Line]) -> str:
    text = (
        "| loss | data | n × d | ρ | λ/λ_max | ours, 1e-3 | fastest rival | its time | ratio "
        "| ours, 1e-6 | fastest rival | its time | ratio |\n"
        f"|{'---|' * 13}\n"
    )
    for line in lines:
        cells = [line.loss, line.data, line.size, line.l1_ratio, line.part]
        for duel in line.duels:
            rival = duel.rival or ("none came" if duel.rivals else "none exists")
            cells += [seconds(duel.ours), rival, seconds(duel.seconds), times(duel.ratio)]
        text += f"| {' | '.join(cells)} |\n"
    return text


def _rows(table: tables.Table, figure: str) -> list[dict[str, str]]:
    return [row for row in table.rows.values() if row["figure"] == figure]


def _paths(table: tables.Table) -> str:
    body = [
        (
            row["problem"],
            row["contender"],
            row["tolerance"],
            row["seconds"] or "–",
            row["certified"] or "–",
            row["words"],
        )
        for row in _rows(table, "path")
    ]
    return _text(PATHS, ("data", "contender", "its tol", "seconds", "points certified", "remark"), body)


def _million(table: tables.Table) -> str:
    names = ("contender", "rows", "seconds", "peak MB above the input", "input MB", "remark")
    body = [
        (
            row["contender"],
            f"{int(row['rows']):,}",
            row["seconds"],
            row["megabytes"],
            row["input_megabytes"],
            row["words"],
        )
        for row in _rows(table, "million")
    ]
    return _text(MILLION, names, body)


def _memory(table: tables.Table) -> str:
    names = ("problem", "input MB", "peak extra MB", "extra by input", "certified to 1e-6")
    body = [
        (
            row["problem"],
            row["input_megabytes"],
            row["megabytes"],
            f"{float(row['megabytes']) / float(row['input_megabytes']):.2f}",
            "yes" if row["certified"] == "True" else "no",
        )
        for row in _rows(table, "memory")
    ]
    return _text(MEMORY, names, body)


def _text(words: str, names: tuple[str, ...], body: Iterable[tuple[str, ...]]) -> str:
    rows = [f"| {' | '.join(cells)} |" for cells in body]
    return "\n".join([words, f"| {' | '.join(names)} |", f"|{'---|' * len(names)}", *rows, ""]) if rows else ""


HEAD = """## Sparse models

L1 (ρ = 1) and elastic net (ρ = 0.5) at parts of λ_max, which is `problem.strength_max`; no intercept, one thread each.
{count} of {total} problems are measured; missing are {unmeasured}.

- **Ours** has {limit:g} s to certify a goal; where that is not enough, the problem is named below the means, and its optimum is known
  from the rivals alone.
- **A rival** is judged at the weights it returns: the first of its own tolerances, one a decade, that brings P within the goal of the least P
  that anyone found. Its whole ladder has {limit:g} s, a linear program {program:g} s. One that met no goal at some strength is not tried at smaller ones.
- HiGHS and scikit-learn's QuantileRegressor solve linear programs, so they have ρ = 1 alone; for hinge and quantile with ρ = 0.5 this bench
  knows no rival.
- The fastest are measured again in turn: the median of three, or of five below 0.05 s.
- A ratio is the fastest rival's time divided by ours; who does not come counts with the seconds it had. A dash is a goal not reached. The means
  are over the problems whose fastest rival takes 10 ms or more.

Other work ran on the machine (load {least:g} to {most:g} on 2 cores), so times vary by a factor of two and more from one fit to the next.
Measured {first} to {last} (UTC) on {machines}, with {versions}.
`python benchmarks/sparse_rivals.py`, and `sparse_paths.py` for what comes after the table, measure again.
"""
PATHS = """### Paths

100 strengths from λ_max to a hundredth of it, logistic, L1. `dg.solve_path` certifies a relative gap of 1e-4 at each point; a rival runs at its
first tolerance, one a decade, that brings P within 1e-4 of a certified bound at every point. celer and skglm start at the weights of the
point before; scikit-learn's liblinear takes no start.
"""
MILLION = """### A million rows

`QuantileRegressor(quantile=0.3, alpha=0.02)` on simulated rows of 20 columns, the same objective for both: certified 1e-4 on a million
rows, and scikit-learn's on the most rows (1,000 times a power of two) that it fits within 30 s.
"""
MEMORY = """### Memory

The most resident memory of a fit of an L1 model at λ_max/100 above what the process held before it, beside the size of X.
"""
