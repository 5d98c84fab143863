"""What a data set is: rows, targets, perhaps an official test part; and how its labels become −1 and +1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

# Messages cut a longer list of labels; a target with more values than the second is taken for a measurement.
SHOWN_LABELS = 12
MANY_LABELS = 50


@dataclass(frozen=True)
class Dataset:
    """Rows and targets as they are stored (small integers stay small), with what is known about them."""

    name: str
    X: Any  # an array or a scipy CSR matrix, n × d
    y: np.ndarray[Any, Any]
    X_test: Any = None  # the official test part, where there is one
    y_test: np.ndarray[Any, Any] | None = None
    beta: np.ndarray[Any, Any] | None = None  # the true weights of generated data
    feature_names: tuple[str, ...] | None = None
    description: str = ""
    source: str = ""
    standardize: bool = False  # whether its columns are in units that should not decide the fit
    positive: tuple[str, ...] = ()  # of more than two labels, those a task of two classes sets against the rest
    target: str | None = None  # the name of the target's column, or its position, where the data is a table

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the training part."""
        rows, columns = self.X.shape
        return int(rows), int(columns)

    @property
    def labels(self) -> list[str]:
        """The different values of the target, in ascending order, as a person would type them."""
        return [label_text(value) for value in np.unique(self.y)]


def label_text(value: Any) -> str:
    """A label as a person would type it: 1 for 1.0, the text itself for text."""
    if isinstance(value, (int, float, np.number)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def against_rest(dataset: Dataset, positive: Sequence[str]) -> Dataset:
    """The same rows, with the labels in `positive` as +1 and all others as −1."""
    labels = dataset.labels
    positives = {_as_typed(text) for text in positive}
    for text in sorted(positives):
        if text not in labels:
            raise ValueError(f"{dataset.name} has no label {text!r}; its labels are {_listed(labels)}")
    if len(positives) == len(labels):
        raise ValueError(f"every label of {dataset.name} is named as positive; leave at least one for the other side")

    y_test = None if dataset.y_test is None else signs_of(dataset.y_test, positive)
    return replace(dataset, y=signs_of(dataset.y, positive), y_test=y_test, positive=())


def signs_of(y: np.ndarray[Any, Any], positive: Sequence[str]) -> np.ndarray[Any, Any]:
    """+1 for the labels in `positive`, −1 for all others."""
    positives = {_as_typed(text) for text in positive}
    values, position = np.unique(y, return_inverse=True)
    sides = np.array([1 if label_text(value) in positives else -1 for value in values], dtype=np.int8)
    return sides[position]


def for_task(dataset: Dataset, task: str) -> Dataset:
    """The same rows with targets fit for `task`: −1/+1 for classification, numbers for regression."""
    if task == "regression":
        if dataset.y.dtype.kind not in "biuf":
            raise ValueError(
                f"the target of {dataset.name} is text ({_listed(dataset.labels)}) and a regression needs numbers; "
                "pass a classification loss such as hinge"
            )
        return dataset
    values = np.unique(dataset.y)
    if len(values) == 2:
        return against_rest(dataset, [label_text(values[1])]) if _known_in_test(dataset) else dataset
    if len(values) < 2:
        only = dataset.labels[0] if len(values) else "none"
        raise ValueError(f"{dataset.name} has one label only ({only}); a classification needs two")
    if dataset.positive:
        return against_rest(dataset, dataset.positive)
    measured = dataset.y.dtype.kind == "f" and not np.array_equal(values, np.round(values))
    if measured or len(values) > MANY_LABELS:
        raise ValueError(
            f"the target of {dataset.name} has {len(values)} different values, which looks like a regression; "
            "pass --loss squared, huber or another regression loss"
        )
    advice = f"pass --positive LABEL for some against the rest (--positive {dataset.labels[-1]})"
    if dataset.y.dtype.kind == "f":
        advice += ", or --loss squared if it is a regression"
    raise ValueError(f"{dataset.name} has {len(values)} labels ({_listed(dataset.labels)}); {advice}")


def _known_in_test(dataset: Dataset) -> bool:
    if dataset.y_test is not None:
        strange = sorted({label_text(value) for value in np.unique(dataset.y_test)} - set(dataset.labels))
        if strange:
            raise ValueError(f"the test part of {dataset.name} has labels the training part lacks: {_listed(strange)}")
    return True


def _as_typed(text: str) -> str:
    try:
        return label_text(float(text))
    except ValueError:
        return text


def _listed(labels: Sequence[str]) -> str:
    shown = ", ".join(labels[:SHOWN_LABELS])
    return shown if len(labels) <= SHOWN_LABELS else f"{shown}, … {labels[-1]}"
