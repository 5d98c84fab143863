"""Paths of 100 strengths beside others, an L1 quantile regression of a million rows, and the memory of sparse fits.

    DUALGAP_DATA=… python benchmarks/sparse_paths.py [path million memory]

Each figure has a process of its own, with one thread. Rows go to sparse_paths.csv.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
if __name__ == "__main__":
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import numpy as np
import scipy.sparse as sp

import dualgap as dg
from rival_tables import sparse_paths
from rivals import provenance
from sparse_problems import rows_of

Row = dict[str, Any]
# As many strengths as glmnet has, down to its smallest part of strength_max where columns outnumber rows.
POINTS, SMALLEST_PART, GOAL = 100, 1e-2, 1e-4
# Seconds after which a rival's path is given up, and a rival's quantile regression is its largest.
PATH_SECONDS, LARGEST_SECONDS = 60.0, 30.0
MILLION, COLUMNS, QUANTILE, ALPHA = 1_000_000, 20, 0.3, 0.02
MEMORY_PART, MEMORY_SECONDS = 0.01, 12.0
EACH_SECONDS = 0.002  # between two looks at the memory
PAGE = resource.getpagesize()


def path(name: str) -> Iterator[Row]:
    """L1 logistic regression at each strength, ours certified to 1e-4, a rival's within 1e-4 of a certified bound at every one of them."""
    X, y = rows_of(name)
    first = dg.Problem(X, y, "logistic", 1.0, l1_ratio=1.0)
    strengths = first.strength_max * np.geomspace(1.0, SMALLEST_PART, POINTS)
    ours = lambda tol, values: dg.solve_path(X, y, "logistic", values, l1_ratio=1.0, tol=tol)
    ours(GOAL, strengths[:: POINTS // 4])  # compiles
    sharp = ours(0.01 * GOAL, strengths)
    begin = time.perf_counter()
    ready = ours(GOAL, strengths)
    seconds = time.perf_counter() - begin
    count = sum(result.certificate.proves(GOAL) for result in ready.results)
    size = {"figure": "path", "problem": name, "rows": len(y), "columns": X.shape[1]}
    yield {**size, "contender": "dualgap", "tolerance": GOAL, "seconds": f"{seconds:.3f}", "certified": count}

    def is_near(place: int, weights: np.ndarray) -> bool:
        problem = sharp.problems[place]
        primal = problem.primal(problem.scores(weights), weights)
        return bool(primal - sharp.results[place].certificate.dual <= GOAL * primal)

    by_columns = np.asfortranarray(X) if isinstance(X, np.ndarray) else sp.csc_matrix(X)
    for rival, fitter in (("scikit-learn liblinear", liblinear), ("celer", celer), ("skglm", skglm)):
        rows = X if fitter is liblinear else by_columns
        try:
            fitter(rows, y, 0.1)(strengths[0], 0.5 * strengths[0])  # compiles
        except ImportError as error:
            yield {**size, "contender": rival, "words": str(error)}
            continue
        yield {**size, "contender": rival, **climb(lambda tol, f=fitter, r=rows: f(r, y, tol), strengths, is_near)}


def climb(
    made: Callable[[float], Callable[..., np.ndarray]], strengths: Any, is_near: Callable[[int, Any], bool]
) -> Row:
    """The first of a rival's tolerances, one a decade, at which every point of its path is near, and the time of that path."""
    for tolerance in 10.0 ** -np.arange(2.0, 9.0):
        fit, seconds, previous, place = made(tolerance), 0.0, None, 0
        for place, strength in enumerate(strengths):
            begin = time.perf_counter()
            weights = fit(strength, previous)
            seconds += time.perf_counter() - begin
            previous = strength
            if seconds > PATH_SECONDS:
                return {"words": f"over {PATH_SECONDS:g} s at point {place + 1} with its tolerance {tolerance:g}"}
            if not is_near(place, weights):
                break
        else:
            return {"tolerance": f"{tolerance:g}", "seconds": f"{seconds:.3f}"}
    return {"words": f"not within {GOAL:g} at point {place + 1} with its tightest tolerance"}


def liblinear(X: Any, y: Any, tolerance: float) -> Callable[..., np.ndarray]:
    """Each strength from zero: scikit-learn's liblinear takes no start."""
    from sklearn.linear_model import LogisticRegression

    def fit(strength: float, _: object) -> np.ndarray:
        options = {"solver": "liblinear", "fit_intercept": False, "tol": tolerance, "max_iter": 10_000}
        return np.asarray(LogisticRegression(l1_ratio=1, C=1.0 / (strength * len(y)), **options).fit(X, y).coef_[0])

    return fit


def celer(X: Any, y: Any, tolerance: float) -> Callable[..., np.ndarray]:
    from celer import LogisticRegression

    model = LogisticRegression(tol=tolerance, fit_intercept=False, warm_start=True, max_iter=1000)

    def fit(strength: float, _: object) -> np.ndarray:
        return np.array(model.set_params(C=1.0 / (strength * len(y))).fit(X, y).coef_[0])

    return fit


def skglm(X: Any, y: Any, tolerance: float) -> Callable[..., np.ndarray]:
    from skglm import GeneralizedLinearEstimator, datafits, penalties, solvers

    solver = solvers.ProxNewton(tol=tolerance, fit_intercept=False, max_iter=1000, warm_start=True)
    model = GeneralizedLinearEstimator(datafits.Logistic(), penalties.L1(1.0), solver)

    def fit(strength: float, _: object) -> np.ndarray:
        model.penalty.alpha = strength
        return np.array(model.fit(X, y).coef_.ravel())

    return fit


def resident() -> float:
    """MB of this process in memory."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * PAGE / 2**20


def with_peak(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """What the work returns, its seconds, and how many MB more than before it had at most."""
    before, seen, done = resident(), [0.0], threading.Event()

    def watch() -> None:
        while not done.wait(EACH_SECONDS):
            seen.append(resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    begin = time.perf_counter()
    try:
        result = work()
        seconds = time.perf_counter() - begin
        seen.append(resident())
    finally:
        done.set()
        watcher.join()
    return result, seconds, max(0.0, max(seen) - before)


def simulated(rows: int) -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    X = random.normal(size=(rows, COLUMNS))
    return X, X[:, :6] @ [3.0, -2.0, 1.0, 0.5, -0.3, 0.2] + random.standard_t(3, size=rows)


def ours_on(X: Any, y: Any) -> Any:
    return dg.QuantileRegressor(quantile=QUANTILE, alpha=ALPHA, tol=GOAL, max_seconds=60.0).fit(X, y)


def million(_: str) -> Iterator[Row]:
    """Ours on all rows; scikit-learn's on twice as many rows each time, until it takes too long."""
    from sklearn.linear_model import QuantileRegressor

    ours_on(*simulated(500))  # compiles
    X, y = simulated(MILLION)
    model, seconds, peak = with_peak(lambda: ours_on(X, y))
    head = {"figure": "million", "problem": "L1 quantile", "columns": COLUMNS}
    gap = model.certificate_.relative_gap
    yield {
        **head,
        "contender": "dualgap",
        "rows": MILLION,
        "tolerance": GOAL,
        "seconds": f"{seconds:.2f}",
        "certified": model.status_.name == "CERTIFIED",
        "megabytes": f"{peak:.0f}",
        "input_megabytes": f"{X.nbytes / 2**20:.0f}",
        "words": f"relative gap {gap:.1e}, {np.count_nonzero(model.coef_)} nonzero weights",
    }
    rows, largest = 1000, {}
    while rows <= MILLION:
        few, targets = np.ascontiguousarray(X[:rows]), y[:rows]
        options = {"time_limit": LARGEST_SECONDS}
        theirs = QuantileRegressor(quantile=QUANTILE, alpha=ALPHA, solver_options=options)
        try:
            _, seconds, peak = with_peak(lambda m=theirs, a=few, b=targets: m.fit(a, b))
        except (TypeError, MemoryError):  # HiGHS has no solution when its time is over
            break
        if seconds > LARGEST_SECONDS:
            break
        problem = dg.Problem(few, targets, dg.losses.Quantile(QUANTILE), ALPHA, intercept=True, l1_ratio=1.0)
        value = lambda m, p=problem: p.primal(p.scores(m.coef_, float(m.intercept_)), m.coef_)
        own, own_seconds, _ = with_peak(lambda a=few, b=targets: ours_on(a, b))
        largest = {
            **head,
            "contender": "scikit-learn QuantileRegressor",
            "rows": rows,
            "seconds": f"{seconds:.2f}",
            "megabytes": f"{peak:.0f}",
            "input_megabytes": f"{few.nbytes / 2**20:.1f}",
            "words": f"dualgap {own_seconds:.2f} s on these rows; weights differ by {np.abs(theirs.coef_ - own.coef_).max():.1e}"
            f", P by {value(own) / value(theirs) - 1.0:.1e} of it",
        }
        rows *= 2
    yield largest


def memory(text: str) -> Iterator[Row]:
    """The peak of one fit above what stood before it, beside the size of X."""
    loss, name = text.split()
    X, y = rows_of(name)
    stored = X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    few = np.sort(np.r_[np.argsort(y, kind="stable")[:30], np.argsort(-y, kind="stable")[:30]])
    made = lambda rows, labels: dg.Problem(rows, labels, loss, 1.0, l1_ratio=1.0)
    small = made(X[few], y[few])
    dg.solve(small.with_strength(0.1 * small.strength_max), tol=1e-3, max_seconds=2.0)  # compiles
    whole = made(X, y)
    problem = whole.with_strength(MEMORY_PART * whole.strength_max)
    result, seconds, peak = with_peak(lambda: dg.solve(problem, tol=1e-6, max_seconds=MEMORY_SECONDS))
    yield {
        "figure": "memory",
        "problem": text,
        "contender": "dualgap",
        "rows": len(y),
        "columns": X.shape[1],
        "tolerance": 1e-6,
        "seconds": f"{seconds:.3f}",
        "certified": result.certificate.proves(1e-6),
        "megabytes": f"{peak:.2f}",
        "input_megabytes": f"{stored / 2**20:.2f}",
        "words": f"relative gap {result.certificate.relative_gap:.1e}",
    }


FIGURES = {"path": path, "million": million, "memory": memory}
JOBS = [("path", "golub"), ("path", "newsgroups"), ("million", "")] + [
    ("memory", f"{loss} {name}")
    for name in ("golub", "prostate", "spambase", "a9a", "newsgroups", "news20", "california")
    for loss in (("squared", "quantile") if name == "california" else ("logistic", "hinge"))
]


def child(figure: str, what: str) -> None:
    warnings.simplefilter("ignore")
    for row in FIGURES[figure](what):
        print("row " + json.dumps({**row, "load": f"{os.getloadavg()[0]:.1f}"}, default=str), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", nargs="*", help=f"some of {', '.join(FIGURES)}; without, all")
    parser.add_argument("--problems", nargs="*", default=[], help="parts of names")
    parser.add_argument("--results", default=str(HERE), help="the folder of the table")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(*options.child)
        return
    results = sparse_paths(Path(options.results))
    for figure, what in JOBS:
        if options.figures and figure not in options.figures:
            continue
        if options.problems and not any(text in what for text in options.problems):
            continue
        done = subprocess.run(
            [sys.executable, __file__, "--child", figure, what], stdout=subprocess.PIPE, text=True, check=True
        )
        for line in done.stdout.splitlines():
            if line.startswith("row "):
                row = dict.fromkeys(results.columns, "") | json.loads(line[4:]) | provenance()
                results.put(row)
                print(*(row[name] for name in results.columns[:11]), flush=True)
    results.tidy()


if __name__ == "__main__":
    main()
