"""Blocks: rows with labels and sample weights as a sequence of blocks, from arrays, memory maps, files or an iterable."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from functools import partial
from math import prod
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from dualgap.data.blocks.block import Block, Facts, Scan, facts_of
from dualgap.data.blocks.homes import BlockFunction, Home, InMemory, Message, Reader, Streamed, is_mapped
from dualgap.data.blocks.on_dask import home_of, is_on_dask
from dualgap.data.blocks.sources import common_names, parquet_paths, refuse_other_names
from dualgap.data.blocks.transformed import Scaling, Transform, Transformed
from dualgap.data.npy import mapped_array
from dualgap.data.rows import csr
from dualgap.data.unseen import Unseen, joined
from dualgap.lazy import lazy
from dualgap.linalg.partition import even_slices
from dualgap.memory import available_bytes

if TYPE_CHECKING:
    from dualgap.data.blocks.parquet import Parquet
    from dualgap.data.preparation import Preparation

LOG = logging.getLogger("dualgap")
# Bytes of the rows of a block, about; fewer where memory_limit is below LIMIT_BLOCKS blocks of this size. Larger blocks bring no
# speed, and smaller ones cost calls.
BLOCK_BYTES = 64 << 20
# Blocks of the largest size that memory_limit holds: two at a time, the sample of rows that a fit starts from, which takes as much as
# one, a float64 copy of a part of one, and vectors of a few numbers a row.
LIMIT_BLOCKS = 8
# Below this limit the program itself does not fit.
SMALLEST_LIMIT = 64 << 20
UNITS = {"kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12, "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}


class Blocks:
    """Rows as blocks: what is larger than memory, or comes in parts, goes where X goes.

    Parameters
    ----------
    source : array, memory map, CSR matrix, path, Dask collection, list of (X, y[, sample_weight]), or callable
        The rows. An array, a memory map or the path of a .npy file is cut into blocks by `memory_limit`; paths that end in
        .parquet, a folder of such files or a pattern with * are read row group by row group; a list has a block in each entry; a
        callable returns a new iterator over (X, y[, sample_weight]) each time it is called, as an iterable does that can be
        iterated over again. A Dask array, a Dask DataFrame or a list of delayed blocks stays where Dask's workers hold it.
    y : array or path of a .npy file, optional
        The labels, where they are not part of `source`; not needed for predictions.
    sample_weight : array or path of a .npy file, optional
        Weights of the rows.
    memory_limit : int or str, optional
        Bytes that a fit may keep in memory, such as "2GB"; half of the free memory by default.
    target : str, optional
        The column of Parquet files that holds the labels.
    weight : str, optional
        The column of Parquet files that holds sample weights.
    columns : list of str, optional
        The columns of Parquet files to use; all but `target` and `weight` by default. Columns of text or categories become one
        column a category, in order.
    standardize : bool, optional
        Whether a fit sees the columns with mean 0 and deviation 1, of sparse rows with the deviation alone; categories of Parquet files
        stay 0 and 1. Blocks are standardized as they are loaded. Weights of a result belong to the standardized columns, `coef_` of an
        estimator to the columns as they are, and predictions take the rows as they are.

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.5, 0.5]])
    >>> blocks = dg.Blocks([(X[:2], [1, -1]), (X[2:], [1, -1])])
    >>> result = dg.solve(dg.Problem(blocks, loss="hinge", strength=0.1))
    >>> result.status.name
    'CERTIFIED'
    """

    def __init__(
        self,
        source: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        memory_limit: int | str | None = None,
        target: str | None = None,
        weight: str | None = None,
        columns: Sequence[str] | None = None,
        standardize: bool = False,
    ) -> None:
        self.memory_limit = memory_bytes(memory_limit)
        self.standardize = bool(standardize)
        self.transforms: tuple[Transform, ...] = ()
        """What a fit makes of each block, after it is standardized."""
        self.table: Parquet | None = None
        """The Parquet files, where these are the source."""
        self._scans: dict[Scan, Scanned] = {}
        if is_on_dask(source):
            self.home: Home = home_of(source, y, sample_weight)
            self.__dict__["column_names"] = [str(name) for name in getattr(source, "columns", ())] or None
            return
        paths = parquet_paths(source)
        if paths is not None:
            from dualgap.data.blocks.parquet import Parquet

            _refuse(
                y is not None or sample_weight is not None, "Parquet files", "target and weight as names of columns"
            )
            self.table = Parquet(paths, target, weight, columns, self.block_bytes)
            self.home = Streamed(self.table.readers)
            return
        given = [name for name, value in (("target", target), ("weight", weight), ("columns", columns)) if value]
        if given:
            raise ValueError(f"{given[0]} names columns of Parquet files, got another source; pass arrays as X and y")
        self.home = self._home(source, y, sample_weight)
        if isinstance(source, list):
            self.__dict__["column_names"] = common_names(source)

    @lazy
    def column_names(self) -> list[str] | None:
        """Names of the columns of the rows, where the source has some."""
        return None if self.table is None else self.table.column_names

    @lazy
    def scaling(self) -> Scaling | None:
        """How columns are standardized, found in a pass of its own; None where they are not."""
        if not self.standardize:
            return None
        return Scaling.of(self.home, None if self.table is None else self.table.is_category)

    @property
    def fitted_transforms(self) -> tuple[Transform, ...]:
        """All that a fit makes of each block."""
        return self.transforms if self.scaling is None else (self.scaling, *self.transforms)

    @property
    def fitted_home(self) -> Home:
        """The blocks as a fit sees them."""
        transforms = self.fitted_transforms
        return Transformed(self.home, transforms) if transforms else self.home

    @property
    def preparation(self) -> Preparation | None:
        """How columns of a table become those of a fit, as a model file keeps it; None where they are taken as they are."""
        made = None if self.table is None else self.table.preparation
        return made if self.scaling is None else self.scaling.preparation(made, self.column_names)

    def transformed(self, transform: Transform) -> Blocks:
        """The same blocks, of which a fit makes something more."""
        made = copy(self)
        made.transforms, made._scans = (*self.transforms, transform), {}
        return made

    def aligned(self, names: Sequence[str] | None) -> Blocks:
        """The blocks with the columns that a model was fitted to: Parquet files by name, others where they have the same names.

        Categories of Parquet files that are not in `names` become zeros in all columns of theirs; `unseen` tells which.
        """
        if names is None:
            return self
        if self.table is None:
            refuse_other_names(self.column_names, list(names))
            return self
        if self.table.is_laid_out and self.table.column_names == list(names):
            return self
        made = copy(self)
        for cached in ("column_names", "scaling"):
            made.__dict__.pop(cached, None)
        made.table, made._scans = self.table.aligned(names), {}
        made.home = Streamed(made.table.readers)
        return made

    def answers(self, function: BlockFunction[Message, Any], message: Message, names: Sequence[str] | None) -> Any:
        """function(block, message) of all rows in one array, for a model with the columns `names`; unseen categories go to the log."""
        blocks = self.aligned(names)
        found = np.concatenate(list(blocks.home.map(function, message)))
        blocks.note_unseen()
        return found

    def note_unseen(self) -> None:
        """Say to the log which categories of the blocks that were read a model does not have."""
        for one in self.unseen:
            LOG.warning("%s", one.note)

    @property
    def unseen(self) -> tuple[Unseen, ...]:
        """The categories that a model does not have, of the blocks that were read."""
        return () if self.table is None else joined(self.table.unseen)

    @property
    def block_bytes(self) -> int:
        """Bytes of rows in a block, where the source may be cut anywhere."""
        return min(BLOCK_BYTES, self.memory_limit // LIMIT_BLOCKS)

    @property
    def count(self) -> int:
        """How many blocks there are."""
        return self.home.count

    def scanned(self, is_classification: bool) -> Scanned:
        """What the first pass finds; made once for each kind of labels."""
        scan = Scan(is_classification, self.count, self.memory_limit // LIMIT_BLOCKS)
        if scan not in self._scans:
            self._scans[scan] = Scanned.of(self.fitted_home, scan)
        return self._scans[scan]

    def __repr__(self) -> str:
        return f"Blocks({type(self.home).__name__}, memory_limit={self.memory_limit:,})"

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_scans": {}}

    def _home(self, source: Any, y: Any, sample_weight: Any) -> Home:
        if isinstance(source, str | PathLike) or (hasattr(source, "shape") and hasattr(source, "dtype")):
            return self._cut(_opened(source, "X"), _opened(y, "y"), _opened(sample_weight, "sample_weight"))
        _refuse(y is not None or sample_weight is not None, "a list or iterable of blocks", "them inside each block")
        if isinstance(source, list | tuple):
            if not source:
                raise ValueError("Blocks needs at least one block, got an empty list; pass [(X, y), …]")
            readers = [partial(_part, entry) for entry in source]
            blocks = list(Streamed(readers).map(_same, None))
            _check_widths(blocks)
            return InMemory(blocks)
        if callable(source):
            return Streamed(lambda: iter(source()))
        if isinstance(source, Iterable):
            if isinstance(source, Iterator):
                raise TypeError(
                    "Blocks needs an iterable that can be iterated over again, got an iterator, which can be read once; "
                    "pass a function that makes a new one"
                )
            return Streamed(lambda: iter(source))
        raise TypeError(
            f"Blocks needs rows, paths or blocks, got {type(source).__name__}; pass arrays, or (X, y) pairs"
        )

    def _cut(self, X: Any, y: Any, sample_weight: Any) -> Home:
        """Slices of an array or matrix; slices of a memory map are streamed."""
        if len(X.shape) != 2 or 0 in X.shape:
            raise ValueError(
                f"X needs rows and columns, got shape {tuple(X.shape)}; pass a matrix of at least one row and one column"
            )
        for name, values in (("y", y), ("sample_weight", sample_weight)):
            if values is not None and len(values) != X.shape[0]:
                raise ValueError(
                    f"{name} needs one value a row ({X.shape[0]}), got {len(values)}; check that X and {name} belong together"
                )
        if sp.issparse(X) and X.format != "csr":
            X = X.tocsr()
        arrays = [X.data, X.indices, X.indptr] if sp.issparse(X) else [X]
        # Bytes of the values as they are used: int8 ones become float32.
        value_bytes = 4 if np.can_cast(X.dtype, np.float32, "safe") else 8
        stored = X.data.size * (value_bytes + X.indices.itemsize) if sp.issparse(X) else prod(X.shape) * value_bytes
        number = min(max(-(-stored // self.block_bytes), 1), X.shape[0])
        parts: list[Reader] = [partial(_slice, X, y, sample_weight, part) for part in even_slices(X.shape[0], number)]
        if any(is_mapped(values) for values in arrays):
            return Streamed(parts)
        return InMemory([Block.of(k, *part()) for k, part in enumerate(parts)])


@dataclass(frozen=True)
class Scanned:
    """What the first pass over all blocks found."""

    facts: list[Facts]
    samples: list[Block]
    """Rows of each block, weighted by the rows they stand for."""

    @staticmethod
    def of(home: Home, scan: Scan) -> Scanned:
        found = list(home.map(facts_of, scan))
        widths = [facts.dimension for facts, _ in found]
        for number, width in enumerate(widths):
            if width != widths[0]:
                raise ValueError(_width_refusal(number, width, widths[0]))
        # One unit for the weights of all blocks: that of the block with the largest. A block of zeros has none of its own.
        exponent = max((facts.exponent for facts, _ in found if facts.largest_weight > 0.0), default=0)
        samples = [sample.in_units(facts.exponent - exponent) for facts, sample in found]
        return Scanned([facts.in_units(exponent) for facts, _ in found], samples)

    @property
    def exponent(self) -> int:
        """Weights and their sums are in units of 2 to this power."""
        return self.facts[0].exponent

    def as_given(self, weight: float) -> float:
        """A sum of weights in the units of the weights as given."""
        with np.errstate(over="ignore", under="ignore"):
            return float(np.ldexp(weight, self.exponent))

    @property
    def classes(self) -> NDArray[Any]:
        """The labels of all blocks in order."""
        return np.unique(np.concatenate([facts.classes for facts in self.facts if facts.classes is not None]))

    def of_classes(self, values: Callable[[Facts], NDArray[np.float64]], plus: Any = np.add) -> NDArray[np.float64]:
        """A number of each label, over all blocks: added, or put together otherwise."""
        classes = self.classes
        out = np.zeros(classes.size)
        for facts in self.facts:
            assert facts.classes is not None
            places = np.searchsorted(classes, facts.classes)
            out[places] = plus(out[places], values(facts))
        return out


def _width_refusal(number: int, width: int, first: int) -> str:
    return f"block {number}: X needs {first} columns as in block 0, got {width}; select the same columns"


def _check_widths(blocks: Sequence[Block]) -> None:
    first = blocks[0].rows.dimension
    for block in blocks:
        if block.rows.dimension != first:
            raise ValueError(_width_refusal(block.number, block.rows.dimension, first))


def memory_bytes(limit: int | str | None) -> int:
    """A limit in bytes from a number or a text such as "2GB"; half of the free memory without one."""
    if limit is None:
        return max(available_bytes() // 2, SMALLEST_LIMIT)
    value = -1.0
    text = str(limit).strip().lower().replace(",", "")
    unit = next((unit for unit in sorted(UNITS, key=len, reverse=True) if text.endswith(unit)), "")
    with suppress(ValueError):
        value = float(text.removesuffix(unit)) * UNITS.get(unit, 1)
    if not (SMALLEST_LIMIT <= value < float("inf")):
        raise ValueError(
            f"memory_limit needs at least {SMALLEST_LIMIT >> 20} MiB, as bytes or as text like '2GB', got {limit!r}; "
            "leave it out for half of the free memory"
        )
    return int(value)


def _opened(values: Any, name: str) -> Any:
    """An array, opened as a memory map where it is the path of a .npy file."""
    if values is None or not isinstance(values, str | PathLike):
        return values if values is None or hasattr(values, "shape") else np.asarray(values)
    path = Path(fspath(values))
    if path.suffix != ".npy":
        raise ValueError(f"{name} as a path needs a .npy or .parquet file, got {str(path)!r}; read it, or convert it")
    try:
        return mapped_array(path)
    except FileNotFoundError:
        raise ValueError(f"{name} needs a file that exists, got {str(path)!r}; check the path") from None


def _slice(X: Any, y: Any, sample_weight: Any, part: slice) -> tuple[Any, ...]:
    if sp.issparse(X):  # a view; SciPy would copy
        low, high = int(X.indptr[part.start]), int(X.indptr[part.stop])
        shape = (part.stop - part.start, X.shape[1])
        indptr = X.indptr[part.start : part.stop + 1] - X.indptr.dtype.type(low)
        rows = csr(X.data[low:high], X.indices[low:high], indptr, shape)
    else:
        rows = X[part]
    return (rows, *(None if values is None else np.asarray(values[part]) for values in (y, sample_weight)))


def _part(entry: Any) -> Any:
    return entry


def _same(block: Block, _: None) -> Block:
    return block


def _refuse(is_given: bool, what: str, advice: str) -> None:
    if is_given:
        raise ValueError(f"{what} hold y and sample_weight themselves, got them apart; pass {advice}")
