"""One row at a time, dense or sparse: `dot`, `add_to` and `prefetch`. Kernels are written once in these three words."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, register_jitable

from dualgap.kernels.compile import by_class, is_interpreted, specialized
from dualgap.rows import DenseRows, SparseRows


def _dense_dot(rows, i, weights):
    row = rows.values[i]
    total = 0.0
    for j in range(row.size):
        total += row[j] * weights[j]
    return total


def _sparse_dot(rows, i, weights):
    # Four sums keep four additions in flight; a single one waits for each before the next.
    begin, end = rows.indptr[i], rows.indptr[i + 1]
    data, indices = rows.data, rows.indices
    first, second, third, fourth = 0.0, 0.0, 0.0, 0.0
    p = begin
    while p + 4 <= end:
        first += data[p] * weights[indices[p]]
        second += data[p + 1] * weights[indices[p + 1]]
        third += data[p + 2] * weights[indices[p + 2]]
        fourth += data[p + 3] * weights[indices[p + 3]]
        p += 4
    while p < end:
        first += data[p] * weights[indices[p]]
        p += 1
    return (first + second) + (third + fourth)


def _dense_add(rows, i, scale, weights):
    row = rows.values[i]
    for j in range(row.size):
        weights[j] += scale * row[j]


def _sparse_add(rows, i, scale, weights):
    for p in range(rows.indptr[i], rows.indptr[i + 1]):
        weights[rows.indices[p]] += scale * rows.data[p]


def _dense_prefetch(rows, i):
    fetch(rows.values, i * rows.values.shape[1])


def _sparse_prefetch(rows, i):
    begin = rows.indptr[i]
    fetch(rows.data, begin)
    fetch(rows.indices, begin)


def _nothing(rows, i):
    pass


DOT = {DenseRows: _dense_dot, SparseRows: _sparse_dot}
ADD = {DenseRows: _dense_add, SparseRows: _sparse_add}
PREFETCH = {DenseRows: _dense_prefetch, SparseRows: _sparse_prefetch}


def dot(rows, i, weights):
    """⟨x_i, w⟩ in float64."""
    return DOT[type(rows)](rows, i, weights)


def add_to(rows, i, scale, weights):
    """w += scale · x_i, in place."""
    ADD[type(rows)](rows, i, scale, weights)


def prefetch(rows, i):
    """Ask the memory for row i ahead of its use; random order defeats the hardware's own guess."""


@specialized(dot, regroup=True)
def _dot(rows, i, weights):
    return by_class(DOT, rows)


@specialized(add_to, regroup=True)
def _add_to(rows, i, scale, weights):
    return by_class(ADD, rows)


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


