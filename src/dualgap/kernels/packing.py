"""Dense rows without their zeros: how many values they hold, and those values in sparse form."""

from __future__ import annotations

from dualgap.kernels.compile import kernel


@kernel
def count_values(values, ends):
    """ends_(i+1) = how many values other than zero rows 0 to i hold."""
    total = 0
    ends[0] = 0
    for i in range(values.shape[0]):
        line, found = values[i], 0
        for j in range(line.size):
            found += 1 if line[j] != 0.0 else 0
        total += found
        ends[i + 1] = total


@kernel
def pack_values(values, data, indices):
    """The values other than zero and their columns, row by row; both have room for one more than there are."""
    at = 0
    for i in range(values.shape[0]):
        line = values[i]
        for j in range(line.size):
            # Always written, and kept by moving on: no branch that a predictor could miss.
            data[at] = line[j]
            indices[at] = j
            at += 1 if line[j] != 0.0 else 0
