"""Malformed files, one by one: a sentence that names the file and what it needs, exit code 2, and nothing left behind."""

from __future__ import annotations

import bz2
import gzip
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from dualgap.cli.app import main
from dualgap.datasets import load
from dualgap.datasets.columns import read_rows

SVM = "+1 1:0.5 3:2\n-1 2:1e-3\n"
CSV = "height,width,class\n1,2.5,0\n3,4,1\n5,6e-1,1\n"
LONG = {".svm": SVM * 2000, ".csv": CSV + CSV.partition("\n")[2] * 2000}
PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress}


def refused(path: Path) -> str:
    with pytest.raises(ValueError) as caught:
        load(str(path))
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert path.name in sentence
    return sentence


def npz(path: Path, **arrays: Any) -> Path:
    np.savez(path, **arrays)
    return path


def csr(
    path: Path, indices: Any = (0, 1), indptr: Any = (0, 1, 2), shape: Any = (2, 2), data: Any = (1.0, 2.0)
) -> Path:
    parts = {"data": np.array(data), "indices": np.array(indices), "indptr": np.array(indptr), "shape": np.array(shape)}
    return npz(path, y=np.array([0, 1]), **parts)


def parquet(path: Path, columns: dict[str, Any]) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table

    write_table(pyarrow.table(columns), path)
    return path


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("1 1:2\n-1 1:abc\n", "line 2 has '1:abc', whose value is no finite number"),
        ("1 1:2\n\n# note\n-1 1:nan\n", "line 4 has '1:nan'"),
        ("1 1:inf\n", "line 1 has '1:inf'"),
        ("1 1:1e999\n", "line 1 has '1:1e999'"),
        ("yes 1:2\n", "line 1 has the label 'yes', which is no finite number"),
        ("nan 1:2\n", "line 1 has the label 'nan'"),
        ("1 1:2\n1 -3:2\n", "line 2 has the negative index -3"),
        ("1 1:2\n1 3000000000:2\n", "line 2 has the index 3000000000, and more than 100,000,000 columns are not read"),
        ("1 2000000000:2\n", "line 1 has the index 2000000000"),
        ("1 99999999999999999999999:2\n", "line 1 has the index 99999999999999999999999"),
        ("1 2:1 1:1\n", "line 1 has the index 1 behind 2"),
        ("1 2:1 2:1\n", "line 1 has the index 2 behind 2"),
        ("1 1.5:2\n", "line 1 has '1.5:2', which is no index:value"),
        ("1 1:2 3\n", "line 1 has '3', which is no index:value"),
        ("this is prose\n", "line 1 has the label 'this'"),
        ("", "holds no rows"),
        ("\n\n# nothing\n", "holds no rows"),
    ],
)
def test_malformed_svmlight_is_refused(tmp_path: Path, content: str, words: str) -> None:
    for name in ("a.svm", "a.svm.gz", "a.svm.bz2"):
        path = tmp_path / name
        path.write_bytes(PACKERS.get(path.suffix, bytes)(content.encode()))
        sentence = refused(path)
        assert words in sentence
        assert "label and index:value pairs, indices ascending from 1" in sentence


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a,b,y\n1,2,0\n3,1.2.3,1\n5,6,0\n", "line 3 of a.csv has '1.2.3' in column b, which is no finite number"),
        ("a,b,y\n1,2,0\n3,inf,1\n5,6,0\n", "line 3 of a.csv has 'inf' in column b"),
        ("a,b,y\n1,2,0\n3,4,1e999\n5,6,0\n", "line 3 of a.csv has '1e999' in column y"),
        ("a,b,y\n1,x,0\n3,z,1\n", "text in column b (for example 'x' in line 2)"),
        ("a,b,y\n1,2,0\n3,,1\n", "1 missing cell in column b, the first in line 3"),
        (
            "a,b,y\n1,2,\n3,4,1\n",
            "in column y, the first in line 2; leave those rows out, for a target is never filled",
        ),
        ('a,b,y\n1,"2,233",0\n3,"1,111",1\n', "'2,233' looks like 2233 with a mark between thousands"),
        (
            'a,b,y\n1,"1,234.5",0\n3,"4,111.7",1\n',
            "looks like 1234.5 with marks between thousands: write numbers without them",
        ),
        (
            "a;b;y\n1;1.234,5;0\n3;2.333,5;1\n",
            "like 1234,5 with marks between thousands: write numbers without them, and then pass --decimal ,",
        ),
        (
            'a,y\n1,"2,233"\n3,"1,111"\n',
            "the target of a.csv has '2,233' in line 2, which is no number; '2,233' looks like 2233",
        ),
        ("a,y\n1, yes\n2,no\n3,yes\n", "the labels ' yes' in line 2 and 'yes' in line 4, which differ in blanks alone"),
        ("a,b,y\n1,2,0\n3,4\n", "line 3 of a.csv has 2 cells where the first has 3"),
        ("a,b,y\n1,2,0\n3,4,1,7\n", "line 3 of a.csv has 4 cells where the first has 3"),
        ("a,b,c,y\n1,2,0\n3,4,1\n", "line 2 of a.csv has 3 cells where the first has 4"),
        ("a,y\n1,2,0\n3,4,1\n", "line 2 of a.csv has 3 cells where the first has 2"),
        ("a,b,y\n", "header and no rows"),
        ("", "a.csv is empty"),
        ("1,2,0\n3,\x00,1\n5,6,1\n", "a.csv"),
    ],
)
def test_malformed_csv_is_refused(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(content.encode())
    assert words in refused(path)


def test_rows_of_another_length_are_refused_where_columns_are_chosen(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(",a,b,y\n0,1,2,0\n1,3,4,1,7\n")
    assert "line 3 of a.csv has 5 cells where the first has 4" in refused(path)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"indices": (0, -1)}, "malformed"),
        ({"indices": (0, 2)}, "malformed"),
        ({"indices": (0, 2**40)}, "malformed"),
        ({"indptr": (0, 2, 1)}, "malformed"),
        ({"indptr": (0, 1, 5)}, "malformed"),
        ({"shape": (2, 10**12)}, "1,000,000,000,000 columns, and more than 100,000,000 are not read"),
        ({"shape": (2, -2)}, "malformed"),
        ({"shape": (2,)}, "malformed"),
        ({"data": (1.0, np.nan)}, "should hold finite numbers"),
    ],
)
def test_malformed_sparse_npz_is_refused(tmp_path: Path, arrays: dict[str, Any], words: str) -> None:
    assert words in refused(csr(tmp_path / "a.npz", **arrays))


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        (np.array([["a", "b"]]), np.ones(1), "should hold finite numbers"),
        (np.array([[1.0, np.inf]]), np.ones(1), "should hold finite numbers"),
        (np.eye(2), np.array([0, np.nan]), "should hold finite numbers"),
        (np.empty((0, 2)), np.empty(0), "has no rows in X"),
        (np.zeros((2, 2, 2)), np.zeros(2), "n rows and n targets"),
    ],
)
def test_malformed_dense_npz_is_refused(tmp_path: Path, X: Any, y: Any, words: str) -> None:
    assert words in refused(npz(tmp_path / "a.npz", X=X, y=y))


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"a": [1.0, 2.0], "b": ["x", "z"], "y": [0, 1]}, "text in column b (for example 'x' in row 1)"),
        ({"a": [1.0, None], "b": [1, 2], "y": [0, 1]}, "1 missing cell in column a, the first in row 2"),
        ({"a": [1.0, float("nan")], "b": [1, 2], "y": [0, 1]}, "1 missing cell in column a"),
        ({"a": [1.0, 2.0], "y": [None, 1]}, "1 missing cell in column y"),
        ({"a": [1.0, 2.0], "y": [None, "yes"]}, "1 missing cell in column y"),
        ({"a": [[1.0], [2.0]], "y": [0, 1]}, "text in column a"),
        ({"y": [0, 1]}, "1 column; at least one feature and a target"),
        ({"a": np.empty(0), "y": np.empty(0)}, "has no rows"),
    ],
)
def test_malformed_parquet_is_refused(tmp_path: Path, columns: dict[str, Any], words: str) -> None:
    assert words in refused(parquet(tmp_path / "a.parquet", columns))


@pytest.mark.parametrize("content", [b"", b"PAR1", b"not parquet at all"])
def test_a_file_that_is_not_parquet_is_refused(tmp_path: Path, content: bytes) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "a.parquet"
    path.write_bytes(content)
    assert "is empty" in refused(path) or "damaged or not parquet" in refused(path)


def test_parquet_without_its_library_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = parquet(tmp_path / "a.parquet", {"a": [1.0], "y": [1]})
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'dualgap\[io\]'"):
        load(str(path))


@pytest.mark.parametrize("kind", LONG)
@pytest.mark.parametrize("ending", PACKERS)
def test_compression_that_ends_early_is_refused(tmp_path: Path, kind: str, ending: str) -> None:
    packed = PACKERS[ending](LONG[kind].encode())
    names = [f"a{kind}{ending}", f"no_suffix{ending}"]
    for name in names if kind == ".svm" else names[:1]:
        path = tmp_path / name
        for length in (len(packed) // 2, len(packed) - 3, 0, 7):
            path.write_bytes(packed[:length])
            sentence = refused(path)
            assert "damaged" in sentence or length == 0
        with pytest.raises(ValueError, match=r"damaged|empty|format"):
            read_rows(str(path), None, 2)


def test_npz_that_ends_early_is_refused(tmp_path: Path) -> None:
    path = npz(tmp_path / "a.npz", X=np.arange(2000.0).reshape(1000, 2), y=np.arange(1000))
    whole = path.read_bytes()
    for length in (len(whole) // 2, len(whole) - 10, 3):
        path.write_bytes(whole[:length])
        assert "damaged" in refused(path) or "not an npz" in refused(path)


def test_npz_with_a_broken_byte_is_refused(tmp_path: Path) -> None:
    path = npz(tmp_path / "a.npz", X=np.arange(2000.0).reshape(1000, 2), y=np.arange(1000))
    whole = bytearray(path.read_bytes())
    whole[5000] ^= 0xFF
    path.write_bytes(whole)
    assert "damaged" in refused(path)


def picture_zip(path: Path, names: tuple[str, ...], shade: int = 7) -> Path:
    cv2 = pytest.importorskip("cv2")
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, cv2.imencode(".png", np.full((3, 4), shade, np.uint8))[1].tobytes())
    return path


@pytest.mark.parametrize("name", ["../cat/a.png", "/cat/a.png", "cat/../../a.png", "C:\\cat\\a.png", "..\\cat\\a.png"])
def test_a_zip_with_paths_out_of_its_folder_is_refused(tmp_path: Path, name: str) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    path = picture_zip(inside / "a.zip", ("dog/a.png", name))
    assert "leads out of its folder" in refused(path)
    assert [found.name for found in tmp_path.rglob("*")] == ["inside", "a.zip"]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"no zip"])
def test_a_file_that_is_not_a_zip_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(content)
    assert "neither a folder nor a whole zip of pictures" in refused(path)


def test_zips_and_folders_of_pictures_are_read(tmp_path: Path) -> None:
    path = picture_zip(tmp_path / "a.zip", ("cat/1.png", "dog/1.png", "dog/2.png"))
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path / "album")
    for album in (path, tmp_path / "album"):
        dataset = load(str(album))
        assert (dataset.shape, dataset.y.tolist()) == ((3, 12), ["cat", "dog", "dog"])
        assert (dataset.X == 7).all()
        assert dataset.description == "grey pictures of 4 × 3 pixels"
    assert "holds no pictures" in refused(picture_zip(path, ("at_the_top.png",)))


@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["", "with mark"])
@pytest.mark.parametrize("kind", LONG)
def test_windows_line_ends_are_read(tmp_path: Path, kind: str, mark: str) -> None:
    plain, windows = tmp_path / f"a{kind}", tmp_path / f"b{kind}"
    plain.write_bytes(LONG[kind].encode())
    windows.write_bytes((mark + LONG[kind].replace("\n", "\r\n")).encode())
    first, second = load(str(plain)), load(str(windows))
    dense = [data.X.toarray() if sparse.issparse(data.X) else data.X for data in (first, second)]
    assert np.array_equal(*dense)
    assert np.array_equal(first.y, second.y)
    assert first.feature_names == second.feature_names


def test_parquet_is_read_with_numbers_words_and_the_index_of_pandas(tmp_path: Path) -> None:
    columns = {"a": [1, 2, 3], "b": [True, False, True], "kept": ["no", "yes", "no"], "__index_level_0__": [7, 8, 9]}
    path = parquet(tmp_path / "a.parquet", columns)
    dataset = load(str(path))
    assert np.array_equal(dataset.X, [[1, 1], [2, 0], [3, 1]])
    assert dataset.y.tolist() == ["no", "yes", "no"]
    assert dataset.feature_names == ("a", "b")
    assert load(str(parquet(path, {"a": [1, 2], "b": [3, 4]})), target="a").y.tolist() == [1, 2]
    assert np.array_equal(read_rows(str(path), ("b", "a"), 2), [[3, 1], [4, 2]])
    assert np.array_equal(read_rows(str(path), None, 1), [[1], [2]])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.svm", b"1 -1:2\n"),
        ("a.csv", b"a,b,y\n1,2,0\n3,4\n"),
        ("a.csv.gz", gzip.compress(LONG[".csv"].encode())[:-20]),
        ("a9a.gz", gzip.compress(LONG[".svm"].encode())[:-20]),
        ("a.npz", b"PK\x03\x04"),
        ("a.parquet", b"PAR1"),
        ("a.zip", b"PK\x03\x04"),
        ("a.svm", b""),
    ],
)
@pytest.mark.parametrize("command", ["fit", "race"])
def test_the_command_line_says_one_sentence_and_writes_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    name: str,
    content: bytes,
) -> None:
    (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main([command, f"./{name}"])
    said = capsys.readouterr()
    assert ended.value.code == 2
    assert said.out == ""
    assert said.err.startswith("dualgap: ")
    assert name in said.err
    assert len(said.err.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == [name]
