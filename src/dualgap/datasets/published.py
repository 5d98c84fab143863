"""Published data sets: rows of published.toml as entries of the table of data sets, found, prepared and checked."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dualgap.datasets import locations
from dualgap.datasets.dataset import Dataset
from dualgap.datasets.readers import refusing_damage

TABLE = Path(__file__).with_name("published.toml")
MEAN_AGREES = 1e-6  # of a measured target, relative: the number of digits in the table


@dataclass(frozen=True)
class Published:
    """A line of published.toml, which says what its entries mean."""

    name: str
    files: tuple[str, ...]
    shape: tuple[int, int]
    summary: str
    source: str
    counts: tuple[int, ...] = ()
    mean: float | None = None
    test_rows: int = 0
    positive: tuple[str, ...] = ()
    prepare: str = "as_stored"
    standardize: bool = False
    download: str = ""

    def prepared(self, paths: Sequence[Path]) -> Dataset:
        """The data set in these files, refused where it is not the one the table means."""
        from dualgap.datasets import preparing

        try:
            with refusing_damage(paths[0]):
                dataset: Dataset = getattr(preparing, self.prepare)(paths)
        except (LookupError, ValueError) as error:
            if any(path.name in str(error) for path in paths):
                raise  # a reader's own sentence
            reason = f"it lacks {error}" if isinstance(error, LookupError) else str(error).splitlines()[0]
            raise ValueError(f"{str(paths[0])!r} is not {self.name}: {reason}; take the published file") from None
        self._check(dataset, paths[0])
        return replace(
            dataset,
            name=self.name,
            positive=self.positive,
            description=self.summary,
            source=self.source,
            standardize=self.standardize,
        )

    def _check(self, dataset: Dataset, path: Path) -> None:
        """Refuse other sizes, other counts of labels, another mean of a measured target."""
        tested = 0 if dataset.y_test is None else len(dataset.y_test)
        counts = tuple(np.unique(dataset.y, return_counts=True)[1].tolist()) if self.counts else ()
        mean = None if self.mean is None else float(np.mean(dataset.y))
        agrees = self.mean is None or (mean is not None and abs(mean - self.mean) <= MEAN_AGREES * abs(self.mean))
        for what, is_so, needed, given in (
            ("rows × columns", dataset.shape == self.shape, _sized(self.shape), _sized(dataset.shape)),
            ("test rows", tested == self.test_rows, f"{self.test_rows:,}", f"{tested:,}"),
            ("rows of each label", counts == self.counts, _listed(self.counts), _listed(counts)),
            ("as mean of the target", agrees, f"{self.mean}", f"{mean}"),
        ):
            if not is_so:
                raise ValueError(
                    f"{str(path)!r} is not {self.name}: it has {given} {what} where {needed} are known; "
                    "take the published file, or give yours another name and its path"
                )


class Stored:
    """An entry of the table whose rows are in files."""

    name: ClassVar[str]
    summary: ClassVar[str]
    source: ClassVar[str]
    loss: ClassVar[str]
    row: ClassVar[Any]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        size: tuple[int, int] = self.row.shape
        return size

    def paths(self) -> list[Path]:
        """The first copy of the files there is; where there is none, a refusal that says what to put where."""
        row: Published = self.row
        found = locations.find(row.files)
        if found is None:
            raise FileNotFoundError(
                f"{row.name} is not here; {locations.what_to_do(row.name, row.files, bool(row.download))}"
            )
        return found[1]

    def load(self) -> Dataset:
        """Read and check it."""
        dataset: Dataset = self.row.prepared(self.paths())
        return dataset


def _sized(shape: tuple[int, int]) -> str:
    return f"{shape[0]:,} × {shape[1]:,}"


def _listed(counts: Sequence[int]) -> str:
    return " + ".join(f"{count:,}" for count in counts) or "no"


def _rows() -> dict[str, Published]:
    rows = {}
    for name, line in tomllib.loads(TABLE.read_text(encoding="utf-8")).items():
        facts: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in line.items()}
        rows[name] = Published(name, **facts)
    return rows


def _entry(row: Published) -> type[Stored]:
    """The class that stands for a row among the data sets; it has no options."""
    loss = "hinge" if row.counts else "squared"
    facts = {"name": row.name, "summary": row.summary, "source": row.source, "loss": loss, "row": row}
    return type(row.name, (Stored,), {"__doc__": row.summary, "__module__": __name__} | facts)


PUBLISHED: dict[str, Published] = _rows()


@dataclass(frozen=True)
class Genomic(Stored):
    """A stand-in for the genomic data of report R0, 184 × 4,654, whose training matrix is not public."""

    name: ClassVar[str] = "genomic"
    summary: ClassVar[str] = "a stand-in for report R0's genomic data, which is not public"
    source: ClassVar[str] = "as prostate, golub or tox171"
    loss: ClassVar[str] = "hinge"
    STAND_INS: ClassVar[tuple[str, ...]] = ("prostate", "golub", "tox171", "breast_relapse")

    stand_in: str = "prostate"

    def __post_init__(self) -> None:
        if self.stand_in not in self.STAND_INS:
            raise ValueError(f"genomic needs stand_in to be {' or '.join(self.STAND_INS)}, got {self.stand_in!r}")

    @property
    def row(self) -> Published:
        """The line of the table that stands in."""
        return PUBLISHED[self.stand_in]

    def load(self) -> Dataset:
        """The stand-in's rows, under this name and with a description that says whose they are."""
        dataset = super().load()
        about = f"stand-in for the genomic data of report R0: {self.stand_in}, {dataset.description}"
        return replace(dataset, name=self.name, description=about)


@dataclass(frozen=True)
class BloodCells(Stored):
    """Pictures of blood cells; `plain` crops keep the black frame and lie inside the picture."""

    row: ClassVar[Published] = PUBLISHED["blood_cells"]
    name: ClassVar[str] = row.name
    summary: ClassVar[str] = row.summary
    source: ClassVar[str] = row.source
    loss: ClassVar[str] = "hinge"

    plain: bool = False

    def load(self) -> Dataset:
        """Crop the pictures, each around its nucleus."""
        if not isinstance(self.plain, bool):
            raise ValueError(f"blood_cells needs plain to be true or false, got {self.plain!r}")
        row = replace(self.row, prepare="plain_blood_cells") if self.plain else self.row
        return row.prepared(self.paths())


# A set that has options is a class of its own.
_OWN: dict[str, type[Stored]] = {BloodCells.name: BloodCells}
STORED: tuple[type[Stored], ...] = (*(_OWN.get(name) or _entry(row) for name, row in PUBLISHED.items()), Genomic)
