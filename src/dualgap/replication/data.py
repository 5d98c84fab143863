"""Data sets that only the reports have: others of the table, changed as a report changed them."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np

from dualgap.datasets import DATASETS, Dataset, for_task, load, locations, split
from dualgap.datasets.blood_cells import blood_cells

ARCHIVE = ("blood_cells_lymphocyte_neutrophil.zip",)


@dataclass(frozen=True)
class Derived:
    """What derived data sets have in common: a base, and its shape once it is loaded."""

    data: str = ""
    name: ClassVar[str] = "derived"
    summary: ClassVar[str] = "another data set, changed as a report changed it"
    source: ClassVar[str] = "derived"
    loss: ClassVar[str] = "hinge"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.load().shape

    def load(self) -> Dataset:
        """The base itself."""
        return load(self.data)


@dataclass(frozen=True)
class ZeroOne(Derived):
    """Labels left at 0 and 1 where an algorithm wants −1 and +1.

    max(0, 1 − y⟨x, w⟩) is then the constant 1 on every row labelled 0, which is what a row of zeros has: such rows of
    the training part become zeros, and P, every step, and the final weights are those of labels left as they are.
    """

    test: float = 0.2
    seed: int = 0
    name: ClassVar[str] = "zero_one"

    def load(self) -> Dataset:
        parts = split(for_task(load(self.data), "classification"), self.test, self.seed, False, stratify=True)
        X = np.where((parts.y > 0)[:, None], parts.X, 0.0)
        return replace(parts, name=f"{parts.name}, labels 0/1", X=X, beta=None, standardize=False)


@dataclass(frozen=True)
class UnitRows(Derived):
    """All rows divided by the length of the longest, as the papers on SDCA, ASDCA and Pegasos assume of them.

    `standardized` columns have mean 0 and deviation 1 before that.
    """

    standardized: bool = False
    name: ClassVar[str] = "unit_rows"

    def load(self) -> Dataset:
        whole = load(self.data)
        X = np.asarray(whole.X, dtype=np.float64)
        if self.standardized:
            deviation = X.std(axis=0)
            X = (X - X.mean(axis=0)) / np.where(deviation > 0.0, deviation, 1.0)
        longest = float(np.sqrt(np.einsum("ij,ij->i", X, X).max()))
        return replace(whole, X=X / longest, standardize=False)


@functools.lru_cache(maxsize=1)
def _base(data: str) -> Dataset:
    """A data set whose first rows are wanted: R4's validation asks a hundred times for Adult, whose text takes a second to read."""
    return load(data)


@dataclass(frozen=True)
class FirstRows(Derived):
    """The first rows of a data set, as R4 took those of Adult, with no official test part; 0 rows mean all.

    `joined` puts the official test part behind the training part first.
    """

    rows: int = 0
    standardize: bool = True
    joined: bool = False
    name: ClassVar[str] = "first_rows"

    def load(self) -> Dataset:
        whole = _base(self.data)
        if self.joined and whole.y_test is not None:
            whole = replace(whole, X=np.concatenate([whole.X, whole.X_test]), y=np.concatenate([whole.y, whole.y_test]))
        count = self.rows or whole.shape[0]
        return replace(
            whole,
            name=f"{whole.name}, first {count:,} rows" if self.rows else whole.name,
            X=whole.X[:count],
            y=whole.y[:count],
            X_test=None,
            y_test=None,
            standardize=self.standardize,
        )


@dataclass(frozen=True)
class GaussianMap(Derived):
    """exp(−‖x − s‖²/h²) for centers s drawn from the training part, then standardized: R4's projection, sign corrected."""

    width: float = 10.0
    share: float = 0.2
    rows: int = 0
    test: float = 0.15
    seed: int = 0
    name: ClassVar[str] = "gaussian_map"

    def load(self) -> Dataset:
        from sklearn.preprocessing import StandardScaler

        from dualgap.features import GaussianCenters

        base = for_task(FirstRows(self.data, rows=self.rows).load(), "classification")
        parts = split(base, self.test, self.seed, False, stratify=True)
        bumps = GaussianCenters(self.share, width=self.width**2, random_state=self.seed).fit(parts.X)
        X, X_test = bumps.transform(parts.X), bumps.transform(parts.X_test)
        scaler = StandardScaler().fit(X)
        return replace(
            parts,
            name=f"{parts.name}, Gaussian h = {self.width:g}",
            X=scaler.transform(X),
            X_test=scaler.transform(X_test),
            beta=None,
            standardize=False,
        )


@dataclass(frozen=True)
class Cells(Derived):
    """Cropped blood cells: pixels from 0 to `pixels`, and the first `components` of a PCA, centered or not; 0 for none.

    `plain` crops keep the black frame of a rotated picture and lie inside it.
    """

    pixels: int = 1
    components: int = 0
    centered: bool = True
    plain: bool = False
    name: ClassVar[str] = "cells"

    def load(self) -> Dataset:
        # A PCA takes many seconds and its result is small; the pictures themselves are large and quick to scale.
        return _reduced_cells(self) if self.components else self.scaled()

    def scaled(self) -> Dataset:
        """All pixels, in their range."""
        base = pictures(self.plain)
        divisor = np.float32(255.0 / self.pixels)
        X, X_test = (np.asarray(part, dtype=np.float32) / divisor for part in (base.X, base.X_test))
        return replace(base, X=X, X_test=X_test, standardize=False)


def archive() -> Path:
    """Where the pictures are."""
    found = locations.find(ARCHIVE)
    if found is None:
        raise FileNotFoundError(f"the blood cells are not here; {locations.what_to_do('blood_cells', ARCHIVE, False)}")
    return found[1][0]


@functools.lru_cache(maxsize=2)
def pictures(plain: bool = False) -> Dataset:
    """The cropped pictures, kept because cropping them takes a minute."""
    return blood_cells(archive(), plain=plain).dataset


@functools.lru_cache(maxsize=8)
def _reduced_cells(cells: Cells) -> Dataset:
    from sklearn.decomposition import PCA, TruncatedSVD

    whole = cells.scaled()
    if cells.centered:
        reducer = PCA(cells.components, svd_solver="randomized", random_state=0)
    else:
        reducer = TruncatedSVD(cells.components, random_state=0)
    return replace(whole, X=reducer.fit_transform(whole.X), X_test=reducer.transform(whole.X_test))


SOURCES = (ZeroOne, UnitRows, FirstRows, GaussianMap, Cells)


@contextmanager
def at_hand() -> Iterator[None]:
    """Inside the `with` block the table knows the derived data sets too; what they keep of others is dropped at its end."""
    DATASETS.update({source.name: source for source in SOURCES})
    try:
        yield
    finally:
        for source in SOURCES:
            DATASETS.pop(source.name, None)
        _base.cache_clear()
