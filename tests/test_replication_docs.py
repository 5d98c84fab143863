"""docs/replication.md says what the committed results say."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_replication", ROOT / "docs" / "make_replication.py")
    assert spec is not None
    assert spec.loader is not None
    if str(ROOT / "docs") not in sys.path:
        sys.path.append(str(ROOT / "docs"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def other(name: str) -> ModuleType:
    """A module beside the generator."""
    generator()
    return importlib.import_module(name)


def test_the_page_is_current() -> None:
    made = generator()
    if not made.RESULTS.exists():
        pytest.skip(
            "no results of a full replication are committed yet; python docs/make_replication.py FOLDER does it"
        )
    assert made.PAGE.read_text(encoding="utf-8") == made.page(), "stale; run python docs/make_replication.py"


def test_the_errata_are_current() -> None:
    made = generator()
    assert made.ERRATA_PAGE.read_text(encoding="utf-8") == made.errata(), "stale; run python docs/make_replication.py"


def test_every_report_has_errata_and_every_change_is_of_a_claim() -> None:
    from dualgap.replication.claims import CLAIMS
    from dualgap.replication.errata import ERRATA
    from dualgap.replication.figures import FIGURES
    from dualgap.replication.reports import REPORTS

    assert {one.report for one in ERRATA} == set(REPORTS)
    assert set(other("replication_changes").WHY) == set(CLAIMS)
    assert all(about.figure in FIGURES for about in REPORTS.values())


def test_thinning_drops_what_joining_replaces_and_nothing_else() -> None:
    """A run of 10 epochs and an opening of 2 with finer records: joined, they are the same with and without thinning."""
    from dualgap.replication import gathering
    from dualgap.workbench.store import FinishedRun

    def run(name: str, epochs: float, records: list[float]) -> FinishedRun:
        settings = {"experiment": "made up", "solver": "sdca", "data": "d", "seed": 0, "epochs": epochs}
        columns = {"epoch": records, "primal": [1.0 / (1.0 + epoch) for epoch in records]}
        return FinishedRun(name, settings, {}, 0.1, "EPOCHS_EXHAUSTED", "", "", {}, columns)

    runs = [run("long", 10.0, [0.0, 1.0, 2.0, 5.0, 10.0]), run("opening", 2.0, [0.0, 0.5, 1.0, 1.5, 2.0])]
    thin = gathering.thinned(runs)
    assert {one.run: one.records["epoch"] for one in thin} == {
        "opening": [0.0, 0.5, 1.0, 1.5, 2.0],
        "long": [0.0, 5.0, 10.0],
    }
    (whole,) = gathering.joined(runs)
    assert whole.records["epoch"] == [0.0, 0.5, 1.0, 1.5, 2.0, 5.0, 10.0]
    assert gathering.joined(thin) == [whole]


def test_what_changed_lists_every_claim_with_the_numbers_that_did_it() -> None:
    from dualgap.replication.claims import CLAIMS
    from dualgap.replication.verdicts import Outcome, Part, Verdict

    changes = other("replication_changes")
    verdicts: dict[str, Verdict | str] = {
        claim: Verdict(Outcome.UNDECIDED, (Part("nothing as at first", None, "numbers of now"),)) for claim in CLAIMS
    }
    verdicts["R0.7"] = Verdict(
        Outcome.PARTLY,
        (
            Part("SDCA is faster than Pegasos on simulated data", True, "4 times"),
            Part("SDCA is faster than Pegasos on skin data", False, "all numbers", decisive="0.5 times"),
        ),
    )
    verdicts["R2.2"] = Verdict(Outcome.FAILS, (Part("SDCA permutation scores near 60 %", False, "90 %"),))
    lines = {
        line.split(" | ")[0].removeprefix("| "): line for line in changes.section(verdicts) if line.startswith("| R")
    }
    assert list(lines) == list(CLAIMS)
    assert (
        "| holds | **holds in part** | SDCA is faster than Pegasos on skin data: holds at first (12,253 against 110,276 updates), "
        "does not hold now: 0.5 times |" in lines["R0.7"]
    )
    assert "| does not hold | **does not hold** | unchanged |" in lines["R2.2"]
    assert "nothing as at first: numbers of now" in lines["R0.1"]
    assert "no claim at first" in lines["R3.3"]


@pytest.mark.parametrize(
    ("quick", "full", "words"),
    [
        (
            "Pegasos takes 1.77 (1 to 2.59) at 3 % (undecided), 3.9 (3.4 to 6) at 1 % times SDCA's updates; undecided at 5 repeats",
            "Pegasos takes 1.9 (1.4 to 2.5) at 3 % times SDCA's updates",
            "quick: at 5 repeats the interval is wide: 1.77 (1 to 2.59) at 3 %",
        ),
        (
            "Pegasos takes 3 (2 to 4) at 30 % times SDCA's updates; 3 %, 1 % not reached by SDCA and Pegasos",
            "Pegasos takes 2.2 (0.8 to 2.9) at 3 % (undecided) times SDCA's updates; 1 % not reached by Pegasos; undecided at 10 repeats",
            "quick: 3 %, 1 % not reached by SDCA, and 3 % not reached by Pegasos; "
            "full: at 10 repeats the interval is wide: 2.2 (0.8 to 2.9) at 3 %",
        ),
        (
            "SDCA against Pegasos: 30 % censored: SDCA below at the first record; undecided at 5 repeats",
            "SDCA takes 2 (1.5 to 3) at 30 % times Pegasos's updates",
            "quick: 30 % censored: SDCA",
        ),
        ("the runs end before epoch 6", "at epoch 4 (3 to 5)", "quick: the runs end before epoch 6"),
        (
            "error 20.0 % (19.0 % to 21.0 %)",
            "error 26.0 % (25.0 % to 27.0 %)",
            "quick: error 20.0 % (19.0 % to 21.0 %); full: error 26.0 % (25.0 % to 27.0 %)",
        ),
        (
            "minus random: +0.0088 (-0.0018 to +0.0193), undecided at 5 repeats",
            "minus random: +0.0276 (+0.0101 to +0.0469)",
            "quick: at 5 repeats the interval is wide: +0.0088 (-0.0018 to +0.0193)",
        ),
    ],
)
def test_the_cause_of_a_difference_follows_from_the_numbers(quick: str, full: str, words: str) -> None:
    from dualgap.replication.verdicts import Part

    assert other("replication_quick").cause(quick, Part("made up", True, full)) == words


def test_experiments_that_lack_results_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from dualgap.workbench import store

    made = generator()
    runs = store.read(made.RESULTS)
    short = [run for run in runs if run.settings["experiment"] != "R3.steps"]
    monkeypatch.setattr(store, "read", lambda path: short)
    (said, _) = made._stale(False)
    assert "R3.steps (" in said


def test_packed_results_keep_rows_touched_whole() -> None:
    """On skin data an update is the 245,057th part of an epoch."""
    from dualgap.replication.frames import Trial
    from dualgap.workbench.store import FinishedRun

    counts = [0, 1, 39_211, 356_441, 1_225_285]
    columns = {"epoch": [count / 245_057 for count in counts], "updates": counts, "dual": [1 / 3] * 5}
    columns |= {name: [1 / 3] * 5 for name in ("relative_gap", "gap", "cpu_seconds")}
    run = FinishedRun("one", {"experiment": "R0.skin"}, {}, 0.1, "EPOCHS_EXHAUSTED", "", "", {}, columns)
    records = generator()._line(run)["records"]
    assert records["dual"] == [None, None, None, None, 0.33333]
    trial = Trial("R0.skin", "SDCA", "skin", 0.1, 0, records, rows=245_057)
    assert trial.column("rows").tolist() == counts
