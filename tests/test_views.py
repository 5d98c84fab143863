"""What a race shows: the live table, plain lines, the pace, the verdict, and numbers as a person reads them."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from dualgap.cli import race_views as views
from dualgap.cli.console import count, duration, make_console, score, small
from dualgap.cli.race_pace import Pace, roughly
from dualgap.workbench import store
from dualgap.workbench.plan import Plan
from dualgap.workbench.runner import HeatResult, race
from dualgap.workbench.summary import bounds, standings
from dualgap.workbench.verdict import verdict
from test_cli import ESCAPE, _in_a_folder_of_its_own, called

# Every race writes a folder; here too it is one of the test's own.
folder_of_its_own = _in_a_folder_of_its_own


@pytest.mark.parametrize("view", [views.PlainView, views.LiveView])
def test_compilation_is_said_only_while_it_lasts(
    view: type, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "PATIENCE", 0.0)
    plan = Plan(data=("digits",), solvers=("sdca", "sgd"))
    watcher = view(make_console(), plan)
    heat = next(plan.heats())
    facts = {"rows": 9, "columns": 2, "test_rows": 0, "sparse": False}
    facts |= {"task": "classification", "name": "digits", "source": ""}
    watcher.loaded(heat, facts, 0.01)
    for solver in plan.solvers:
        watcher.preparing(solver)
        watcher._timer.join()
    paper = Console(file=io.StringIO(), width=80)
    if view is views.LiveView:
        paper.print(watcher.frame())
    watcher.started(heat.runs[0])
    watcher.close()
    shown = paper.file.getvalue() + capsys.readouterr().out
    assert shown.count("compiling kernels, once") == 1


def heat_of(repeats: int, **seconds: list[float]) -> HeatResult:
    """A heat whose solvers were all certified, after the given seconds in each repeat."""
    plan = Plan(data=("simulated(n=40, d=2)",), solvers=("sdca",), epochs=100.0, tol=1e-3, repeats=repeats)
    template = race(plan).heats[0]
    runs = []
    for solver, times in seconds.items():
        for done, time in zip(template.runs, times, strict=True):
            settings, records = done.settings | {"solver": solver}, done.records | {"call_seconds": [time]}
            runs.append(store.FinishedRun(**(done.__dict__ | {"settings": settings, "records": records})))
    return HeatResult(template.heat, template.data, template.strength, runs)


def test_the_verdict_names_the_winner_and_how_sure_that_is() -> None:
    clear = heat_of(3, slow=[3.0, 3.0, 4.0], quick=[1.0, 1.1, 0.9])
    assert [standing.solver for standing in standings(clear.runs)] == ["quick", "slow"]
    sentence = verdict(clear.runs, 1e-3)
    assert sentence.startswith(
        "quick wins: it reached a relative gap of 0.001, by the judge's certificate, in a call of 1.00 s"
    )
    assert sentence.endswith("slow next with 3.0 times as much; ahead in all 3 repeats.")
    assert "ahead in 1 of 2 repeats, too close to be sure" in verdict(heat_of(2, a=[1.0, 2.0], b=[2.0, 1.1]).runs, 1e-3)
    assert "let --repeats 5 confirm it" in verdict(heat_of(1, a=[1.0], b=[2.0]).runs, 1e-3)
    assert verdict(heat_of(1, a=[1.0]).runs, 1e-3).endswith("without a rival.")
    assert "Proven: the optimum lies between" in bounds(clear.runs)


def test_the_verdict_without_certificates_goes_by_the_gap() -> None:
    plan = Plan(data=("breast_cancer",), solvers=("sdca", "subgradient"), epochs=3.0, tol=1e-9, repeats=1)
    sentence = verdict(race(plan).heats[0].runs, 1e-9)
    assert sentence.startswith(
        "None reached a relative gap of 1e-09 by the judge's certificate; sdca came closest with"
    )


def test_numbers_as_a_person_reads_them() -> None:
    written = {
        4.2e-6: "4.20 µs",
        0.00123: "1.23 ms",
        0.0421: "42.1 ms",
        0.9: "900 ms",
        75.0: "75.0 s",
        4321.0: "4,321 s",
    }
    assert {seconds: duration(seconds) for seconds in written} == written
    assert (small(1.23e-7), score(0.98765)) == ("1.2e-07", "0.988")
    assert (count(3.0), count(0.5), count(12345.6)) == ("3", "0.5", "12,346")
    assert {duration(None), small(None), score(None), count(None)} == {"–"}


def test_the_live_table_follows_every_run() -> None:
    paper = Console(file=io.StringIO(), width=80, force_terminal=True)
    plan = Plan(data=("simulated(n=60)",), solvers=("sdca", "box_ascent"), epochs=9.0, repeats=1, intercept=True)
    view = views.LiveView(paper, plan)
    race(plan, watcher=view)
    view.close()
    assert [lane.state for lane in view.lanes.values()] == ["out of epochs", "refused"]
    assert (view.lanes["sdca"].epoch, view.lanes["sdca"].done) == (9, 1)
    shown = ESCAPE.sub("", paper.file.getvalue())
    assert "refused" in shown
    assert "1 of 1 runs" in shown


def test_many_runs_have_few_lines(capsys: pytest.CaptureFixture[str]) -> None:
    many = ["simulated(n=40, d=2)", "--epochs", "2", "--repeats", "50", "-s", "sdca", "-s", "sgd"]
    code, shown, _ = called(capsys, "race", *many)
    lines = [line for line in shown.splitlines() if " of 100 runs" in line]
    assert code == 0
    assert [line.split()[0] for line in lines if int(line.split()[0]) % 10 == 0] == [str(n) for n in range(10, 101, 10)]
    assert len(lines) <= 15
    assert re.match(r"50 of 100 runs, about \d+ s left; latest sgd 25/50: out of epochs, gap", lines[4])


def test_the_pace_estimates_the_remaining_seconds() -> None:
    plan = Plan(data=("digits", "simulated"), solvers=("sdca", "sgd"), repeats=2)
    pace = Pace(plan, jobs=2)
    assert (pace.total, pace.each, pace.remaining_seconds()) == (8, 4, None)
    assert pace.words() == "0 of 8 runs"
    run = next(plan.heats()).runs[0]
    pace.start(run)
    pace.clock._created -= 10.0
    pace.finish(run)
    # Seven runs of ten seconds each, two at a time.
    assert pace.remaining_seconds() == pytest.approx(35.0, abs=0.5)
    assert pace.words() == "1 of 8 runs, about 35 s left"
    pace.drop("sgd")
    assert (pace.total, pace.remaining_seconds()) == (6, pytest.approx(25.0, abs=0.5))
    pace.drop("sgd")
    assert (pace.total, pace.remaining_seconds()) == (4, pytest.approx(15.0, abs=0.5))
    assert [roughly(seconds) for seconds in (0.1, 59.4, 61, 601, 7205, 9000)] == [
        "1 s",
        "59 s",
        "1 min 01 s",
        "10 min",
        "2.0 h",
        "2.5 h",
    ]
