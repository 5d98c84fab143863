"""How the files of a published data set become its rows: as stored, or made into numbers, scaled, weighted."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dualgap.datasets.dataset import Dataset
from dualgap.datasets.readers import read, read_npz
from dualgap.datasets.text import opened

NUMBERS_OF_ADULT = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
RICH = ">50K"
NORMAL = "1"  # the label of a normal rhythm


def as_stored(paths: Sequence[Path]) -> Dataset:
    """The file's own numbers."""
    return read(paths[0])


def shares_of_255(paths: Sequence[Path]) -> Dataset:
    """Pixels from 0 to 1, in float32."""
    return _changed(read(paths[0]), lambda X: np.divide(X, 255.0, dtype=np.float32))


def unit_rows(paths: Sequence[Path]) -> Dataset:
    """Every row divided by its length."""
    from sklearn.preprocessing import normalize

    return _changed(read(paths[0]), lambda X: normalize(X.astype(np.float64)))


def tf_idf(paths: Sequence[Path]) -> Dataset:
    """Counts as (1 + ln count)·idf, idf = 1 + ln((1 + n)/(1 + rows with the word)) of the training part; unit rows."""
    from sklearn.feature_extraction.text import TfidfTransformer

    dataset = read(paths[0])
    weighting = TfidfTransformer(sublinear_tf=True).fit(dataset.X)
    return _changed(dataset, lambda X: weighting.transform(X.astype(np.float64)))


def adult_one_hot(paths: Sequence[Path]) -> Dataset:
    """A column for each category of the training part (an unknown one is a category too), numbers at deviation 1."""
    from scipy.sparse import csr_matrix, hstack
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    names, parts, targets = _adult(paths)
    numeric = [names.index(name) for name in NUMBERS_OF_ADULT]
    nominal = [column for column in range(len(names)) if column not in numeric]
    encoder = OneHotEncoder(handle_unknown="ignore").fit(parts[0][:, nominal])
    scaler = StandardScaler().fit(parts[0][:, numeric].astype(np.float64))

    def encoded(cells: np.ndarray[Any, Any]) -> Any:
        numbers = csr_matrix(scaler.transform(cells[:, numeric].astype(np.float64)))
        return csr_matrix(hstack([numbers, encoder.transform(cells[:, nominal])], format="csr"))

    categories = zip(nominal, encoder.categories_, strict=True)
    columns = [f"{names[column]}={value}" for column, values in categories for value in values]
    return Dataset(
        "adult", encoded(parts[0]), targets[0], encoded(parts[1]), targets[1], None, (*NUMBERS_OF_ADULT, *columns)
    )


def adult_codes(paths: Sequence[Path]) -> Dataset:
    """Each category as its place in the alphabet, from 0, as report R4 read the file; an unknown one sorts first."""
    names, parts, targets = _adult(paths)
    numbers = [np.empty(part.shape) for part in parts]
    for column, name in enumerate(names):
        for part, cells in zip(numbers, parts, strict=True):
            if name in NUMBERS_OF_ADULT:
                part[:, column] = cells[:, column].astype(np.float64)
            else:
                part[:, column] = np.searchsorted(np.unique(parts[0][:, column]), cells[:, column])
    return Dataset("adult", numbers[0], targets[0], numbers[1], targets[1], None, tuple(names))


def arrhythmia(paths: Sequence[Path]) -> Dataset:
    """A missing cell is the mean of its column; +1 is a normal rhythm, −1 any other."""
    cells = np.array(_cells(paths[0]))
    text = cells[:, :-1]
    missing = text == "?"
    X = np.where(missing, "nan", text).astype(np.float64)
    X[missing] = np.broadcast_to(np.nanmean(X, axis=0), X.shape)[missing]
    return Dataset("arrhythmia", X, np.where(cells[:, -1] == NORMAL, 1, -1).astype(np.int8))


def blood_cells(paths: Sequence[Path]) -> Dataset:
    """Every picture cropped around its nucleus, as blood_cells.py does it."""
    from dualgap.datasets import blood_cells

    return blood_cells.blood_cells(paths[0]).dataset


def plain_blood_cells(paths: Sequence[Path]) -> Dataset:
    """The same with plain crops."""
    from dualgap.datasets import blood_cells

    return blood_cells.blood_cells(paths[0], plain=True).dataset


def relapse(paths: Sequence[Path]) -> Dataset:
    """The training rows in the genes that are known; a project kept these looking at the labels."""
    parts = read_npz(paths[0], ("genes_subset", "Xtrain_subset", "ytrain"))
    names = tuple(str(gene, "ascii") for gene in parts["genes_subset"].tolist())
    return Dataset("breast_relapse", parts["Xtrain_subset"], parts["ytrain"], feature_names=names)


def _changed(dataset: Dataset, change: Callable[[Any], Any]) -> Dataset:
    test = None if dataset.X_test is None else change(dataset.X_test)
    return replace(dataset, X=change(dataset.X), X_test=test)


def _cells(path: Path) -> list[list[str]]:
    with opened(path) as file:
        rows = csv.reader(file)
        cells: list[list[str]] = []
        for row in filter(None, rows):
            if cells and len(row) != len(cells[0]):
                raise ValueError(f"line {rows.line_num} of {path.name} has {len(row)} cells, the first {len(cells[0])}")
            cells.append(row)
    if not cells:
        raise ValueError(f"{path.name} is empty")
    return cells


def _adult(paths: Sequence[Path]) -> tuple[list[str], list[np.ndarray[Any, Any]], list[np.ndarray[Any, Any]]]:
    """Names of the columns, then for the training and the test part the cells and the signs of the target."""
    parts, targets = [], []
    names: list[str] = []
    for path in paths:
        names, *rows = _cells(path)
        cells = np.array(rows)
        parts.append(cells[:, :-1])
        targets.append(np.where(cells[:, -1] == RICH, 1, -1).astype(np.int8))
    return names[:-1], parts, targets
