"""Experiments as descriptions: what is raced against what, on which data, how often, and which facts are measured besides."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dualgap import spec
from dualgap.datasets import title
from dualgap.losses import LOSSES
from dualgap.replication.frames import OPTIMUM
from dualgap.solvers import SOLVERS
from dualgap.workbench.plan import Plan

# How the optimum of every problem is proven.
REFERENCE, REFERENCE_GAP, REFERENCE_EPOCHS, REFERENCE_EVERY = "auto", 1e-6, 3000.0, 5.0

# Records of each opening, and how many times it is shorter than the next one. The first opening records every update;
# from there on neighboring records differ by at most an eighth: √10/25.
STAGE_RATIO, STAGE_RECORDS = math.sqrt(10.0), 25


@dataclass(frozen=True)
class Contenders:
    """Solvers by the names the reports give them, on the same problems, under the same limits."""

    data: tuple[str, ...]
    solvers: Mapping[str, str]
    strengths: tuple[str, ...] = ("1/n",)
    loss: str = "hinge"
    epochs: float = 10.0
    every: float = 1.0
    repeats: int = 1
    test_size: float = 0.0
    standardize: bool | None = False
    splits: int = 1
    # Records of the first part of a run: epochs and epochs between records. Such a run is the beginning of the long one
    # with the same seed, and gathering puts the two together.
    openings: tuple[tuple[float, float], ...] = ()

    def plans(self, experiment: str) -> Iterator[Plan]:
        """The race of the solvers with its openings, and the proof of each problem's optimum, for each split."""
        for split in range(self.splits):
            yield from self._plans(experiment, split)

    def _plans(self, experiment: str, split: int) -> Iterator[Plan]:
        common = {
            "data": tuple(map(title, self.data)),
            "loss": spec.text_of(spec.build(self.loss, LOSSES, "loss")),
            "strengths": self.strengths,
            "test_size": self.test_size,
            "standardize": self.standardize,
            "experiment": experiment,
            "seed": split,
        }
        yield Plan(
            solvers=(REFERENCE,),
            epochs=REFERENCE_EPOCHS,
            tol=REFERENCE_GAP,
            repeats=1,
            every=REFERENCE_EVERY,
            **common,  # type: ignore[arg-type]
        )
        for epochs, every in (*self.openings, (self.epochs, self.every)) if self.solvers else ():
            yield Plan(
                solvers=tuple(map(canonical, self.solvers.values())),
                epochs=epochs,
                # No gap ends a run but 0, so that curves are as long as the reports'.
                tol=0.0,
                repeats=self.repeats,
                every=every,
                **common,  # type: ignore[arg-type]
            )


class KeptFact(NamedTuple):
    """A fact as it is kept: what it was computed from, and what came out."""

    settings: dict[str, Any]
    value: Any


@dataclass(frozen=True)
class Fact:
    """Something measured that is no run of a solver: what `measure` returns for the settings, plain values by name."""

    name: str
    measure: Callable[..., Any]
    settings: Mapping[str, Any] = field(default_factory=dict)

    def measured(self) -> KeptFact:
        """The fact, with the settings that it was computed from."""
        return KeptFact(dict(self.settings), self.measure(**self.settings))


@dataclass(frozen=True)
class Experiment:
    """One experiment of a report. `says` tells what was chosen where the report is silent."""

    name: str
    says: str
    contenders: tuple[Contenders, ...] = ()
    facts: tuple[Fact, ...] = ()

    @property
    def report(self) -> str:
        """The report it belongs to."""
        return self.name.partition(".")[0]

    def plans(self) -> list[Plan]:
        """All its races, the proofs of optima first."""
        return [plan for contenders in self.contenders for plan in contenders.plans(self.name)]

    @property
    def names(self) -> dict[str, str]:
        """The name of each solver's spec."""
        told = {canonical(text): name for contenders in self.contenders for name, text in contenders.solvers.items()}
        return {REFERENCE: OPTIMUM} | told


def canonical(solver: str) -> str:
    """A solver's spec in its one spelling."""
    return spec.text_of(spec.build(solver, SOLVERS, "solver"))


def openings(epochs: float, rows: int) -> tuple[tuple[float, float], ...]:
    """Openings that make records of a run log-spaced, about 34 a decade; the first of them records every update.

    `rows` is the number of rows that are fitted: an update touches at least one, the 1/rows-th part of an epoch.
    """
    ends: list[float] = []
    while not ends or ends[-1] * rows > STAGE_RECORDS:
        epochs /= STAGE_RATIO
        ends.append(float(f"{epochs:.4g}"))
    return tuple((end, float(f"{end / STAGE_RECORDS:.4g}")) for end in reversed(ends))


def seeded(data: str, count: int) -> tuple[str, ...]:
    """A generated data set, drawn `count` times: `simulated` or `gaussians(n=500)` with seeds 0, 1, …"""
    name, options = spec.parse(data)
    told = "".join(f"{key}={value}, " for key, value in options.items())
    return tuple(f"{name}({told}seed={seed})" for seed in range(count))


def factors(numbers: Sequence[int], batch: int) -> dict[str, str]:
    """ASDCA with several multiples of the paper's θ, which no report states."""
    return {f"ASDCA {number}x": f"asdca(batch_size={batch}, theta={number}x)" for number in numbers}
