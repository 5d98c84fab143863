"""Writes docs/speed.md and its pictures from the committed tables of the rivals bench and the growth bench alone.

Run `python docs/make_speed.py` after a bench; tests/test_speed.py holds the page current.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

DOCS = Path(__file__).parent
BENCHMARKS = DOCS.parent / "benchmarks"
sys.path[:0] = [str(BENCHMARKS), str(DOCS)]

import speed_sparse  # noqa: E402

import rival_tables as tables  # noqa: E402
from dualgap.workbench.rivals import RIVALS  # noqa: E402
from rival_problems import DATA, PROBLEMS, BenchProblem  # noqa: E402
from rival_tables import BUDGET, GOALS, OURS, counted, geometric_mean  # noqa: E402

PAGE = DOCS / "speed.md"
PROFILE, GROWTH = "speed-profile.svg", "speed-growth.svg"
GROUPS = {"hinge and absolute": ("hinge", "absolute"), "logistic": ("logistic",), "squared": ("squared",)}
# Seconds of the fastest rival from which on a user waits for it: shorter fits have means of their own.
WAITED = 0.01
# Auto may be slower than the best single method by this factor, or by a number of seconds.
FACTOR, MOMENT = 1.3, 0.005
COLORS = ("#d62728", "#1f77b4", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2")


class Measured(NamedTuple):
    """A duel: our time, the fastest rival and its time; a rival of None never came."""

    ours: float
    rival: str | None
    seconds: float

    @property
    def ratio(self) -> float:
        return self.seconds / self.ours


def measured(duels: tables.Table, problem: str, goal: float) -> Measured | None:
    """What a duel showed, if it took place."""
    rows = [row for key, row in duels.rows.items() if key[:2] == (problem, f"{goal:g}")]
    own = next((row for row in rows if row["contender"] == OURS), None)
    if own is None:
        return None
    came = [row for row in rows if row["contender"] != OURS and row["reached"] == "True"]
    best = min(came, key=lambda row: float(row["seconds"]), default=None)
    ours = counted(float(own["seconds"]) if own["reached"] == "True" else None)
    return Measured(ours, best and best["contender"], counted(best and float(best["seconds"])))


def seconds(value: float) -> str:
    return f"{value:.2g}" if value < 100 else f"{value:.0f}"


def times(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


class Results:
    """The tables of a folder, and the sentences and numbers read out of them."""

    def __init__(self, folder: Path = BENCHMARKS) -> None:
        self.optima, self.scans = tables.optima(folder), tables.scan(folder)
        self.duels, self.methods = tables.duel(folder), tables.ours(folder)
        both = [(p, tuple(measured(self.duels, p.name, goal) for goal in GOALS)) for p in PROBLEMS.values()]
        self.rows: list[tuple[BenchProblem, tuple[Measured, ...]]] = [
            (problem, duels)
            for problem, duels in both
            if all(duels)  # type: ignore[misc]
        ]
        self.growth, self.poisson = _rows(folder / "growth.csv"), _rows(folder / "poisson.csv")
        self.sparse = speed_sparse.section(folder)

    def page(self) -> str:
        parts = [self.head(), self.summary()]
        for loss in ("hinge", "absolute", "logistic", "squared"):
            if any(problem.loss == loss for problem, _ in self.rows):
                parts += [f"## {loss.capitalize()}\n", self.table(loss)]
        parts += [self.single_methods(), self.sparse, self.counts(), self.growing(), self.data()]
        return "\n".join(filter(None, parts)).rstrip() + "\n"

    def head(self) -> str:
        sources = [row for table in (self.duels, self.scans) for row in table.rows.values()]
        machines = sorted({row["machine"] for row in sources})
        dates = sorted(row["date"] for row in sources)
        versions = sorted({word for row in sources for word in row["versions"].split()})
        return HEAD.format(
            count=len(self.rows),
            total=len(PROBLEMS),
            machines="; ".join(machines),
            first=dates[0] if dates else "–",
            last=dates[-1] if dates else "–",
            versions=", ".join(word.replace("=", " ") for word in versions),
            profile=PROFILE,
            unscanned=self.unscanned(),
        )

    def unscanned(self) -> str:
        """The rivals of which the scan knows nothing, or not all problems of the losses it knows them on."""
        missing = []
        for name in RIVALS:
            seen = {problem for problem, rival, *_ in self.scans.rows if rival == name}
            losses = {PROBLEMS[problem].loss for problem in seen}
            theirs = [problem for problem in PROBLEMS.values() if problem.loss in losses]
            if not seen:
                missing.append(name)
            elif len(seen) < len(theirs):
                missing.append(f"{name} on {len(theirs) - len(seen)} of its {len(theirs)} problems")
        return ", ".join(missing) or "none"

    def summary(self) -> str:
        lines = [
            "## In short\n",
            "| loss | problems | geometric mean to 1e-3 | to 1e-6 | least to 1e-3 | least to 1e-6 |",
            "|---|---|---|---|---|---|",
        ]
        for name, rows in self.groups():
            means = [times(geometric_mean([duels[at].ratio for _, duels in rows])) for at in range(len(GOALS))]
            least = []
            for at in range(len(GOALS)):
                problem, duels = min(rows, key=lambda row: row[1][at].ratio)
                least.append(f"{times(duels[at].ratio)} ({problem.name})")
            lines.append(f"| {name} | {len(rows)} | {' | '.join(means)} | {' | '.join(least)} |")
        lines += [
            f"\nOver the problems whose fastest rival takes {1000 * WAITED:g} ms or more to the goal:\n",
            "| loss | problems to 1e-3 | geometric mean | least | problems to 1e-6 | geometric mean | least |",
            "|---|---|---|---|---|---|---|",
        ]
        for name, rows in self.groups():
            cells = []
            for at in range(len(GOALS)):
                ratios = [duels[at].ratio for _, duels in rows if duels[at].seconds >= WAITED]
                cells += [str(len(ratios)), *((times(geometric_mean(ratios)), times(min(ratios))) if ratios else "––")]
            lines.append(f"| {name} | {' | '.join(cells)} |")
        return "\n".join(lines) + "\n"

    def groups(self) -> list[tuple[str, list[tuple[BenchProblem, tuple[Measured, ...]]]]]:
        """Groups of losses that have problems, with these."""
        of = {name: [row for row in self.rows if row[0].loss in losses] for name, losses in GROUPS.items()}
        return [(name, rows) for name, rows in of.items() if rows]

    def table(self, loss: str) -> str:
        lines = [
            "| data | n × d | λ·n | ours, 1e-3 | fastest rival | its time | ratio | ours, 1e-6 | fastest rival | its time | ratio |",
            "|---|---|---|---|---|---|---|---|---|---|---|",
        ]
        for problem, duels in sorted(self.rows, key=lambda row: _place(row[0])):
            if problem.loss != loss:
                continue
            known = self.optima.rows[(problem.name,)]
            cells = [problem.data, f"{int(known['rows']):,} × {int(known['columns']):,}", problem.factor]
            for one in duels:
                cells += [seconds(one.ours), one.rival or "none", seconds(one.seconds), times(one.ratio)]
            lines.append(f"| {' | '.join(cells)} |")
        return "\n".join(lines) + "\n"

    def single_methods(self) -> str:
        found: dict[tuple[str, str], dict[str, float]] = {}
        for (problem, goal, solver), row in self.methods.rows.items():
            found.setdefault((problem, goal), {})[solver] = counted(
                float(row["seconds"]) if row["reached"] == "True" else None
            )
        slow = []
        for (problem, goal), taken in found.items():
            single = min((value, name) for name, value in taken.items() if name != "auto")
            if taken["auto"] > max(FACTOR * single[0], single[0] + MOMENT):
                slow.append((taken["auto"] / single[0], problem, goal, taken["auto"], single[1], single[0]))
        text = METHODS.format(count=len(found), factor=FACTOR, moment=f"{1000 * MOMENT:g}", slow=len(slow))
        if slow:
            text += "\n| problem | to | auto | best single method | its time | ratio |\n|---|---|---|---|---|---|\n"
            text += "".join(
                f"| {problem} | {goal} | {seconds(auto)} | {name} | {seconds(best)} | {times(ratio)} |\n"
                for ratio, problem, goal, auto, name, best in sorted(slow, reverse=True)
            )
        return text if found else ""

    def counts(self) -> str:
        """Poisson regression beside scikit-learn's, which no other package of the bench fits."""
        if not self.poisson:
            return ""
        text = POISSON + "| n × d | contender | its tol | seconds | above the optimum |\n|---|---|---|---|---|\n"
        return text + "".join(
            f"| {int(row['rows']):,} × {row['columns']} | {row['contender']} | {float(row['tolerance']):g} | "
            f"{seconds(float(row['seconds']))} | {row['above_optimum']} |\n"
            for row in self.poisson
        )

    def growing(self) -> str:
        if not self.growth:
            return ""
        text = GROWING.format(picture=GROWTH)
        for figure in dict.fromkeys(row["figure"] for row in self.growth):
            rows = [row for row in self.growth if row["figure"] == figure]
            what = "stored values" if figure == "epoch" else "rows"
            power = slope([float(row["size"]) for row in rows], [float(row["seconds"]) for row in rows])
            cells = ", ".join(f"{int(row['size']):,}: {seconds(float(row['seconds']))}" for row in rows)
            text += f"- {figure}, seconds by {what}: {cells}. They grow like the {power:.2f}th power.\n"
        return text

    def data(self) -> str:
        lines = ["## The data\n", "| data | how it is made |", "|---|---|"]
        return "\n".join(lines + [f"| {name} | {data.words} |" for name, data in DATA.items()]) + "\n"

    def contenders(self, loss: str, goal: float) -> dict[str, list[float | None]]:
        """Each contender's times over the problems of a loss: from the duel where it took part, else from the scan."""
        problems = [problem for problem, _ in self.rows if problem.loss == loss]
        names = sorted({row["rival"] for key, row in self.scans.rows.items() if key[0].startswith(f"{loss} ")})
        taken: dict[str, list[float | None]] = {name: [] for name in (OURS, *names) if name != "zeros"}
        for problem in problems:
            optimum = float(self.optima.rows[(problem.name,)]["primal"])
            scanned = {known.rival: known for known in tables.fastest(self.scans, problem.name, optimum, goal)}
            for name, values in taken.items():
                row = self.duels.rows.get((problem.name, f"{goal:g}", name))
                if row is not None:
                    values.append(float(row["seconds"]) if row["reached"] == "True" else None)
                else:
                    values.append(scanned[name].seconds if name in scanned else None)
        return taken


def _rows(file: Path) -> list[dict[str, str]]:
    """The rows of a table; none where it is not there."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return list(csv.DictReader(lines))


def _place(problem: BenchProblem) -> tuple[int, float]:
    return list(DATA).index(problem.data), -float(problem.factor)


def slope(sizes: Sequence[float], values: Sequence[float]) -> float:
    """The power of the size that the values grow with, by least squares of the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def solved_within(taken: dict[str, list[float | None]], factors: Sequence[float]) -> dict[str, list[float]]:
    """For each contender the fraction of problems it solves within each factor of the best time."""
    columns = list(zip(*taken.values(), strict=True))
    best = [min((value for value in column if value is not None), default=None) for column in columns]
    count = max(1, len(columns))
    return {
        name: [
            sum(v is not None and b is not None and v <= f * b for v, b in zip(values, best, strict=True)) / count
            for f in factors
        ]
        for name, values in taken.items()
    }


def draw_profile(results: Results, file: Path) -> None:
    """Fraction of problems solved within a factor of the best time, for hinge and logistic and both goals."""

    def draw(axes: Any) -> None:
        factors = np.geomspace(1.0, 1000.0, 400)
        for row, loss in enumerate(("hinge", "logistic")):
            for column, goal in enumerate(GOALS):
                one = axes[row][column]
                for name, fractions in solved_within(results.contenders(loss, goal), list(factors)).items():
                    one.step(factors, fractions, where="post", label=name, **_line(results, name))
                one.set_xscale("log")
                one.set_ylim(0.0, 1.03)
                one.set_title(f"{loss}, to {goal:g}", fontsize=10)
                one.grid(alpha=0.3)
            axes[row][0].set_ylabel("fraction of problems solved")
            axes[row][1].legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
        for one in axes[1]:
            one.set_xlabel("within this factor of the best time")

    _picture(file, (2, 2), (12, 8), draw)


def _line(results: Results, name: str) -> dict[str, Any]:
    """How a contender is drawn, the same in every panel; dashes tell those apart who share a color."""
    if name == OURS:
        return {"color": "#000000", "lw": 2.5}
    at = sorted({row["rival"] for row in results.scans.rows.values()} - {"zeros"}).index(name)
    return {"color": COLORS[at % len(COLORS)], "lw": 1.3, "ls": ("-", "--")[at // len(COLORS) % 2]}


def draw_growth(results: Results, file: Path) -> None:
    """Seconds against size, both logarithmic, with a line of proportional growth."""

    def draw(axes: Any) -> None:
        for row in dict.fromkeys(row["figure"] for row in results.growth):
            one = axes[0] if row == "epoch" else axes[1]
            points = [(float(r["size"]), float(r["seconds"])) for r in results.growth if r["figure"] == row]
            one.plot(*zip(*points, strict=True), marker="o", label=row)
        for one, what in zip(axes, ("stored values", "rows, 50 columns"), strict=True):
            line = one.get_lines()[0]
            x, y = line.get_xdata(), line.get_ydata()
            one.plot(x, y[-1] * x / x[-1], color="#999999", ls=":", label="proportional")
            one.set(xscale="log", yscale="log", xlabel=what, ylabel="seconds")
            one.legend(fontsize=8)
            one.grid(alpha=0.3)

    _picture(file, (1, 2), (10, 4), draw)


def _picture(file: Path, shape: tuple[int, int], size: tuple[float, float], draw: Callable[[Any], None]) -> None:
    import matplotlib

    matplotlib.use("svg")
    # The same tables make the same file, byte by byte.
    matplotlib.rcParams["svg.hashsalt"] = file.name
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(*shape, figsize=size, layout="constrained")
    draw(axes)
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)


HEAD = f"""# Speed

How long others take to come near the optimum, and how long `dualgap` takes to prove that it is near: {{count}} of {{total}}
problems, λ = 10/n, 1/n and 0.01/n, no intercept (or a constant column), the same objective for all. Seconds on the same two
cores; a ratio is the fastest rival's time divided by ours.

- **Ours** is `dg.solve(dg.Problem(X, y, …), tol=…, n_jobs=2)` from the arrays in memory: the checks of the data, the choice
  of `auto` and the certificate are inside the clock. It ends with a proof that P is within the goal of the optimum.
- **A rival** is judged at the weights it returns: the first of its own tolerances, two a decade, that brings P within 1e-3
  or 1e-6 of the optimum, without the time to find that tolerance and without turning the data into its form. It has
  {BUDGET:g} s for its ladder; where none gets there, the table says none and counts {BUDGET:g} s. It may use both cores; where one
  thread is faster, that counts. How near it came it does not know.
- **The optimum** is the least P of our own runs, certified to about 1e-9; as that is never below the true one, the doubt is in a
  rival's favour.
- Imports, compilers and thread pools are outside the clock. Ours and the rivals that came within four times the fastest in a
  first scan, at most four of them, are measured in turn in one process, in an order drawn anew for each turn and problem: the
  median of three (nine below 0.02 s, five below 0.1 s, one above 5 s), a quick one after a fit that does not count.
- Kernels are loaded before the clock starts, too.
- The scan ran beside other work on a shared machine, the duel at a raised priority; not scanned: {{unscanned}}.
- Where `auto` and Newton's steps have a number to choose by, it was chosen by looking at these same problems; other data may
  see less of the gain. Rivals were tuned by nothing but their tolerance.
- The duel measured all problems in one run, beside which other work ran at the lowest priority.

Measured {{first}} to {{last}} (UTC) on {{machines}}, with {{versions}}. `python benchmarks/rivals.py scan`, then
`duel`, with the folder of the data in DUALGAP_DATA, makes `benchmarks/rivals_*.csv`; `python docs/make_speed.py` makes this page.

![The fraction of problems solved within a factor of the best time]({{profile}})
"""
METHODS = """## Auto against its single methods

`auto`, `newton` and `sdca`, measured in turn on {count} problems and goals.
Where `auto` takes more than {factor} times as long as the fastest of them, and more than {moment} ms longer: {slow}.
"""
POISSON = """## Poisson regression

`PoissonRegressor` and scikit-learn's minimize the same objective. Simulated counts, independent columns of equal scale, λ = 1/n, a free
intercept, one thread, median of five fits in turn. scikit-learn's solvers run at their loosest tolerance that ends within 1e-6 of the
optimum; `dualgap` proves 1e-6. On such data lbfgs is the fastest: a certificate costs some passes more than a gradient that is small.
`python benchmarks/poisson.py` makes the table.

"""
GROWING = """## As work grows

![Seconds of an epoch against stored values, and seconds to 1e-6 against rows]({picture})

`python benchmarks/growth.py`, on simulated data: an SDCA epoch over sparse rows on one thread, and `auto` to a certified 1e-6 on dense
rows of 50 columns, λ = 1/n.

"""


def main() -> None:
    """Write the page and its pictures."""
    results = Results()
    PAGE.write_text(results.page(), encoding="utf-8")
    if results.rows:
        draw_profile(results, DOCS / PROFILE)
    if results.growth:
        draw_growth(results, DOCS / GROWTH)


if __name__ == "__main__":
    main()
