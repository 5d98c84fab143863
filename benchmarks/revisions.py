"""One revision beside another: how long `solve` takes on the problems of the rivals bench, measured in turn.

    DUALGAP_DATA=… python benchmarks/revisions.py BEFORE AFTER [--problems TEXT …] [--tol 1e-6] [--out FILE.csv]

Each revision is checked out into a temporary folder and has a process of its own for each problem. The two fit in turn, so
that a busy moment of the machine meets both; medians of at least 5 fits, of more where a fit is short. Imports and compilers
are outside the clock. The time inside the judge is told apart: the last column is the ratio that the judge alone would have
caused, had the rest of the fit stayed as it is after.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from rival_problems import PROBLEMS, load, prepare

ROOT = Path(__file__).resolve().parent.parent
# Fits of a problem are repeated for a number of seconds, within the two counts.
SECONDS, FEWEST, MOST = 2.0, 5, 25
THREADS = 2
# Fits that take at least this long, in seconds, are compared: shorter ones do not keep a user waiting.
WAITED = 0.01


def child(folder: str, name: str, tol: float) -> None:
    """Fit whenever a line comes in, and say how long it took and how it ended."""
    sys.path.insert(0, str(Path(__file__).parent))
    judging = time_judge()
    import dualgap as dg

    problem = PROBLEMS[name]
    X, y = load(Path(folder), problem.data)
    for _ in sys.stdin:
        judging.clear()
        began = time.perf_counter()
        fit = dg.Problem(X, y, problem.loss, problem.strength(X.shape[0]))
        result = dg.solve(fit, tol=tol, n_jobs=THREADS)
        seconds = time.perf_counter() - began
        print(json.dumps([seconds, *judging, result.status.name, result.certificate.relative_gap]), flush=True)


class JudgeClock(list[float]):
    """Seconds inside the judge, and how often it was asked."""

    def clear(self) -> None:
        self[:] = [0.0, 0]


def time_judge() -> JudgeClock:
    """A clock around `certify`; called before the modules that import it by name are loaded."""
    from dualgap import certificate

    clock, certify = JudgeClock(), certificate.certify

    def timed(*given: Any, **options: Any) -> Any:
        began = time.perf_counter()
        try:
            return certify(*given, **options)
        finally:
            clock[0] += time.perf_counter() - began
            clock[1] += 1

    certificate.certify = timed
    return clock


class Fit(NamedTuple):
    """One fit: seconds in all and inside the judge, how often the judge was asked, and how it ended."""

    seconds: float
    judge_seconds: float
    certificates: int
    status: str
    relative_gap: float


class Side:
    """A process that fits one problem with one revision."""

    def __init__(self, source: Path, folder: str, name: str, tol: float) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--child", folder, name, str(tol)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(source / "src")},
        )

    def fit(self) -> Fit:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return Fit(*json.loads(self.process.stdout.readline()))

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


def compare(sources: list[Path], folder: str, name: str, tol: float) -> dict[str, Any]:
    """Medians of both revisions on one problem."""
    sides = [Side(source, folder, name, tol) for source in sources]
    try:
        ends = [side.fit() for side in sides]
        fits: list[list[Fit]] = [[], []]
        began = time.perf_counter()
        while len(fits[0]) < FEWEST or (time.perf_counter() - began < SECONDS and len(fits[0]) < MOST):
            for k in (0, 1) if len(fits[0]) % 2 else (1, 0):
                fits[k].append(sides[k].fit())
    finally:
        for side in sides:
            side.close()
    before, after = (statistics.median(fit.seconds for fit in side) for side in fits)
    old, new = (statistics.median(fit.judge_seconds / max(fit.certificates, 1) for fit in side) for side in fits)
    asked = fits[1][0].certificates
    return {
        "problem": name,
        "before_ms": f"{1e3 * before:.3f}",
        "after_ms": f"{1e3 * after:.3f}",
        "ratio": f"{after / before:.3f}",
        "before": ends[0].status,
        "after": ends[1].status,
        "relative_gap_before": f"{ends[0].relative_gap:.3g}",
        "relative_gap_after": f"{ends[1].relative_gap:.3g}",
        "fits": len(fits[0]),
        "judge_ratio": f"{after / (after - asked * (new - old)):.3f}",
    }


def check_out(revision: str, folder: Path) -> Path:
    """The files of a revision, without touching this working tree."""
    folder.mkdir()
    archive = subprocess.run(["git", "archive", revision], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)
    return folder


def mean(ratios: list[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, ratios))) if ratios else float("nan")


def main() -> None:
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], sys.argv[3], float(sys.argv[4]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--problems", nargs="*", default=[""], help="parts of names of problems")
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    chosen = [name for name in PROBLEMS if any(part in name for part in asked.problems)]
    if not chosen:
        parser.error(f"--problems needs parts of names such as {next(iter(PROBLEMS))!r}, got {asked.problems}")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder) / "data", sorted({PROBLEMS[name].data for name in chosen}))
        sources = [check_out(asked.before, Path(folder) / "before"), check_out(asked.after, Path(folder) / "after")]
        for number, name in enumerate(chosen, 1):
            row = compare(sources, str(Path(folder) / "data"), name, asked.tol)
            rows.append(row)
            print(f"{number}/{len(chosen)}", *row.values(), flush=True)
    if asked.out:
        part = asked.out.with_suffix(".part")
        with part.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        part.replace(asked.out)
    ratios = [float(row["ratio"]) for row in rows]
    waited = [row for row in rows if float(row["before_ms"]) >= 1e3 * WAITED]
    print(f"mean ratio {mean(ratios):.3f} over {len(rows)} problems", end="; ")
    worst = max(waited, key=lambda row: float(row["ratio"]), default=None)
    if worst is not None:
        mean_waited = mean([float(row["ratio"]) for row in waited])
        print(
            f"{mean_waited:.3f} over {len(waited)} of {1e3 * WAITED:g} ms or more, worst {worst['ratio']} ({worst['problem']})"
        )
    judge = [float(row["judge_ratio"]) for row in waited]
    print(f"the judge alone: {mean(judge):.3f} in the mean of these, worst {max(judge, default=math.nan):.3f}")
    lost = [row["problem"] for row in rows if row["before"] == "CERTIFIED" != row["after"]]
    print(f"certified before and not after: {lost or 'none'}")


if __name__ == "__main__":
    main()
