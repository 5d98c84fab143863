"""Any matrix becomes rows or is refused in one sentence; what need not be copied is not."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.data.rows import STRIP_COLUMNS
from dualgap.data.validation import as_rows
from dualgap.linalg.parallel import use_threads
from dualgap.linalg.partition import PartitionSettings


@pytest.fixture
def table() -> np.ndarray:
    values = np.random.default_rng(0).normal(size=(7, 5)).round(2)
    values[values < -0.5] = 0.0
    values[3] = 0.0
    return values


def forms(table: np.ndarray) -> dict[str, object]:
    csr = sp.csr_matrix(table)
    wide = sp.csr_matrix((csr.data, csr.indices.astype(np.int64), csr.indptr.astype(np.int64)), shape=csr.shape)
    wide.indices, wide.indptr = csr.indices.astype(np.int64), csr.indptr.astype(np.int64)
    return {
        "C order": table,
        "Fortran order": np.asfortranarray(table),
        "strided": np.repeat(table, 2, axis=1)[:, ::2],
        "read-only": _read_only(table),
        "list": table.tolist(),
        "frame": pandas.DataFrame(table),
        "sparse frame": pandas.DataFrame.sparse.from_spmatrix(sp.coo_matrix(table)),
        "csr matrix": csr,
        "csr array": sp.csr_array(table),
        "csr 64-bit": wide,
        "csc": sp.csc_matrix(table),
        "csc array": sp.csc_array(table),
        "coo": sp.coo_matrix(table),
        "coo array": sp.coo_array(table),
        "dok": sp.dok_matrix(table),
        "object": table.astype(object),
    }


def _read_only(table: np.ndarray) -> np.ndarray:
    copy = table.copy()
    copy.flags.writeable = False
    return copy


FORMS = list(forms(np.ones((2, 2))))


@pytest.mark.parametrize("form", FORMS)
def test_products_agree_with_numpy(table: np.ndarray, form: str) -> None:
    rows = as_rows(forms(table)[form])
    w, c = np.arange(5.0), np.arange(7.0)
    assert (rows.count, rows.dimension) == (7, 5)
    np.testing.assert_allclose(rows.scores(w), table @ w, rtol=1e-14)
    np.testing.assert_allclose(rows.combination(c), table.T @ c, rtol=1e-14)
    np.testing.assert_allclose(rows.squared_norms, (table**2).sum(axis=1), rtol=1e-14)
    np.testing.assert_allclose(rows.gram(), table @ table.T, rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.int32, np.int64, bool, np.float16, np.float32])
@pytest.mark.parametrize("sparse", [False, True])
def test_every_number_type_is_exact(kind: type, sparse: bool) -> None:
    if sparse and kind is np.float16:
        kind = np.float32  # SciPy has no sparse float16
    values = np.array([[0, 1, 3], [1, 0, 0], [0, 0, 100]]).astype(kind)
    rows = as_rows(sp.csr_matrix(values) if sparse else values)
    stored = rows.arrays.data if sparse else rows.arrays.values
    assert stored.dtype == (np.float32 if np.dtype(kind).itemsize <= 2 or kind is np.float32 else np.float64)
    np.testing.assert_array_equal(rows.scores(np.array([1.0, 2.0, 4.0])), values.astype(float) @ [1.0, 2.0, 4.0])


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_c_ordered_floats_and_canonical_csr_are_not_copied(kind: type) -> None:
    dense = np.random.default_rng(0).normal(size=(50, 4)).astype(kind)
    assert np.shares_memory(as_rows(dense).arrays.values, dense)
    matrix = sp.csr_matrix(dense * (dense > 0.5))
    arrays = as_rows(matrix).arrays
    for stored, given in zip(arrays, (matrix.data, matrix.indices, matrix.indptr), strict=True):
        assert np.shares_memory(stored, given)


def test_float32_products_are_summed_in_float64() -> None:
    values = np.full((1, 100_000), 0.1, dtype=np.float32)
    assert as_rows(values).scores(np.ones(100_000))[0] == pytest.approx(100_000 * float(np.float32(0.1)), rel=1e-12)


def test_scores_of_long_dense_rows_are_sums_of_sums_over_strips_of_columns() -> None:
    row = np.zeros((1, 3 * STRIP_COLUMNS))
    row[0, 0], row[0, STRIP_COLUMNS : 2 * STRIP_COLUMNS] = 1e16, 1.0
    rows, ones = as_rows(row), np.ones(row.size)
    # Ones that are added to 1e16 one by one are lost: float64 has even numbers only there.
    expected = [1e16 + STRIP_COLUMNS]
    assert rows.scores(ones).tolist() == expected
    assert rows.through(ones, lambda part, scores: scores)[0].tolist() == expected
    assert rows.scores(np.stack([ones, ones], axis=1)).tolist() == [2 * expected]
    assert rows.score_operations == STRIP_COLUMNS + 2
    assert as_rows(row[:, :STRIP_COLUMNS]).score_operations == STRIP_COLUMNS
    assert as_rows(sp.csr_matrix(row)).score_operations == STRIP_COLUMNS + 1


def test_float32_rows_span_several_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dualgap.linalg.partition.SETTINGS", PartitionSettings(slice_values=32))
    table = np.random.default_rng(1).normal(size=(40, 6)).astype(np.float32)
    for X in (table, sp.csr_matrix(table)):
        rows = as_rows(X)
        assert len(list(rows.blocks())) > 3
        np.testing.assert_allclose(rows.scores(np.arange(6.0)), table.astype(float) @ np.arange(6.0), rtol=1e-13)
        np.testing.assert_allclose(rows.combination(np.ones(40)), table.astype(float).sum(axis=0), rtol=1e-12)
        np.testing.assert_allclose(rows.gram(), table.astype(float) @ table.astype(float).T, rtol=1e-12, atol=1e-12)


def test_unsorted_and_repeated_indices_are_put_in_order_without_touching_the_input() -> None:
    data, indices, indptr = np.array([1.0, 2.0, 4.0, 8.0]), np.array([2, 0, 2, 1]), np.array([0, 3, 4])
    matrix = sp.csr_matrix((data, indices, indptr), shape=(2, 3))
    rows = as_rows(matrix)
    np.testing.assert_array_equal(rows.arrays.indices, [0, 2, 1])
    np.testing.assert_array_equal(rows.arrays.data, [2.0, 5.0, 8.0])
    np.testing.assert_array_equal(matrix.indices, [2, 0, 2, 1])
    # A flag that claims order is not trusted.
    liar = sp.csr_matrix((data, indices, indptr), shape=(2, 3))
    liar.has_canonical_format = True
    np.testing.assert_array_equal(as_rows(liar).arrays.data, [2.0, 5.0, 8.0])


def malformed(**changes: np.ndarray) -> sp.csr_matrix:
    matrix = sp.csr_matrix(np.eye(3))
    for part, value in changes.items():
        setattr(matrix, part, value)
    return matrix


def _three(*indices: int) -> sp.csr_matrix:
    """Three rows and columns, all values in the second row."""
    return malformed(
        data=np.ones(3), indices=np.array(indices, dtype=np.int32), indptr=np.array([0, 0, 3, 3], dtype=np.int32)
    )


REFUSED = {
    "nan": (np.array([[1.0, np.nan]]), "NaN or infinity"),
    "infinity": (np.array([[1.0, np.inf]]), "NaN or infinity"),
    "both infinities": (np.array([[np.inf, -np.inf]]), "NaN or infinity"),
    "sparse nan": (sp.csr_matrix(np.array([[1.0, np.nan]])), "NaN or infinity"),
    "no rows": (np.empty((0, 3)), "at least one row"),
    "no columns": (np.empty((3, 0)), "at least one row"),
    "sparse no rows": (sp.csr_matrix((0, 3)), "at least one row"),
    "one dimension": (np.arange(3.0), "two dimensions"),
    "three dimensions": (np.ones((2, 2, 2)), "two dimensions"),
    "complex": (np.ones((2, 2), dtype=complex), "complex"),
    "sparse complex": (sp.csr_matrix(np.ones((2, 2), dtype=complex)), "complex"),
    "text": (np.array([["a", "b"]]), "needs numbers"),
    "objects": (np.array([["a", 1.0]], dtype=object), "rectangular table"),
    "ragged": ([[1.0, 2.0], [3.0]], "rectangular table"),
    "dates": (np.array([["2020-01-01"]], dtype="datetime64[D]"), "needs numbers"),
    "too large to square": (np.full((2, 2), 1e200), "squared length"),
    "index too large": (malformed(indices=np.array([0, 1, 7], dtype=np.int32)), "column indices"),
    "index negative": (malformed(indices=np.array([0, -1, 2], dtype=np.int32)), "column indices"),
    "last index too large": (_three(0, 2, 3), "column indices from 0 to 2, got 0 to 3"),
    "first index negative": (_three(-2, 0, 1), "column indices from 0 to 2, got -2 to 1"),
    "index too large, out of order": (_three(0, 9, 1), "column indices from 0 to 2, got 0 to 9"),
    "indptr falls": (malformed(indptr=np.array([0, 2, 1, 3], dtype=np.int32)), "indptr"),
    "indptr starts late": (malformed(indptr=np.array([1, 1, 2, 3], dtype=np.int32)), "indptr"),
    "indptr short": (malformed(indptr=np.array([0, 1, 3], dtype=np.int32)), "indptr"),
    "indptr beyond the data": (malformed(indptr=np.array([0, 1, 2, 9], dtype=np.int32)), "indices and values"),
}


@pytest.mark.parametrize("case", list(REFUSED))
def test_refused_in_one_sentence(case: str) -> None:
    X, words = REFUSED[case]
    with pytest.raises(ValueError, match=words) as refusal:
        as_rows(X)
    sentence = str(refusal.value)
    assert sentence.startswith("X needs")
    assert "\n" not in sentence
    assert ";" in sentence, "a refusal says what to do"


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("jobs", [1, 2])
def test_one_pass_makes_what_two_would(kind: type, sparse: bool, jobs: int) -> None:
    rng = np.random.default_rng(1)
    table = (rng.normal(size=(6000, 300)) * (rng.random((6000, 300)) < 0.9)).astype(kind)
    rows = as_rows(sp.csr_matrix(table) if sparse else table)
    assert len(rows.partition) > 2
    weights, factors = rng.normal(size=300), rng.normal(size=6000)

    def doubled(part: slice, scores: np.ndarray) -> np.ndarray:
        scores *= 2.0
        return scores * factors[part]

    with use_threads(jobs):
        scores, combination = rows.through(weights, doubled)
        two = rows.scores(weights) * 2.0
        assert np.array_equal(scores, two)
        np.testing.assert_allclose(combination, rows.combination(two * factors), rtol=1e-12)


@pytest.mark.parametrize("columns", [50, 5000])
def test_squared_norms_do_not_depend_on_the_other_rows(columns: int) -> None:
    table = sp.random(400, columns, density=0.05, format="csr", random_state=2)
    whole = as_rows(table).squared_norms
    np.testing.assert_allclose(whole, table.power(2).sum(axis=1).A1, rtol=1e-14)
    for begin, end in ((0, 1), (17, 230), (399, 400)):
        assert np.array_equal(as_rows(table[begin:end]).squared_norms, whole[begin:end])


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("width", [3, 40, 70])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_sum_of_squares_is_that_of_the_rows(kind: type, width: int, sparse: bool) -> None:
    rng = np.random.default_rng(5)
    # More than one block of values, and no whole number of lines.
    table = (rng.normal(size=(50_003, width)) * (rng.random((50_003, width)) < 0.8)).astype(kind)
    rows = as_rows(sp.csr_matrix(table) if sparse else table)
    assert rows.squared_size == pytest.approx(float((table.astype(float) ** 2).sum()), rel=1e-12)
    assert rows.squared_size == pytest.approx(float(rows.squared_norms.sum()), rel=1e-12)


def test_empty_rows_are_found_with_and_without_norms() -> None:
    table = np.array([[1.0, 2.0], [0.0, 0.0], [3.0, 0.0], [0.0, 1e-200], [0.0, 4.0]])
    stored = sp.csr_matrix(table)
    stored.data[1] = 0.0  # a zero that is stored, as the only other value of the first row
    for X, expected in ((table, [1, 3]), (sp.csr_matrix(table), [1, 3]), (stored, [1, 3])):
        for asked_before in (False, True):
            rows = as_rows(X)
            if asked_before:
                assert rows.squared_norms.size == 5
            # 1e-200 squared is zero in float64: such a row moves nothing.
            assert rows.empty.tolist() == expected
    for X in (table[[0, 4]], table[[0, 2]], sp.csr_matrix(table[[0, 4]])):
        rows = as_rows(X)
        assert rows.empty.size == 0
        assert "squared_norms" not in rows.__dict__


@pytest.mark.parametrize("width", [2, 40])
@pytest.mark.filterwarnings("error")
def test_rows_of_finite_lengths_whose_sum_is_not_are_taken(width: int) -> None:
    assert as_rows(np.full((3000, width), 9e152)).count == 3000
    with pytest.raises(ValueError, match="too large to square"):
        as_rows(np.full((3, 2), 1e200))
    with pytest.raises(ValueError, match="NaN or infinity"):
        as_rows(np.array([[1.0, np.nan], [2.0, 3.0]]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_of_sparse_rows_need_no_room_for_empty_columns(dtype: type) -> None:
    """60 rows of 10⁸ columns would take 45 GB if they were made dense."""
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 10**8, 60)
    columns[1], columns[2] = columns[0], columns[0]
    values = rng.normal(size=60).astype(dtype)
    X = sp.csr_matrix((values, columns, np.arange(61)), shape=(60, 10**8))
    expected = np.where(columns[:, None] == columns, np.outer(values.astype(float), values.astype(float)), 0.0)
    assert np.array_equal(as_rows(X).gram(), expected)
    assert np.array_equal(as_rows(sp.csr_matrix((3, 10**8))).gram(), np.zeros((3, 3)))


@pytest.mark.parametrize("solver", ["newton", "box_ascent"])
def test_few_sparse_rows_of_many_columns_are_fitted(solver: str) -> None:
    """60 rows of 2·10⁶ columns would take 1 GB if they were made dense; what is allocated stays below a quarter of that."""
    rng = np.random.default_rng(0)
    width = 2 * 10**6
    X = sp.csr_matrix((rng.normal(size=60), rng.integers(0, width, 60), np.arange(61)), shape=(60, width))
    problem = dg.Problem(X, np.where(np.arange(60) % 2, 1.0, -1.0), "hinge", 1e-2)
    tracemalloc.start()
    try:
        assert dg.solve(problem, solver).status is dg.Status.CERTIFIED
        assert tracemalloc.get_traced_memory()[1] < 60 * width * 8 / 4
    finally:
        tracemalloc.stop()
