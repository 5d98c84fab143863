"""A positive definite matrix in place: scaled to unit diagonal, factored with jitter where rounding spoils that, and solved."""

from __future__ import annotations

from math import sqrt

from dualgap.kernels.compile import regrouped

TINY = 2.2250738585072014e-308
FIRST_JITTER, LAST_JITTER = 1e-15, 10.0


@regrouped
def inner(left, right, count):
    """Σ l_k r_k over the first numbers of both."""
    total = 0.0
    for k in range(count):
        total += left[k] * right[k]
    return total


@regrouped
def scale(matrix, scales):
    """In place: the lower triangle becomes that of a matrix with ones on its diagonal; scales are what it was multiplied by."""
    size = scales.size
    for i in range(size):
        scales[i] = 1.0 / sqrt(max(matrix[i, i], TINY))
    for i in range(size):
        line, own = matrix[i], scales[i]
        for j in range(i + 1):
            line[j] *= own * scales[j]


@regrouped
def _try_factor(matrix, jitter, factor):
    for i in range(matrix.shape[0]):
        own = factor[i]
        for j in range(i):
            own[j] = (matrix[i, j] - inner(own, factor[j], j)) / factor[j, j]
        pivot = matrix[i, i] + jitter - inner(own, own, i)
        if not pivot > 0.0:
            return False
        own[i] = sqrt(pivot)
    return True


@regrouped
def factorize(matrix, factor):
    """The lower triangle L with L Lᵀ = matrix, plus as little on its diagonal as that takes; that of ones if all is too little."""
    jitter = 0.0
    while not _try_factor(matrix, jitter, factor):
        jitter = max(10.0 * jitter, FIRST_JITTER)
        if jitter > LAST_JITTER:
            factor[:] = 0.0
            for i in range(matrix.shape[0]):
                factor[i, i] = 1.0
            return


@regrouped
def solve(factor, scales, right, out):
    """out = −(S⁻¹ L Lᵀ S⁻¹)⁻¹·right, with the scales on the diagonal of S."""
    size = scales.size
    for i in range(size):
        out[i] = (-scales[i] * right[i] - inner(factor[i], out, i)) / factor[i, i]
    for i in range(size - 1, -1, -1):
        value = out[i] / factor[i, i]
        out[i] = value
        line = factor[i]
        for k in range(i):
            out[k] -= line[k] * value
    for i in range(size):
        out[i] *= scales[i]
