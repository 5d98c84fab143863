"""One row at a time, dense or sparse: `dot`, `add_to` and `prefetch`. Kernels are written once in these three words."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, register_jitable

from dualgap.data.rows import DenseRows, SparseRows
from dualgap.kernels.compile import by_class, is_interpreted, specialized

# Positions are unsigned throughout: Numba's test for negative indices doubles the cost of a sparse row.
ONE, TWO, THREE, FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)

# Values of float64 in a cache line. Of a row the first FETCHED values are prefetched; the hardware guesses the lines after them.
LINE = np.uint64(8)
FETCHED = np.uint64(64)


def _dense_dot(rows, i, weights):
    row = rows.values[i]
    total = 0.0
    for j in range(row.size):
        total += row[j] * weights[j]
    return total


def _sparse_dot(rows, i, weights):
    # Four sums keep four additions in flight; a single one waits for each before the next.
    data, indices = rows.data, rows.indices
    p, end = np.uint64(rows.indptr[i]), np.uint64(rows.indptr[np.uint64(i) + ONE])
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    while p + FOUR <= end:
        first += data[p] * weights[indices[p]]
        second += data[p + ONE] * weights[indices[p + ONE]]
        third += data[p + TWO] * weights[indices[p + TWO]]
        fourth += data[p + THREE] * weights[indices[p + THREE]]
        p += FOUR
    while p < end:
        first += data[p] * weights[indices[p]]
        p += ONE
    return (first + second) + (third + fourth)


def _dense_add(rows, i, scale, weights):
    row = rows.values[i]
    for j in range(row.size):
        weights[j] += scale * row[j]


def _sparse_add(rows, i, scale, weights):
    data, indices = rows.data, rows.indices
    p, end = np.uint64(rows.indptr[i]), np.uint64(rows.indptr[np.uint64(i) + ONE])
    while p < end:
        weights[indices[p]] += scale * data[p]
        p += ONE


def _dense_add_weighted(rows, i, scale, factors, weights):
    row = rows.values[i]
    for j in range(row.size):
        weights[j] += scale * factors[j] * row[j]


def _sparse_add_weighted(rows, i, scale, factors, weights):
    data, indices = rows.data, rows.indices
    p, end = np.uint64(rows.indptr[i]), np.uint64(rows.indptr[np.uint64(i) + ONE])
    while p < end:
        j = indices[p]
        weights[j] += scale * factors[j] * data[p]
        p += ONE


def _dense_soft_dot(rows, i, weights, threshold):
    row = rows.values[i]
    total = 0.0
    for j in range(row.size):
        w = weights[j]
        total += row[j] * (max(w - threshold, 0.0) + min(w + threshold, 0.0))
    return total


def _sparse_soft_dot(rows, i, weights, threshold):
    data, indices = rows.data, rows.indices
    p, end = np.uint64(rows.indptr[i]), np.uint64(rows.indptr[np.uint64(i) + ONE])
    total = 0.0
    while p < end:
        w = weights[indices[p]]
        total += data[p] * (max(w - threshold, 0.0) + min(w + threshold, 0.0))
        p += ONE
    return total


def _dense_prefetch(rows, i):
    width = np.uint64(rows.values.shape[1])
    p = np.uint64(i) * width
    end = p + min(width, FETCHED)
    while p < end:
        fetch(rows.values, p)
        p += LINE


def _sparse_prefetch(rows, i):
    p, end = np.uint64(rows.indptr[i]), np.uint64(rows.indptr[np.uint64(i) + ONE])
    end = min(end, p + FETCHED)
    while p < end:
        fetch(rows.data, p)
        fetch(rows.indices, p)
        p += LINE


DOT = {DenseRows: _dense_dot, SparseRows: _sparse_dot}
SOFT_DOT = {DenseRows: _dense_soft_dot, SparseRows: _sparse_soft_dot}
ADD = {DenseRows: _dense_add, SparseRows: _sparse_add}
ADD_WEIGHTED = {DenseRows: _dense_add_weighted, SparseRows: _sparse_add_weighted}
PREFETCH = {DenseRows: _dense_prefetch, SparseRows: _sparse_prefetch}


def dot(rows, i, weights):
    """⟨x_i, w⟩ in float64."""
    return DOT[type(rows)](rows, i, weights)


def soft_dot(rows, i, weights, threshold):
    """⟨x_i, soft(w, threshold)⟩ in float64."""
    return SOFT_DOT[type(rows)](rows, i, weights, threshold)


def add_to(rows, i, scale, weights):
    """w += scale · x_i, in place."""
    ADD[type(rows)](rows, i, scale, weights)


def add_weighted(rows, i, scale, factors, weights):
    """w += scale · C x_i with a diagonal C, in place."""
    ADD_WEIGHTED[type(rows)](rows, i, scale, factors, weights)


def prefetch(rows, i):
    """Ask the memory for row i ahead of its use; random order defeats the hardware's own guess."""


@specialized(dot, regroup=True)
def _dot(rows, i, weights):
    return by_class(DOT, rows)


@specialized(soft_dot, regroup=True)
def _soft_dot(rows, i, weights, threshold):
    return by_class(SOFT_DOT, rows)


@specialized(add_to, regroup=True)
def _add_to(rows, i, scale, weights):
    return by_class(ADD, rows)


@specialized(add_weighted, regroup=True)
def _add_weighted(rows, i, scale, factors, weights):
    return by_class(ADD_WEIGHTED, rows)


@specialized(prefetch)
def _prefetch(rows, i):
    return by_class(PREFETCH, rows)


if is_interpreted():

    @register_jitable
    def fetch(array, position):
        """Memory needs no hints in plain Python."""

else:

    @intrinsic
    def fetch(typing_context, array, position):
        """Ask for the cache line that holds array.flat[position]."""

        def generate(context, builder, signature, arguments):
            view = context.make_array(signature.args[0])(context, builder, arguments[0])
            place = builder.gep(view.data, [arguments[1]])
            byte = ir.IntType(8).as_pointer()
            number = ir.IntType(32)
            function = builder.module.declare_intrinsic(
                "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, number, number, number])
            )
            # Arguments: to be read, needed soon and often, data rather than instructions.
            builder.call(function, [builder.bitcast(place, byte), number(0), number(3), number(1)])
            return context.get_dummy_value()

        return types.void(array, types.uint64), generate
