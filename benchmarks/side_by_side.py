"""dualgap's estimators beside scikit-learn's: how far from the optimum, how long in a fresh process, and on ten data sets.

python benchmarks/side_by_side.py unscaled      breast cancer as it is, hinge, C = 1, three seeds, with and without intercept
python benchmarks/side_by_side.py default       LinearSVC() on breast cancer and digits, one fit after the other's, CPU seconds
python benchmarks/side_by_side.py fresh         import and fit in a new process, interleaved, median of 7
python benchmarks/side_by_side.py models [a9a …]   the objective on ten data sets against scikit-learn's best setting,
                                                into side_by_side_models.csv; lines that are there already are kept

Every objective is computed by the same function, P(w, b) of a dualgap Problem with a free intercept.
"""

from __future__ import annotations

import argparse
import csv
import os
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn import linear_model, svm
from sklearn.datasets import load_breast_cancer, load_digits

import dualgap as dg
from dualgap.datasets.catalog import load

SEEDS, ITERATIONS = (0, 1, 2), 100_000
SCALINGS = (1.0, 10.0, 100.0, 1000.0)
# Of LinearSVC: its default, so that the table is made in minutes.
MAX_ITER = 1_000
COVTYPE_ROWS = 50_000
TOL = 1e-12
# The relative difference, at most, of two sums of the same numbers in another order.
ROUNDING = 1e-12


def objective(X: Any, y: Any, loss: str, strength: float, free: bool) -> Callable[[Any], float]:
    """P(w, b) of a fitted model."""
    problem = dg.Problem(X, y, loss, strength, intercept=free)

    def at(model: Any) -> float:
        weights = np.ravel(model.coef_).astype(np.float64)
        return problem.primal(problem.scores(weights, float(np.ravel(model.intercept_)[0])), weights)

    return at


def timed(model: Any, X: Any, y: Any) -> float:
    """Seconds of a fit; that scikit-learn warns of not having converged is what is measured here."""
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    return time.perf_counter() - began


def unscaled() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    print("breast cancer as it is (569 × 30), hinge, C = 1\n")
    print("| model | intercept | seconds | P(w, b) | above the optimum |\n|---|---|---|---|---|")
    for free in (False, True):
        at = objective(X, y, "hinge", 1.0 / len(y), free)
        ours = dg.LinearSVC(loss="hinge", fit_intercept=free, tol=1e-6)
        seconds = min(timed(ours, X, y) for _ in range(3))
        assert ours.status_ is dg.Status.CERTIFIED
        best = ours.certificate_.dual
        word = "free" if free else "none"
        print(
            f"| dualgap, tol=1e-6 | {word} | {seconds:.3f} | {at(ours):.6g} | {at(ours) / best - 1:.1e} (certified) |"
        )
        for seed in SEEDS:
            theirs = svm.LinearSVC(loss="hinge", fit_intercept=free, max_iter=ITERATIONS, random_state=seed)
            seconds = timed(theirs, X, y)
            word = "its own" if free else "none"
            print(
                f"| scikit-learn, max_iter={ITERATIONS:,}, seed {seed} | {word} | {seconds:.2f} | "
                f"{at(theirs):.6g} | {100 * (at(theirs) / best - 1):.0f} % |"
            )


def default(repeats: int) -> None:
    """Both fits in turn, so that what else the machine does meets both; CPU seconds of one thread, and the median of their ratios."""
    print("LinearSVC() as it comes, tol=1e-4\n")
    print(
        "| data | rows × columns | dualgap | scikit-learn | ratio | P(w, b) of scikit-learn above dualgap's |\n|---|---|---|---|---|---|"
    )
    for name, loader in (("breast cancer", load_breast_cancer), ("digits", load_digits)):
        X, y = loader(return_X_y=True)
        ours, theirs = dg.LinearSVC(), svm.LinearSVC(random_state=0)
        spans = np.array([[cpu_timed(model, X, y) for model in (ours, theirs)] for _ in range(repeats + 1)])[1:]
        excess = above(theirs, ours, X, y)
        middle, ratio = np.median(spans, axis=0), np.median(spans[:, 0] / spans[:, 1])
        size = f"{X.shape[0]:,} × {X.shape[1]}"
        print(f"| {name} | {size} | {middle[0]:.4f} s | {middle[1]:.4f} s | {ratio:.2f} | {excess} |")


def cpu_timed(model: Any, X: Any, y: Any) -> float:
    began = time.process_time()
    timed(model, X, y)
    return time.process_time() - began


def above(theirs: Any, ours: Any, X: Any, y: Any) -> str:
    """The largest and smallest part, over the classes, by which P of the first is above P of the second."""
    parts = []
    for k in range(ours.coef_.shape[0]):
        labels = y == (theirs.classes_[k] if ours.coef_.shape[0] > 1 else theirs.classes_[1])
        problem = dg.Problem(X, np.where(labels, 1, -1), "squared_hinge", 1.0 / len(y), intercept=True)
        first, second = (
            problem.primal(problem.scores(model.coef_[k], float(model.intercept_[k])), model.coef_[k])
            for model in (theirs, ours)
        )
        parts.append(first / second - 1.0)
    return f"{min(parts):.1e} to {max(parts):.1e}" if len(parts) > 1 else f"{parts[0]:.1e}"


PROCESSES = {
    "dualgap": "from dualgap import LinearSVC",
    "scikit-learn": "from sklearn.svm import LinearSVC",
}
FIT = "; from sklearn.datasets import load_breast_cancer; LinearSVC().fit(*load_breast_cancer(return_X_y=True))"


def spent() -> tuple[float, float]:
    """Seconds on the wall, and of the processor in children that have ended."""
    times = os.times()
    return times.elapsed, times.children_user + times.children_system


def fresh(repeats: int) -> None:
    """On a machine that others use too, the processor's time says more than the clock on the wall."""
    with tempfile.TemporaryDirectory() as place:
        for word, is_empty in (("warm kernel cache", False), ("empty kernel cache", True)):
            seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in PROCESSES}
            for repeat in range(repeats):
                for name, code in PROCESSES.items():
                    told = {"NUMBA_CACHE_DIR": str(Path(place) / f"{name}{repeat}")} if is_empty else {}
                    command = [sys.executable, "-W", "ignore", "-c", code + FIT]
                    before = spent()
                    subprocess.run(command, check=True, env={**os.environ, **told})
                    seconds[name].append(tuple(b - a for a, b in zip(before, spent(), strict=True)))
            for k, clock in enumerate(("wall", "CPU")):
                middle = {name: statistics.median(values[k] for values in seconds[name]) for name in PROCESSES}
                extra = middle["dualgap"] - middle["scikit-learn"]
                shown = ", ".join(f"{name} {value:.2f} s" for name, value in middle.items())
                print(f"{word}, {clock}, median of {repeats}: {shown}; {extra:+.2f} s (goal: at most +0.20 s)")
    loaded = subprocess.run(
        [sys.executable, "-c", f"{PROCESSES['dualgap']}{FIT}; import sys; print('numba' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    print(f"Numba was loaded: {loaded.stdout.strip()}")


LOSSES = ("squared_hinge", "hinge", "logistic")
# From quick to slow.
FILES = {
    "german": "german_numer",
    "splice": "splice_scale",
    "mushrooms": "mushrooms",
    "basehock": "basehock",
    "spambase": "spambase",
    "cod_rna": "cod_rna_scaled",
    "a9a": "a9a",
    "covtype": "covtype",
    "skin": "skin_nonskin",
    "golub": "golub_allaml",
}


def data(name: str) -> tuple[Any, Any]:
    folder = os.environ.get("DUALGAP_DATA")
    if not folder:
        raise SystemExit("this needs the folder of the stored data sets, got none; set DUALGAP_DATA")
    found = load(str(Path(folder) / f"{FILES[name]}.npz"), positive=["2"] if name == "covtype" else ())
    X, y = found.X, found.y
    if name == "covtype":
        X, y = X[:COVTYPE_ROWS], y[:COVTYPE_ROWS]
    return X.astype(np.float64), np.asarray(y)


def contenders(loss: str) -> Iterator[tuple[str, Any]]:
    """scikit-learn's settings for the same model, one after the other."""
    if loss == "logistic":
        yield "newton-cholesky, tol=1e-10", linear_model.LogisticRegression(solver="newton-cholesky", tol=1e-10)
        return
    for scaling in SCALINGS:
        dual = loss == "hinge"
        options = {
            "loss": loss,
            "dual": dual,
            "intercept_scaling": scaling,
            "max_iter": MAX_ITER,
        }
        yield f"intercept_scaling={scaling:g}", svm.LinearSVC(**options, tol=1e-8, random_state=0)


TABLE = Path(__file__).with_name("side_by_side_models.csv")
FIELDS = ("data", "rows", "columns", "loss", "dualgap", "relative_gap", "status", "scikit_learn", "setting", "version")


def models(names: list[str]) -> None:
    """A line of the table for each data set and loss that has none yet, written when it is known."""
    known = set()
    if TABLE.exists():
        with TABLE.open(newline="", encoding="utf-8") as file:
            known = {(line["data"], line["loss"]) for line in csv.DictReader(file)}
    else:
        TABLE.write_text(",".join(FIELDS) + "\n", encoding="utf-8")
    for name in names or FILES:
        X, y = data(name)
        for loss in LOSSES:
            if (name, loss) in known:
                continue
            line = compared(X, y, loss)
            with TABLE.open("a", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerow([name, *X.shape, loss, *line, sklearn.__version__])
            print(name, loss, *line, flush=True)


def compared(X: Any, y: Any, loss: str) -> tuple[float, float, str, float, str]:
    """P(w, b) of dualgap with its relative gap and ending, and of scikit-learn at the best of its settings."""
    at = objective(X, y, loss, 1.0 / X.shape[0], True)
    ours = dg.LogisticRegression(tol=TOL) if loss == "logistic" else dg.LinearSVC(loss=loss, tol=TOL)
    timed(ours, X, y)
    best, setting = np.inf, ""
    for word, theirs in contenders(loss):
        timed(theirs, X, y)
        value = at(theirs)
        best, setting = (value, word) if value < best else (best, setting)
    mine = at(ours)
    assert mine <= best * (1.0 + ROUNDING), f"{loss}: {mine!r} is above scikit-learn's {best!r}"
    return mine, ours.certificate_.relative_gap, ours.status_.name, float(best), setting


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=["unscaled", "default", "fresh", "models"])
    parser.add_argument("data", nargs="*", choices=[[], *FILES], default=[])
    parser.add_argument("--repeats", type=int, default=7, help="of default and fresh")
    options = parser.parse_args()
    {
        "unscaled": unscaled,
        "default": lambda: default(options.repeats),
        "fresh": lambda: fresh(options.repeats),
        "models": lambda: models(options.data),
    }[options.part]()


if __name__ == "__main__":
    main()
