"""Data sets that come with scikit-learn and need no download."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dualgap.datasets.dataset import Dataset


@dataclass(frozen=True)
class BreastCancer:
    """Wisconsin diagnostic breast cancer: 30 measurements of cell nuclei, +1 = benign, in raw units."""

    name: ClassVar[str] = "breast_cancer"
    summary: ClassVar[str] = "benign against malignant tumours, from 30 measurements of cell nuclei"
    source: ClassVar[str] = "scikit-learn, UCI Wisconsin"
    loss: ClassVar[str] = "hinge"
    shape: ClassVar[tuple[int, int]] = (569, 30)

    def load(self) -> Dataset:
        """Read scikit-learn's copy."""
        from sklearn.datasets import load_breast_cancer

        bunch = load_breast_cancer()
        y = np.where(bunch.target == 1, 1, -1).astype(np.int8)
        names = tuple(str(name) for name in bunch.feature_names)
        return Dataset(
            self.name,
            bunch.data,
            y,
            feature_names=names,
            description=self.summary,
            source=self.source,
            standardize=True,
        )


@dataclass(frozen=True)
class Digits:
    """8 × 8 images of handwritten digits, even (+1) against odd (−1)."""

    name: ClassVar[str] = "digits"
    summary: ClassVar[str] = "8 × 8 images of handwritten digits, even against odd"
    source: ClassVar[str] = "scikit-learn, UCI digits"
    loss: ClassVar[str] = "hinge"
    shape: ClassVar[tuple[int, int]] = (1797, 64)

    def load(self) -> Dataset:
        """Read scikit-learn's copy."""
        from sklearn.datasets import load_digits

        bunch = load_digits()
        y = np.where(bunch.target % 2 == 0, 1, -1).astype(np.int8)
        names = tuple(str(name) for name in bunch.feature_names)
        return Dataset(
            self.name,
            bunch.data,
            y,
            feature_names=names,
            description=self.summary,
            source=self.source,
            standardize=True,
        )
