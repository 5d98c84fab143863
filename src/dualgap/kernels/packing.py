"""Dense rows without their zeros: how many values they hold, and those values in sparse form."""

from __future__ import annotations

from dualgap.kernels.compile import kernel


@kernel
def count_values(values):
    """How many values are not zero."""
    total = 0
    for i in range(values.shape[0]):
        line, found = values[i], 0
        for j in range(line.size):
            found += 1 if line[j] != 0.0 else 0
        total += found
    return total


@kernel
def pack_values(values, data, indices, ends):
    """The values other than zero and their columns, row by row, and where each row ends; there is room for one value more."""
    at = 0
    ends[0] = 0
    for i in range(values.shape[0]):
        line = values[i]
        for j in range(line.size):
            # Always written, and kept by moving on: no branch that a predictor could miss.
            data[at] = line[j]
            indices[at] = j
            at += 1 if line[j] != 0.0 else 0
        ends[i + 1] = at
