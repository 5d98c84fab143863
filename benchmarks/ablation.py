"""The ablation: how long `solve` takes without each trick, as a multiple of the time with it, by class of problems.

    DUALGAP_DATA=… python benchmarks/ablation.py measure REVISION [--tricks TEXT …]
    python benchmarks/ablation.py table

`measure` times `dg.solve` to 1e-6 with two threads on the problems of ablation_tricks.py, at a checked-out revision, and writes
docs/internals/ablation.csv; what it has already is measured again only where --tricks names it. With and without a trick are
timed in turn, so that a busy moment of the machine meets both, in at least 5 pairs; a ratio is the median over the pairs.
A fit that does not certify without a trick counts as infinite. `table` writes the table of docs/internals/thresholds.md: geometric means of the ratios over the problems of a class.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from ablation_tricks import CLASSES, INFORMATION, MORE, TRICKS, Trick, replaced, with_constants
from revisions import check_out
from rival_problems import PROBLEMS, load, prepare

ROOT = Path(__file__).resolve().parent.parent
FILE, PAGE = ROOT / "docs/internals/ablation.csv", ROOT / "docs/internals/thresholds.md"
BEGIN, END = "<!-- ablation: written by benchmarks/ablation.py -->", "<!-- end of the ablation -->"
COLUMNS = ("trick", "class", "problem", "with_ms", "without_ms", "ratio", "pairs", "revision")
TOL, THREADS = 1e-6, 2
# Pairs are repeated until they took SECONDS, within the two counts.
SECONDS, FEWEST, MOST = 0.5, 5, 15
# What a trick has to bring in the geometric mean of some class.
KEPT = 1.10


def child(folder: str, name: str) -> None:
    """Fit without the trick whose name comes in, or with all where an empty line does; answer with seconds, or null."""
    import dualgap as dg

    tricks = {trick.name: trick for trick in TRICKS}
    make = MORE[name]() if name in MORE else of_the_duel(Path(folder), name)

    def find(module: str) -> Any:
        try:
            return importlib.import_module(module)
        except ModuleNotFoundError:
            return None

    def fit() -> float:
        began = time.perf_counter()
        result = dg.solve(make(), tol=TOL, n_jobs=THREADS)
        seconds = time.perf_counter() - began
        return seconds if result.status.name == "CERTIFIED" else math.inf

    for line in sys.stdin:
        trick = tricks.get(line.strip())
        changes = [] if trick is None else replaced(trick, find)
        seconds = None
        if changes is not None:
            before = [(owner, attribute, getattr(owner, attribute)) for owner, attribute, _ in changes]
            put(changes)
            seconds = fit()
            put(before)
        print(json.dumps(seconds), flush=True)


def of_the_duel(folder: Path, name: str) -> Callable[[], Any]:
    """A problem of the rivals bench, made anew for each fit."""
    import dualgap as dg

    problem = PROBLEMS[name]
    X, y = load(folder, problem.data)
    return lambda: dg.Problem(X, y, problem.loss, problem.strength(X.shape[0]))


def put(changes: list[tuple[Any, str, Any]]) -> None:
    """Set attributes; settings are frozen for everybody else."""
    for owner, attribute, value in changes:
        change = setattr if isinstance(owner, ModuleType) else object.__setattr__
        change(owner, attribute, value)


class Side:
    """A process that fits one problem with the sources of one folder."""

    def __init__(self, source: Path, folder: Path, name: str) -> None:
        cache = {"NUMBA_CACHE_DIR": str(source / "numba")}
        self.process = subprocess.Popen(
            [sys.executable, __file__, "child", str(folder), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(source / "src")} | cache,
        )

    def fit(self, trick: str = "") -> float | None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(trick + "\n")
        self.process.stdin.flush()
        seconds: float | None = json.loads(self.process.stdout.readline())
        return seconds

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


def edited(revision: str, folder: Path, trick: Trick) -> Path | None:
    """The sources of a revision with other constants in the kernels; None where one is not there."""
    source = check_out(revision, folder)
    for path, value in trick.kernel_numbers.items():
        module, _, name = path.partition(":")
        file = source / "src/dualgap" / f"{module.replace('.', '/')}.py"
        if not file.exists() or f"\n{name} = " not in file.read_text():
            return None
        file.write_text(with_constants(file.read_text(), {name: value}))
    return source


def pairs(plain: Side, other: Side, trick: str) -> list[tuple[float, float]] | None:
    """Seconds with and without a trick, in turn."""
    first = other.fit(trick)
    if first is None or first == math.inf:
        return None if first is None else [(1.0, math.inf)]
    plain.fit()
    found: list[tuple[float, float]] = []
    began = time.perf_counter()
    while len(found) < FEWEST or (time.perf_counter() - began < SECONDS and len(found) < MOST):
        if len(found) % 2:
            own, without = plain.fit(), other.fit(trick)
        else:
            without, own = other.fit(trick), plain.fit()
        assert own is not None
        assert without is not None
        found.append((own, without))
    return found


def measure(revision: str, asked: list[str]) -> None:
    found = {(row["trick"], row["problem"]): row for row in rows()}
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        plain = check_out(revision, home / "plain")
        variants: dict[str, Path | None] = {}
        prepare(
            home / "data",
            sorted({PROBLEMS[name].data for names in CLASSES.values() for name in names if name in PROBLEMS}),
        )
        for kind, names in CLASSES.items():
            for name in names:
                side = Side(plain, home / "data", name)
                for number, trick in enumerate(TRICKS):
                    is_due = any(text in trick.name for text in asked) if asked else (trick.name, name) not in found
                    if kind not in trick.classes or not is_due:
                        continue
                    other = side
                    if trick.kernel_numbers:
                        if trick.name not in variants:
                            variants[trick.name] = edited(revision, home / f"variant{number}", trick)
                        source = variants[trick.name]
                        if source is None:
                            continue
                        other = Side(source, home / "data", name)
                    timed = pairs(side, other, trick.name)
                    if other is not side:
                        other.close()
                    if timed is None:
                        continue
                    own, without = (1e3 * statistics.median(times) for times in zip(*timed, strict=True))
                    ratio = statistics.median(b / a for a, b in timed)
                    row = (trick.name, kind, name, f"{own:.2f}", f"{without:.2f}", f"{ratio:.3f}", len(timed), revision)
                    found[trick.name, name] = dict(zip(COLUMNS, map(str, row), strict=True))
                    print(*row, sep=" | ", flush=True)
                    write(list(found.values()))
                side.close()


def rows() -> list[dict[str, str]]:
    if not FILE.exists():
        return []
    with FILE.open(newline="") as file:
        return list(csv.DictReader(file))


def write(found: list[dict[str, str]]) -> None:
    order = {trick.name: number for number, trick in enumerate(TRICKS)}
    part = FILE.with_suffix(".part")
    with part.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(found, key=lambda row: (order.get(row["trick"], len(order)), row["class"])))
    part.replace(FILE)


def table(found: list[dict[str, str]]) -> str:
    """Geometric means by trick and class; bold where the trick brings enough."""
    names = list(dict.fromkeys(row["trick"] for row in found))
    lines = ["| trick | " + " | ".join(CLASSES) + " | |", "|---" * (len(CLASSES) + 2) + "|"]
    for name in names:
        cells, best = [], 0.0
        for kind in CLASSES:
            ratios = [float(row["ratio"]) for row in found if (row["trick"], row["class"]) == (name, kind)]
            if not ratios:
                cells.append("·")
                continue
            mean = math.exp(statistics.fmean(map(math.log, ratios)))
            shown = "fails" if mean == math.inf else f"{mean:.2f}"
            cells.append(f"**{shown}**" if mean >= KEPT else shown)
            best = best if kind in INFORMATION else max(best, mean)
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {'brings it' if best >= KEPT else ''} |")
    return "\n".join(lines)


def main() -> None:
    if sys.argv[1:2] == ["child"]:
        child(sys.argv[2], sys.argv[3])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("measure", "table"))
    parser.add_argument("revision", nargs="?")
    parser.add_argument("--tricks", nargs="*", default=[], help="parts of names of tricks to measure again")
    asked = parser.parse_args()
    if asked.what == "measure":
        if asked.revision is None:
            parser.error("measure needs a revision")
        measure(asked.revision, asked.tricks)
        return
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(before + BEGIN + "\n\n" + table(rows()) + "\n\n" + END + rest.partition(END)[2])


if __name__ == "__main__":
    main()
