"""The problems of the rivals bench: which data, made how, under which loss and strength; prepared once into a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

Pair = tuple[Any, np.ndarray]

# λ·n in the order of a scan: the usual strength first.
FACTORS = ("1", "10", "0.01")
CLASSIFIED, MEASURED = ("hinge", "logistic"), ("squared", "absolute")


def stored(name: str) -> Pair:
    """X in float64 (dense by rows, or CSR) and y, as stored in the folder DUALGAP_DATA."""
    folder = os.environ.get("DUALGAP_DATA")
    if not folder:
        raise SystemExit("the bench needs the folder of the stored data sets, got none; set DUALGAP_DATA")
    with np.load(Path(folder) / f"{name}.npz") as parts:
        y = parts["y"].astype(np.float64)
        if "indptr" not in parts:
            return np.ascontiguousarray(parts["X"], dtype=np.float64), y
        data = parts["data"].astype(np.float64)
        indices, indptr = parts["indices"].astype(np.int32), parts["indptr"].astype(np.int32)
        return sp.csr_matrix((data, indices, indptr), shape=tuple(parts["shape"])), y


def breast_cancer() -> Pair:
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    return X, np.where(y > 0, 1.0, -1.0)


def with_constant(X: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.column_stack([X, np.ones(len(X))]))


def standardized(values: np.ndarray) -> np.ndarray:
    return (values - values.mean(axis=0)) / values.std(axis=0)


def unit_rows(X: Any) -> Any:
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return sp.csr_matrix(sp.diags(1.0 / np.where(norms > 0.0, norms, 1.0)) @ X)


def sublinear(X: Any) -> Any:
    """(1 + ln tf)·idf, with idf = 1 + ln((1 + n)/(1 + rows with the word))."""
    idf = 1.0 + np.log((1.0 + X.shape[0]) / (1.0 + np.bincount(X.indices, minlength=X.shape[1])))
    return sp.csr_matrix(((1.0 + np.log(X.data)) * idf[X.indices], X.indices, X.indptr), shape=X.shape)


def raw(pair: Pair) -> Pair:
    return with_constant(pair[0]), pair[1]


def scaled(pair: Pair) -> Pair:
    return with_constant(standardized(pair[0])), pair[1]


def measured(name: str) -> Pair:
    X, y = scaled(stored(name))
    return X, standardized(y)


def against(pair: Pair, classes: Sequence[int], change: Callable[[Any], Any] = lambda X: X) -> Pair:
    """The given classes are +1, the rest −1."""
    return change(pair[0]), np.where(np.isin(pair[1], list(classes)), 1.0, -1.0)


@dataclass(frozen=True)
class Data:
    """How a data set is made, in code and in words."""

    make: Callable[[], Pair]
    words: str
    losses: tuple[str, ...] = CLASSIFIED


RAW, SCALED = "as stored, and a constant column", "mean 0, deviation 1, and a constant column"
DATA = {
    "breast_cancer": Data(lambda: scaled(breast_cancer()), SCALED),
    "breast_cancer_raw": Data(lambda: raw(breast_cancer()), RAW),
    "golub": Data(lambda: stored("golub_allaml"), "golub_allaml as stored"),
    "prostate": Data(lambda: stored("prostate_ge"), "prostate_ge as stored"),
    "spambase": Data(lambda: scaled(stored("spambase")), SCALED),
    "spambase_raw": Data(lambda: raw(stored("spambase")), RAW),
    "mushrooms": Data(lambda: stored("mushrooms"), "as stored"),
    "a9a": Data(lambda: stored("a9a"), "as stored"),
    "cod_rna": Data(lambda: stored("cod_rna_scaled"), "as stored (cod_rna_scaled)"),
    "skin": Data(lambda: scaled(stored("skin_nonskin")), SCALED),
    "skin_raw": Data(lambda: raw(stored("skin_nonskin")), RAW),
    "newsgroups": Data(
        lambda: against(
            stored("newsgroups20_counts"), (*range(1, 6), *range(11, 15)), lambda X: unit_rows(sublinear(X))
        ),
        "sublinear tf-idf, unit rows, classes 1–5 and 11–14 against the rest",
    ),
    # Its classes are numbered from 1.
    "news20": Data(
        lambda: against(stored("news20_multiclass"), range(1, 11), unit_rows),
        "unit rows, the first ten classes against the rest",
    ),
    "mnist": Data(lambda: against(stored("mnist"), range(0, 10, 2), lambda X: X / 255.0), "X/255, even against odd"),
    "covtype": Data(lambda: against(stored("covtype"), (2,)), "as stored, class 2 against the rest"),
    "abalone": Data(lambda: measured("abalone"), f"{SCALED}; y standardized", MEASURED),
    "california": Data(lambda: measured("california_housing"), f"{SCALED}; y standardized", MEASURED),
}


@dataclass(frozen=True)
class BenchProblem:
    """A data set, a loss and λ·n."""

    data: str
    loss: str
    factor: str

    @property
    def name(self) -> str:
        return f"{self.loss} {self.data} {self.factor}/n"

    def strength(self, rows: int) -> float:
        return float(self.factor) / rows


# Strength by strength; small data first, so that a scan shows early whether all is well.
PROBLEMS = {
    problem.name: problem
    for factor in FACTORS
    for name, data in DATA.items()
    for loss in data.losses
    for problem in [BenchProblem(name, loss, factor)]
}


def prepare(folder: Path, names: Sequence[str]) -> None:
    """Write X and y of each data set where a child process finds them; what is there stays."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        if (folder / f"{name}.y.npy").exists():
            continue
        X, y = DATA[name].make()
        if sp.issparse(X):
            # A product leaves the columns of a row in any order; users have them in theirs.
            X.sort_indices()
            sp.save_npz(folder / f"{name}.X.npz", X, compressed=False)
        else:
            np.save(folder / f"{name}.X.npy", X)
        # Last, because its presence says that the whole is there.
        np.save(folder / f"{name}.y.npy", y)


def load(folder: Path, name: str) -> Pair:
    """What `prepare` wrote."""
    y = np.load(folder / f"{name}.y.npy")
    if (folder / f"{name}.X.npz").exists():
        return sp.csr_matrix(sp.load_npz(folder / f"{name}.X.npz")), y
    return np.load(folder / f"{name}.X.npy"), y
