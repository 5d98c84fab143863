"""Files as data sets: svmlight text, csv, parquet, npz, and folders or zips of pictures; refusals are one sentence."""

from __future__ import annotations

import csv
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dualgap.data.files import source
from dualgap.data.npy import read_array
from dualgap.datasets.dataset import Dataset
from dualgap.datasets.layout import AS_IT_IS, TextOptions
from dualgap.datasets.svmlight import read_svmlight, refuse_too_wide
from dualgap.datasets.tables import read_table
from dualgap.datasets.text import COMPRESSED, TooMuchText, checked_encoding, decompressed, opened, undecodable

SVMLIGHT = (".svm", ".libsvm", ".svmlight")
TABLES = (".csv", ".tsv")
FOLDER = "folder"
KINDS = (*SVMLIGHT, *TABLES, ".parquet", ".npz", ".zip")
SUFFIXES = (
    *(kind + ending for kind in (*SVMLIGHT, *TABLES) for ending in ("", *COMPRESSED)),
    ".parquet",
    ".npz",
    ".zip",
)

ARRAYS = ("X", "y", "data", "indices", "indptr", "shape")
PARTS = (*ARRAYS, *(f"{name}_test" for name in ARRAYS), "feature_names")
# What reading a damaged file may raise, besides ValueError.
DAMAGE = (EOFError, OSError, RuntimeError, zlib.error, lzma.LZMAError, struct.error, zipfile.BadZipFile, csv.Error)

# A label, then index:value pairs; many svmlight files on the web have no suffix, so the first row must tell.
_SVMLIGHT_ROW = re.compile(rb"^\s*[-+]?[\d.]+(e[-+]?\d+)?(\s+(qid|\d+):\S+)+\s*(#.*)?$", re.IGNORECASE)


def read(path: Path, target: str | int | None = None, options: TextOptions = AS_IT_IS) -> Dataset:
    """The data set in a file; its format is told by its suffix, and where that says nothing by its first row."""
    checked_encoding(options.encoding)
    is_folder = "\0" not in str(path) and path.is_dir()
    if not is_folder:
        source(path)
    with refusing_damage(path, options.encoding):
        kind = FOLDER if is_folder else kind_of(path)
        if kind in TABLES or kind == ".parquet":
            return _read_table(path, kind, target, options)
        for_tables_only(target, options, f"{path.name!r} is not one")
        if kind in (FOLDER, ".zip"):
            return _read_pictures(path)
        return _read_npz(path) if kind == ".npz" else _read_svmlight(path)


def for_tables_only(target: str | int | None, options: TextOptions, what: str) -> None:
    """A refusal of what can be said of columns of a table alone."""
    if target is not None:
        raise ValueError(f"a target column can be chosen in csv and parquet files only, and {what}")
    if options.given():
        raise ValueError(f"{options.given()} can be given for csv and parquet files only, and {what}")


@contextmanager
def refusing_damage(path: Path, encoding: str | None = None) -> Iterator[None]:
    """One sentence for a file that ends early, is not what its name says, may not be read, or does not fit."""
    try:
        yield
    except PermissionError:
        raise ValueError(f"{str(path)!r} may not be read; check its permissions") from None
    except TooMuchText as error:
        raise ValueError(str(error)) from None
    except MemoryError:
        raise ValueError(f"{str(path)!r} does not fit into memory; take a part of its rows or columns") from None
    except UnicodeDecodeError as error:
        sentence = f"{str(path)!r} is damaged or not what its name says: {error}; get the file anew"
        raise ValueError(undecodable(path, encoding) or sentence) from None
    except DAMAGE as error:
        raise ValueError(f"{str(path)!r} is damaged or not what its name says: {error}; get the file anew") from None


def kind_of(path: Path) -> str:
    """The format's plain suffix."""
    name = path.name.lower()
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    for suffix in KINDS:
        if name.endswith(suffix):
            return suffix
    with decompressed(path) as file:
        for line in file:
            if line.strip() and not line.lstrip().startswith(b"#"):
                if _SVMLIGHT_ROW.match(line):
                    return SVMLIGHT[0]
                break
    raise ValueError(f"the format of {path.name!r} is not known; it should end in {', '.join(KINDS)}")


def _read_svmlight(path: Path) -> Dataset:
    X, y = read_svmlight(lambda: decompressed(path), repr(str(path)))
    return Dataset(path.name, X, y, description="read from svmlight text", source=str(path))


def _read_table(path: Path, kind: str, target: str | int | None, options: TextOptions) -> Dataset:
    if kind == ".parquet":
        from dualgap.datasets.parquet import read_parquet

        table = read_parquet(path, target, options.drop)
    else:
        table = read_table(lambda: opened(path, options.encoding), path.name, target, options)
    return Dataset(
        path.name,
        table.X,
        table.y,
        feature_names=table.feature_names,
        description=f"read from {'parquet' if kind == '.parquet' else 'csv'}, target column {table.target}",
        source=str(path),
        standardize=True,
        target=table.target,
    )


def _read_pictures(path: Path) -> Dataset:
    """Grey pictures in a folder for each label; those that cannot be used are named in the log."""
    from dualgap.datasets.picture_folders import read_album

    album = read_album(path)
    height, width = album.shape
    return album.dataset(path.name, str(path), f"grey pictures of {width} × {height} pixels")


def _read_npz(path: Path) -> Dataset:
    """Dense `X`, `y`, or sparse `data`, `indices`, `indptr`, `shape`, `y`; the names of a test part end in `_test`."""
    parts = read_npz(path)
    X, y = part_of(path, parts, "")
    X_test, y_test = part_of(path, parts, "_test") if "y_test" in parts else (None, None)
    if X_test is not None and X_test.shape[1] != X.shape[1]:
        raise ValueError(
            f"{str(path)!r} has {X.shape[1]} columns in its training part and {X_test.shape[1]} in its test part"
        )
    names = names_of(path, parts)
    dense = isinstance(X, np.ndarray)
    description = f"read from npz, {'dense' if dense else 'sparse'}"
    return Dataset(path.name, X, y, X_test, y_test, None, names, description, str(path), standardize=dense)


def read_npz(path: Path, names: Collection[str] = PARTS) -> dict[str, np.ndarray[Any, Any]]:
    """Those of the named arrays that an archive holds, by their names."""
    try:
        with open(source(path), "rb") as file, zipfile.ZipFile(file) as archive:
            found = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            parts = {}
            for name, info in found.items():
                if name in names:
                    with archive.open(info) as member:
                        parts[name] = read_array(member, info.file_size, f"{name}.npy")
    except zipfile.BadZipFile as error:
        raise ValueError(f"{str(path)!r} is damaged or not an npz archive: {error}; get the file anew") from None
    except ValueError as error:
        raise ValueError(f"{str(path)!r} is not an npz archive of plain arrays: {error}") from None
    return parts


def names_of(path: Path, parts: dict[str, np.ndarray[Any, Any]]) -> tuple[str, ...] | None:
    """The names of the columns, None where the archive has none."""
    names = parts.get("feature_names")
    if names is None:
        return None
    if names.ndim != 1 or names.dtype.kind != "U":
        raise ValueError(
            f"{str(path)!r} should hold a list of text as feature_names, and has {names.dtype} of shape {names.shape}"
        )
    return tuple(map(str, names.tolist()))


def part_of(path: Path, parts: dict[str, np.ndarray[Any, Any]], ending: str) -> tuple[Any, Any]:
    needed = [array + ending for array in ("data", "indices", "indptr", "shape")]
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
            refuse_too_wide(int(shape[1]), "it")
            X: Any = csr_matrix((data, indices, indptr), shape=(int(shape[0]), int(shape[1])))
            X.check_format(full_check=True)
        except (ValueError, TypeError, IndexError, OverflowError) as error:
            raise ValueError(f"the sparse matrix in {str(path)!r} is malformed: {error}") from None
    else:
        X = parts[needed[0]]
    if X.ndim != 2 or y.ndim != 1 or X.shape[0] != y.shape[0]:
        raise ValueError(
            f"{str(path)!r} should hold n rows and n targets, and has X{ending} {X.shape} and y{ending} {y.shape}"
        )
    if X.shape[0] == 0:
        raise ValueError(f"{str(path)!r} has no rows in X{ending}")
    if (
        X.dtype.kind not in "biuf"
        or y.dtype.kind not in "biufUS"
        or not _is_finite(X if isinstance(X, np.ndarray) else X.data)
        or not _is_finite(y)
    ):
        raise ValueError(
            f"{str(path)!r} should hold finite numbers in X{ending} and y{ending}, and has text, NaN or infinity; "
            "turn text into numbers, and fill or drop the others"
        )
    return X, y


def _is_finite(values: np.ndarray[Any, Any]) -> bool:
    """Whether no value is NaN or infinite; the sum tells without a copy of the data, short of an overflow."""
    if values.dtype.kind != "f":
        return True
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum(dtype=np.float64)) or np.isfinite(values).all())
