"""Running: experiments carried out one after the other by the race's runner, with what is done already left alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dualgap.replication import gathering
from dualgap.replication.data import at_hand
from dualgap.replication.experiments import Experiment, Fact, KeptFact
from dualgap.workbench import store
from dualgap.workbench.plan import Plan
from dualgap.workbench.runner import race
from dualgap.workbench.store import FinishedRun
from dualgap.workbench.watcher import Watcher


class Observer(Watcher):
    """Hears of experiments and facts too. Every method does nothing here; a view overrides what it wants to show."""

    def experiment(self, experiment: Experiment, runs: int) -> None:
        """An experiment begins that has `runs` runs still to do."""

    def fact(self, name: str) -> None:
        """Something that is no run is being measured."""

    def left_out(self, experiment: str, sentence: str) -> None:
        """An experiment cannot be done here, and why."""


@dataclass
class Carried:
    """What carrying out gave: runs and facts, the experiments left out and why, and whether it was cut short."""

    runs: list[FinishedRun] = field(default_factory=list)
    facts: dict[str, KeptFact] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False


def run_ids(plan: Plan) -> list[str]:
    """The ids of all runs of a plan."""
    return [run.id for heat in plan.heats() for run in heat.runs]


def _all_ids(experiments: Sequence[Experiment]) -> set[str]:
    with at_hand():
        return {run for experiment in experiments for plan in experiment.plans() for run in run_ids(plan)}


def belonging(experiments: Sequence[Experiment], runs: Sequence[FinishedRun]) -> list[FinishedRun]:
    """The runs that the experiments consist of; a folder may hold others, of other settings."""
    ids = _all_ids(experiments)
    return [run for run in runs if run.run in ids]


def still_to_do(experiments: Sequence[Experiment], done: Sequence[FinishedRun]) -> int:
    """How many runs of the experiments are not among those done."""
    return len(_all_ids(experiments) - {run.run for run in done})


def lacking(
    experiments: Sequence[Experiment], done: Sequence[FinishedRun], facts: Mapping[str, KeptFact]
) -> dict[str, int]:
    """How many runs and facts of each experiment are not among those done, by the names of the experiments that lack some."""
    counts = {
        one.name: still_to_do([one], done) + sum(not _is_known(fact, facts) for fact in one.facts)
        for one in experiments
    }
    return {name: count for name, count in counts.items() if count}


def _is_known(fact: Fact, facts: Mapping[str, KeptFact]) -> bool:
    """Whether a fact was measured, from what the experiment computes it from now."""
    return fact.name in facts and facts[fact.name].settings == dict(fact.settings)


def carry_out(experiments: Sequence[Experiment], folder: Path, observer: Observer | None = None) -> Carried:
    """Carry out what is not yet in the folder. Ctrl-C ends it with what there is, and a later call goes on from there."""
    watcher = observer or Observer()
    carried = Carried(*gathering.read(folder))
    with at_hand():
        try:
            for experiment in experiments:
                if carried.interrupted:
                    break
                _carry_out_one(experiment, folder, watcher, carried)
        except KeyboardInterrupt:
            carried.interrupted = True
    return carried


def _carry_out_one(experiment: Experiment, folder: Path, watcher: Observer, carried: Carried) -> None:
    known = {run.run for run in carried.runs}
    try:
        plans = [plan for plan in experiment.plans() if not known.issuperset(run_ids(plan))]
        todo = {run for plan in plans for run in run_ids(plan)} - known
        facts = [fact for fact in experiment.facts if not _is_known(fact, carried.facts)]
        watcher.experiment(experiment, len(todo))
        for fact in facts:
            watcher.fact(fact.name)
            carried.facts[fact.name] = fact.measured()
            gathering.write_facts(folder, carried.facts)
        for plan in plans:
            outcome = race(plan, folder / store.FILE, watcher, done=carried.runs)
            known = {run.run for run in carried.runs}
            carried.runs += [run for run in outcome.runs if run.run not in known]
            if outcome.interrupted:
                carried.interrupted = True
                return
    except (ValueError, OSError, ImportError) as refusal:
        # A data set that is not here, or a package: the other experiments go on, and the page says what is missing.
        carried.left_out[experiment.name] = str(refusal)
        watcher.left_out(experiment.name, str(refusal))
