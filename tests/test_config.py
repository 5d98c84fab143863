"""Races as TOML files: what is written is read again, the command line wins, and mistakes are one sentence."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from dualgap.cli.app import main
from dualgap.cli.race import race as command
from dualgap.workbench import config, store

FULL = {
    "data": ["breast_cancer", "simulated(n=60, d=3)", 'a "quoted" \\ näme.csv'],
    "solver": ["sdca", "pegasos(batch_size=8)"],
    "loss": "smoothed_hinge(gamma=0.5)",
    "strength": ["0.01", "1/n"],
    "epochs": 50.0,
    "seconds": 1.5,
    "tol": 1e-06,
    "gap_tol": 0.5,
    "test_size": 0.25,
    "repeats": 100,
    "seed": 7,
    "rivals": True,
    "jobs": 2,
    "threads": 1,
    "out": "somewhere",
    "onehot": True,
    "category": ["zip", "3"],
    "impute": "median",
    "drop": ["name"],
    "encoding": "cp1252",
    "decimal": ",",
    "features": "gaussian(centers=20, width=8)",
    "target": "price",
    "positive": ["2", "red"],
    "intercept": False,
    "standardize": False,
    "parquet": True,
    "keep_iterates": True,
    "svg": "a.svg",
    "open": False,
}


def test_every_option_of_the_command_line_has_its_place_in_a_file() -> None:
    of_the_command = {"open" if name == "open_page" else name for name in inspect.signature(command).parameters}
    assert set(config.OPTIONS) == of_the_command - {"context", "config", "resume", "quiet"}
    assert set(config.OPTIONS.values()) <= set(config.NEEDED)


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    assert set(FULL) == set(config.OPTIONS)
    path = tmp_path / "race.toml"
    config.write(path, FULL)
    assert config.read(path) == FULL
    config.write(path, {"epochs": None, "positive": (), "data": ("digits",), "tol": 0.5})
    assert config.read(path) == {"data": ["digits"], "tol": 0.5}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("data = 'digits'", {"data": ["digits"]}),
        ("test-size = 0", {"test_size": 0.0}),
        ("strength = [1e-3, '1/n', 2]", {"strength": ["0.001", "1/n", "2"]}),
        ("positive = [3, 'x']", {"positive": ["3", "x"]}),
        ("epochs = 10", {"epochs": 10.0}),
    ],
)
def test_a_value_may_stand_alone_and_numbers_are_numbers(
    tmp_path: Path, text: str, expected: dict[str, object]
) -> None:
    (tmp_path / "race.toml").write_text(text)
    assert config.read(tmp_path / "race.toml") == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("repeat = 5", "there is no option 'repeat'; did you mean 'repeats'?"),
        ("zzz = 5", "there is no option 'zzz'; there are: data, solver"),
        ("repeats = 2.5", "repeats needs a whole number, got 2.5"),
        ("repeats = true", "repeats needs a whole number, got True"),
        ("rivals = 1", "rivals needs true or false, got 1"),
        ("loss = ['hinge']", "loss needs text, got ['hinge']"),
        ("solver = [1]", "solver needs text or a list of texts, got [1]"),
        ("data = []", "data needs text or a list of texts, got []"),
        ("tol = 'small'", "tol needs a number, got 'small'"),
        ("test-size = 0.1\ntest_size = 0.2", "the option 'test_size' stands twice"),
        ("tol = ", "is not TOML"),
        ("tol = nan", "tol must be a finite number"),
        ("repeats = 0", "at least one repeat"),
        ("jobs = 0", "at least one job"),
    ],
)
def test_mistakes_are_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "race.toml").write_text(text)
    with pytest.raises(SystemExit) as ended:
        main(["race", "--config", "race.toml"])
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert words in said
    assert said.count("\n") == 1
    assert [entry.name for entry in tmp_path.iterdir()] == ["race.toml"]


def test_a_missing_file_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["race", "--config", "nowhere.toml"])
    assert (ended.value.code, "there is no file 'nowhere.toml'" in capsys.readouterr().err) == (2, True)


def test_options_given_on_the_command_line_win(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "race.toml").write_text(
        "data = 'simulated(n=60, d=3)'\nsolver = ['sdca', 'sgd']\nrepeats = 3\nepochs = 4\ntol = 1e-14\nout = 'a'\n"
    )
    for arguments in (["-q"], ["-q", "--repeats", "1", "-s", "pegasos", "-o", "b"]):
        with pytest.raises(SystemExit) as ended:
            main(["race", "--config", "race.toml", *arguments])
        assert not ended.value.code
    by_file, by_hand = store.read(tmp_path / "a" / store.FILE), store.read(tmp_path / "b" / store.FILE)
    assert [run.settings["solver"] for run in by_file] == ["sdca", "sgd"] * 3
    assert [run.settings["solver"] for run in by_hand] == ["pegasos"]
    assert {run.settings["epochs"] for run in by_file + by_hand} == {4.0}
