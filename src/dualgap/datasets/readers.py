"""Files as data sets: svmlight text, csv and npz, plain or compressed; refusals are one sentence."""

from __future__ import annotations

import bz2
import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np

from dualgap.datasets.dataset import Dataset
from dualgap.datasets.tables import read_table

SVMLIGHT = (".svm", ".libsvm", ".svmlight")
TABLES = (".csv", ".tsv")
COMPRESSED = (".gz", ".bz2")
SUFFIXES = (*(kind + ending for kind in (*SVMLIGHT, *TABLES) for ending in ("", *COMPRESSED)), ".npz")

# A label, then index:value pairs; many svmlight files on the web have no suffix, so the first row must tell.
_SVMLIGHT_ROW = re.compile(r"^\s*[-+]?[\d.]+(e[-+]?\d+)?(\s+(qid|\d+):\S+)+\s*(#.*)?$", re.IGNORECASE)


def read(path: Path, target: str | int | None = None) -> Dataset:
    """The data set in a file; its format is told by its suffix, and where that says nothing by its first row."""
    if not path.exists():
        raise FileNotFoundError(f"there is no file {str(path)!r}")
    if not path.is_file():
        raise ValueError(
            f"{str(path)!r} is not a file; give a file of the kind {', '.join((*SVMLIGHT, *TABLES, '.npz'))}"
        )
    kind = kind_of(path)
    if target is not None and kind not in TABLES:
        raise ValueError(f"a target column can be chosen in csv files only, and {path.name!r} is not one")
    try:
        if kind in TABLES:
            return _read_csv(path, target)
        return _read_npz(path) if kind == ".npz" else _read_svmlight(path)
    except PermissionError:
        raise ValueError(f"{str(path)!r} may not be read; check its permissions") from None
    except (EOFError, OSError, zlib.error, zipfile.BadZipFile) as error:
        raise ValueError(f"{str(path)!r} is damaged or not what its name says: {error}") from None


def kind_of(path: Path) -> str:
    """The format's plain suffix."""
    name = path.name.lower()
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    for suffix in (*SVMLIGHT, *TABLES, ".npz"):
        if name.endswith(suffix):
            return suffix
    with opened(path) as file:
        for line in file:
            if line.strip() and not line.lstrip().startswith("#"):
                if _SVMLIGHT_ROW.match(line):
                    return SVMLIGHT[0]
                break
    raise ValueError(
        f"the format of {path.name!r} is not known; it should end in {', '.join((*SVMLIGHT, *TABLES, '.npz'))}"
    )


def opened(path: Path) -> IO[str]:
    """The text of a file, decompressed where its name says so."""
    # A byte-order mark is dropped; a stray byte in a header must not stop the reading of numbers.
    openers: dict[str, Callable[..., Any]] = {".gz": gzip.GzipFile, ".bz2": bz2.BZ2File}
    raw = openers.get(path.suffix.lower(), open)(path, "rb")
    return io.TextIOWrapper(raw, encoding="utf-8-sig", errors="replace", newline="")


def _read_svmlight(path: Path) -> Dataset:
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(str(path))
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{str(path)!r} is not svmlight text (a label, then index:value pairs): {error}") from None
    if X.shape[0] == 0:
        raise ValueError(f"{str(path)!r} holds no rows")
    return Dataset(path.name, X, y, description="read from svmlight text", source=str(path))


def _read_csv(path: Path, target: str | int | None) -> Dataset:
    table = read_table(lambda: opened(path), path.name, target)
    return Dataset(
        path.name,
        table.X,
        table.y,
        feature_names=table.feature_names,
        description=f"read from csv, target column {table.target}",
        source=str(path),
        standardize=True,
    )


def _read_npz(path: Path) -> Dataset:
    """Dense `X`, `y`, or sparse `data`, `indices`, `indptr`, `shape`, `y`; the names of a test part end in `_test`."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            if not isinstance(archive, np.lib.npyio.NpzFile):
                raise ValueError("it is a single array")
            parts = {name: archive[name] for name in archive.files}
    except ValueError as error:
        raise ValueError(f"{str(path)!r} is not an npz archive of plain arrays: {error}") from None
    X, y = part_of(path, parts, "")
    X_test, y_test = part_of(path, parts, "_test") if "y_test" in parts else (None, None)
    if X_test is not None and X_test.shape[1] != X.shape[1]:
        raise ValueError(
            f"{str(path)!r} has {X.shape[1]} columns in its training part and {X_test.shape[1]} in its test part"
        )
    names = tuple(str(name) for name in parts["feature_names"]) if "feature_names" in parts else None
    dense = isinstance(X, np.ndarray)
    description = f"read from npz, {'dense' if dense else 'sparse'}"
    return Dataset(path.name, X, y, X_test, y_test, None, names, description, str(path), standardize=dense)


def part_of(path: Path, parts: dict[str, np.ndarray[Any, Any]], ending: str) -> tuple[Any, Any]:
    needed = [piece + ending for piece in ("data", "indices", "indptr", "shape")]
    sparse = needed[0] in parts and "X" + ending not in parts
    if not sparse:
        needed = ["X" + ending]
    missing = [name for name in (*needed, "y" + ending) if name not in parts]
    if missing:
        raise ValueError(
            f"{str(path)!r} lacks {', '.join(missing)}; a dense file holds X and y, a sparse one data, indices, "
            f"indptr, shape and y, and this one holds {', '.join(parts) or 'nothing'}"
        )
    y = parts["y" + ending]
    if sparse:
        from scipy.sparse import csr_matrix

        data, indices, indptr, shape = (parts[name] for name in needed)
        try:
            X: Any = csr_matrix((data, indices, indptr), shape=(int(shape[0]), int(shape[1])))
        except (ValueError, TypeError, IndexError) as error:
            raise ValueError(f"the sparse matrix in {str(path)!r} is malformed: {error}") from None
    else:
        X = parts[needed[0]]
    if X.ndim != 2 or y.ndim != 1 or X.shape[0] != y.shape[0]:
        raise ValueError(
            f"{str(path)!r} should hold n rows and n targets, and has X{ending} {X.shape} and y{ending} {y.shape}"
        )
    return X, y
