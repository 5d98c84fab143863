"""Columns of text, gaps and units: prepared alike by fit, predict, certify and in Python, and kept safely in the file."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dualgap as dg
from dualgap.data.preparation import Preparation
from dualgap.data.sheet import Sheet
from test_cli import ESCAPE, called, run_in_terminal

JOBS = ("nurse", "cook", "", "teacher")
FIT = ["people.csv", "--onehot", "--impute", "median", "--drop", "name", "-o", "m.dg"]


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    lines = ["name,age,job,member,wage,buys"]
    for i in range(80):
        age, job, member = int(rng.integers(18, 80)), JOBS[rng.integers(4)], bool(rng.integers(2))
        answer = "yes" if 0.05 * (age - 45) + (job == "teacher") + rng.normal() > 0.2 else "no"
        lines.append(f"p{i},{'' if i % 9 == 4 else age},{job},{member},{round(rng.lognormal(10, 0.4), 1)},{answer}")
    Path("people.csv").write_text("\n".join(lines) + "\n")


def lines_of(name: str) -> list[str]:
    return Path(name).read_text().splitlines()


def prepared_by_hand() -> tuple[np.ndarray, np.ndarray, list[list[str]]]:
    """Age filled with its median, one column a category, member and wage; the labels; the cells."""
    cells = [line.split(",") for line in lines_of("people.csv")[1:]]
    ages = np.array([float(row[1] or "nan") for row in cells])
    ages = np.where(np.isnan(ages), np.nanmedian(ages), ages)
    one_hot = [[float(row[2] == job) for job in ("", "cook", "nurse", "teacher")] for row in cells]
    member = [float(row[3] == "True") for row in cells]
    wage = [float(row[4]) for row in cells]
    return np.column_stack([ages, one_hot, member, wage]), np.array([row[5] for row in cells]), cells


def test_a_table_of_text_and_gaps_is_the_problem_it_should_be(capsys: pytest.CaptureFixture[str]) -> None:
    assert called(capsys, "fit", *FIT, "--loss", "logistic")[0] == 0
    model = dg.load("m.dg")
    X, y, _ = prepared_by_hand()
    assert model.feature_names == ("age", "job=(missing)", "job=cook", "job=nurse", "job=teacher", "member", "wage")
    by_hand = dg.solve(dg.Problem(X, y, "logistic", strength=1 / 80, intercept=True), tol=1e-6)
    assert model.certificate.primal == pytest.approx(by_hand.certificate.primal, rel=1e-6)
    assert called(capsys, "certify", "m.dg", "people.csv")[0] == 0
    code, out, err = called(capsys, "predict", "m.dg", "people.csv", "--keep", "name", "--keep", "age")
    rows = [line.split(",") for line in out.splitlines()]
    assert code == 0
    assert rows[0] == ["name", "age", "prediction", "score", "probability_no", "probability_yes"]
    assert [row[0] for row in rows[1:]] == [f"p{i}" for i in range(80)]
    scores = X @ model.weights + model.intercept
    assert np.allclose([float(row[3]) for row in rows[1:]], scores, rtol=1e-9)
    assert err.startswith(f"Against the target in the data: accuracy {np.mean((scores > 0) == (y == 'yes')):.3f}")


def test_standardized_columns_come_from_the_training_rows_alone(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = called(capsys, "fit", *FIT, "--standardize", "--test-size", "0.25", "--loss", "logistic")
    assert code == 0
    for words in (
        "3 of numbers (filled, standardized); 1 of text, 4 categories",
        "left out",
        "baseline",
        "log loss",
        "AUC",
    ):
        assert words in out
    preparation = dg.load("m.dg").preparation
    assert preparation is not None
    X, _, _ = prepared_by_hand()
    means = preparation.means[[0, 2, 3]]
    assert not np.allclose(means, X[:, [0, 5, 6]].mean(axis=0), rtol=1e-6), "the test rows must not be seen"
    assert called(capsys, "certify", "m.dg", "people.csv")[0] == 0


@pytest.mark.parametrize("data", ["breast_cancer", "rows.svm", "rows.npz"])
def test_matrices_are_standardized_too(capsys: pytest.CaptureFixture[str], data: str) -> None:
    Path("rows.svm").write_text("".join(f"{i % 2} 1:{i + 1} 3:{i % 3 + 1}e5\n" for i in range(30)))
    np.savez("rows.npz", X=np.arange(60.0).reshape(30, 2) ** 2, y=np.arange(30) % 2)
    assert called(capsys, "fit", data, "--standardize", "-o", "m.dg")[0] == 0
    assert called(capsys, "certify", "m.dg", data)[0] == 0
    assert called(capsys, "predict", "m.dg", data)[0] == 0
    if data == "breast_cancer":
        dataset = __import__("dualgap.datasets", fromlist=["load"]).load(data)
        Z = (dataset.X - dataset.X.mean(axis=0)) / dataset.X.std(axis=0)
        model = dg.load("m.dg")
        assert np.allclose(model.scores(dataset.X), Z @ model.weights + model.intercept, rtol=1e-9, atol=1e-9)


def test_a_new_category_is_zeros_and_a_note_or_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert called(capsys, "fit", *FIT)[0] == 0
    Path("new.csv").write_text("wage,job,age,member\n100,pilot,50,True\n")
    code, out, err = called(capsys, "predict", "m.dg", "new.csv")
    assert code == 0
    assert "column job has 'pilot' in 1 row, which the fit did not see: zeros in all columns of job" in err
    model = dg.load("m.dg")
    expected = model.weights @ [50, 0, 0, 0, 0, 1, 100] + model.intercept
    assert float(out.splitlines()[1].split(",")[1]) == pytest.approx(expected, rel=1e-9)
    code, _, err = called(capsys, "predict", "m.dg", "new.csv", "--strict", "-o", "p.csv")
    assert (code, "'pilot'" in err, Path("p.csv").exists()) == (2, True, False)


def test_a_frame_is_prepared_as_the_file_was(capsys: pytest.CaptureFixture[str]) -> None:
    pandas = pytest.importorskip("pandas")
    assert called(capsys, "fit", *FIT, "--standardize")[0] == 0
    model = dg.load("m.dg")
    frame = pandas.read_csv("people.csv", keep_default_na=False, na_values={"age": [""]})
    out = called(capsys, "predict", "m.dg", "people.csv")[1]
    scores = [float(line.split(",")[1]) for line in out.splitlines()[1:]]
    assert np.allclose(model.scores(frame[["wage", "member", "job", "age"]]), scores, rtol=1e-12)
    assert model.certify(frame, frame["buys"].to_numpy(str)).holds
    with pytest.raises(ValueError, match="needs a data frame with the columns age, job, member, wage"):
        model.predict(np.zeros((2, 4)))


def test_parquet_is_prepared_as_csv_is(capsys: pytest.CaptureFixture[str]) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.read_csv("people.csv")
    frame.to_parquet("people.parquet")
    options = ["--onehot", "--impute", "mean", "--drop", "name"]
    assert called(capsys, "fit", "people.csv", *options, "-o", "a.dg")[0] == 0
    assert called(capsys, "fit", "people.parquet", *options, "-o", "b.dg")[0] == 0
    assert dg.load("a.dg").data == dg.load("b.dg").data
    assert called(capsys, "certify", "a.dg", "people.parquet")[0] == 0
    assert called(capsys, "predict", "a.dg", "people.csv")[1] == called(capsys, "predict", "b.dg", "people.parquet")[1]


def test_numbers_can_be_categories(capsys: pytest.CaptureFixture[str]) -> None:
    Path("zip.csv").write_text("zip,x,y\n" + "".join(f"0{i % 3},{i},{'ab'[i % 3 == 1]}\n" for i in range(30)))
    assert called(capsys, "fit", "zip.csv", "--category", "zip", "-o", "m.dg")[0] == 0
    assert dg.load("m.dg").feature_names == ("zip=00", "zip=01", "zip=02", "x")
    assert called(capsys, "certify", "m.dg", "zip.csv")[0] == 0


REFUSED = {
    "names of rows": (
        ["--onehot", "--impute", "mean"],
        "text that nearly names its rows, in column name (80 different",
    ),
    "gaps": (["--onehot", "--drop", "name"], "missing cells in column age"),
    "an unknown fill": (["--impute", "mode"], "--impute takes mean or median, got 'mode'"),
    "an unknown column": (["--drop", "nme"], "did you mean 'name'"),
    "the target as category": (["--category", "buys", "--onehot"], "is the target"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_columns_that_cannot_be_prepared_are_refused(capsys: pytest.CaptureFixture[str], name: str) -> None:
    options, words = REFUSED[name]
    code, out, err = called(capsys, "fit", "people.csv", *options, "-o", "m.dg")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert words in err
    assert not Path("m.dg").exists()


def test_options_of_tables_are_refused_for_other_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert "need a table with columns of text" in called(capsys, "fit", "breast_cancer", "--onehot")[2]
    assert "csv and parquet files only" in called(capsys, "fit", "breast_cancer", "--encoding", "latin-1")[2]


def test_a_number_among_text_and_text_among_numbers_are_told_at_predict(capsys: pytest.CaptureFixture[str]) -> None:
    assert called(capsys, "fit", *FIT)[0] == 0
    Path("new.csv").write_text("wage,job,age,member\nmuch,7,50,True\n")
    code, _, err = called(capsys, "predict", "m.dg", "new.csv")
    assert code == 2
    assert "text in column wage (for example 'much' in line 2)" in err


def spoiled(change: Any) -> str:
    """Why a model file with a changed record is refused."""
    with zipfile.ZipFile("m.dg") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    record = json.loads(parts["model.json"])
    change(record)
    parts["model.json"] = json.dumps(record).encode()
    with zipfile.ZipFile("bad.dg", "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    with pytest.raises(ValueError) as caught:
        dg.load("bad.dg")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_hostile_preparations_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert called(capsys, "fit", *FIT)[0] == 0
    assert json.loads(zipfile.ZipFile("m.dg").read("model.json"))["format"] == 3

    def edit(**parts: Any) -> Any:
        return lambda record: record["preparation"].update(parts)

    assert "ascend" in spoiled(edit(categories={"1": ["b", "a"]}))
    assert "ascend" in spoiled(edit(categories={"9": ["a"]}))
    assert "by its place" in spoiled(edit(categories={"-1": ["a"]}))
    assert "by its place" in spoiled(edit(categories={"9" * 5000: ["a"]}))
    assert "list of text" in spoiled(edit(categories={"1": [1]}))
    assert "each of its columns" in spoiled(edit(names=["age"]))
    assert "makes 4 columns does not fit a model of 7" in spoiled(edit(categories={"1": ["a"]}))
    assert "'has_names' should be of type bool" in spoiled(edit(has_names=1))
    assert "are of train, test and baseline" in spoiled(lambda r: r.update(metrics={"other": {}}))
    assert "should be a number" in spoiled(lambda r: r.update(metrics={"train": {"accuracy": "high"}}))
    assert "one length" in spoiled(lambda r: r["history"][0]["gap"].append(1.0))
    assert "as many histories" in spoiled(lambda r: r["history"].append(r["history"][0]))


def test_a_preparation_refuses_scales_that_divide_by_zero() -> None:
    numbers = {"fills": np.array([np.nan]), "means": np.zeros(1), "scales": np.zeros(1)}
    with pytest.raises(ValueError, match="finite scales > 0"):
        Preparation(("a",), True, categories={}, **numbers)


def test_constant_and_huge_columns() -> None:
    sheet = Sheet("t", ("a", "b"), (np.full(7, 0.1), np.arange(7.0) + 1e9))
    found = Preparation.fit_sheet(sheet, None, True)
    assert found.scales[0] == 1.0, "a constant column is not divided by its rounding"
    assert np.allclose(found.of_sheet(sheet).X[:, 1].std(), 1.0)
    with pytest.raises(ValueError, match="too large to standardize"):
        Preparation.fit_sheet(Sheet("t", ("a",), (np.array([1e200, -1e200]),)), None, True)
    with pytest.raises(ValueError, match="no value in the training rows"):
        Preparation.fit_sheet(Sheet("t", ("a",), (np.full(3, np.nan),)), "mean", False)


def test_everything_fits_80_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert called(capsys, "fit", *FIT)[0] == 0
    for arguments in (["show", "m.dg"], ["predict", "m.dg", "people.csv", "-o", "p.csv"], ["solvers", "sdca"]):
        code, drawn = run_in_terminal(*arguments, folder=tmp_path)
        assert code == 0
        assert max(map(len, ESCAPE.sub("", drawn).replace("\r", "\n").split("\n"))) <= 80
