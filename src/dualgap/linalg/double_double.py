"""Double-double arithmetic in NumPy: sums and products as unevaluated pairs (high, low), with a bound on what they miss.

`two_sum` is Knuth's and `two_product` is Dekker's; both are exact unless a product leaves float64's range. A pair sums k
products with an error of about (log₂k)²·2⁻¹⁰⁶ of their absolute sum, where a plain sum has k·2⁻⁵³.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, log2
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from dualgap.linalg.floats import UNIT

Vector = NDArray[np.float64]

# Veltkamp's constant for 53 bits: it splits a float64 into two halves whose products are exact.
SPLITTER = 2.0**27 + 1.0
# Values of a block in which products are made, about: the temporaries stay in the cache.
BLOCK_VALUES = 1 << 16


class Pair(NamedTuple):
    """The exact sum of two vectors, of which the second is the rounding error of the first."""

    high: Vector
    low: Vector


def normalized(high: Any, low: Any) -> Pair:
    """The pair with the same sum whose second number is the rounding error of the first.

    Where terms cancel, the errors that were added up may exceed what is left of the rounded sum: its sign is then not that of the pair.
    """
    return Pair(*two_sum(high, low))


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """The rounded sum and its exact rounding error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: Any, b: Any) -> tuple[Any, Any]:
    """The rounded product and its exact rounding error."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _split(a), _split(b)
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _split(a: Any) -> tuple[Any, Any]:
    scaled = SPLITTER * a
    high = scaled - (scaled - a)
    return high, a - high


def pair_error(count: int) -> float:
    """What a pair that sums `count` products misses, relative to their absolute sum.

    The exact sum is the high part plus all rounding errors: at most u of the absolute sum from the products, and as much
    from each of the L ≤ ⌈log₂ count⌉ + 1 levels of the tree. These are summed plainly, over 2L + 1 additions.
    """
    levels = ceil(log2(max(count, 2))) + 1
    return (2 * levels + 4) * (levels + 2) * UNIT**2


def row_sums(block: NDArray[Any], factors: Vector) -> Pair:
    """Σ_j block_ij·factors_j for each row, or Σ_j block_ij·factors_ij."""
    width = block.shape[1]
    if width > BLOCK_VALUES:
        # A tree from the top too, so that the temporaries stay small.
        left = row_sums(block[:, : width // 2], factors[..., : width // 2])
        right = row_sums(block[:, width // 2 :], factors[..., width // 2 :])
        total, error = two_sum(left.high, right.high)
        return Pair(total, error + left.low + right.low)
    high, low = two_product(block, factors)
    while high.shape[1] > 1:
        odd = high.shape[1] % 2
        last = (high[:, -1:], low[:, -1:]) if odd else None
        stop = high.shape[1] - odd
        total, error = two_sum(high[:, 0:stop:2], high[:, 1:stop:2])
        error += low[:, 0:stop:2]
        error += low[:, 1:stop:2]
        if last is not None:
            total, error = np.hstack([total, last[0]]), np.hstack([error, last[1]])
        high, low = total, error
    return Pair(high[:, 0].copy(), low[:, 0].copy())


def products(matrix: Any, factors: Vector) -> Pair:
    """matrix @ factors as a pair, for a dense matrix or a sparse one of any format."""
    count = matrix.shape[0]
    out = Pair(np.zeros(count), np.zeros(count))
    blocks = _sparse_blocks(sp.csr_matrix(matrix), factors) if sp.issparse(matrix) else _dense_blocks(matrix, factors)
    for rows, block, block_factors in blocks:
        out.high[rows], out.low[rows] = normalized(*row_sums(block, block_factors))
    return out


def _dense_blocks(matrix: NDArray[Any], factors: Vector) -> Iterator[tuple[Any, NDArray[Any], Vector]]:
    height = max(1, BLOCK_VALUES // max(matrix.shape[1], 1))
    for begin in range(0, matrix.shape[0], height):
        rows = slice(begin, min(begin + height, matrix.shape[0]))
        yield rows, np.ascontiguousarray(matrix[rows], dtype=np.float64), factors


def _sparse_blocks(matrix: Any, factors: Vector) -> Iterator[tuple[Any, NDArray[Any], Vector]]:
    """Rows of about the same length together, filled up with zeros to the longest of them."""
    lengths = np.diff(matrix.indptr)
    order = np.argsort(lengths, kind="stable")
    order = order[np.searchsorted(lengths[order], 1) :]
    data = matrix.data.astype(np.float64, copy=False)
    while order.size:
        # From the longest row on: as many as fit, so that little is filled up.
        width = int(lengths[order[-1]])
        height = max(1, BLOCK_VALUES // width)
        rows, order = order[-height:], order[:-height]
        places = matrix.indptr[rows][:, None] + np.arange(width)
        is_stored = np.arange(width) < lengths[rows][:, None]
        places = np.where(is_stored, places, 0)
        yield rows, np.where(is_stored, data[places], 0.0), factors[matrix.indices[places]]
