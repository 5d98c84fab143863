"""Pictures of blood cells on their way to rows of numbers, each as the text of a PNG that a page shows by itself."""

from __future__ import annotations

import zipfile

import numpy as np

from dualgap.datasets.blood_cells import KINDS, SIDE, Steps, steps
from dualgap.datasets.images import decode
from dualgap.replication.cropping import PANELS, as_png
from dualgap.replication.data import archive
from dualgap.replication.data import pictures as cells

COMPONENTS = 40
EACH = 3


def _firsts(kind: str, count: int) -> list[Steps]:
    """The steps of the first pictures of a kind in the training part."""
    with zipfile.ZipFile(archive()) as pack:
        names = sorted(name for name in pack.namelist() if f"TRAIN/{kind}/" in name and not name.endswith("/"))
        return [steps(decode(pack.read(name))) for name in names[:count]]


def _sheet(step: str) -> dict[str, str]:
    """One step of a few pictures of each kind."""
    return {
        f"{kind.lower()} {place}": as_png(getattr(made, step))
        for kind in KINDS
        for place, made in enumerate(_firsts(kind, EACH), start=1)
    }


def examples() -> dict[str, str]:
    """R1's figure 1: pictures of each kind as they were taken."""
    return _sheet("original")


def cropping() -> dict[str, str]:
    """R1's figure 4: what each step makes of one picture."""
    made = _firsts(KINDS[1], 1)[0]
    return {words: as_png(getattr(made, step)) for step, words in PANELS.items()}


def cropped() -> dict[str, str]:
    """R1's figure 5: the negatives of a few crops of each kind."""
    return _sheet("negative")


def reduced() -> dict[str, str]:
    """R1's figure 7: the first picture of each kind, and what 40 components leave of it."""
    from sklearn.decomposition import PCA

    data = cells()
    reducer = PCA(COMPONENTS, svd_solver="randomized", random_state=0).fit(np.asarray(data.X, dtype=np.float32))
    shown = {}
    for kind, label in zip(KINDS, (-1, 1), strict=True):
        row = np.asarray(data.X[np.flatnonzero(data.y == label)[:1]], dtype=np.float32)
        back = reducer.inverse_transform(reducer.transform(row)).reshape(SIDE, SIDE)
        shown[kind.lower()] = as_png(row.reshape(SIDE, SIDE))
        shown[f"{kind.lower()}, {COMPONENTS} components"] = as_png(back)
    return shown


def singular_values(count: int) -> list[float]:
    """R1's figure 8: the largest singular values of the training part, not centered, from those of its Gram matrix."""
    from scipy.linalg import eigh

    X = np.asarray(cells().X, dtype=np.float32) / np.float32(255.0)
    gram = (X @ X.T).astype(np.float64)
    size = gram.shape[0]
    squares = eigh(gram, eigvals_only=True, subset_by_index=(size - count, size - 1), overwrite_a=True)
    values: list[float] = np.sqrt(np.maximum(squares[::-1], 0.0)).tolist()
    return values
