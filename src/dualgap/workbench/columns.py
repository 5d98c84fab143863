"""What a race is told of the columns of its tables, in the words of `fit`, and how its data becomes numbers by that."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from dualgap.datasets import Dataset, for_task, load, split
from dualgap.datasets.text import checked_encoding
from dualgap.models.training import ColumnChoices, text_options, training_part

if TYPE_CHECKING:
    from dualgap.workbench.plan import Run


@dataclass(frozen=True)
class Columns:
    """The options of columns; as they are by default, a table is numbers."""

    onehot: bool = False
    category: tuple[str, ...] = ()
    impute: str | None = None
    drop: tuple[str, ...] = ()
    encoding: str | None = None
    decimal: str | None = None

    def __post_init__(self) -> None:
        self.choices(standardize=False)
        checked_encoding(self.encoding)
        text_options(asdict(self))

    def choices(self, standardize: bool) -> ColumnChoices:
        """What is made of the columns."""
        return ColumnChoices(self.onehot, self.category, self.impute, standardize)

    @property
    def given(self) -> dict[str, Any]:
        """Those that were chosen, as plain values."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
            if value not in (None, False, ())
        }


ALL_NUMBERS = Columns()
NAMES = tuple(field.name for field in fields(Columns))


def read_parts(run: Run, task: str) -> Dataset:
    """The data of a run, its labels fit for the task, split, its columns made numbers and standardized."""
    reading = asdict(run.columns) | {"target": run.target, "positive": run.positive}
    choices = run.columns.choices(standardize=run.standardize is not False)
    if choices.needs_table:
        reading |= {"test_size": run.test_size, "seed": run.split_seed}
        return for_task(training_part(run.data, reading, task, choices).dataset, task)
    dataset = for_task(load(run.data, run.target, run.positive, options=text_options(reading)), task)
    return split(dataset, run.test_size, run.split_seed, run.standardize, stratify=task == "classification")
