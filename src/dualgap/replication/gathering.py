"""Gathering: finished runs and facts from disk become the frame that rules and figures are functions of."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dualgap.data.files import parsed_json, source, write_text
from dualgap.replication.experiments import KeptFact
from dualgap.replication.frames import OPTIMUM, Frame, Trial
from dualgap.replication.table import solver_names
from dualgap.trace import FIELDS as RECORDED
from dualgap.workbench import store
from dualgap.workbench.store import FinishedRun

FACTS = "facts.json"
# What no rule reads: older results have no own_dual, and the committed ones no wall seconds.
UNREAD = ("own_dual", "seconds")
# What a run has in common with its openings.
SAME = ("experiment", "solver", "data", "loss", "seed", "split_seed", "test_size", "standardize")


@dataclass(frozen=True)
class Gathered:
    """The runs under the names the reports give their solvers, with test errors beside the scores, and the facts."""

    runs: tuple[FinishedRun, ...]
    facts: Mapping[str, Any]
    frame: Frame

    def of(self, experiment: str) -> list[FinishedRun]:
        """The runs of an experiment, without the proofs of its optima."""
        return [
            run
            for run in self.runs
            if run.settings.get("experiment") == experiment and run.settings["solver"] != OPTIMUM
        ]


def gather(runs: Iterable[FinishedRun], known: Mapping[str, KeptFact]) -> Gathered:
    """Everything that belongs to an experiment of the table."""
    names = solver_names()
    facts = {name: fact.value for name, fact in known.items()}
    kept = []
    for run in runs:
        experiment = str(run.settings.get("experiment"))
        name = names.get((experiment, str(run.settings.get("solver"))))
        if name is None:
            continue
        scores = run.records.get("test_score") or []
        errors = [None if score is None else 1.0 - score for score in scores]
        kept.append(
            replace(run, settings=run.settings | {"solver": name}, records=run.records | {"test_error": errors})
        )
    kept = joined(kept)
    return Gathered(tuple(kept), facts, Frame(tuple(map(_trial, kept)), facts))


def joined(runs: Iterable[FinishedRun]) -> list[FinishedRun]:
    """Each run with the finer records of its openings: shorter runs of the same settings and seed, which begin alike."""
    return [_joined(some) for some in _alike(runs)]


def thinned(runs: Iterable[FinishedRun]) -> list[FinishedRun]:
    """The same runs without what `joined` replaces: records of a run, after its first, that an opening has finer."""
    return [one for some in _alike(runs) for one in _thinned(some)]


def _alike(runs: Iterable[FinishedRun]) -> list[list[FinishedRun]]:
    """Runs of the same settings and seed but for their length, the shortest first."""
    found: dict[tuple[Any, ...], list[FinishedRun]] = {}
    for run in runs:
        settings = run.settings
        key = (*(settings.get(name) for name in SAME), run.strength, settings["solver"] == OPTIMUM)
        found.setdefault(key, []).append(run)
    return [sorted(some, key=lambda run: float(run.settings.get("epochs") or 0.0)) for some in found.values()]


def _thinned(runs: list[FinishedRun]) -> Iterator[FinishedRun]:
    covered = 0.0
    for run in runs:
        epochs = run.records["epoch"]
        kept = [place for place, epoch in enumerate(epochs) if place == 0 or epoch > covered * (1 + 1e-9)]
        records = {
            name: [values[place] for place in kept] if values else values for name, values in run.records.items()
        }
        yield replace(run, records=records)
        covered = max(covered, epochs[-1])


def _joined(runs: list[FinishedRun]) -> FinishedRun:
    """The longest run, with the records of shorter ones up to their ends."""
    whole = runs[-1]
    for shorter in reversed(runs[:-1]):
        last = shorter.records["epoch"][-1]
        later = [place for place, epoch in enumerate(whole.records["epoch"]) if epoch > last * (1 + 1e-9)]
        unknown = [None] * len(shorter.records["epoch"])  # as own_dual is in older results
        records = {
            name: [*(shorter.records.get(name) or unknown), *(values[place] for place in later)] if values else values
            for name, values in whole.records.items()
        }
        whole = replace(whole, records=records)
    return whole


def _trial(run: FinishedRun) -> Trial:
    return Trial(
        experiment=str(run.settings["experiment"]),
        solver=str(run.settings["solver"]),
        data=str(run.settings["data"]),
        strength=float(run.strength),
        seed=int(run.settings.get("seed", 0)),
        records=run.records,
        rows=int(run.data.get("rows", 0)),
        columns=int(run.data.get("columns", 0)),
        status=run.status,
        weights=run.weights,
        beta=run.data.get("beta"),
        split=int(run.settings.get("split_seed", 0)),
    )


def read(folder: Path) -> tuple[list[FinishedRun], dict[str, KeptFact]]:
    """What a folder holds so far, a torn last line cut off; nothing where it holds nothing."""
    runs = store.resume(folder / store.FILE)
    for run in runs:
        lacking = [name for name in RECORDED if name not in UNREAD and not run.records.get(name)]
        if lacking:
            raise ValueError(
                f"run {run.run} of {str(folder)!r} lacks records of {lacking[0]}, which the rules need; it was edited, "
                "so remove its line, and it is run anew"
            )
    return runs, read_facts(folder)


def read_facts(folder: Path) -> dict[str, KeptFact]:
    """The facts of a folder by their names; one that does not say what it was computed from is left out."""
    file = folder / FACTS
    if not file.exists():
        return {}
    try:
        facts = parsed_json(source(file).read_bytes())
    except ValueError:
        raise ValueError(
            f"{str(file)!r} is not JSON; it was edited, so remove it and its facts are measured anew"
        ) from None
    if not isinstance(facts, dict):
        raise ValueError(f"{str(file)!r} holds no facts by name; remove it and they are measured anew")
    return {
        name: KeptFact(**fact)
        for name, fact in facts.items()
        if isinstance(fact, dict) and tuple(sorted(fact)) == KeptFact._fields
    }


def write_facts(folder: Path, facts: Mapping[str, KeptFact]) -> None:
    """All facts with what they were computed from, whole or not at all."""
    told = {name: fact._asdict() for name, fact in facts.items()}
    write_text(folder / FACTS, json.dumps(told, ensure_ascii=False, indent=0) + "\n")
