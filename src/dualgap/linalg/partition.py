"""The one partition of rows: consecutive slices that follow from the size of the data alone, and sums over them.

Threads share the slices, and a formula's temporaries have the length of one. A sum adds the slices in a fixed order, so its bits
are the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualgap.linalg.parallel import checkpoint, parallel_map

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PartitionSettings:
    """The numbers that decide where rows are split."""

    slice_values: int = 1 << 19
    """Values in a slice at most: 4 MB in float64. Fewer cost more in calls and in waking threads, more leave the cache."""
    formula_values: int = 16
    """Values whose products take about as long as a loss and its derivatives for one row."""
    certificate_values: int = 40
    """The same for the terms of a certificate, which have a dozen temporaries: longer slices would show in the peak memory."""
    max_terms: int = 16
    """Terms of a sum that are in memory at a time; more than 16 threads bring no speed to it."""


SETTINGS = PartitionSettings()


def partition(count: int, row_values: float = SETTINGS.formula_values, min_values: int = 0) -> list[slice]:
    """Slices of about the same length that cover `count` rows of `row_values` values; one slice, or an even number of them.

    Without `row_values` the slices are for a formula of one number a row. A slice may have `min_values` values even where that
    is more than `slice_values`: adding to a sum that is larger than the slice would take longer than the slice itself.
    """
    if count == 0:
        return []
    needed = ceil(count * row_values / max(SETTINGS.slice_values, min_values))
    # An odd number would leave half of two threads waiting for the last slice.
    return even_slices(count, min(needed + needed % 2 if needed > 1 else 1, count))


def even_slices(count: int, number: int) -> list[slice]:
    """Consecutive slices of about the same length that cover `count` things."""
    ends = [count * k // number for k in range(number + 1)]
    return [slice(begin, end) for begin, end in pairwise(ends)]


def run_slices(work: Callable[[slice], Any], slices: Sequence[slice]) -> None:
    """Carry out `work` for every slice, on threads."""
    for _ in parallel_map(work, slices):
        pass


def sum_slices(
    add: Callable[[slice, Array], None], slices: Sequence[slice], shape: Any, max_terms: int = SETTINGS.max_terms
) -> Array:
    """The sum over slices, each of which `add` adds to the array it is given; at most `max_terms` arrays are in memory."""

    def term(group: slice) -> Array:
        out = np.zeros(shape)
        for part in slices[group]:
            checkpoint()
            add(part, out)
        return out

    terms = parallel_map(term, even_slices(len(slices), min(len(slices), max(max_terms, 1))))
    total = next(terms)
    for other in terms:
        total += other
    return total
