"""Plans: a race as a frozen description, the single runs it consists of, and the command that repeats it."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from dualgap.limits import check_gap_tol
from dualgap.workbench import columns
from dualgap.workbench.columns import ALL_NUMBERS, Columns

# The end of a run where none is given: small data gets all its epochs, large data does not take all day.
DEFAULT_EPOCHS, DEFAULT_SECONDS = 500.0, 10.0
DEFAULT_DATA, DEFAULT_STRENGTH = "breast_cancer", "1/n"

# The contenders of a race without arguments: what a user gets without choosing, then the algorithms in the order of the table.
# ASDCA's own step is very careful on rows longer than 1; sixteen times as much is still safe.
DEFAULT_SOLVERS = (
    "auto",
    "newton",
    "sdca",
    "asdca(theta=16x)",
    "pegasos",
    "pegasos(batch_size=8)",
    "sgd",
    "subgradient",
    "projected_ascent",
    "box_ascent",
)


# A race of more runs than this does not end, and the list of them alone would fill the memory.
MAX_RUNS = 1_000_000
# scikit-learn splits data by a seed of 32 bits.
LARGEST_SEED = 2**32 - 1

# In the place of a hash of its file, for a contender that a program holds.
IN_MEMORY = "memory"

# Settings that stand in a run's settings, and so in its id, only where they were chosen.
RARE = ("every", "experiment", "gap_tol", "features", "code")


@dataclass(frozen=True)
class Run:
    """One solver, once, on one problem: everything that decides the numbers of the run."""

    data: str
    loss: str
    strength: str
    solver: str
    epochs: float | None
    seconds: float | None
    tol: float
    test_size: float
    seed: int
    split_seed: int
    intercept: bool = False
    standardize: bool | None = None
    target: str | None = None
    positive: tuple[str, ...] = ()
    kind: str = "solver"  # or "rival", or "own": an estimator or a function of the user's
    every: float | None = None  # epochs between records, where a race's own choice is not meant
    experiment: str | None = None  # of a replication
    gap_tol: float | None = None  # an absolute gap that ends the run as well
    features: str | None = None  # a feature map that replaces the columns
    columns: Columns = ALL_NUMBERS
    code: str | None = None  # a hash of the file that a contender of the user's is in, or IN_MEMORY

    @property
    def settings(self) -> dict[str, Any]:
        """The settings as plain values, as they are written to disk; those that few runs have, where they have them."""
        told = asdict(self) | {"positive": list(self.positive)}
        del told["columns"]
        return {
            name: value for name, value in told.items() if value is not None or name not in RARE
        } | self.columns.given

    @property
    def id(self) -> str:
        """A short hash of the settings: equal settings, equal id, on every machine."""
        # The kind follows from the name: no rival is spelled like a solver.
        named = {name: value for name, value in self.settings.items() if name != "kind"}
        text = json.dumps(named, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:12]


@dataclass(frozen=True)
class Heat:
    """The runs that compete with each other: one data set, one strength, all solvers, all repeats."""

    data: str
    strength: str
    runs: tuple[Run, ...]


@dataclass(frozen=True)
class Plan:
    """What to race: data sets × strengths × (solvers, the user's own contenders and rivals) × repeats. Texts are specs in their shortest spelling."""

    data: tuple[str, ...] = (DEFAULT_DATA,)
    loss: str = "hinge"
    strengths: tuple[str, ...] = (DEFAULT_STRENGTH,)
    solvers: tuple[str, ...] = DEFAULT_SOLVERS
    epochs: float | None = 500.0
    seconds: float | None = None
    tol: float = 1e-6
    test_size: float = 0.2
    repeats: int = 3
    seed: int = 0
    intercept: bool = False
    standardize: bool | None = None
    target: str | None = None
    positive: tuple[str, ...] = ()
    rivals: tuple[str, ...] = ()
    every: float | None = None
    experiment: str | None = None
    gap_tol: float | None = None
    features: str | None = None
    columns: Columns = ALL_NUMBERS
    own: tuple[str, ...] = ()
    codes: tuple[tuple[str, str], ...] = ()  # contenders of the user's, each with a hash of its file, or IN_MEMORY

    def __post_init__(self) -> None:
        if not (self.data and self.strengths and (self.solvers or self.own)):
            raise ValueError("a race needs at least one data set, one strength and one solver")
        if self.epochs is None and self.seconds is None:
            raise ValueError("a race needs an end; pass a number of epochs or of seconds")
        for name, value in (("epochs", self.epochs), ("seconds", self.seconds), ("every", self.every)):
            if value is not None and not (math.isfinite(value) and value > 0):
                raise ValueError(f"{name} must be a finite number above 0, got {value}")
        if not (math.isfinite(self.tol) and self.tol >= 0):
            raise ValueError(f"tol must be a finite number, at least 0, got {self.tol}")
        check_gap_tol(self.gap_tol)
        if not 0 <= self.test_size < 1:
            raise ValueError(f"the test fraction must be at least 0 and below 1, got {self.test_size}")
        if self.repeats < 1:
            raise ValueError(f"a race needs at least one repeat, got {self.repeats}")
        if not 0 <= self.seed <= LARGEST_SEED:
            raise ValueError(f"a seed must be at least 0 and at most {LARGEST_SEED}, got {self.seed}")
        runs = len(self.data) * len(self.strengths) * len(self.contenders) * self.repeats
        if runs > MAX_RUNS:
            raise ValueError(f"a race has at most {MAX_RUNS:,} runs, got {runs:,}; choose fewer repeats")
        for text in self.strengths:
            strength_of(text, rows=1)
        # What is asked for twice is run once, whatever its spelling: no two runs of a race have the same id.
        for name, texts in (("strengths", map(strength_text, self.strengths)), ("data", self.data)):
            object.__setattr__(self, name, tuple(dict.fromkeys(texts)))
        for name in ("solvers", "own", "rivals"):
            object.__setattr__(self, name, tuple(dict.fromkeys(getattr(self, name))))

    @property
    def contenders(self) -> tuple[tuple[str, str], ...]:
        """Each contender with its kind, in the order of their turns."""
        kinds = (("solver", self.solvers), ("own", self.own), ("rival", self.rivals))
        return tuple((name, kind) for kind, names in kinds for name in names)

    def heats(self) -> Iterator[Heat]:
        """The competitions one after the other; inside each, every solver has its turn before any has a second.

        A noisy minute of the machine so falls on all solvers alike. Repeat r runs with seed + r, on the same split.
        """
        for data in self.data:
            for strength in self.strengths:
                turns = [(name, kind, repeat) for repeat in range(self.repeats) for name, kind in self.contenders]
                yield Heat(data, strength, tuple(self._run(data, strength, *turn) for turn in turns))

    def check_goes_on(self, runs: Iterable[Any]) -> None:
        """Refuse to add to finished runs that were made under other settings; other solvers and data are welcome."""
        settings, codes = next(self.heats()).runs[0].settings, dict(self.codes)
        for finished in runs:
            solver = str(finished.settings.get("solver"))
            if solver in codes and finished.settings.get("code") != codes[solver]:
                raise ValueError(
                    f"the file of {solver} has changed since its finished runs; choose another folder with -o"
                )
            for name in SHARED:
                if finished.settings.get(name) != settings.get(name):
                    raise ValueError(
                        f"the finished runs have {name.removeprefix('split_')} {finished.settings.get(name)}, got "
                        f"{settings.get(name)}; resume with their settings, or choose another folder with -o"
                    )

    def _run(self, data: str, strength: str, solver: str, kind: str, repeat: int) -> Run:
        return Run(
            data=data,
            loss=self.loss,
            strength=strength,
            solver=solver,
            # Ids are hashes of these values as text, in which 10 and 10.0 would differ.
            epochs=None if self.epochs is None else float(self.epochs),
            seconds=None if self.seconds is None else float(self.seconds),
            tol=float(self.tol),
            test_size=float(self.test_size),
            seed=self.seed + repeat,
            split_seed=self.seed,
            intercept=self.intercept,
            standardize=self.standardize,
            target=self.target,
            positive=self.positive,
            kind=kind,
            every=None if self.every is None else float(self.every),
            experiment=self.experiment,
            gap_tol=None if self.gap_tol is None else float(self.gap_tol),
            features=self.features,
            columns=self.columns,
            code=dict(self.codes).get(solver),
        )


def strength_text(text: str) -> str:
    """A strength in its one spelling: `0.01` for `1e-2`, `1/n` for `1.0 / n`."""
    number, slash, letter = text.replace(" ", "").partition("/")
    return repr(float(number)).removesuffix(".0") + slash + letter


def strength_of(text: str, rows: int) -> float:
    """The strength a text means on `rows` training rows: a number, or a multiple of 1/n such as `1/n` or `10/n`."""
    number, slash, letter = text.replace(" ", "").partition("/")
    try:
        strength = float(number)
    except ValueError:
        strength = math.nan
    if (slash and letter != "n") or not (math.isfinite(strength) and strength > 0):
        raise ValueError(f"a strength is a number above 0 or a multiple of 1/n such as 1/n, got {text!r}")
    return strength / rows if slash else strength


# What all runs of one command have in common.
SHARED = (
    "loss",
    "epochs",
    "seconds",
    "tol",
    "gap_tol",
    "test_size",
    "split_seed",
    "intercept",
    "standardize",
    "features",
    "target",
    "positive",
    *columns.NAMES,
)
