"""Feature maps with what their fit drew: all that new rows need, as a spec and plain arrays.

Features are computed in float64, on one thread of BLAS, in blocks of rows whose length follows from the map alone, and in
the form of the training rows, dense or CSR. So the same rows have the same features in whatever form they are given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualgap.data.rows import Rows
from dualgap.data.validation import as_rows
from dualgap.features import FeatureMap, Polynomial, choose_map
from dualgap.lazy import lazy
from dualgap.linalg.parallel import use_threads
from dualgap.memory import refuse_beyond_memory
from dualgap.spec import full_text

# Rows and values of a block at most. Both are powers of two, so that a block ends wherever a longer one does.
BLOCK_ROWS = 1 << 12
BLOCK_VALUES = 1 << 22
ADVICE = "choose fewer features, or take a part of the rows"


@dataclass(frozen=True, eq=False, repr=False)
class FittedMap:
    """A feature map fitted to training rows: its options, and the arrays that its fit left.

    Examples
    --------
    >>> import numpy as np
    >>> import dualgap as dg
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> features = dg.FittedMap.fit("gaussian(centers=10, width=2)", X)
    >>> features
    FittedMap(gaussian(centers=10, width=2.0, seed=0): 3 columns to 10 features)
    >>> features.transform(X).shape
    (50, 10)
    """

    options: FeatureMap
    columns: int
    """Columns of the rows that the map takes."""
    count: int
    """Features that it makes."""
    arrays: Mapping[str, Any]
    """What the fit left, by name: float64 arrays; drawn rows are a CSR matrix where the training rows were sparse."""
    is_sparse: bool = False
    """Whether the training rows were sparse."""

    def __post_init__(self) -> None:
        if self.columns < 1 or self.count < 1:
            raise ValueError(f"a feature map needs columns and features, got {self.columns} and {self.count}")
        for name, shape in self.options.shapes(self.columns, self.count).items():
            values = self.arrays.get(name)
            if values is None or values.shape != shape or values.dtype != np.float64:
                found = "none" if values is None else f"{values.dtype} of shape {values.shape}"
                raise ValueError(
                    f"the map {self.options.name} needs {name} of float64 numbers of shape {shape}, got {found}"
                )
            if sp.issparse(values) != (self.is_sparse and name == self.options.drawn_rows):
                raise ValueError(f"the {name} of a feature map are sparse where its training rows are, and here not so")
            if not np.isfinite(values.data if sp.issparse(values) else values).all():
                raise ValueError(f"the {name} of a feature map need to be finite numbers, got others")

    @staticmethod
    def fit(features: object, X: Any, seed: int | None = None) -> FittedMap:
        """A map of the table `FEATURES`, by spec or object, fitted to the rows of X; `seed` is for a spec without one."""
        options, rows = choose_map(features, seed), as_rows(X)
        _refuse_huge(options, rows)
        with use_threads(1):
            made = options.fit(rows.block(slice(0, rows.count)))
        arrays = {name: getattr(made, f"{name}_") for name in options.fitted}
        if isinstance(options, Polynomial):
            count = int(made.n_output_features_)
        else:
            # The first array has the features along its rows, but for directions, which are columns.
            first = arrays[options.fitted[0]]
            count = int(first.shape[0 if options.drawn_rows else 1])
        if options.drawn_rows is not None and rows.is_sparse:
            arrays[options.drawn_rows] = sp.csr_matrix(arrays[options.drawn_rows])
        return FittedMap(options, rows.dimension, count, arrays, rows.is_sparse)

    @property
    def spec(self) -> str:
        """The spec with all options."""
        return full_text(self.options)

    @lazy
    def transformer(self) -> Any:
        """The scikit-learn transformer."""
        return self.options.restored(self.columns, self.arrays)

    def transform(self, X: Any) -> Any:
        """The features of all rows: a float64 array, or CSR for polynomials of sparse rows."""
        rows = as_rows(X).of_width(self.columns)
        if isinstance(self.options, Polynomial) and self.is_sparse:
            return sp.vstack([sp.csr_matrix(block) for _, block in self.blocks(rows)], format="csr")
        refuse_beyond_memory(8 * rows.count * self.count, f"{rows.count:,} × {self.count:,} features", ADVICE)
        out = np.empty((rows.count, self.count))
        for part, block in self.blocks(rows):
            out[part] = block
        return out

    def blocks(self, rows: Rows) -> Iterator[tuple[slice, Any]]:
        """Slices of rows with their features, in the order of the rows."""
        length = min(BLOCK_ROWS, 1 << (max(1, BLOCK_VALUES // self.count).bit_length() - 1))
        for begin in range(0, rows.count, length):
            part = slice(begin, min(begin + length, rows.count))
            block = rows.block(part)
            if self.is_sparse != rows.is_sparse:
                block = sp.csr_matrix(block) if self.is_sparse else block.toarray()
            with use_threads(1), np.errstate(over="ignore", under="ignore", invalid="ignore"):
                made = self.transformer.transform(block)
            if not np.isfinite(made.data if sp.issparse(made) else made).all():
                raise ValueError(
                    f"the features of rows {part.start} to {part.stop - 1} are beyond float64; scale the columns down"
                )
            yield part, made

    def __repr__(self) -> str:
        return f"FittedMap({self.spec}: {self.columns} columns to {self.count} features)"


def _refuse_huge(options: FeatureMap, rows: Rows) -> None:
    """Refuse, before anything is drawn, weights or directions that memory cannot hold."""
    if isinstance(options, Polynomial):
        needed = options.count(rows.dimension, 1 << 60)
    else:
        # Random directions are columns × components; drawn rows are no more than the rows themselves.
        needed = 0 if options.drawn_rows else rows.dimension * int(getattr(options, "components", 0))
    refuse_beyond_memory(8 * needed, f"the map {full_text(options)} of {rows.dimension:,} columns", ADVICE)
