"""Files as data sets: what is read, in which layouts, and what is refused in one sentence."""

from __future__ import annotations

import bz2
import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from dualgap.datasets import for_task, load

DATA = Path(os.environ.get("DUALGAP_DATA", "no such folder"))
SVMLIGHT = "+1 1:0.5 3:2\n-1 2:1e-3\n# a comment\n+1 1:1 2:2 3:3\n"
CSV = "height,width,class\n1,2.5,0\n3,4,1\n5,6e-1,1\n"


def written(path: Path, content: str | bytes) -> str:
    data = content.encode() if isinstance(content, str) else content
    packers = {".gz": gzip.compress, ".bz2": bz2.compress}
    path.write_bytes(packers.get(path.suffix, bytes)(data))
    return str(path)


def refusal(path: str, **options: object) -> str:
    with pytest.raises((ValueError, FileNotFoundError)) as caught:
        load(path, **options)
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize("name", ["a.svm", "a.libsvm", "a.svmlight", "a.svm.gz", "a.libsvm.bz2", "no_suffix", "a9a.t"])
def test_svmlight_text_is_read(tmp_path: Path, name: str) -> None:
    dataset = load(written(tmp_path / name, SVMLIGHT))
    assert sparse.issparse(dataset.X)
    np.testing.assert_array_equal(dataset.X.toarray(), [[0.5, 0, 2], [0, 1e-3, 0], [1, 2, 3]])
    assert dataset.y.tolist() == [1, -1, 1]
    assert dataset.name == name
    assert not dataset.standardize


@pytest.mark.parametrize("name", ["a.csv", "a.CSV", "a.csv.gz", "a.csv.bz2"])
def test_csv_with_a_header_is_read(tmp_path: Path, name: str) -> None:
    dataset = load(written(tmp_path / name, CSV))
    np.testing.assert_array_equal(dataset.X, [[1, 2.5], [3, 4], [5, 0.6]])
    assert dataset.y.tolist() == [0, 1, 1]
    assert dataset.feature_names == ("height", "width")
    assert dataset.standardize


def test_csv_without_a_header_is_read(tmp_path: Path) -> None:
    dataset = load(written(tmp_path / "a.csv", "1,2,0\n3,4,1\n"))
    assert dataset.shape == (2, 2)
    assert dataset.feature_names is None


@pytest.mark.parametrize(
    ("target", "values"),
    [("width", [2.5, 4, 0.6]), ("0", [1, 3, 5]), (0, [1, 3, 5]), ("-1", [0, 1, 1]), (None, [0, 1, 1])],
)
def test_the_target_is_chosen_by_name_or_position(
    tmp_path: Path, target: str | int | None, values: list[float]
) -> None:
    dataset = load(written(tmp_path / "a.csv", CSV), target=target)
    assert dataset.y.tolist() == values
    assert dataset.shape == (3, 2)


@pytest.mark.parametrize(
    "content",
    [
        "a;b;c\n1;2;0\n3;4;1\n",
        "a\tb\tc\n1\t2\t0\n3\t4\t1\n",
        "\ufeffa,b,c\r\n1,2,0\r\n3,4,1\r\n",
        '"a","b","c"\n"1","2","0"\n3,4,1\n',
        "a , b , c\n 1 , 2 , 0\n3,4,1\n\n",
        ",a,b,c\n0,1,2,0\n1,3,4,1\n",
    ],
    ids=["semicolons", "tabs", "mark and carriage returns", "quotes", "blanks", "row index of pandas"],
)
def test_dialects_of_csv_are_read(tmp_path: Path, content: str) -> None:
    dataset = load(written(tmp_path / "a.csv", content))
    np.testing.assert_array_equal(dataset.X, [[1, 2], [3, 4]])
    assert dataset.y.tolist() == [0, 1]
    assert dataset.feature_names == ("a", "b")


def test_a_header_that_counts_its_columns_is_no_row(tmp_path: Path) -> None:
    dataset = load(written(tmp_path / "a.csv", "0,1,2,3,4,5\n9,8,7,6,5,0\n1,2,9,4,5,1\n"))
    assert dataset.shape == (2, 5)
    assert load(written(tmp_path / "b.csv", "1,2,3\n4,5,6\n")).shape == (2, 2)


def test_words_in_the_target_column_are_labels(tmp_path: Path) -> None:
    for content in ("1,2,yes\n3,4,no\n5,6,yes\n", "a,b,kept\n1,2,yes\n3,4,no\n5,6,yes\n"):
        dataset = load(written(tmp_path / "a.csv", content))
        assert dataset.y.tolist() == ["yes", "no", "yes"]
        assert for_task(dataset, "classification").y.tolist() == [1, -1, 1]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("age,job,y\n1,nurse,0\n2,cook,1\n", ["text in column job", "'nurse'", "get_dummies"]),
        ("age,job,y\n1,2,0\n2,cook,1\n", ["text in column job", "'cook'"]),
        ("age,wage,y\n1,?,0\n2,3,1\n,4,1\n", ["2 missing cells", "age, wage", "SimpleImputer"]),
        ("age,wage,y\n1,nan,0\n2,3,1\n", ["1 missing cell ", "wage"]),
        ("age,wage,y\n1,2,yes\n2,NA,no\n", ["1 missing cell ", "wage"]),
        ("age,wage,y\n1,2,0\n2,3,\n", ["1 missing cell ", "column y"]),
        ("a,b,c\n1,2,3\n1,2\n", ["line 3", "2 cells where the first has 3"]),
        ("a,b,c\n", ["no rows"]),
        ("", ["empty"]),
        ("\n\n", ["empty"]),
        ("y\n1\n2\n", ["1 column"]),
        ("1_000,2,0\n3,4,1\n", ["text", "'1_000'"]),
    ],
)
def test_csv_that_is_not_numbers_is_refused_with_advice(tmp_path: Path, content: str, words: list[str]) -> None:
    sentence = refusal(written(tmp_path / "a.csv", content))
    for word in words:
        assert word in sentence


@pytest.mark.parametrize(
    ("target", "words"),
    [("heigth", "did you mean 'height'"), ("zzz", "its columns are height, width, class"), ("7", "no column 7")],
)
def test_an_unknown_target_is_refused(tmp_path: Path, target: str, words: str) -> None:
    assert words in refusal(written(tmp_path / "a.csv", CSV), target=target)


def test_a_named_target_needs_a_header(tmp_path: Path) -> None:
    assert "position from 0 to 2" in refusal(written(tmp_path / "a.csv", "1,2,0\n3,4,1\n"), target="class")


def test_targets_are_for_csv_only(tmp_path: Path) -> None:
    assert "csv and parquet files only" in refusal(written(tmp_path / "a.svm", SVMLIGHT), target="1")


def test_dense_npz_keeps_its_type_and_its_test_part(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    X = np.arange(6, dtype=np.uint8).reshape(3, 2)
    np.savez(path, X=X, y=np.array([0, 1, 1]), X_test=X[:1], y_test=np.array([1]), feature_names=np.array(["a", "b"]))
    dataset = load(str(path))
    assert dataset.X.dtype == np.uint8
    assert np.array_equal(dataset.X, X)
    assert dataset.X_test.shape == (1, 2)
    assert dataset.feature_names == ("a", "b")


def test_sparse_npz_in_parts_is_read(tmp_path: Path) -> None:
    X = sparse.csr_matrix(np.array([[0, 2, 0], [1, 0, 0]], dtype=np.int8))
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
    parts |= {f"{name}_test": value for name, value in parts.items()}
    path = tmp_path / "a.npz"
    np.savez(path, y=np.array([0, 1]), y_test=np.array([0, 1]), **parts)
    dataset = load(str(path))
    assert dataset.X.dtype == np.int8
    assert np.array_equal(dataset.X.toarray(), X.toarray())
    assert np.array_equal(dataset.X_test.toarray(), X.toarray())
    assert not dataset.standardize


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"X": np.eye(2)}, "lacks y"),
        ({"data": np.ones(1), "y": np.ones(1)}, "lacks indices, indptr, shape"),
        ({}, "holds nothing"),
        ({"X": np.eye(2), "y": np.ones(3)}, "n rows and n targets"),
        ({"X": np.eye(2), "y": np.ones(2), "X_test": np.eye(3), "y_test": np.ones(3)}, "3 in its test part"),
        ({"X": np.array([{}]), "y": np.ones(1)}, "plain arrays"),
        (
            {
                "data": np.ones(2),
                "indices": np.ones(1),
                "indptr": np.ones(3),
                "shape": np.array([2, 2]),
                "y": np.ones(2),
            },
            "malformed",
        ),
    ],
)
def test_npz_with_something_missing_is_refused(tmp_path: Path, arrays: dict[str, np.ndarray], words: str) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, **arrays)
    assert words in refusal(str(path))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.npz", b"not a zip archive", "not an npz archive"),
        ("a.npz", b"", "damaged"),
        ("a.svm", "this is prose\n", "not svmlight text"),
        ("a.svm", "", "no rows"),
        ("a.xlsx", b"PK", "format of 'a.xlsx' is not known"),
        ("a.dat", "hello world\n", "format of 'a.dat' is not known"),
    ],
)
def test_files_that_are_not_what_they_say_are_refused(tmp_path: Path, name: str, content: str, words: str) -> None:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    assert words in refusal(str(path))


def test_damaged_compression_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress((CSV * 1000).encode())[:60])
    assert "damaged" in refusal(str(path))
    path.write_bytes(b"plain text")
    assert "damaged" in refusal(str(path))


def test_missing_files_and_folders_are_refused(tmp_path: Path) -> None:
    assert "there is no file" in refusal(str(tmp_path / "nope.csv"))
    assert "there is no file" in refusal("nope.npz")
    assert "holds no pictures" in refusal(str(tmp_path))


def test_a_file_named_like_a_data_set_is_reached_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "digits", SVMLIGHT)
    monkeypatch.chdir(tmp_path)
    assert load("digits").shape == (1797, 64)
    assert load("./digits").shape == (3, 3)


@pytest.mark.parametrize(
    ("name", "shape", "labels"),
    [
        ("heart_scale.npz", (270, 13), ["-1", "1"]),
        ("a9a.npz", (32561, 123), ["-1", "1"]),
        ("svmguide1.npz", (3089, 4), ["-1", "1"]),
        ("mnist.npz", (60000, 784), [str(digit) for digit in range(10)]),
    ],
)
def test_stored_files_are_read(name: str, shape: tuple[int, int], labels: list[str]) -> None:
    if not (DATA / name).exists():
        pytest.skip(f"DUALGAP_DATA has no {name}")
    dataset = load(str(DATA / name))
    assert dataset.shape == shape
    assert dataset.labels == labels


@pytest.mark.parametrize(
    ("name", "words"), [("adult_train.csv.gz", "text in column"), ("arrhythmia.csv.gz", "408 missing")]
)
def test_stored_files_are_read_once_prepared(name: str, words: str) -> None:
    if not (DATA / name).exists():
        pytest.skip(f"DUALGAP_DATA has no {name}")
    assert words in refusal(str(DATA / name))
