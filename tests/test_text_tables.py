"""Text as people have it: encodings, delimiters, decimal commas, truth values and dates are read right, or refused."""

from __future__ import annotations

import codecs
from pathlib import Path

import numpy as np
import pytest

from dualgap.datasets import load
from dualgap.datasets.layout import TextOptions

ACCENTS = "a,b,label\n1,2,é\n3,4,è\n5,6,é\n"


def written(path: Path, content: str | bytes) -> str:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def refusal(path: str, **options: object) -> str:
    with pytest.raises(ValueError) as caught:
        load(path, options=TextOptions(**options))  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_labels_of_another_encoding_are_refused_and_never_merged(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", ACCENTS.encode("latin-1"))
    sentence = refusal(path)
    assert "line 2 of " in sentence
    assert "has the byte 0xe9, which is no UTF-8" in sentence
    assert "--encoding latin-1" in sentence
    assert load(path, options=TextOptions(encoding="latin-1")).y.tolist() == ["é", "è", "é"]
    assert "line 2" in refusal(path, encoding="ascii")
    assert "there is no text encoding 'latin-99'" in refusal(path, encoding="latin-99")
    assert "there is no text encoding 'hex'" in refusal(path, encoding="hex")


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [(b"", "utf-8"), (codecs.BOM_UTF8, "utf-8"), (b"", "utf-16"), (codecs.BOM_UTF16_BE, "utf-16-be"), (b"", "utf-32")],
)
def test_byte_order_marks_say_the_encoding(tmp_path: Path, mark: bytes, encoding: str) -> None:
    found = load(written(tmp_path / "a.csv", mark + ACCENTS.encode(encoding)))
    assert found.y.tolist() == ["é", "è", "é"]
    assert found.feature_names == ("a", "b")


def test_a_mark_of_utf_16_on_other_bytes_is_refused(tmp_path: Path) -> None:
    assert "is no text in utf-16" in refusal(written(tmp_path / "a.csv", codecs.BOM_UTF16_LE + b"a,b,\xd8\xd8\xd8"))


def test_a_label_with_a_nul_byte_is_refused(tmp_path: Path) -> None:
    # Arrays of text drop NUL bytes at the end, and two labels would become one.
    assert "NUL byte" in refusal(written(tmp_path / "a.csv", "a,y\n1,no\n2,no\0\n"))


@pytest.mark.parametrize(
    ("content", "X"),
    [
        ("a;b;y\n1,5;2;0\n3;4,25;1\n", [[1.5, 2], [3, 4.25]]),
        ("1,5;2,5;0,5;1\n3,5;4,5;0,5;0\n", [[1.5, 2.5, 0.5], [3.5, 4.5, 0.5]]),
        ("a\tb\ty\n1,5\t1e3\t0\n3\t-4,25e-1\t1\n", [[1.5, 1000], [3, -0.425]]),
        ("a;b;y\n1,234;2,5;0\n3;4;1\n", [[1.234, 2.5], [3, 4]]),
        ("a;b;y\n1.5;2;0\n3;4.25;1\n", [[1.5, 2], [3, 4.25]]),
    ],
    ids=["semicolons", "no header, more commas than semicolons", "tabs", "three digits beside others", "points"],
)
def test_decimal_commas_are_read_beside_other_delimiters(tmp_path: Path, content: str, X: list[list[float]]) -> None:
    np.testing.assert_array_equal(load(written(tmp_path / "a.csv", content)).X, X)


def test_a_decimal_mark_that_could_be_two_is_asked_for(tmp_path: Path) -> None:
    mixed = written(tmp_path / "mixed.csv", "a;b;y\n1,5;2;0\n3;4.5;1\n")
    sentence = refusal(mixed)
    assert "'1,5' in line 2" in sentence
    assert "'4.5' in line 3" in sentence
    grouped = written(tmp_path / "grouped.csv", "a;b;y\n1,234;2;0\n3;4;1\n")
    assert "could be 1.234 or 1234" in refusal(grouped)
    assert load(grouped, options=TextOptions(decimal=",")).X.tolist() == [[1.234, 2], [3, 4]]
    quoted = written(tmp_path / "quoted.csv", 'a,b,y\n"1,5",2,0\n"3,5",4,1\n')
    assert "--decimal ," in refusal(quoted)
    assert load(quoted, options=TextOptions(decimal=",")).X.tolist() == [[1.5, 2], [3.5, 4]]


def test_true_and_false_are_one_and_zero_in_features_and_words_as_labels(tmp_path: Path) -> None:
    found = load(written(tmp_path / "a.csv", "member,age,left\nTrue,1,False\nfalse,2,True\nTRUE,3,True\n"))
    assert found.X.tolist() == [[1, 1], [0, 2], [1, 3]]
    assert found.y.tolist() == ["False", "True", "True"]


@pytest.mark.parametrize(
    "day", ["2024-01-31", "31.01.2024", "1/31/24", "2024-01-31T10:00:00", "2024-01-31 10:00", "10:30"]
)
def test_dates_are_explained(tmp_path: Path, day: str) -> None:
    sentence = refusal(written(tmp_path / "a.csv", f"born;age;y\n{day};1;0\n{day};2;1\n"))
    assert f"dates in column born (for example {day!r} in line 2)" in sentence
    assert "days since a fixed day" in sentence


def test_columns_are_dropped_by_name_or_position(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "name,a,y,note\nx,1,0,p\ny,2,1,q\n")
    found = load(path, options=TextOptions(drop=("name", "3")))
    assert (found.feature_names, found.X.tolist(), found.y.tolist()) == (("a",), [[1], [2]], [0, 1])
    assert "did you mean 'name'" in refusal(path, drop=("nam",))
    assert "no feature or no target left" in refusal(path, drop=("name", "a", "note"))
    with pytest.raises(ValueError, match="is the target and cannot be dropped"):
        load(path, "a", options=TextOptions(drop=("a",)))
    with pytest.raises(ValueError, match="columns to drop can be given for csv and parquet files only"):
        load("breast_cancer", options=TextOptions(drop=("0",)))


def test_text_and_missing_cells_are_told_together(tmp_path: Path) -> None:
    sentence = refusal(written(tmp_path / "a.csv", "job,age,y\nnurse,,0\ncook,2,1\n"))
    for words in ("text in column job", "1 missing cell in column age", "--onehot, fill with --impute median"):
        assert words in sentence


def test_quoted_delimiters_and_line_ends_are_read(tmp_path: Path) -> None:
    found = load(written(tmp_path / "a.csv", 'a,b,y\n1,2,"x, y"\n3,4,"z\nw"\n'))
    assert found.X.tolist() == [[1, 2], [3, 4]]
    assert found.y.tolist() == ["x, y", "z\nw"]
