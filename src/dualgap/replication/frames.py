"""Frames: the results of a replication as its rules see them: trials with their records, and facts that are no trial."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dualgap.lazy import lazy

Numbers = NDArray[np.float64]
Made = TypeVar("Made")

# The name under which the certified optimum of a problem stands among its trials.
OPTIMUM = "optimum"


class Missing(LookupError):
    """What a rule needs was not measured; the message says what."""


@dataclass(frozen=True)
class Trial:
    """One solver, once, on one problem. `solver` is the name an experiment gives it, such as `mini-batch Pegasos`."""

    experiment: str
    solver: str
    data: str
    strength: float
    seed: int
    records: Mapping[str, Sequence[float | None]]
    rows: int = 0
    columns: int = 0
    status: str = "EPOCHS_EXHAUSTED"
    weights: Sequence[float] | None = None
    beta: Sequence[float] | None = None
    split: int = 0

    @property
    def problem(self) -> tuple[str, str, float, int]:
        """What trials have in common that minimize the same P."""
        return self.experiment, self.data, self.strength, self.split

    def column(self, name: str) -> Numbers:
        """A field of the records as numbers, nan where there is none; `rows` are rows touched, the epochs times n."""
        if name == "rows":
            return np.round(self.column("epoch") * self.rows)
        return np.array(self.records.get(name, ()), dtype=float)

    def last(self, name: str) -> float:
        """What a field ended with, nan where it was never recorded."""
        values = self.column(name)
        return float(values[-1]) if values.size else float("nan")


@dataclass(frozen=True)
class Frame:
    """All that was measured. Facts are named `experiment/what`."""

    trials: tuple[Trial, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    def of(
        self,
        experiment: str,
        solver: str | None = None,
        *,
        data: str | None = None,
        strength: float | None = None,
    ) -> tuple[Trial, ...]:
        """The trials of an experiment, without the certified optimum unless it is asked for; never none."""
        found = tuple(
            trial
            for trial in self.trials
            if trial.experiment == experiment
            and (trial.solver != OPTIMUM if solver is None else trial.solver == solver)
            and data in (None, trial.data)
            and (strength is None or abs(trial.strength - strength) <= 1e-9 * strength)
        )
        if not found:
            asked = ", ".join(str(part) for part in (solver, data, strength) if part is not None)
            raise Missing(f"no run of {experiment}{f' ({asked})' if asked else ''} is finished")
        return found

    def solvers(self, experiment: str, starting: str = "") -> list[str]:
        """The names of the solvers of an experiment that start so, in the order of their first trial."""
        names = dict.fromkeys(trial.solver for trial in self.of(experiment))
        return [name for name in names if name.startswith(starting)]

    def data(self, experiment: str) -> list[str]:
        """The data sets of an experiment, in the order of their first trial."""
        return list(dict.fromkeys(trial.data for trial in self.of(experiment)))

    def strengths(self, experiment: str) -> list[float]:
        """The strengths of an experiment, ascending."""
        return sorted({trial.strength for trial in self.of(experiment)})

    def fact(self, name: str) -> Any:
        """A fact by its name."""
        if name not in self.facts:
            raise Missing(f"{name} was not measured")
        return self.facts[name]

    def optimum(self, trial: Trial) -> float:
        """The least primal value anybody reached on a trial's problem; the runs named `optimum` were proven near it."""
        return self._optima[trial.problem]

    @lazy
    def _optima(self) -> dict[tuple[str, str, float, int], float]:
        found: dict[tuple[str, str, float, int], float] = {}
        for trial in self.trials:
            least = float(np.nanmin(trial.column("primal")))
            found[trial.problem] = min(least, found.get(trial.problem, least))
        return found

    def kept(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What was made of this frame under a key before, or else is made now: rules have resampled curves in common."""
        if key not in self._kept:
            self._kept[key] = make()
        made: Made = self._kept[key]
        return made

    @lazy
    def _kept(self) -> dict[Hashable, Any]:
        return {}
