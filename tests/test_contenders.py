"""Contenders of the user's own in a race, and what a race says of refusals, clocks, targets and inputs."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.svm import LinearSVC

import dualgap as dg
from conftest import SOURCE
from dualgap.cli.app import main
from dualgap.workbench import contenders, looks, store, summary
from dualgap.workbench.calls import on_call_clock
from dualgap.workbench.repeating import command_of
from dualgap.workbench.report import page
from dualgap.workbench.report.content import content
from dualgap.workbench.verdict import verdict
from pages import made_rival, made_run

OWN = '''
"""One solver and one function of a user's."""
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import dualgap as dg
from dualgap.solvers import Answer


@dataclass(frozen=True, kw_only=True)
class Descent(dg.Solver):
    """Full gradient steps."""

    step: float = 0.5
    name: ClassVar[str] = "descent"
    summary: ClassVar[str] = "gradient steps"

    def start(self, problem, warm, tol=0.0):
        return np.zeros(problem.rows.dimension), 0

    def plan(self, problem, state, epoch, random):
        return np.arange(problem.rows.count)

    def batch(self, problem):
        return problem.rows.count

    def advance(self, problem, state, rows):
        weights, steps = state
        duals = problem.loss.dual_candidate(problem.scores(weights, 0.0), problem.labels)
        return weights + self.step / (1 + steps) * (problem.weights_of(duals) - weights), steps + 1

    def answer(self, problem, state):
        return Answer(state[0], 0.0, None)


def centroid(X, y, strength):
    return 0.1 * (X[y > 0].mean(axis=0) - X[y < 0].mean(axis=0))
'''


def toy(rows: int = 60) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    X = np.random.default_rng(3).normal(size=(rows, 4))
    return X, np.where(X[:, 0] + 0.3 * X[:, 1] > 0, 1, -1)


def own(folder: Path) -> Path:
    file = folder / "mine.py"
    file.write_text(OWN)
    return file


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def zero_weights(X: Any, y: Any) -> Any:
    return np.zeros(X.shape[1])


def test_own_solver_estimator_and_function_race_beside_sdca(tmp_path: Path) -> None:
    X, y = toy()
    descent = contenders.find(f"{own(tmp_path)}:Descent")
    race = dg.race(X, y, [descent, "sdca", LinearSVC(), zero_weights], strengths=0.1, epochs=20, repeats=1)
    runs = {run.settings["solver"]: run for run in race.runs}
    assert list(runs) == ["descent", "sdca", "sklearn.LinearSVC()", "zero_weights"]
    assert runs["descent"].certificate["relative_gap"] < runs["zero_weights"].certificate["relative_gap"]
    # C, the loss and the intercept of the estimator are those of the race: it comes as close as its own tolerance lets it.
    best = min(run.certificate["primal"] for run in race.runs)
    assert runs["sklearn.LinearSVC()"].certificate["primal"] == pytest.approx(best, rel=1e-5)
    assert len(runs["sklearn.LinearSVC()"].records["call_seconds"]) > 5, "an estimator with tol climbs a ladder"
    assert len(runs["zero_weights"].records["call_seconds"]) == 1
    assert "solvers=[descent, 'sdca', sklearn.LinearSVC(), zero_weights]" in command_of(race.runs)
    assert contenders.HELD == {}
    assert "The lowest objective is that of sklearn.LinearSVC()" in race.winner, "its own duals prove little"
    text = race.page(tmp_path / "race.html").read_text(encoding="utf-8")
    assert "A contender of your own" in text


@pytest.mark.parametrize(
    ("solvers", "options", "sentence"),
    [
        ([zero_weights, zero_weights], {}, "two contenders are called zero_weights"),
        ([3], {}, "a contender is a spec"),
        ([zero_weights], {"jobs": 2}, "leave jobs at 1"),
        (["nowhere.py:Solver"], {}, "there is no file 'nowhere.py'"),
        (["mine.py:Ascent"], {}, "'mine.py' has no 'Ascent'; it has Descent, centroid"),
        (["mine.py:Descent(steps=2)"], {}, r"unexpected keyword argument 'steps'; write its options, as in"),
        (["theirs.py:LinearSVC(C=3)"], {}, r"theirs.py:LinearSVC\(C=3\): a race sets C itself; leave it out"),
        (["mine.py:centroid(step=2)"], {}, "'centroid' in 'mine.py' is no class, so it takes no options"),
    ],
)
def test_what_cannot_race_is_refused_in_one_sentence(solvers: Any, options: Any, sentence: str, tmp_path: Path) -> None:
    own(tmp_path)
    (tmp_path / "theirs.py").write_text("from sklearn.svm import LinearSVC\n")
    with pytest.raises((ValueError, TypeError, FileNotFoundError), match=sentence):
        dg.race("breast_cancer", solvers=solvers, epochs=1, **options)
    assert contenders.HELD == {}


def test_a_file_of_contenders_is_needed_by_race_alone(tmp_path: Path) -> None:
    file = own(tmp_path)
    words = ["race", "simulated(n=60, d=4)", "-s", "mine.py:Descent", "-s", "mine.py:centroid", "-s", "sdca"]
    with pytest.raises(SystemExit) as left:
        main([*words, "--epochs", "5", "--repeats", "1", "-o", "out"])
    assert not left.value.code
    finished = store.read(tmp_path / "out" / store.FILE)
    assert {run.settings["solver"] for run in finished} == {"mine.py:Descent", "mine.py:centroid", "sdca"}
    assert "-s mine.py:Descent -s mine.py:centroid" in command_of(
        finished
    ) or "-s mine.py:Descent -s sdca" in command_of(finished)
    file.write_text("raise RuntimeError('this file must not be imported')")
    with pytest.raises(SystemExit) as left:
        main(["report", "out", "-o", "again.html"])
    assert not left.value.code
    assert "mine.py:Descent" in (tmp_path / "again.html").read_text(encoding="utf-8")
    with pytest.raises(SystemExit) as left:
        main(["race", "--resume", "-o", "out", "--repeats", "2", "-q"])
    assert left.value.code == 2, "another file of that name is another contender"


def test_a_class_in_a_file_takes_options_as_a_solver_s_spec_does(tmp_path: Path) -> None:
    X, y = toy()
    own(tmp_path)
    names = ["mine.py:Descent(step=0.1)", "mine.py:Descent"]
    race = dg.race(X, y, names, strengths=0.1, epochs=5, repeats=1)
    slow, quick = (run.certificate["primal"] for run in race.runs)
    assert [run.settings["solver"] for run in race.runs] == names
    assert slow != quick
    assert "'mine.py:Descent(step=0.1)'" in command_of(race.runs)


def test_estimators_of_dualgap_are_judged_by_their_own_duals() -> None:
    X, y = toy()
    race = dg.race(X, y, [dg.LinearSVC()], strengths=0.01, repeats=1)
    assert race.runs[0].status == "CERTIFIED"


@pytest.mark.parametrize(("call", "is_named"), [(1e-6, True), (10.0, False)])
def test_a_certified_winner_does_not_hide_who_was_as_close_and_quicker(call: float, is_named: bool) -> None:
    runs = [made_run("sdca", length=80), made_rival()]
    best = summary.best_bounds(runs[:1])
    assert best is not None
    fits = {"call_seconds": [call, 20.0], "relative_gap": [0.5, 0.4], "primal": [best[0] * (1 + 1e-8), 0.31]}
    bare = replace(runs[1], records=runs[1].records | fits, certificate={"primal": 0.31, "dual": 0.2}, status="STOPPED")
    said = verdict([runs[0], bare], 1e-6)
    assert said.startswith("sdca wins: it reached a relative gap of 1e-06, by the judge's certificate")
    assert ("scikit-learn LinearSVC came as close in a shorter call, of 1.00 µs" in said) is is_named


def test_a_user_s_solver_goes_to_solve_too(tmp_path: Path) -> None:
    X, y = toy()
    descent = contenders.find(f"{own(tmp_path)}:Descent")
    result = dg.solve(dg.Problem(X, y, "squared_hinge", 0.1), descent, max_epochs=200, tol=1e-2)
    assert result.certificate.relative_gap <= 1e-2


def test_the_guide_s_solver_of_one_s_own_races(tmp_path: Path) -> None:
    text = (SOURCE.parent.parent / "docs" / "race.md").read_text(encoding="utf-8")
    section = text[text.index("## A solver of your own") :]
    found = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert found is not None
    assert found[1].count("\n") <= 30
    (tmp_path / "my_solver.py").write_text(found[1], encoding="utf-8")
    with pytest.raises(SystemExit) as left:
        main(
            [
                "race",
                "simulated(n=80, d=3)",
                "-s",
                "my_solver.py:MySolver",
                "--epochs",
                "30",
                "--repeats",
                "1",
                "-o",
                "out",
            ]
        )
    assert not left.value.code
    (finished,) = store.read(tmp_path / "out" / store.FILE)
    assert finished.certificate["relative_gap"] < 0.5, "zero weights have 1"


def test_a_refusal_is_on_the_page_and_in_the_command_that_repeats_it(tmp_path: Path) -> None:
    X, y = toy()
    race = dg.race(X, y, ["sdca", "box_ascent"], epochs=3, repeats=2, intercept=True)
    saved = dg.Race.load(race.save(tmp_path / "saved"))
    assert saved.refusals == race.refusals
    shown = content([*saved.runs, *saved.refused])
    assert shown["heats"][0]["refusals"] == [["box_ascent", race.refusals["box_ascent"]]]
    assert "'box_ascent'" in shown["commands"][0]
    assert [row["solver"] for row in shown["heats"][0]["rows"]] == ["sdca"]


def test_the_call_s_clock_ends_at_the_whole_call() -> None:
    assert on_call_clock([0.0, 1.0, 3.0], 5.0) == [2.0, 3.0, 5.0]
    assert on_call_clock([0.0, 1.0, 4.0], 2.0) == [0.0, 0.5, 2.0]


def test_a_certified_run_has_both_clocks_and_a_rival_its_call_alone() -> None:
    X, y = toy()
    race = dg.race(X, y, "sdca", strengths=0.1, loss="squared_hinge", epochs=200, seconds=1, repeats=1, rivals=True)
    rows = {row["solver"]: row for row in race.leaderboard()}
    assert rows["sdca"]["call_seconds"] > 0
    assert rows["sdca"]["seconds"] > 0
    assert rows["scikit-learn LinearSVC"]["call_seconds"] > 0
    assert rows["scikit-learn LinearSVC"]["seconds"] is None
    assert "proved" not in repr(race), "only the judge proves a gap"
    assert "by the judge's certificate" in race.winner


def test_suboptimality_rests_on_the_best_dual_of_all() -> None:
    runs = [made_run("sdca", rate=0.5), made_run("sgd", rate=0.05), made_rival()]
    bounds = summary.best_bounds(runs)
    assert bounds is not None
    shown = summary.with_suboptimality(runs, bounds)
    last = summary.final(shown[1], "suboptimality")
    assert last == pytest.approx(runs[1].records["primal"][-1] - bounds[0])
    assert content(runs)["charts"][0][0] == "suboptimality", "the first chart where other packages run"
    assert content(runs[:2])["charts"][0][0] == "relative_gap"


def test_a_profile_is_of_the_tolerance_asked_for() -> None:
    runs = [made_run(solver, data=data, tol=1e-4) for solver in ("sdca", "sgd") for data in ("a", "b")]
    assert next(iter(content(runs)["data"]["profiles"])) == "call_seconds 0.0001"


def test_strengths_are_shown_as_they_were_typed() -> None:
    run = made_run()
    typed = made_run(strength=1 / 455, settings=run.settings | {"strength": "1/n"})
    assert content([typed])["heats"][0]["typed_strength"] == "1/n = 0.002198"
    assert content([run])["heats"][0]["typed_strength"] == "0.01"


def test_twelve_contenders_look_different() -> None:
    found = looks.styles(f"solver {i}" for i in range(72))
    assert len(set(found.values())) == 72
    assert len({color for color, _, _ in list(found.values())[:12]}) == 12


def test_regression_targets_are_centered_without_an_intercept() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = 100.0 + X @ [1.0, -2.0, 0.5]
    raced = dg.race(X, y, "sdca", loss="squared", epochs=50, repeats=1).runs[0]
    assert raced.data["centered"] is True
    assert raced.last("test_score") > 0.95, "R² without the mean would be far below 0"
    free = dg.race(X, y, "newton", loss="squared", epochs=50, repeats=1, intercept=True).runs[0]
    assert free.data["centered"] is False


def test_every_input_is_checked_before_the_first_race(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X, y = toy()
    np.savetxt(tmp_path / "my.csv", np.column_stack([X, y]), delimiter=",", header="a,b,c,d,y", comments="")
    with pytest.raises(SystemExit) as left:
        main(["race", "my.csv", "nope.csv", "-s", "sdca"])
    assert left.value.code == 2
    said = capsys.readouterr()
    assert "nope.csv" in said.err
    assert said.out == "", "nothing was raced"
    assert [path.name for path in tmp_path.iterdir()] == ["my.csv"]


def test_a_page_needs_no_chart_library() -> None:
    assert len(page([made_run()]).encode()) < 150_000


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to one process on Windows")
def test_ctrl_c_in_a_race_with_a_user_s_solver_keeps_what_is_finished(tmp_path: Path) -> None:
    import signal

    own(tmp_path)
    words = ["race", "simulated(n=60, d=4)", "-s", "sdca", "-s", "mine.py:Descent", "--epochs", "1e9", "--tol", "1e-9"]
    with subprocess.Popen(
        [sys.executable, "-m", "dualgap", *words, "--repeats", "1", "-o", "out", "--loss", "squared_hinge"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("sdca"):
                process.send_signal(signal.SIGINT)
                break
        _, errors = process.communicate(timeout=120)
    assert process.returncode == 130
    assert errors.strip() == "dualgap: interrupted; 1 finished run is kept"
    (finished,) = store.read(tmp_path / "out" / store.FILE)
    assert finished.settings["solver"] == "sdca"


def test_a_limit_of_seconds_is_for_the_call_alone() -> None:
    """Records at every epoch take most of the recorded run's second; the call has all of it for updates."""
    X, y = load_digits(return_X_y=True)
    race = dg.race(X, y % 2, ["sdca"], loss="logistic", seconds=1, tol=1e-12, repeats=1)
    (finished,) = race.runs
    records = finished.records
    assert finished.status == "TIME_EXHAUSTED"
    assert records["call_seconds"][-1] == pytest.approx(1.0, abs=0.5)
    assert finished.update_seconds > 0.5
    assert records["updates"] == sorted(set(records["updates"]))
    assert {len(values) for values in records.values()} == {len(records["epoch"])}
    assert finished.certificate["relative_gap"] == records["relative_gap"][-1]
