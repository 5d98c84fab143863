"""Train and test parts of a data set, with columns standardized by what the training part shows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dualgap.datasets.dataset import Dataset


def split(
    dataset: Dataset, test_size: float = 0.2, seed: int = 0, standardize: bool | None = None, stratify: bool = False
) -> Dataset:
    """The same data set with a test part of the fraction `test_size`, unless it has an official one or the fraction is 0.

    `standardize` divides each column by its deviation in the training part, and first takes its mean away where the
    rows are dense (on sparse rows that would fill the zeros); None does as the data set asks. `stratify` keeps the
    fraction of each label equal in both parts.
    """
    if not 0 <= test_size < 1:
        raise ValueError(f"the test fraction must be at least 0 and below 1, got {test_size}")
    if dataset.X_test is None and test_size > 0:
        dataset = _held_out(dataset, test_size, seed, stratify)
    if dataset.standardize if standardize is None else standardize:
        dataset = _standardized(dataset)
    return dataset


def _held_out(dataset: Dataset, test_size: float, seed: int, stratify: bool) -> Dataset:
    from sklearn.model_selection import train_test_split

    rows = dataset.shape[0]
    classes = dataset.y if stratify else None
    if stratify:
        rarest = int(np.unique(dataset.y, return_counts=True)[1].min())
        tested = int(np.ceil(test_size * rows))
        if rarest < 2 or min(tested, rows - tested) < len(np.unique(dataset.y)):
            raise ValueError(
                f"{dataset.name} is too small to hold out {test_size:g} of its {rows} rows with every label in both "
                "parts; pass --test-size 0 or another fraction"
            )
    elif rows < 2:
        raise ValueError(f"{dataset.name} has {rows} row, too few to hold out a test part; pass --test-size 0")
    X, X_test, y, y_test = train_test_split(
        dataset.X, dataset.y, test_size=test_size, random_state=seed, stratify=classes
    )
    return replace(dataset, X=X, y=y, X_test=X_test, y_test=y_test)


def _standardized(dataset: Dataset) -> Dataset:
    from scipy.sparse import issparse
    from sklearn.preprocessing import StandardScaler

    # Small integers become float64; float32 stays float32.
    scaler = StandardScaler(with_mean=not issparse(dataset.X)).fit(dataset.X)

    def scaled(X: Any) -> Any:
        return None if X is None else scaler.transform(X)

    return replace(dataset, X=scaled(dataset.X), X_test=scaled(dataset.X_test), standardize=False)
