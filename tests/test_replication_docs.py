"""docs/replication.md says what the committed results say."""

from __future__ import annotations

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
    assert set(generator().CHANGES) <= set(CLAIMS)
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
