"""Published data sets from scikit-learn's fetchers and OpenML, written as the files that the table of sets names.

The live servers were not at hand when this was written: tests run it against a server of their own, and whatever comes is
compared with the known sizes before it is kept (cache.py).
"""

from __future__ import annotations

import csv
import gzip
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

RETRIES, DELAY = 2, 1.0  # of a request that fails, and the seconds in between
TRAINING_ROWS = {"mnist": 60_000, "adult": 32_561}  # OpenML has the test part behind the training part


def write_files(name: str, download: str, files: Sequence[str], folder: Path) -> None:
    """Ask for a set and write its files into `folder`, which also takes what scikit-learn keeps while it works."""
    with warnings.catch_warnings():
        # scikit-learn warns of each retry, and of versions that OpenML no longer shows.
        warnings.simplefilter("ignore")
        word, _, number = download.partition(" ")
        if word != "openml":
            arrays = FETCHERS[word](folder)
        else:
            bunch = _openml(int(number), folder)
            if name in TEXTS:
                TEXTS[name](bunch, [folder / file for file in files])
                return
            arrays = ARRAYS.get(name, _measured)(bunch)
    np.savez_compressed(folder / files[0], **arrays)


def _openml(number: int, folder: Path) -> Any:
    from sklearn.datasets import fetch_openml

    # This parser needs no pandas, and hands categories out as numbers with their names beside them.
    return fetch_openml(
        data_id=number, data_home=folder, as_frame=False, parser="liac-arff", n_retries=RETRIES, delay=DELAY
    )


def _measured(bunch: Any) -> dict[str, Any]:
    return {
        "X": np.asarray(bunch.data, dtype=np.float64),
        "y": np.asarray(bunch.target).astype(np.float64),
        "feature_names": np.array(bunch.feature_names),
    }


def _signed(positive: str) -> Callable[[Any], dict[str, Any]]:
    """Labels of two kinds, the given one as +1."""

    def arrays(bunch: Any) -> dict[str, Any]:
        y = np.where(np.asarray(bunch.target).astype(str) == positive, 1, -1).astype(np.int8)
        return {"X": bunch.data, "y": y, "feature_names": np.array(bunch.feature_names)}

    return arrays


def _skin(bunch: Any) -> dict[str, Any]:
    """Colours fit into a byte each; label 1 is skin."""
    arrays = _signed("1")(bunch)
    return arrays | {"X": arrays["X"].astype(np.uint8)}


def _abalone(bunch: Any) -> dict[str, Any]:
    """Sex is 0 for male, 1 for female, 2 for an infant, whatever order OpenML lists them in."""
    arrays = _measured(bunch)
    listed, column = bunch.categories["Sex"], bunch.feature_names.index("Sex")
    codes = np.array(["MFI".index(sex) for sex in listed], dtype=np.float64)
    arrays["X"][:, column] = codes[arrays["X"][:, column].astype(int)]
    return arrays


def _letter(bunch: Any) -> dict[str, Any]:
    y = np.array([ord(capital) - ord("A") for capital in bunch.target], dtype=np.int8)
    return {"X": bunch.data.astype(np.int8), "y": y, "feature_names": np.array(bunch.feature_names)}


def _mnist(bunch: Any) -> dict[str, Any]:
    X, y = bunch.data.astype(np.uint8), bunch.target.astype(np.uint8)
    cut = TRAINING_ROWS["mnist"]
    return {"X": X[:cut], "y": y[:cut], "X_test": X[cut:], "y_test": y[cut:]}


def _covtype(folder: Path) -> dict[str, Any]:
    from sklearn.datasets import fetch_covtype

    bunch = fetch_covtype(data_home=folder, n_retries=RETRIES, delay=DELAY)
    return {
        "X": bunch.data.astype(np.int16),
        "y": bunch.target.astype(np.int8),
        "feature_names": np.array(bunch.feature_names),
    }


def _newsgroups(folder: Path) -> dict[str, Any]:
    """Word counts by scikit-learn's own rules, the vocabulary being that of the training part."""
    from sklearn.datasets import fetch_20newsgroups
    from sklearn.feature_extraction.text import CountVectorizer

    parts: dict[str, Any] = {}
    counter = CountVectorizer()
    for subset, ending in (("train", ""), ("test", "_test")):
        bunch = fetch_20newsgroups(data_home=folder, subset=subset, shuffle=False, n_retries=RETRIES, delay=DELAY)
        X = counter.fit_transform(bunch.data) if subset == "train" else counter.transform(bunch.data)
        csr = {"data": X.data.astype(np.int16), "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
        parts |= {f"{name}{ending}": value for name, value in csr.items()}
        parts[f"y{ending}"] = bunch.target.astype(np.int8)
    return parts


def _write_adult(bunch: Any, paths: Sequence[Path]) -> None:
    """The two files of UCI: categories by their names, a question mark where one is missing."""
    header = [*bunch.feature_names, "income"]
    rows = [[*cells, target] for cells, target in zip(_words(bunch), bunch.target, strict=True)]
    cut = TRAINING_ROWS["adult"]
    for path, part in zip(paths, (rows[:cut], rows[cut:]), strict=True):
        _write_csv(path, [header, *part])


def _write_arrhythmia(bunch: Any, paths: Sequence[Path]) -> None:
    _write_csv(paths[0], [[*cells, target] for cells, target in zip(_words(bunch), bunch.target, strict=True)])


def _words(bunch: Any) -> list[list[str]]:
    """Every cell as UCI wrote it: whole numbers without a point, names of categories, a question mark for a gap."""
    columns = []
    for place, name in enumerate(bunch.feature_names):
        categories = (bunch.categories or {}).get(name)
        cells = bunch.data[:, place].tolist()
        if categories is None:
            columns.append(["?" if cell != cell else f"{cell:.17g}" for cell in cells])
        else:
            columns.append(["?" if cell != cell else str(categories[int(cell)]) for cell in cells])
    return [list(row) for row in zip(*columns, strict=True)]


def _write_csv(path: Path, rows: Sequence[Sequence[Any]]) -> None:
    with gzip.open(path, "wt", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


ARRAYS: Mapping[str, Callable[[Any], dict[str, Any]]] = {
    "skin": _skin,
    "mnist": _mnist,
    "letter": _letter,
    "abalone": _abalone,
    "spambase": _signed("1"),
}
TEXTS: Mapping[str, Callable[[Any, Sequence[Path]], None]] = {
    "adult": _write_adult,
    "adult_codes": _write_adult,
    "arrhythmia": _write_arrhythmia,
}
FETCHERS: Mapping[str, Callable[[Path], dict[str, Any]]] = {
    "fetch_covtype": _covtype,
    "fetch_20newsgroups": _newsgroups,
}
