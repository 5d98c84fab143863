"""The rivals bench: how long others take to come within 1e-3 and 1e-6 of the optimum, and how long we take to prove it.

    DUALGAP_DATA=… python benchmarks/rivals.py scan|duel|optima [--problems TEXT …] [--rivals TEXT …] [--again]

`optima` finds P and D of each problem; `scan` climbs every rival's ladder of its own tolerances; `duel` measures our side,
our single methods and the fastest rivals of the scan in turn. Rows go to benchmarks/rivals_*.csv
as they come; what is there is not measured again unless --again asks for it. Each job has a process of its own.
"""

from __future__ import annotations

import argparse
import json
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console

import rival_tables as tables
from dualgap.workbench.machine import machine, version_of, versions
from dualgap.workbench.rivals import RIVALS
from rival_problems import PROBLEMS, BenchProblem, prepare
from rival_tables import BUDGET, GOALS, GOT_THERE, Rung

CHILD = Path(__file__).with_name("rival_child.py")
# Imports, compilers and the warm-up have this long; then a rung has what is left of the budget, and a little for the pipe.
START, SLACK = 240.0, 0.5
# They go on for the whole 30 s on nearly every problem and win nowhere, so they come last.
SLOW = ("scikit-learn SGDClassifier", "scikit-learn saga", "zeros")
THREADS = 2
LARGEST_SIDE = 2000
# A scan takes hours beside other work; a rival within this factor of the fastest is measured again in a duel.
NEAR, IN_TURN = 4.0, 4
# A gap that is small beside the goals; the optimum's own error must not decide about a rival.
TOL, ENOUGH = 1e-9, 2e-8


def provenance(package: str | None = None) -> dict[str, str]:
    known = {**versions(), **(version_of(package) if package else {})}
    where = machine()
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
        "machine": f"{where['processor']}, {where['cores']} cores, {where['system']}",
        "versions": " ".join(f"{name}={version}" for name, version in known.items()),
    }


def events(job: dict[str, Any], patience: float = START) -> Iterator[dict[str, Any]]:
    """What a child tells, line by line; the last is `end`, `error`, `killed` or `crashed`."""
    child = subprocess.Popen(
        [sys.executable, str(CHILD), json.dumps(job)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert child.stdout is not None
    deadline = time.monotonic() + patience
    buffered = b""
    try:
        while True:
            ready, _, _ = select.select([child.stdout], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                yield {"event": "killed"}
                return
            received = child.stdout.read1(1 << 16)  # type: ignore[attr-defined]
            if not received:
                yield {"event": "crashed", "code": child.wait()}
                return
            *lines, buffered = (buffered + received).split(b"\n")
            for line in lines:
                told = json.loads(line)
                if "left" in told:
                    deadline = time.monotonic() + told["left"] + SLACK
                elif told["event"] == "done":
                    deadline = time.monotonic() + START
                yield told
                if told["event"] in ("end", "error"):
                    return
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


class Bench:
    """The chosen problems, the tables, and the screen."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.console = options, Console(highlight=False)
        self.folder = Path(options.cache)
        results = Path(options.results)
        self.optima, self.scans = tables.optima(results), tables.scan(results)
        self.duels, self.methods = tables.duel(results), tables.ours(results)
        texts = options.problems
        self.problems = [p for name, p in PROBLEMS.items() if not texts or any(text in name for text in texts)]
        if not self.problems:
            raise SystemExit(
                f"--problems needs a part of a problem's name, got {' '.join(texts)}; such as 'hinge skin'"
            )

    def say(self, words: str) -> None:
        self.console.print(f"{datetime.now(UTC):%H:%M:%S} {words}", markup=False, soft_wrap=True)

    def job(self, work: str, problem: BenchProblem, **rest: Any) -> dict[str, Any]:
        prepare(self.folder, [problem.data])
        return {"work": work, "folder": str(self.folder), "problem": problem.name, **rest}

    def optimum(self, problem: BenchProblem) -> float:
        """P at its best for a problem, from the table, or found now."""
        if (problem.name,) not in self.optima:
            self.find(problem)
        return float(self.optima.rows[(problem.name,)]["primal"])

    def find(self, problem: BenchProblem) -> None:
        seconds = self.options.seconds
        job = self.job("optimum", problem, tol=TOL, enough=ENOUGH, seconds=seconds, solvers=["auto", "sdca", "newton"])
        told = list(events(job, START + 4 * seconds))[-1]
        if told["event"] != "end":
            raise SystemExit(f"{problem.name} has no optimum: {told}")
        known = self.optima.rows.get((problem.name,))
        if known is not None:
            told["primal"] = min(told["primal"], float(known["primal"]))
            told["dual"] = max(told["dual"], float(known["dual"]))
        self.optima.put({"problem": problem.name, **told, **provenance()})
        gap = (told["primal"] - told["dual"]) / told["primal"]
        self.say(
            f"{problem.name}: optimum {told['primal']:.9g}, relative gap {gap:.1e}, {told['solvers']}, {told['seconds']} s"
        )

    def find_all(self) -> None:
        for problem in self.problems:
            if self.options.again or (problem.name,) not in self.optima:
                self.find(problem)

    def scan(self) -> None:
        """Every rival on every problem: the serious ones on both cores, then on one where that may win, and the slow ones."""
        plan = [(p, name, THREADS) for p in self.problems for name in RIVALS if name not in SLOW]
        plan += [(p, name, 1) for p in self.problems for name, rival in RIVALS.items() if rival.threaded]
        plan += [(p, name, THREADS) for p in self.problems for name in SLOW]
        texts = self.options.rivals
        for problem, name, threads in plan:
            if problem.loss not in RIVALS[name].losses or not RIVALS[name].available():
                continue
            if texts and not any(text in name for text in texts):
                continue
            if not self.options.again and self.is_known(problem, name, threads):
                continue
            if threads == THREADS or self.may_win_alone(problem, name):
                self.climb(problem, name, threads)

    def is_known(self, problem: BenchProblem, name: str, threads: int) -> bool:
        """Whether a ladder was climbed, and to its end as the optimum is known now."""
        row = self.scans.rows.get((problem.name, name, str(threads)))
        if row is None or row["ending"] != GOT_THERE:
            return row is not None
        return tables.first_within(tables.ladder_of(row["ladder"]), self.optimum(problem), GOALS[-1]) is not None

    def may_win_alone(self, problem: BenchProblem, name: str) -> bool:
        """On one thread a rival is worth a ladder where two brought it nowhere; where both are quick, a duel has both."""
        row = self.scans.rows.get((problem.name, name, str(THREADS)))
        return not (row and tables.first_within(tables.ladder_of(row["ladder"]), self.optimum(problem), GOALS[-1]))

    def climb(self, problem: BenchProblem, name: str, threads: int) -> None:
        optimum = self.optimum(problem)
        rungs: list[Rung] = []
        tolerance, ending = RIVALS[name].loosest, ""
        for told in events(self.job("climb", problem, rival=name, threads=threads, optimum=optimum)):
            match told["event"]:
                case "rung":
                    tolerance = told["tolerance"]
                case "done":
                    rungs.append(Rung(told["tolerance"], told["seconds"], told["primal"]))
                case "end":
                    ending = told["words"]
                case "error":
                    ending = f"it failed at its tolerance {tolerance:g}: {told['words']}"
                case "killed":
                    ending = f"the {BUDGET:g} s were over at its tolerance {tolerance:g}"
                case "crashed":
                    ending = f"its process ended at its tolerance {tolerance:g} with code {told['code']}"
        row = {"problem": problem.name, "rival": name, "threads": threads, "ladder": tables.ladder_text(rungs)}
        self.scans.put({**row, "ending": ending, **provenance(RIVALS[name].package)})
        times = [tables.first_within(rungs, optimum, goal) for goal in GOALS]
        said = " ".join("–" if rung is None else f"{rung.seconds:.4f}" for rung in times)
        self.say(f"{problem.name}: {name} ×{threads}: {said} s, {len(rungs)} rungs, {ending}")

    def duel(self) -> None:
        """Both goals of a problem in one process: ours, our single methods, and the rivals that came near the fastest."""
        for problem in self.problems:
            done = all((problem.name, f"{goal:g}", tables.OURS) in self.duels for goal in GOALS)
            if done and not self.options.again:
                continue
            optimum = self.optimum(problem)
            known = [self.contenders(problem.name, optimum, goal) for goal in GOALS]
            rest = {"goals": GOALS, "optimum": optimum, "known": known, "solvers": self.single_methods(problem)}
            told = list(events(self.job("duel", problem, **rest), 2 * START))
            if told[-1]["event"] != "end":
                self.say(f"{problem.name}: not measured: {told[-1]}")
                continue
            self.keep(self.duels, problem, [one for one in told if one["event"] == "row"], "contender")
            self.keep(self.methods, problem, [one for one in told if one["event"] == "ours"], "solver")

    def single_methods(self, problem: BenchProblem) -> list[str]:
        """Ours at their best; a matrix of thousands of columns cannot be factored in the time, nor its making interrupted."""
        row = self.optima.rows[(problem.name,)]
        is_large = min(int(row["rows"]), int(row["columns"])) > LARGEST_SIDE
        shrinking = "sdca(shrinking=true)"
        if problem.loss in ("hinge", "absolute"):
            return [shrinking] if is_large else ["newton", shrinking]
        return ["newton", shrinking]

    def contenders(self, problem: str, optimum: float, goal: float) -> list[dict[str, Any]]:
        """The rivals worth a duel at their known rungs; a quick one with threads on one of them, too."""
        known = tables.fastest(self.scans, problem, optimum, goal)
        near = [one for one in known if one.seconds <= NEAR * known[0].seconds][:IN_TURN]
        both = [one._replace(threads=3 - one.threads) for one in near if RIVALS[one.rival].threaded and one.seconds < 1]
        return [one._asdict() for one in (*near, *both)]

    def keep(self, table: tables.Table, problem: BenchProblem, rows: list[dict[str, Any]], who: str) -> None:
        stale = [key for key in table.rows if key[0] == problem.name]
        for key in stale:
            del table.rows[key]
        for row in rows:
            package = RIVALS[row[who]].package if row[who] in RIVALS else None
            table.put({"problem": problem.name, **row, "goal": f"{row['goal']:g}", **provenance(package)})
        if stale:
            table.tidy()
        for goal in GOALS:
            said = [
                f"{row[who]} {row['seconds']:.4g}{'' if row['reached'] else ' (not reached)'}"
                for row in rows
                if row["goal"] == goal
            ]
            self.say(f"{problem.name} at {goal:g}: {', '.join(said)}")


def parse(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("phase", choices=["scan", "duel", "optima"])
    parser.add_argument("--problems", nargs="*", default=[], help="parts of names, such as 'hinge skin' or ' 1/n'")
    parser.add_argument("--rivals", nargs="*", default=[], help="parts of names of rivals, for the scan")
    parser.add_argument("--again", action="store_true", help="measure again what is there")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each solver that looks for an optimum")
    parser.add_argument("--results", default=str(tables.HERE), help="the folder of the tables")
    parser.add_argument(
        "--cache", default=str(Path(tempfile.gettempdir()) / "dualgap-rivals-bench"), help="for the prepared data"
    )
    return parser.parse_args(words)


def main() -> None:
    bench = Bench(parse())
    try:
        {"scan": bench.scan, "duel": bench.duel, "optima": bench.find_all}[bench.options.phase]()
    except KeyboardInterrupt:
        bench.say("stopped; what is done is kept, the same command goes on from here")


if __name__ == "__main__":
    main()
