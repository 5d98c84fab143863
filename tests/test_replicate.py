"""`dualgap replicate` as a person meets it: a slice of the reports from the command line to the page in a browser."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dualgap.cli.app import main
from dualgap.replication import gathering, running
from dualgap.replication.claims import CLAIMS
from dualgap.replication.data import archive, at_hand
from dualgap.replication.experiments import Contenders, Experiment, Fact, KeptFact, canonical, openings
from dualgap.replication.figures import FIGURES, named
from dualgap.replication.selection import Selection
from dualgap.replication.table import experiments
from dualgap.workbench import store
from test_page import ARGUMENTS, NAMES, missing

# What needs no data set from elsewhere, and takes seconds.
SLICE = ("R0.4", "R0.11", "R2.2", "R3", "R4.2")


def command(*arguments: str, code: int = 0) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["replicate", *arguments])
    assert ended.value.code == code


def without_data(patch: pytest.MonkeyPatch, nowhere: Path) -> None:
    patch.setenv("DUALGAP_DATA", "")
    patch.setenv("DUALGAP_CACHE", str(nowhere))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The slice, repeated once, without any folder of data."""
    made = tmp_path_factory.mktemp("replication") / "slice"
    with pytest.MonkeyPatch.context() as patch:
        without_data(patch, made.parent / "cache")
        command(*SLICE, "--quick", "-q", "-o", str(made))
    return made


def test_every_figure_and_experiment_of_a_claim_exists() -> None:
    for quick in (True, False):
        there = {one.name for one in experiments(quick)}
        for claim in CLAIMS.values():
            assert set(claim.experiments) <= there, claim.id
            assert set(claim.figures) <= set(FIGURES), claim.id
        for figure in FIGURES.values():
            assert set(figure.experiments) <= there, figure.id


def test_all_figures_and_tables_of_the_reports_are_there() -> None:
    wanted = [f"R0 figure {number}" for number in range(1, 12)]
    wanted += [f"{report} figure {number}" for report in ("R1", "R3") for number in range(1, 9)]
    wanted += [f"R4 figure {number}" for number in range(1, 5)]
    wanted += ["R0 table 1", "R0 table 2", "R4 table 1", "R4 table 2"]
    assert set(wanted) <= set(FIGURES)
    assert sum(name.startswith("R2") for name in FIGURES) == 7
    assert named("cropping", ["R1"])[0].id == "R1 figure 4"
    assert named("table 2", ["R4"])[0].id == "R4 table 2"
    with pytest.raises(ValueError, match="no figure 'nothing' in R1; there are: examples"):
        named("nothing", ["R1"])


def test_no_two_solvers_of_an_experiment_share_a_name_or_a_spec() -> None:
    for quick in (True, False):
        for one in experiments(quick):
            told = {(name, canonical(text)) for many in one.contenders for name, text in many.solvers.items()}
            assert len({name for name, _ in told}) == len({text for _, text in told}) == len(told), one.name


def test_labels_left_at_zero_and_one_give_the_objective_of_a_formula() -> None:
    import dualgap as dg

    with at_hand():
        from dualgap.datasets import for_task, load, split

        left = load("zero_one(data=breast_cancer)")
        plain = split(for_task(load("breast_cancer"), "classification"), 0.2, 0, False, stratify=True)
    weights = np.linspace(-1e-3, 1e-3, left.shape[1])
    ones = (plain.y + 1) / 2
    by_hand = np.maximum(0.0, 1.0 - ones * (plain.X @ weights)).mean() + 0.05 * weights @ weights
    problem = dg.Problem(left.X, left.y, loss="hinge", strength=0.1)
    assert problem.primal(problem.scores(weights), weights) == pytest.approx(by_hand, rel=1e-12)


def test_the_slice_is_judged_and_what_is_missing_is_said(folder: Path) -> None:
    runs, facts = gathering.read(folder)
    frame = gathering.gather(runs, facts).frame
    assert facts["R4.stopping/arrhythmia"].value == 401_549
    assert facts["R4.stopping/adult"].value == 629_840
    assert facts["R4.stopping/adult"].settings == {"n": 48_842, "strength": 0.1, "gap": 1e-3}
    for claim in ("R0.4", "R0.11", "R2.2", "R3.1", "R3.2"):
        assert CLAIMS[claim].rule(frame).parts
    page = (folder / "replication.html").read_text(encoding="utf-8")
    assert "arrhythmia is not here" in page
    assert "Of 7 claims" in page


def test_certified_optima_stand_below_everything(folder: Path) -> None:
    from dualgap.replication.beyond import problems

    found = problems(gathering.gather(*gathering.read(folder)))
    assert {one.experiment for one in found} >= {"R0.table 2", "R0.random stop", "R2.labels 0/1", "R3.methods"}
    for one in found:
        assert one.relative_gap <= 1e-6, one
        assert all(ending.excess >= -1e-5 for ending in one.endings), one


def test_resuming_runs_nothing_twice_and_keeps_the_names(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    without_data(monkeypatch, tmp_path)
    before = (folder / store.FILE).read_bytes()
    capsys.readouterr()
    command("--resume", "-o", str(folder))
    assert (folder / store.FILE).read_bytes() == before
    said = capsys.readouterr().out
    assert "0 runs to do" in said
    assert "R3.2" in said
    assert "R1.1" not in said


def test_another_size_or_a_second_start_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "replication.json").write_text('{"names": ["R3"], "quick": false, "figure": null}')
    command("--resume", "--quick", "-o", str(tmp_path), code=2)
    assert "was started in full size" in capsys.readouterr().err
    command("R3", "-o", str(tmp_path), code=2)
    assert "nothing is overwritten" in capsys.readouterr().err
    command("R9", code=2)
    assert "there is no report or claim 'R9'" in capsys.readouterr().err


def test_one_figure_needs_only_its_own_experiment() -> None:
    asked = Selection(("R1",), True, "cropping")
    assert [one.name for one in asked.experiments()] == ["R1.pictures"]
    assert asked.claims() == []
    assert asked.command() == "dualgap replicate R1 --quick --figure cropping"


def test_each_step_of_the_cropping_can_be_seen(tmp_path: Path) -> None:
    pytest.importorskip("cv2", reason="pictures need OpenCV; python -m pip install 'dualgap[images]'")
    try:
        archive()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    command("R1", "--figure", "cropping", "-q", "-o", str(tmp_path / "out"))
    page = (tmp_path / "out" / "replication.html").read_text(encoding="utf-8")
    assert page.partition("<script")[0].count('src="data:image/png;base64,') == 8
    for words in ("blurred", "grey", "neutralized", "threshold", "opening", "cropped", "negative"):
        assert words in page


def test_an_experiment_that_cannot_be_done_leaves_the_others_alone(tmp_path: Path) -> None:
    def refuse() -> Any:
        raise FileNotFoundError("nothing is here; put it there")

    todo = (
        Experiment("R3.methods", "", facts=(Fact("R3.methods/nothing", refuse),)),
        Experiment("R3.steps", "", (Contenders(("classification(n=30)",), {"box": "box_ascent"}, epochs=2),)),
    )
    carried = running.carry_out(todo, tmp_path)
    assert carried.left_out == {"R3.methods": "nothing is here; put it there"}
    assert {run.settings["experiment"] for run in carried.runs} == {"R3.steps"}


def test_a_fact_is_measured_anew_once_it_is_computed_from_something_else(tmp_path: Path) -> None:
    measured: list[int] = []

    def squares(count: int) -> list[int]:
        measured.append(count)
        return [number**2 for number in range(count)]

    def todo(count: int) -> list[Experiment]:
        return [Experiment("R3.methods", "", facts=(Fact("R3.methods/squares", squares, {"count": count}),))]

    for count in (2, 2, 3):
        carried = running.carry_out(todo(count), tmp_path)
        assert carried.facts["R3.methods/squares"] == KeptFact({"count": count}, squares(count))
        measured.pop()
    assert measured == [2, 3], "what is known is not measured again, and what it is not known from is"
    known = gathering.read_facts(tmp_path)
    assert running.lacking(todo(3), [], known) == {}
    assert running.lacking(todo(4), [], known) == {"R3.methods": 1}
    (tmp_path / gathering.FACTS).write_text('{"R3.methods/squares": [0, 1, 4]}')
    assert gathering.read_facts(tmp_path) == {}, "a fact that does not say what it was computed from is not known"


@pytest.mark.parametrize(("epochs", "rows"), [(20, 1000), (40, 102), (40, 569), (20, 800), (5, 245_057), (2, 245_057)])
def test_openings_record_every_update_and_then_an_eighth_more(epochs: float, rows: int) -> None:
    first, *_ = stages = (*openings(epochs, rows), (epochs, epochs / 25))
    assert first[1] * rows <= 1.0, "an update touches a row, and a record is due after each"
    for (end, _), (_, every) in itertools.pairwise(stages):
        assert every / end <= 0.127, "the next records are at most an eighth apart"


def test_an_opening_records_every_update_in_a_run() -> None:
    import dualgap as dg

    rng = np.random.default_rng(0)
    problem = dg.Problem(rng.normal(size=(800, 3)), np.sign(rng.normal(size=800)))
    end, every = openings(20, 800)[0]
    trace = dg.solve(problem, "sdca(sampling=random)", tol=0.0, max_epochs=end, record_every=every).trace
    assert [record.updates for record in trace] == list(range(17))


def test_what_lacks_runs_is_told_by_experiment_and_number(folder: Path) -> None:
    wanted = experiments(quick=True, names=["R3.methods", "R3.steps"])
    runs, facts = gathering.read(folder)
    assert running.lacking(wanted, runs, facts) == {}
    dropped = {run.run for run in runs if run.settings["experiment"] == "R3.steps"}
    short = [run for run in runs if run.run not in dropped]
    assert running.lacking(wanted, short, facts) == {"R3.steps": len(dropped)}


@pytest.mark.skipif(sys.platform == "win32", reason="signals to a process need POSIX")
def test_ctrl_c_keeps_what_is_finished_and_resume_goes_on(tmp_path: Path) -> None:
    arguments = [sys.executable, "-m", "dualgap", "replicate", "R0.11", "--quick", "-o", str(tmp_path / "out")]
    results = tmp_path / "out" / store.FILE
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    ) as process:
        deadline = time.monotonic() + 240
        while not (results.exists() and results.read_bytes().count(b"\n") >= 2) and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=240)
    kept = results.read_bytes().count(b"\n")
    if process.returncode == 0:
        pytest.skip("it had finished before the signal came")
    assert process.returncode == 130, said
    assert "--resume goes on" in said
    command("--resume", "-q", "-o", str(tmp_path / "out"))
    runs = store.read(results)
    assert len(runs) == len({run.run for run in runs}) == 21 > kept - 1


def test_the_page_opens_offline_and_draws_everything(folder: Path) -> None:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed; python -m pip install 'dualgap[test]'")
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        missing("Chromium is not installed; apt-get install chromium")
    faults: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.route(
            lambda url: not url.startswith(("file:", "data:", "blob:")),
            lambda route: (faults.append(route.request.url), route.abort()),
        )
        page = context.new_page()
        page.on("console", lambda said: said.type in ("error", "warning") and faults.append(said.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.goto((folder / "replication.html").as_uri())
        page.wait_for_selector("html[data-drawn]", state="attached")
        panels = page.locator("[data-panel]").count()
        assert panels == 18
        assert page.locator("[data-panel] .plot-container").count() == panels
        assert page.locator(".claim").count() == 7
        assert page.locator("#summary tbody tr").count() == 7
        assert page.locator("#beyond tbody tr").count() >= 5
        page.click("#theme")
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"
        page.set_viewport_size({"width": 375, "height": 800})
        for _ in range(100):  # charts follow the window in turns of their own
            if page.evaluate("document.documentElement.scrollWidth") <= 375:
                break
            page.wait_for_timeout(200)
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
        browser.close()
    assert faults == []


def test_the_documentation_is_made_of_the_same_results(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from test_replication_docs import generator

    made = generator()
    for name, path in (("FOLDER", tmp_path), ("RESULTS", tmp_path / "r.jsonl.gz"), ("SETTINGS", tmp_path / "s.json")):
        monkeypatch.setattr(made, name, path)
    made.take(folder)
    packed = made.RESULTS.read_bytes()
    text = made.page()
    assert "| [R3.1](#r31) |" in text
    assert "| [R1.1](#r11) |" in text
    assert "Not measured: no run of R1.raw" in text
    made.take(folder)
    assert made.RESULTS.read_bytes() == packed, "the same results give the same bytes"


def test_settings_are_kept_with_the_time_it_took(folder: Path) -> None:
    kept = json.loads((folder / "replication.json").read_text(encoding="utf-8"))
    assert kept["names"] == list(SLICE)
    assert kept["quick"] is True
    assert kept["seconds"] > 0
