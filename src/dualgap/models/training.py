"""The rows that a model is fitted to: a data set read, its labels, its test part, and its columns made into numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dualgap.data.files import source
from dualgap.data.preparation import FILLS, Preparation, refuse_names_of_rows
from dualgap.data.sheet import Sheet
from dualgap.datasets import Dataset, against_rest, for_task, load, readers, split
from dualgap.datasets.catalog import source_of
from dualgap.datasets.dataset import MANY_LABELS
from dualgap.datasets.layout import TextOptions
from dualgap.datasets.sheets import Wanted, read_csv, read_parquet
from dualgap.datasets.text import decompressed
from dualgap.models.preparing import prepared

# What decides which rows and targets the model is fitted to; certify reads the data by the same.
READING = ("target", "positive", "test_size", "seed", "encoding", "decimal", "drop")


@dataclass(frozen=True)
class ColumnChoices:
    """What a fit makes of the columns before it solves."""

    onehot: bool = False
    category: tuple[str, ...] = ()
    impute: str | None = None
    standardize: bool = False

    def __post_init__(self) -> None:
        if self.impute is not None and self.impute not in FILLS:
            raise ValueError(f"--impute takes {' or '.join(FILLS)}, got {self.impute!r}; choose one")

    @property
    def needs_table(self) -> bool:
        """Whether cells are read that are no numbers."""
        return self.onehot or bool(self.category) or self.impute is not None


@dataclass(frozen=True)
class TrainingPart:
    """A data set whose rows are numbers, how they were made, and what could not be taken as it was."""

    dataset: Dataset
    preparation: Preparation | None = None
    notes: tuple[str, ...] = ()


def text_options(reading: Mapping[str, Any]) -> TextOptions:
    """What the options of READING say of a text file."""
    return TextOptions(reading.get("encoding"), reading.get("decimal"), tuple(reading.get("drop") or ()))


def training_part(
    text: str, reading: Mapping[str, Any], task: str, choices: ColumnChoices | None = None
) -> TrainingPart:
    """The data set that `text` names, its training part as X and y, and its test part if there is one.

    `reading` has the options of READING; a model records them, so that the same rows are found again. Columns are
    prepared as `choices` say, by what the training part shows.
    """
    choices = choices or ColumnChoices()
    parts = given_part(text, reading, task, choices)
    fitted = _fitted(parts, choices)
    if fitted is None:
        return TrainingPart(parts)
    made = prepared(fitted, parts.X)
    test = None if parts.X_test is None else prepared(fitted, parts.X_test)
    done = replace(parts, X=made.X, X_test=None if test is None else test.X, feature_names=fitted.prepared_names)
    return TrainingPart(done, fitted, () if test is None else tuple(f"test part: {note}" for note in test.notes))


def given_part(
    text: str,
    reading: Mapping[str, Any],
    task: str,
    choices: ColumnChoices | None = None,
    fitted: Preparation | None = None,
) -> Dataset:
    """The same parts, their columns as they are given: X is a sheet where they are not all numbers.

    Which columns are text follows from `choices`, or from what was `fitted` before.
    """
    choices = choices or ColumnChoices()
    is_mixed = choices.needs_table or (fitted is not None and fitted.needs_table)
    dataset = _mixed(text, reading, choices, fitted) if is_mixed else _numbers(text, reading)
    if reading.get("positive"):
        dataset = against_rest(dataset, reading["positive"])
    if task == "regression" or _is_no_label(dataset.y):
        dataset = for_task(dataset, task)
    return _split(dataset, reading.get("test_size") or 0.0, reading.get("seed") or 0, task == "classification")


def lines_digest(text: str) -> str | None:
    """A digest of the lines of a text file that does not depend on their order; None where `text` names no such file."""
    path = Path(text)
    if (
        source_of(text) is not None
        or path.is_dir()
        or readers.kind_of(path) not in (*readers.TABLES, *readers.SVMLIGHT)
    ):
        return None
    total = 0
    with decompressed(path) as file:
        for line in file:
            total += int.from_bytes(hashlib.sha256(line.rstrip(b"\r\n")).digest())
    return f"{total % (1 << 256):064x}"


def _numbers(text: str, reading: Mapping[str, Any]) -> Dataset:
    return load(text, reading.get("target"), options=text_options(reading))


def _mixed(text: str, reading: Mapping[str, Any], choices: ColumnChoices, fitted: Preparation | None) -> Dataset:
    """A table whose X is a sheet."""
    path, options = Path(text), text_options(reading)
    wanted = Wanted(choices.onehot, choices.category, choices.impute is not None)
    if fitted is not None:
        wanted = Wanted(True, tuple(fitted.names[place] for place in fitted.categories), True)
    if source_of(text) is None and "\0" not in text and not path.is_dir():
        source(path)
        with readers.refusing_damage(path, options.encoding):
            kind = readers.kind_of(path)
            if kind in readers.TABLES:
                sheet, y, name = read_csv(path, reading.get("target"), options, wanted)
            elif kind == ".parquet":
                sheet, y, name = read_parquet(path, reading.get("target"), options.drop, wanted)
            else:
                raise ValueError(_not_a_table(text))
        names = sheet.names if sheet.has_names else None
        return Dataset(path.name, sheet, y, feature_names=names, source=text, target=name)
    raise ValueError(_not_a_table(text))


def _not_a_table(text: str) -> str:
    return (
        f"--onehot, --category and --impute need a table with columns of text or missing cells, a csv or parquet file, and "
        f"{text!r} is none; leave them out"
    )


def _split(dataset: Dataset, test_size: float, seed: int, stratify: bool) -> Dataset:
    """Training and test part; the rows of a sheet are chosen by their numbers."""
    if not isinstance(dataset.X, Sheet):
        # Columns are standardized below, with what the model keeps.
        return split(dataset, test_size, seed, standardize=False, stratify=stratify)
    sheet = dataset.X
    numbers = replace(dataset, X=np.arange(sheet.count)[:, None])
    parts = split(numbers, test_size, seed, standardize=False, stratify=stratify)
    test = None if parts.X_test is None else sheet.taken(parts.X_test[:, 0])
    return replace(parts, X=sheet.taken(parts.X[:, 0]), X_test=test)


def _fitted(parts: Dataset, choices: ColumnChoices) -> Preparation | None:
    if isinstance(parts.X, Sheet):
        refuse_names_of_rows(parts.X, choices.category)
        return Preparation.fit_sheet(parts.X, choices.impute, choices.standardize)
    return Preparation.fit_matrix(parts.X, parts.feature_names) if choices.standardize else None


def _is_no_label(y: np.ndarray[Any, Any]) -> bool:
    """Whether a target is a measurement, or all the same: `for_task` says so in its own words."""
    values = np.unique(y)
    measured = y.dtype.kind == "f" and not np.array_equal(values, np.round(values))
    return len(values) < 2 or len(values) > MANY_LABELS or (measured and len(values) > 2)
