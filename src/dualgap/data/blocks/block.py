"""A block: a contiguous run of rows with labels and weights, what is checked of it, and what a first pass finds in it."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap.data.labels import as_column, check_length, real_targets, scaled
from dualgap.data.rows import Rows
from dualgap.data.validation import as_rows
from dualgap.lazy import lazy
from dualgap.linalg.partial_sums import Partial
from dualgap.linalg.partition import sum_slices

Vector = NDArray[np.float64]

# The most distinct labels that a first pass remembers; data with more is refused as a classification.
MAX_CLASSES = 10_000
# The sample that a fit starts from has 400 rows per column, counting at most 1,000 columns, and at least 20,000 rows, where memory
# holds them. The P of a sample's solution is about d/m too high, 1/400, so a few steps on all rows finish the fit.
SAMPLE_ROWS_PER_COLUMN, SMALLEST_SAMPLE, MAX_SAMPLED_COLUMNS = 400, 20_000, 1000
# The labels of a block that is only predicted for.
NO_LABELS: NDArray[Any] = np.empty(0)


@dataclass(frozen=True)
class Block:
    """Rows with their labels and sample weights, and the block's number."""

    number: int
    rows: Rows
    labels: NDArray[Any]
    """As they were given, or coded: −1/+1, real targets."""
    weights: Vector | None
    """Sample weights; None for ones."""

    @staticmethod
    def of(number: int, X: Any, y: Any, sample_weight: Any = None) -> Block:
        """The block of what a source holds, checked as `Problem` checks its rows."""
        try:
            rows = as_rows(X)
            labels = NO_LABELS if y is None else as_column(y)
            check_length(labels, None if y is None else rows.count, "y")
            weights = None if sample_weight is None else _weights(sample_weight, rows.count)
        except ValueError as error:
            raise ValueError(f"block {number}: {error}") from None
        return Block(number, rows, labels, weights)

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """All arrays of the block."""
        return [*self.rows.arrays, self.labels, *([] if self.weights is None else [self.weights])]

    @lazy
    def checksum(self) -> int:
        """CRC-32 of all bytes: a block that is read or made again has to be the one of the first pass."""
        found = zlib.crc32(repr((self.rows.count, self.rows.dimension)).encode())
        for values in self.arrays:
            # Objects are compared by what they look like, because their bytes are addresses.
            known: Any = repr(values.tolist()).encode() if values.dtype.hasobject else np.ascontiguousarray(values)
            found = zlib.crc32(known if isinstance(known, bytes) else known.view(np.uint8), found)
        return found

    def check_unchanged(self, checksum: int) -> None:
        """Refuse rows, labels or weights other than those of the first pass: the certificate would be of neither."""
        if self.checksum != checksum:
            raise other_rows(self.number)

    def in_units(self, shift: int) -> Block:
        """The block with its weights, or ones, multiplied by 2 to the power `shift`."""
        if not shift:
            return self
        weights = np.ones(self.rows.count) if self.weights is None else self.weights
        return replace(self, weights=np.ldexp(weights, shift))

    def __sizeof__(self) -> int:
        """Bytes of the arrays, by which Dask decides what to move: a block stays, and what is sent to it moves."""
        return object.__sizeof__(self) + sum(int(values.nbytes) for values in self.arrays)

    def __reduce__(self) -> tuple[Any, ...]:
        return _with_aligned_arrays, (self.number, self.rows, self.labels, self.weights, self.__dict__.get("checksum"))


def other_rows(number: int, got: str = "other rows, labels or weights") -> ValueError:
    """The refusal of a source whose passes differ."""
    return ValueError(
        f"block {number}: every pass needs the blocks of the first one, got {got}; "
        "give the same blocks in the same order each time"
    )


def _with_aligned_arrays(
    number: int, rows: Rows, labels: NDArray[Any], weights: Vector | None, checksum: int | None
) -> Block:
    """The block of what was pickled. NumPy adds numbers at odd addresses, where a network leaves them, in another order."""
    arrays = type(rows.arrays)(*(np.require(values, requirements="A") for values in rows.arrays))
    placed = Rows(arrays, rows.count, rows.dimension)
    placed.__dict__.update(
        {name: value for name, value in rows.__dict__.items() if name in ("squared_size", "longest")}
    )
    block = Block(number, placed, np.require(labels, requirements="A"), _required(weights))
    if checksum is not None:
        block.__dict__["checksum"] = checksum
    return block


def _required(weights: Vector | None) -> Vector | None:
    return None if weights is None else np.require(weights, requirements="A")


def _weights(sample_weight: Any, count: int) -> Vector:
    """Sample weights of a block, which may be all zero in one block and not in all."""
    values = np.ascontiguousarray(sample_weight, dtype=np.float64)
    check_length(values.reshape(-1), count, "sample_weight")
    if not np.isfinite(values).all() or (values < 0).any():
        raise ValueError(
            "sample_weight needs finite numbers ≥ 0, got others; drop rows instead of weighting them negatively"
        )
    return values.reshape(-1)


class Coding(NamedTuple):
    """How given labels and weights become those of a problem; the same for every block."""

    positive: Any | None
    """The label that becomes +1, every other one −1; None for real targets and for numbered classes."""
    factors: tuple[float, ...] | None
    """Factors of the scaled sample weights of rows of label −1 and of label +1, or of each class."""
    exponent: int
    """Weights are multiplied by 2 to this power, before the factors: a factor of a denormal number would cost digits."""
    classes: NDArray[Any] | None = None
    """The labels in order, which become 0, 1, …; None where they become −1 and +1, and for real targets."""

    def coded(self, block: Block) -> Block:
        """The block with a problem's labels and weights."""
        # A block without weights may stand beside others that have some.
        labels, weights = self.labels(block.labels), block.in_units(self.exponent).weights
        return Block(block.number, block.rows, labels, self.weighted(labels, weights))

    def labelled(self, block: Block) -> Block:
        """The block with a problem's labels and no weights."""
        return Block(block.number, block.rows, self.labels(block.labels), None)

    def weighted(self, labels: NDArray[Any], weights: Vector | None) -> Vector | None:
        """Scaled weights times the factors of coded labels; None stands for ones."""
        if self.factors is None:
            return weights
        places = labels if self.classes is not None else (labels > 0.0).astype(np.intp)
        factors: Vector = np.array(self.factors)[places]
        return factors if weights is None else weights * factors

    def labels(self, given: NDArray[Any]) -> NDArray[Any]:
        """A problem's labels from those that were given."""
        if self.classes is not None:
            return np.searchsorted(self.classes, given).astype(np.intp, copy=False)
        return real_targets(given, None) if self.positive is None else np.where(given == self.positive, 1.0, -1.0)


@dataclass(frozen=True)
class Facts:
    """What a first pass finds in one block. Sums of weights s are in units of 2 to the power `exponent`."""

    exponent: int
    """The largest weight of the block is in [1, 2) in its own units; weights as given may be denormal, and sums of them lose digits."""
    count: int
    dimension: int
    is_sparse: bool
    longest: int
    """The most values stored for one row."""
    stored: int
    squared_size: float
    """Σ ‖x‖² of all rows."""
    weighted_size: float
    """Σ s ‖x‖²."""
    operations: int
    """Additions that a row's term passes through inside the block."""
    weight: float
    """Σ s."""
    largest_weight: float
    has_weights: bool
    classes: NDArray[Any] | None
    """The labels in order; None for real targets."""
    class_weights: Vector
    """Σ s of each label."""
    class_largest: Vector
    """The largest s of each label."""
    class_squares: Vector
    """Σ s ‖x‖² of each label."""
    label_sum: float
    """Σ s y of real targets."""
    label_square: float
    """Σ s y²."""
    smallest_label: float

    def in_units(self, exponent: int) -> Facts:
        """The same facts with sums of weights in units of 2 to this power."""
        shift = self.exponent - exponent
        if not shift:
            return self
        numbers = ("weighted_size", "weight", "largest_weight", "label_sum", "label_square")
        totals = ("class_weights", "class_largest", "class_squares")
        moved: dict[str, Any] = {name: float(np.ldexp(getattr(self, name), shift)) for name in numbers}
        moved |= {name: np.ldexp(getattr(self, name), shift) for name in totals}
        return replace(self, exponent=exponent, **moved)


class Scan(NamedTuple):
    """What the first pass asks of every block."""

    is_classification: bool
    blocks: int
    """How many blocks there are."""
    sample_bytes: int
    """What the sample of all blocks takes at most."""

    def sample_rows(self, rows: Rows) -> int:
        """Rows that a block hands over at most."""
        columns = min(rows.dimension, MAX_SAMPLED_COLUMNS)
        needed = max(SAMPLE_ROWS_PER_COLUMN * columns, SMALLEST_SAMPLE)
        row_bytes = 12 * rows.stored / rows.count + 64
        return max(-(-min(needed, int(self.sample_bytes / row_bytes)) // self.blocks), 1)


# Squares that leave float64's range are refused where the blocks make a problem.
@np.errstate(over="ignore", invalid="ignore")
def facts_of(block: Block, scan: Scan) -> tuple[Facts, Block]:
    """What a first pass finds in a block, and a sample of its rows with weights in the units of the facts."""
    if not block.labels.size:
        raise ValueError(f"block {block.number}: a fit needs y, got none; give y beside X, or name the target column")
    rows = block.rows
    squares = rows.squared_norms
    s, exponent = (np.ones(rows.count), 0) if block.weights is None else scaled(block.weights)
    labels, classes, label_sum, label_square, smallest = block.labels, None, 0.0, 0.0, np.inf
    totals: Vector = np.empty(0)
    largest, class_squares = totals, totals
    try:
        if scan.is_classification:
            classes, places = _classes(labels)
            totals = np.asarray(np.bincount(places, s, classes.size), dtype=np.float64)
            class_squares = np.asarray(np.bincount(places, s * squares, classes.size), dtype=np.float64)
            largest = np.array([s[places == k].max() for k in range(classes.size)])
        else:
            labels = real_targets(labels, None)
            label_sum, label_square, smallest = float(s @ labels), float(s @ (labels * labels)), float(labels.min())
    except ValueError as error:
        raise ValueError(f"block {block.number}: {error}") from None
    slices = [*rows.partition_for(1), *rows.partition_for(3)]
    facts = Facts(
        exponent,
        rows.count,
        rows.dimension,
        rows.is_sparse,
        rows.longest,
        rows.stored,
        rows.squared_size,
        float(s @ squares),
        max(part.stop - part.start for part in slices) + len(slices),
        float(s.sum()),
        float(s.max()),
        block.weights is not None,
        classes,
        totals,
        largest,
        class_squares,
        label_sum,
        label_square,
        smallest,
    )
    interval = -(-rows.count // scan.sample_rows(rows))
    numbers = np.arange(interval // 2, rows.count, interval)
    # Each sampled row stands for those around it, so that blocks of all sizes count as they should.
    scale = rows.count / max(numbers.size, 1)
    sample = Block(block.number, rows.take(numbers), np.asarray(block.labels[numbers]), s[numbers] * scale)
    return facts, sample


def _classes(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The labels in order, and the place of each row's label among them."""
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("y needs labels, got NaN or infinity; drop the rows that hold them")
    try:
        classes, places = np.unique(labels, return_inverse=True)
    except TypeError:
        raise ValueError("y needs labels of one type, got a mixture that cannot be ordered; encode them") from None
    if classes.size > MAX_CLASSES:
        raise ValueError(f"y needs at most {MAX_CLASSES:,} labels, got {classes.size:,}; use a regression loss")
    return classes, places.reshape(-1)


PartWork = Callable[[slice, Vector], tuple[Vector, Vector, Vector]]
"""From a slice of rows and their products with some columns: coefficients (rows × columns), numbers to add, and roots to add."""


def sums_over(rows: Rows, weights: Vector, columns: int, work: PartWork) -> Partial:
    """Xᵀ C and sums of numbers, in one pass over the rows; `work` makes C of a slice and its products with `weights`."""
    found: dict[int, tuple[Vector, Vector]] = {}

    def add(part: slice, out: Vector) -> None:
        matrix = rows.block(part)
        coefficients, numbers, roots = work(part, matrix @ weights)
        found[part.start] = (numbers, roots)
        if columns:
            out += matrix.T @ coefficients

    combination = sum_slices(add, rows.partition_for(columns), (rows.dimension, columns))
    ordered = [found[start] for start in sorted(found)]
    numbers = np.sum([numbers for numbers, _ in ordered], axis=0)
    roots = np.hypot.reduce([roots for _, roots in ordered])
    return Partial(np.concatenate([combination.T.reshape(-1), numbers]), roots)
