"""The rivals bench and its page: what is read out of the tables is right, a scan goes on where it was, the page is current."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
BENCHMARKS = ROOT / "benchmarks"


def module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = made
    spec.loader.exec_module(made)
    return made


speed = module(ROOT / "docs" / "make_speed.py")
rivals = module(BENCHMARKS / "rivals.py")
tables = speed.tables
Rung = tables.Rung
PROVENANCE = {"date": "2026-01-01 00:00", "machine": "abacus", "versions": "numpy=2.0"}
HINGE, LOGISTIC = "hinge breast_cancer 1/n", "logistic breast_cancer 1/n"


def fill(folder: Path) -> None:
    """Tables of two problems: on one a rival reaches 1e-6 on one thread only, on the other no rival reaches it."""
    size = {"rows": 569, "columns": 31, "stored": 17639, "dual": 0.999999, "solvers": "auto", "seconds": 1}
    for problem in (HINGE, LOGISTIC):
        tables.optima(folder).put({"problem": problem, "primal": 1.0, **size, **PROVENANCE})
    ladder = [Rung(1.0, 0.1, 1.5), Rung(0.316, 0.2, 1.0009), Rung(0.1, 0.4, 1.0000009)]
    for problem, rival, threads, rungs in [
        (HINGE, "snapml", 2, ladder[:1]),
        (HINGE, "snapml", 1, ladder),
        (HINGE, "scikit-learn LinearSVC", 2, [Rung(1.0, 0.3, 1.0)]),
        (LOGISTIC, "skglm", 2, ladder[:2]),
    ]:
        row = {"problem": problem, "rival": rival, "threads": threads, "ladder": tables.ladder_text(rungs)}
        tables.scan(folder).put({**row, "ending": tables.GOT_THERE, **PROVENANCE})
    for problem, goal, contender, seconds, reached in [
        (HINGE, "0.001", "dualgap", 0.02, True),
        (HINGE, "0.001", "snapml", 0.2, True),
        (HINGE, "0.001", "scikit-learn LinearSVC", 0.01, False),
        (HINGE, "1e-06", "dualgap", 0.05, True),
        (HINGE, "1e-06", "snapml", 0.4, True),
        (HINGE, "1e-06", "scikit-learn LinearSVC", 0.1, True),
        (LOGISTIC, "0.001", "dualgap", 0.5, True),
        (LOGISTIC, "0.001", "skglm", 0.2, True),
        (LOGISTIC, "1e-06", "dualgap", 12.0, False),
    ]:
        row = {"problem": problem, "goal": goal, "contender": contender, "seconds": seconds, "reached": reached}
        rest = {"threads": 2, "tolerance": 0.1, "repeats": 3, "words": ""}
        tables.duel(folder).put({**row, **rest, **PROVENANCE})
    for solver, seconds in (("auto", 0.5), ("newton", 0.1), ("sdca", 0.6)):
        row = {"problem": HINGE, "goal": "1e-06", "solver": solver, "seconds": seconds, "reached": True}
        tables.ours(folder).put({**row, "repeats": 3, "words": "", **PROVENANCE})


def test_the_page_is_current() -> None:
    if not (BENCHMARKS / "rivals_duel.csv").exists():
        assert not speed.PAGE.exists(), "a page without a duel to make it from"
        pytest.skip("no duel is committed, so there is no page to hold current")
    assert speed.PAGE.read_text(encoding="utf-8") == speed.Results().page(), "stale; run python docs/make_speed.py"


def test_geometric_mean() -> None:
    assert tables.geometric_mean([2.0, 8.0]) == pytest.approx(4.0)
    assert tables.geometric_mean([30.0]) == pytest.approx(30.0)


def test_the_first_rung_within_the_gap_counts() -> None:
    rungs = [Rung(1.0, 0.1, 1.5), Rung(0.1, 0.2, 1.0009), Rung(0.01, 9.0, 1.0), Rung(0.001, 0.3, 1.0)]
    assert tables.first_within(rungs, 1.0, 1e-3) == rungs[1]
    assert tables.first_within(rungs, 1.0, 1e-6) == rungs[2]
    assert tables.first_within(rungs, 0.9, 1e-6) is None
    assert tables.first_within([Rung(1.0, 0.1, 0.99)], 1.0, 1e-6), "below the optimum we know is near enough"
    assert not tables.within(float("nan"), 1.0, 1e-3)


def test_a_rival_that_never_reaches_the_gap_counts_thirty_seconds() -> None:
    assert (tables.counted(None), tables.counted(40.0), tables.counted(0.5)) == (30.0, 30.0, 0.5)


def test_a_ladder_survives_its_text() -> None:
    rungs = [Rung(0.316, 0.1234, 1.0 + 1e-12), Rung(1e-9, 29.5, 1e-300)]
    assert tables.ladder_of(tables.ladder_text(rungs)) == rungs


def test_the_last_row_of_a_key_counts(tmp_path: Path) -> None:
    table = tables.Table(tmp_path / "t.csv", ("a", "b"), ("c",))
    for a, b, c in ((2, "x", "1, 2"), (1, "x", "3"), (2, "x", "4")):
        table.put({"a": a, "b": b, "c": c, "more": "left out"})
    again = tables.Table(tmp_path / "t.csv", ("a", "b"), ("c",))
    assert again.rows == table.rows
    assert ("2", "x") in again
    assert ("2", "y") not in again
    assert again.rows[("2", "x")]["c"] == "4"
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 4
    again.tidy()
    assert (tmp_path / "t.csv").read_text() == "a,b,c\n1,x,3\n2,x,4\n"


def test_the_fastest_rivals_on_the_threads_that_suit_them(tmp_path: Path) -> None:
    fill(tmp_path)
    known = tables.fastest(tables.scan(tmp_path), HINGE, 1.0, 1e-6)
    assert [(one.rival, one.threads, one.tolerance) for one in known] == [
        ("scikit-learn LinearSVC", 2, 1.0),
        ("snapml", 1, 0.1),
    ]
    assert [one.rival for one in tables.fastest(tables.scan(tmp_path), HINGE, 1.0, 1e-3)] == [
        "snapml",
        "scikit-learn LinearSVC",
    ]
    assert tables.fastest(tables.scan(tmp_path), LOGISTIC, 1.0, 1e-6) == []


def test_the_page_shows_the_ratios_of_the_tables(tmp_path: Path) -> None:
    fill(tmp_path)
    results = speed.Results(tmp_path)
    assert [problem.name for problem, _ in results.rows] == [HINGE, LOGISTIC]
    (loose, tight), (other, none) = (duels for _, duels in results.rows)
    assert loose == speed.Measured(0.02, "snapml", 0.2), "a rival that missed the goal is not the fastest"
    assert (tight.rival, tight.ratio) == ("scikit-learn LinearSVC", pytest.approx(2.0))
    assert other.ratio == pytest.approx(0.4)
    assert none == speed.Measured(30.0, None, 30.0), "no rival reached the goal"
    page = results.page()
    assert "2 of 102" in page
    assert (
        "| hinge and absolute | 1 | 10 | 2.00 | 10 (hinge breast_cancer 1/n) | 2.00 (hinge breast_cancer 1/n) |" in page
    )
    assert "| breast_cancer | 569 × 31 | 1 | 0.5 | skglm | 0.2 | 0.40 | 30 | none | 30 | 1.00 |" in page
    assert f"| {HINGE} | 1e-06 | 0.5 | newton | 0.1 | 5.00 |" in page
    assert "## Squared" not in page
    assert "| hinge and absolute | 1 | 10 | 10 | 1 | 2.00 | 2.00 |" in page, "both of its rivals take 10 ms or more"
    assert "## Poisson" not in page


def test_the_page_shows_the_poisson_fits(tmp_path: Path) -> None:
    fill(tmp_path)
    row = "rows,columns,alpha,contender,tolerance,seconds,above_optimum,version\n20000,20,5e-05,lbfgs,0.001,0.0123,2e-09,1.9\n"
    (tmp_path / "poisson.csv").write_text(row, encoding="utf-8")
    assert "| 20,000 × 20 | lbfgs | 0.001 | 0.012 | 2e-09 |" in speed.Results(tmp_path).page()


def test_profile_counts_problems_within_a_factor() -> None:
    taken = {"a": [1.0, 4.0, None], "b": [2.0, 2.0, None], "c": [None, None, None]}
    assert speed.solved_within(taken, [1.0, 2.0]) == {"a": [1 / 3, 2 / 3], "b": [1 / 3, 2 / 3], "c": [0.0, 0.0]}


def test_pictures_are_made_from_the_tables(tmp_path: Path) -> None:
    fill(tmp_path)
    rows = [f"{figure},{size},{size / 1e6},w,d,m" for figure in ("epoch", "rows") for size in (10, 100)]
    (tmp_path / "growth.csv").write_text("\n".join(["figure,size,seconds,words,date,machine", *rows]) + "\n")
    results = speed.Results(tmp_path)
    assert "10: 1e-05, 100: 0.0001. They grow like the 1.00th power." in results.page()
    for draw, name in ((speed.draw_profile, "p.svg"), (speed.draw_growth, "g.svg")):
        draw(results, tmp_path / name)
        first = (tmp_path / name).read_bytes()
        draw(results, tmp_path / name)
        assert first.startswith(b"<?xml")
        assert (tmp_path / name).read_bytes() == first, "the same tables make the same picture"


def test_growth_is_a_power() -> None:
    assert speed.slope([1.0, 10.0, 100.0], [3.0, 30.0, 300.0]) == pytest.approx(1.0)


def bench(folder: Path, *words: str) -> Any:
    return rivals.Bench(rivals.parse(["scan", "--results", str(folder), "--cache", str(folder / "cache"), *words]))


def test_a_ladder_that_ends_short_of_a_better_optimum_is_climbed_again(tmp_path: Path) -> None:
    fill(tmp_path)
    problem = rivals.PROBLEMS[HINGE]
    before = bench(tmp_path)
    assert before.is_known(problem, "snapml", 1)
    assert not before.is_known(problem, "liblinear-multicore", 2)
    assert not before.is_known(problem, "snapml", 2), "it says that it got there, and did not"
    row = before.optima.rows[(HINGE,)]
    before.optima.put({**row, "primal": 0.99})
    assert not bench(tmp_path).is_known(problem, "snapml", 1)


def test_one_thread_is_tried_where_it_may_win(tmp_path: Path) -> None:
    fill(tmp_path)
    problem = rivals.PROBLEMS[HINGE]
    made = bench(tmp_path)
    assert made.may_win_alone(problem, "snapml"), "two threads never came"
    assert not made.may_win_alone(problem, "scikit-learn LinearSVC"), "two threads got there"
    made.scans.rows[(HINGE, "scikit-learn LinearSVC", "2")]["ladder"] = "[[1.0, 2.5, 1e9]]"
    assert made.may_win_alone(problem, "scikit-learn LinearSVC")


def test_problems_are_chosen_by_parts_of_their_names(tmp_path: Path) -> None:
    assert len(bench(tmp_path).problems) == 102
    assert [p.name for p in bench(tmp_path, "--problems", "hinge skin_raw").problems] == [
        f"hinge skin_raw {factor}/n" for factor in ("1", "10", "0.01")
    ]
    with pytest.raises(SystemExit, match="part of a problem's name, got nowhere"):
        bench(tmp_path, "--problems", "nowhere")


def test_strengths_and_data_are_what_they_say(tmp_path: Path) -> None:
    assert rivals.PROBLEMS["hinge covtype 0.01/n"].strength(100) == pytest.approx(1e-4)
    problems = sys.modules["rival_problems"]
    problems.prepare(tmp_path, ["breast_cancer", "breast_cancer_raw"])
    X, y = problems.load(tmp_path, "breast_cancer")
    raw, same = problems.load(tmp_path, "breast_cancer_raw")
    assert X.shape == raw.shape == (569, 31)
    assert np.abs(X[:, :-1].mean(axis=0)).max() < 1e-12
    assert X[:, :-1].std(axis=0) == pytest.approx(np.ones(30))
    assert (X[:, -1] == 1.0).all()
    assert (raw[:, -1] == 1.0).all()
    assert raw[0, 0] == 17.99
    assert sorted(set(y)) == [-1.0, 1.0]
    assert (y == same).all()


def run(folder: Path, phase: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCHMARKS / "rivals.py"), phase, "--results", str(folder), "--cache", str(folder)]
    command += ["--problems", HINGE, "--rivals", "LinearSVC", "zeros"]
    environment = {**os.environ, "COLUMNS": "200"}
    return subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)


def test_a_scan_and_a_duel_in_processes_go_on_where_they_were(tmp_path: Path) -> None:
    shown = [run(tmp_path, "scan") for _ in range(2)]
    assert [done.returncode for done in shown] == [0, 0], shown[0].stderr
    assert "scikit-learn LinearSVC ×2" in shown[0].stdout
    assert shown[1].stdout == "", "all was there"
    scanned = tables.scan(tmp_path)
    assert {key[1] for key in scanned.rows} == {"scikit-learn LinearSVC", "zeros"}
    optimum = float(tables.optima(tmp_path).rows[(HINGE,)]["primal"])
    rungs = tables.ladder_of(scanned.rows[(HINGE, "scikit-learn LinearSVC", "2")]["ladder"])
    assert tables.first_within(rungs, optimum, 1e-3) is not None
    assert min(rung.primal for rung in rungs) >= optimum * (1 - 1e-8)
    assert tables.fastest(scanned, HINGE, optimum, 1e-3)[0].rival == "scikit-learn LinearSVC"

    shown = [run(tmp_path, "duel") for _ in range(2)]
    assert [done.returncode for done in shown] == [0, 0], shown[0].stderr
    assert shown[1].stdout == "", "all was there"
    fought, methods = tables.duel(tmp_path).rows, tables.ours(tmp_path).rows
    for goal in ("0.001", "1e-06"):
        assert fought[(HINGE, goal, tables.OURS)]["reached"] == "True"
        assert fought[(HINGE, goal, "scikit-learn LinearSVC")]["reached"] == "True"
        assert fought[(HINGE, goal, tables.OURS)]["seconds"] == methods[(HINGE, goal, "auto")]["seconds"]
        assert {solver for _, at, solver in methods if at == goal} == {"auto", "newton", "sdca(shrinking=true)"}


def test_a_child_that_takes_too_long_is_ended_and_one_that_fails_is_heard(tmp_path: Path) -> None:
    problems = sys.modules["rival_problems"]
    problems.prepare(tmp_path, ["breast_cancer"])
    job = {"work": "climb", "folder": str(tmp_path), "problem": HINGE, "threads": 1, "optimum": 0.1}
    assert list(rivals.events({**job, "rival": "zeros"}, patience=0.01)) == [{"event": "killed"}]
    (told,) = rivals.events({**job, "rival": "nobody"})
    assert (told["event"], told["words"]) == ("error", "KeyError: 'nobody'")
