"""The partition of rows: it covers them in order, follows from sizes alone, and its sums have the same bits for any n_jobs."""

from __future__ import annotations

import numpy as np
import pytest

from dualgap.linalg.parallel import use_threads
from dualgap.linalg.partition import SETTINGS, partition, sum_slices


@pytest.mark.parametrize("count", [1, 2, 7, 32_768, 32_769, 100_000, 1_000_003])
@pytest.mark.parametrize("row_values", [0.0, 0.3, 16.0, 1e7])
def test_slices_cover_the_rows_in_order(count: int, row_values: float) -> None:
    slices = partition(count, row_values)
    assert [part.start for part in slices] == [0, *(part.stop for part in slices[:-1])]
    assert slices[-1].stop == count
    lengths = [part.stop - part.start for part in slices]
    assert max(lengths) - min(lengths) <= 1
    assert max(lengths) == 1 or max(lengths) * row_values <= SETTINGS.slice_values + row_values
    assert len(slices) in (1, count) or len(slices) % 2 == 0


@pytest.mark.parametrize("max_terms", [0, 1, 3, 16])
def test_a_sum_over_slices_has_the_same_bits_for_any_number_of_threads(max_terms: int) -> None:
    values = np.random.default_rng(0).normal(size=(5000, 3))

    def add(part: slice, out: np.ndarray) -> None:
        out += values[part].sum(axis=0)

    slices = partition(5000, 4096)
    assert len(slices) > SETTINGS.max_terms
    found = []
    for jobs in (1, 2, 5):
        with use_threads(jobs):
            found.append(sum_slices(add, slices, 3, max_terms))
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()
    np.testing.assert_allclose(found[0], values.sum(axis=0), rtol=1e-12)
