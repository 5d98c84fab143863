"""Races from Python: the same runs as on the command line, arrays in memory, and what a Race shows, saves and reads."""

from __future__ import annotations

import dataclasses
import html
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import dualgap as dg
from dualgap.datasets import DATASETS, load
from dualgap.workbench import arrays, store, summary
from dualgap.workbench.leaderboard import Leaderboard
from dualgap.workbench.plan import Plan
from dualgap.workbench.repeating import command_of
from dualgap.workbench.verdict import verdict
from pages import made_run

SOLVERS = ["sdca", "pegasos(batch_size=4)"]


@pytest.fixture(scope="module")
def race() -> dg.Race:
    return dg.race(solvers=SOLVERS, epochs=20, repeats=2, tol=1e-2)


@pytest.fixture(scope="module")
def several() -> dg.Race:
    generated = "classification(n=80, d=5)"
    assert load(generated).shape == (80, 5)
    return dg.race(["breast_cancer", generated], solvers="sdca", strengths=[0.1, "1/n"], epochs=5, repeats=1)


def toy(rows: int = 60) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    X = np.random.default_rng(3).normal(size=(rows, 4))
    return X, np.where(X[:, 0] + 0.3 * X[:, 1] > 0, 1, -1)


def strange_refusal() -> store.FinishedRun:
    """A refusal of a solver with a strange name, in strange words."""
    return made_run("<b>", status=store.REFUSED, sentence="<i>", records={}, certificate={})


def same_numbers(one: dg.Race, other: dg.Race) -> bool:
    """Whether two races gave the same but for their clocks."""
    clocks = {"seconds", "cpu_seconds", "call_seconds"}
    kept = [
        [{name: values for name, values in run.records.items() if name not in clocks} for run in race.runs]
        for race in (one, other)
    ]
    return kept[0] == kept[1]


def test_a_race_in_python_gives_the_numbers_of_the_command_line(race: dg.Race, tmp_path: Path) -> None:
    words = ["-s", SOLVERS[0], "-s", SOLVERS[1], "--epochs", "20", "--repeats", "2", "--tol", "1e-2", "-o", "out"]
    command = [sys.executable, "-m", "dualgap", "race", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    there = dg.Race.load(tmp_path / "out")
    assert {run.run for run in there.runs} == {run.run for run in race.runs}
    assert same_numbers(there, race)


def test_options_are_called_as_on_the_command_line() -> None:
    """Names differ only where several values are given at once; what is about folders and screens is left out."""
    from dualgap.cli.race import race as command

    there = set(inspect.signature(command).parameters)
    here = set(inspect.signature(dg.race).parameters)
    assert here - there == {"y", "solvers", "strengths", "name", "progress"}
    assert {"solver", "strength", "epochs", "seconds", "tol", "test_size", "repeats", "seed"} <= there


def test_defaults_are_those_of_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from dualgap.cli.race import race as command
    from dualgap.workbench import config, runner

    there = inspect.signature(command).parameters
    here = inspect.signature(dg.race).parameters
    for name in sorted((set(here) & set(there)) - {"data", "positive"}):
        assert here[name].default == there[name].default, name
    planned = []

    def plan_only(plan: Plan, **options: Any) -> runner.RaceResult:
        planned.append(plan)
        return runner.RaceResult()

    monkeypatch.setattr(runner, "race", plan_only)
    dg.race()
    assert planned == [config.plan_of({name: parameter.default for name, parameter in there.items()})]


def test_the_leaderboard_is_made_of_medians(race: dg.Race) -> None:
    board = race.leaderboard()
    assert isinstance(board, Leaderboard)
    assert [row["place"] for row in board] == [1, 2]
    standings = summary.standings(race.runs)
    for row, standing in zip(board, standings, strict=True):
        assert row["solver"] == standing.solver
        assert row["relative_gap"] == standing.median("relative_gap")
        assert row["seconds_to_1e-02"] == summary.seconds_to(standing.runs, 1e-2)
        assert row["runs"] == 2
    json.dumps(board)
    frame = board.to_frame()
    assert list(frame.columns) == list(board[0])
    assert frame["solver"].tolist() == [row["solver"] for row in board]


def test_without_pandas_a_frame_says_what_to_install(race: dg.Race, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"^to_frame needs pandas, .*pip install 'dualgap\[io\]'$"):
        race.leaderboard().to_frame()


def test_in_a_terminal_it_is_a_short_table_and_the_winner(race: dg.Race) -> None:
    lines = repr(race).splitlines()
    assert lines[0] == f"breast_cancer: hinge, strength 1/n = {1 / 455:.4g}"
    assert lines[1].startswith("solver")
    assert lines[2].startswith(race.leaderboard()[0]["solver"])
    assert lines[4] == race.winner == verdict(race.runs, 1e-2)
    assert lines[5] == race.bounds
    assert race.bounds.startswith("Proven: ")
    assert len(lines) == 6
    assert max(map(len, lines[:4])) <= 100


def test_several_heats_have_a_sentence_each(several: dg.Race) -> None:
    assert len(several.winner.splitlines()) == len(several.bounds.splitlines()) == 4
    assert several.winner.splitlines()[0].startswith("breast_cancer: hinge, strength 0.1 – ")
    assert repr(several).count("\nsolver ") == 4
    assert [row["place"] for row in several.leaderboard()] == [1, 1, 1, 1]
    chosen = several.figure("gap", data="classification(n=80, d=5)", strength="1/n")
    assert chosen.layout.title.text == f"classification(n=80, d=5): hinge, strength 1/n = {1 / 64:.4g}"


def test_a_notebook_shows_a_small_table_and_a_chart(race: dg.Race) -> None:
    bundle = race._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "application/vnd.plotly.v1+json"}
    assert bundle["text/html"].count("<tr>") == 3
    assert "pegasos(batch_size=4)" in bundle["text/html"]
    assert "<script" not in bundle["text/html"]
    chart = bundle["application/vnd.plotly.v1+json"]
    assert [trace["name"] for trace in chart["data"] if "name" in trace] == SOLVERS
    assert chart["layout"]["yaxis"]["type"] == "log"


def test_names_in_html_are_text(race: dg.Race) -> None:
    strange = dataclasses.replace(race.runs[0], settings=race.runs[0].settings | {"solver": "<script>"})
    shown = dg.Race((strange,), (strange_refusal(),))._repr_mimebundle_()["text/html"]
    assert "&lt;script&gt;" in shown
    assert "&lt;b&gt; refused: &lt;i&gt;" in shown
    assert "<script" not in shown
    assert "<i>" not in shown


def test_saving_and_loading_give_the_same_race(race: dg.Race, tmp_path: Path) -> None:
    folder = race.save(tmp_path / "folder")
    file = race.save(tmp_path / "deep" / "mine.jsonl")
    assert folder == tmp_path / "folder" / "results.jsonl"
    assert dg.Race.load(tmp_path / "folder").runs == race.runs
    assert dg.Race.load(folder, str(file)).runs == race.runs, "a run counts once"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["deep", "folder", "mine.jsonl", "results.jsonl"]
    with pytest.raises(ValueError, match="exists already, and nothing is overwritten"):
        race.save(tmp_path / "folder")
    assert store.read(folder) == list(race.runs)


def test_a_save_that_fails_leaves_nothing(race: dg.Race, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: Path, finished: store.FinishedRun) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(store, "append", fail)
    with pytest.raises(OSError, match="the disk is full"):
        race.save(tmp_path / "mine.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_a_file_created_during_a_save_is_not_overwritten(
    race: dg.Race, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, append = tmp_path / "mine.jsonl", store.append

    def slow(path: Path, finished: store.FinishedRun) -> None:
        mine.write_text("somebody else's")
        append(path, finished)

    monkeypatch.setattr(store, "append", slow)
    with pytest.raises(ValueError, match="nothing is overwritten"):
        race.save(mine)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.jsonl"]
    assert mine.read_text() == "somebody else's"


def test_what_cannot_be_saved_or_loaded_says_why(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nothing to save"):
        dg.Race(()).save(tmp_path)
    with pytest.raises(ValueError, match="needs the names of results files"):
        dg.Race.load()
    with pytest.raises(FileNotFoundError, match="there is no file"):
        dg.Race.load(tmp_path / "nothing.jsonl")


def test_a_race_without_runs_says_so() -> None:
    empty = dg.Race((), interrupted=True)
    assert repr(empty).startswith("No run was finished, so there is no winner.")
    assert "interrupted" in repr(empty)
    assert set(empty._repr_mimebundle_()) == {"text/plain", "text/html"}


def test_arrays_race_and_are_told_apart() -> None:
    X, y = toy()
    race = dg.race(X, y, "sdca", epochs=5, repeats=2, name="mine")
    first = race.runs[0]
    assert first.data["name"] == "mine"
    assert (first.data["rows"], first.data["test_rows"]) == (48, 12)
    assert first.data["source"] == first.settings["data"]
    assert first.settings["data"].startswith("arrays(hash=x")
    assert repr(race).startswith("mine: hinge, strength 1/n = 0.02083")
    again = dg.race(X.copy(order="F"), y, "sdca", epochs=5, repeats=2, name="mine")
    assert [run.run for run in again.runs] == [run.run for run in race.runs]
    assert same_numbers(again, race)
    for others in ((X + 1e-9, y), (X, -y)):
        other = dg.race(*others, "sdca", epochs=5, repeats=2, name="mine")
        assert not {run.run for run in other.runs} & {run.run for run in race.runs}
    assert "arrays" not in DATASETS, "the table is as it was"


def test_equal_arrays_can_be_held_twice() -> None:
    X, y = toy()
    with arrays.held(X, y, "outer") as text:
        with arrays.held(X.copy(), y, "inner") as same:
            assert same == text
            assert load(text).name == "inner"
        assert load(text).name == "outer"
    with pytest.raises(ValueError, match="no data set 'arrays'"):
        load(text)


def test_labels_can_be_set_against_the_rest() -> None:
    X, _ = toy()
    y = np.repeat(["red", "green", "blue"], 20)
    race = dg.race(X, y, "sdca", epochs=2, repeats=1, positive="green")
    assert race.runs[0].settings["positive"] == ["green"]
    assert race.runs[0].status


def test_arrays_are_taken_as_they_are() -> None:
    """Neither scaled nor split when asked for no test: the certificate is that of solve on the same rows."""
    X, y = toy()
    raced = dg.race(1000 * X, y, "sdca", strengths=0.01, epochs=3, tol=0, repeats=1, test_size=0).runs[0]
    solved = dg.solve(dg.Problem(1000 * X, y, "hinge", 0.01), "sdca", max_epochs=3, tol=0)
    assert raced.certificate["primal"] == solved.certificate.primal
    assert raced.data["test_rows"] == 0


def test_frames_sparse_rows_and_words_as_labels_race_too() -> None:
    import pandas

    X, y = toy()
    words = np.where(y > 0, "yes", "no")
    options = dict(solvers="sdca", epochs=5, repeats=1)
    plain = dg.race(X, y, **options)
    frame = dg.race(pandas.DataFrame(X, columns=list("abcd")), pandas.Series(words, dtype=object), **options)
    sparse = dg.race(csr_array(X), words, **options)
    mixed = dg.race(X.astype(object), list(words), **options)
    assert same_numbers(plain, mixed)
    assert same_numbers(plain, frame)
    assert sparse.runs[0].data["sparse"]
    assert sparse.runs[0].certificate["primal"] == pytest.approx(plain.runs[0].certificate["primal"], rel=1e-9)


def test_a_page_of_arrays_shows_the_python_call_that_repeats_it(tmp_path: Path) -> None:
    X, y = toy()
    race = dg.race(X, y, ["sdca", "sgd"], strengths=[0.1, "1/n"], epochs=3, repeats=2, seed=4, name="mine", test_size=0)
    call = command_of(race.runs)
    again = eval(call, {"dualgap": dg, "X": X, "y": y})
    assert [run.run for run in again.runs] == [run.run for run in race.runs]
    page = race.page(tmp_path / "mine.html").read_text(encoding="utf-8")
    assert call in html.unescape(page), "the page says how to repeat it"


def test_runs_of_named_data_have_no_python_call(race: dg.Race) -> None:
    assert command_of(race.runs).startswith("dualgap race breast_cancer -s sdca")


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        (lambda X, y: dg.race(X), TypeError, "needs their targets too"),
        (lambda X, y: dg.race("breast_cancer", y), TypeError, "brings its own targets"),
        (lambda X, y: dg.race(X, y[:-1]), ValueError, r"got X of shape \(60, 4\) and y of shape \(59,\)"),
        (lambda X, y: dg.race([["a"], ["b"]], [0, 1]), ValueError, "the rows of a race are numbers, and these are not"),
        (lambda X, y: dg.race(X, y, jobs=2), ValueError, "leave jobs at 1"),
        (lambda X, y: dg.race(X, y, "sdcaa"), ValueError, "did you mean 'sdca'"),
        (lambda X, y: dg.race(X, y, strengths=-1), ValueError, "a strength is a number above 0"),
        (lambda X, y: dg.race("breast_cancr"), ValueError, "did you mean 'breast_cancer'"),
        (lambda X, y: dg.race(X, y, "box_ascent", intercept=True), ValueError, "no solver can do this: "),
        (lambda X, y: dg.race("arrays(hash=x12)"), ValueError, "no data set 'arrays'"),
    ],
)
def test_refusals_are_one_sentence(given: Any, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence) as refused:
        given(*toy())
    assert "\n" not in str(refused.value)
    assert "arrays" not in DATASETS


def test_a_solver_that_refuses_leaves_the_others_racing() -> None:
    X, y = toy()
    race = dg.race(X, y, ["sdca", "box_ascent"], epochs=3, repeats=1, intercept=True)
    assert {run.settings["solver"] for run in race.runs} == {"sdca"}
    assert list(race.refusals) == ["box_ascent"]
    assert "box_ascent refused: " in repr(race)


def test_rivals_race_beside_the_solvers() -> None:
    X, y = toy()
    race = dg.race(X, y, "sdca", epochs=5, seconds=1, repeats=1, rivals=True)
    kinds = {run.settings["solver"]: run.settings["kind"] for run in race.runs}
    assert kinds["sdca"] == "solver"
    assert "rival" in kinds.values()
    assert race.figure("gap", x="seconds").data


def test_progress_is_drawn_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = toy()
    dg.race(X, y, "sdca", epochs=3, repeats=2, progress=True)
    assert capsys.readouterr().out == ""


def test_figures_and_plots_come_from_the_race(race: dg.Race, tmp_path: Path) -> None:
    drawn = race.figure("primal", x="updates")
    assert drawn.layout.xaxis.title.text == "updates"
    paper = race.plot("support", x="cpu_seconds", path=tmp_path / "support.pdf")
    assert paper.axes[0].get_ylabel() == "support vectors"
    assert (tmp_path / "support.pdf").read_bytes().startswith(b"%PDF")


def test_the_page_is_written_once(race: dg.Race, tmp_path: Path) -> None:
    page = race.page(tmp_path / "race.html")
    text = page.read_text(encoding="utf-8")
    assert text.lstrip().lower().startswith("<!doctype html>")
    assert "pegasos(batch_size=4)" in text
    with pytest.raises(ValueError, match="nothing is overwritten"):
        race.page(page)
