"""The results of the rivals bench: tables on disk that grow row by row, and what is read out of them."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
GOALS = (1e-3, 1e-6)
# What a contender may take in all, and what one that never gets there counts as.
BUDGET = 30.0
OURS = "dualgap"
GOT_THERE = "it got there"


class Rung(NamedTuple):
    """A fit at one of a rival's own tolerances: what it took, and P at the weights it returned."""

    tolerance: float
    seconds: float
    primal: float


class Table:
    """Rows of text by their key; each new row is appended to the file at once, and the last one of a key counts."""

    def __init__(self, path: Path, key: Sequence[str], columns: Sequence[str]) -> None:
        self.path, self.key, self.columns = path, tuple(key), (*key, *columns)
        self.rows: dict[tuple[str, ...], dict[str, str]] = {}
        if path.exists():
            with path.open(newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    self.rows[self.key_of(row)] = row

    def key_of(self, row: Mapping[str, object]) -> tuple[str, ...]:
        return tuple(str(row[name]) for name in self.key)

    def __contains__(self, key: object) -> bool:
        return key in self.rows

    def put(self, row: Mapping[str, object]) -> None:
        """Keep a row, in memory and on disk."""
        texts = {name: str(row[name]) for name in self.columns}
        begins = not self.path.exists()
        with self.path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, self.columns, lineterminator="\n")
            if begins:
                writer.writeheader()
            writer.writerow(texts)
        self.rows[self.key_of(row)] = texts

    def tidy(self) -> None:
        """Write the file anew with one row a key, in the order of the keys."""
        aside = self.path.with_suffix(".tmp")
        with aside.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, self.columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows[key] for key in sorted(self.rows))
        aside.replace(self.path)


PROVENANCE = ("date", "machine", "versions")


def optima(folder: Path = HERE) -> Table:
    """Per problem: its size, and the best P and D that a run of ours has proved."""
    columns = ("rows", "columns", "stored", "primal", "dual", "solvers", "seconds", *PROVENANCE)
    return Table(folder / "rivals_optima.csv", ("problem",), columns)


def scan(folder: Path = HERE) -> Table:
    """Per problem, rival and number of threads: the rungs it climbed, and why it stopped."""
    return Table(folder / "rivals_scan.csv", ("problem", "rival", "threads"), ("ladder", "ending", *PROVENANCE))


def duel(folder: Path = HERE) -> Table:
    """Per problem, goal and contender: seconds measured in turn with the others of the same problem and goal."""
    columns = ("threads", "tolerance", "seconds", "repeats", "reached", "words", *PROVENANCE)
    return Table(folder / "rivals_duel.csv", ("problem", "goal", "contender"), columns)


def ours(folder: Path = HERE) -> Table:
    """Per problem, goal and solver of ours: seconds measured in turn."""
    columns = ("seconds", "repeats", "reached", "words", *PROVENANCE)
    return Table(folder / "rivals_ours.csv", ("problem", "goal", "solver"), columns)


def sparse(folder: Path = HERE) -> Table:
    """Per problem with an L1 part, goal and contender: seconds, whether it got there, and in what company."""
    key = ("data", "loss", "l1_ratio", "part", "goal", "contender")
    columns = ("rows", "columns", "strength", "tolerance", "seconds", "repeats", "reached", "words", "load")
    return Table(folder / "sparse_rivals.csv", key, (*columns, *PROVENANCE))


def sparse_paths(folder: Path = HERE) -> Table:
    """Paths, the regression of a million rows, and the memory of sparse fits."""
    columns = ("rows", "columns", "tolerance", "seconds", "certified", "megabytes", "input_megabytes", "words", "load")
    return Table(folder / "sparse_paths.csv", ("figure", "problem", "contender"), (*columns, *PROVENANCE))


def ladder_text(rungs: Iterable[Rung]) -> str:
    return json.dumps([[rung.tolerance, float(f"{rung.seconds:.4g}"), rung.primal] for rung in rungs])


def ladder_of(text: str) -> list[Rung]:
    return [Rung(*values) for values in json.loads(text)]


def within(primal: float, optimum: float, goal: float) -> bool:
    """Whether P is within a relative distance of the optimum: ours, P at its best, which is never below the true one."""
    return primal <= (1.0 + goal) * optimum


def first_within(rungs: Iterable[Rung], optimum: float, goal: float) -> Rung | None:
    """The first rung that is near enough, if there is one."""
    return next((rung for rung in rungs if within(rung.primal, optimum, goal)), None)


def counted(seconds: float | None) -> float:
    """Who never gets there counts as if it had come at the last moment."""
    return BUDGET if seconds is None else min(seconds, BUDGET)


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(math.fsum(math.log(value) for value in values) / len(values))


class Known(NamedTuple):
    """A rival that is known to get there: on how many threads, at which tolerance of its own, in which time."""

    rival: str
    threads: int
    tolerance: float
    seconds: float


def fastest(scanned: Table, problem: str, optimum: float, goal: float) -> list[Known]:
    """The rivals that get there, the fastest first, each on the number of threads that suits it."""
    best: dict[str, Known] = {}
    for row in scanned.rows.values():
        if row["problem"] != problem:
            continue
        rung = first_within(ladder_of(row["ladder"]), optimum, goal)
        if rung is None:
            continue
        known = Known(row["rival"], int(row["threads"]), rung.tolerance, rung.seconds)
        if known.rival not in best or known.seconds < best[known.rival].seconds:
            best[known.rival] = known
    return sorted(best.values(), key=lambda known: known.seconds)
