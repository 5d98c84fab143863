"""The table of experiments of all five reports, and which of them a claim or a figure needs."""

from __future__ import annotations

from collections.abc import Collection

from dualgap.replication import r0, r1, r2, r3, r4
from dualgap.replication.experiments import Experiment


def experiments(quick: bool, names: Collection[str] | None = None) -> list[Experiment]:
    """All experiments in a size, or those named, in the order of the reports."""
    made = [one for report in (r0, r1, r2, r3, r4) for one in report.experiments(quick)]
    return made if names is None else [one for one in made if one.name in names]


def solver_names() -> dict[tuple[str, str], str]:
    """What the spec of a solver is called in an experiment, whatever its size."""
    return {
        (one.name, spec): name
        for quick in (True, False)
        for one in experiments(quick)
        for spec, name in one.names.items()
    }
