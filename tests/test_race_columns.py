"""Tables with text, missing cells and other marks race as they are fitted, and a race remembers how it read them."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import dualgap as dg
from dualgap.models.training import ColumnChoices, training_part
from dualgap.workbench import store
from dualgap.workbench.contest import prepared_data
from dualgap.workbench.plan import Plan
from dualgap.workbench.repeating import command_of
from test_cli import called

OPTIONS = ["--onehot", "--impute", "median", "--drop", "name", "--encoding", "latin-1", "--decimal", ","]
RACE = ["-s", "newton", "-s", "sdca", "--repeats", "1", "--epochs", "50", "-o", "out"]
CHOSEN = {"onehot": True, "impute": "median", "drop": ["name"], "encoding": "latin-1", "decimal": ","}


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    lines = ["name;age;stadt;member;wage;buys"]
    for i in range(80):
        age, town, member = int(rng.integers(18, 80)), ("Köln", "Zürich", "Bonn")[i % 3], bool(rng.integers(2))
        wage = str(round(rng.lognormal(3, 0.4), 1)).replace(".", ",")
        lines.append(
            f"p{i};{'' if i % 9 == 4 else age};{town};{member};{wage};{'ja' if age > 45 or member else 'nein'}"
        )
    Path("people.csv").write_bytes(("\n".join(lines) + "\n").encode("latin-1"))


def test_a_table_races_as_it_is_fitted(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = called(capsys, "race", "people.csv", *OPTIONS, *RACE)
    assert (code, err) == (0, "")
    runs = store.read(Path("out") / store.FILE)
    assert runs[0].status == "CERTIFIED"
    assert runs[0].data["columns"] == 6, "age, three towns, member and wage"
    for name, value in CHOSEN.items():
        assert runs[0].settings[name] == value
    words = command_of(runs).split()
    assert all(option in words for option in OPTIONS)
    # The same rows and columns as those of fit, standardized.
    from dualgap.workbench.columns import Columns

    columns = Columns(**{name: tuple(value) if isinstance(value, list) else value for name, value in CHOSEN.items()})
    raced = prepared_data(next(Plan(data=("people.csv",), columns=columns).heats()).runs[0])
    reading = {**CHOSEN, "test_size": 0.2, "seed": 0}
    fitted = training_part(
        "people.csv", reading, "classification", ColumnChoices(onehot=True, impute="median", standardize=True)
    )
    np.testing.assert_array_equal(raced.X, fitted.dataset.X)
    np.testing.assert_array_equal(raced.X_test, fitted.dataset.X_test)
    assert raced.feature_names == fitted.dataset.feature_names


def test_a_resumed_race_reads_its_table_as_before(capsys: pytest.CaptureFixture[str]) -> None:
    assert called(capsys, "race", "people.csv", *OPTIONS, *RACE)[0] == 0
    assert called(capsys, "race", "--resume", "-o", "out", "--repeats", "2")[0] == 0
    assert len(store.read(Path("out") / store.FILE)) == 4
    code, _, err = called(capsys, "race", "--resume", "-o", "out", "--impute", "mean")
    assert code == 2
    assert "the finished runs have impute median, got mean" in err


def test_the_call_in_python_that_repeats_a_race_has_its_columns() -> None:
    def zeros(X: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.zeros(X.shape[1])

    race = dg.race(
        "people.csv", solvers=["newton", zeros], repeats=1, onehot=True, impute="median", drop="name",
        encoding="latin-1", decimal=",",
    )  # fmt: skip
    assert "onehot=True, impute='median', drop=['name'], encoding='latin-1', decimal=','" in command_of(race.runs)


def test_ids_of_races_without_these_options_are_as_before() -> None:
    run = next(Plan().heats()).runs[0]
    assert not set(run.settings) & {"onehot", "category", "impute", "drop", "encoding", "decimal", "columns"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--impute", "mode"], "--impute takes mean or median"),
        (["--encoding", "latin-77"], "there is no text encoding 'latin-77'"),
        (["--decimal", "x"], "a decimal mark is . or ,"),
        ([], "line 2 of 'people.csv' has the byte 0xf6"),
        (["--encoding", "latin-1"], "dualgap fit and race make numbers of text with --onehot, fill with --impute"),
    ],
)
def test_what_cannot_be_read_names_options_that_race_has(
    capsys: pytest.CaptureFixture[str], words: list[str], sentence: str
) -> None:
    code, out, err = called(capsys, "race", "people.csv", *words, *RACE)
    assert (code, out) == (2, "")
    assert sentence in err
    assert not Path("out").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is a folder of Linux that takes no files")
@pytest.mark.parametrize("words", [["-o", "/proc/xx"], ["--svg", "/proc/xx.svg"], ["-o", "people.csv/out"]])
def test_outputs_are_checked_before_any_data_is_read(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    code, out, err = called(capsys, "race", "nope.csv", *words)
    assert (code, out) == (2, "")
    assert "no file can be written to the folder '/proc'" in err or "no folder can be made in it" in err


def test_a_file_that_is_not_there_is_named_before_options_of_row_blocks(capsys: pytest.CaptureFixture[str]) -> None:
    assert "there is no file 'nope.csv'" in called(capsys, "fit", "people.csv", "nope.csv")[2]
    assert "names that end in .parquet" in called(capsys, "fit", "people.csv", "people.csv")[2]
