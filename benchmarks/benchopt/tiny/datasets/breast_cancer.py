"""scikit-learn's breast cancer data, standardized."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from benchopt import BaseDataset


class Dataset(BaseDataset):
    """569 rows and 30 columns."""

    name = "breast cancer"

    def get_data(self) -> dict[str, Any]:
        """Rows, and labels −1 and +1."""
        X, y = load_breast_cancer(return_X_y=True)
        return {"X": scale(X), "y": np.where(y == 1, 1, -1)}
