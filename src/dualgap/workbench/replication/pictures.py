"""Pictures of blood cells on their way to rows of numbers, each as the text of a PNG that a page shows by itself."""

from __future__ import annotations

import base64
import struct
import zipfile
import zlib
from typing import Any

import numpy as np

from dualgap.datasets.cells import KINDS
from dualgap.datasets.images import SIDE, Steps, decode, steps
from dualgap.workbench.replication.data import archive
from dualgap.workbench.replication.data import pictures as cells

COMPONENTS = 40


def png(picture: Any) -> str:
    """A grey or blue-green-red picture of bytes as the base64 text of a PNG."""
    array = np.asarray(picture, dtype=np.uint8)
    color = array.ndim == 3
    lines = array[:, :, ::-1].reshape(array.shape[0], -1) if color else array
    raw = np.hstack([np.zeros((array.shape[0], 1), np.uint8), lines]).tobytes()
    height, width = array.shape[:2]
    header = struct.pack(">IIBBBBB", width, height, 8, 2 if color else 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(raw, 9)), (b"IEND", b""))
    body = b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + body).decode("ascii")


def _first(kind: str) -> Steps:
    """The steps of the first picture of a kind in the training part."""
    with zipfile.ZipFile(archive()) as pack:
        name = min(name for name in pack.namelist() if f"TRAIN/{kind}/" in name and name.lower().endswith(".jpeg"))
        return steps(decode(pack.read(name)))


def examples() -> dict[str, str]:
    """R1's figure 1: a picture of each kind as it was taken."""
    return {kind.lower(): png(_first(kind).original) for kind in KINDS}


def cropping() -> dict[str, str]:
    """R1's figure 4: what each step makes of one picture."""
    made = _first(KINDS[1])
    shown = made._asdict()
    del shown["center"]
    for name in ("nucleus", "opened"):
        shown[name] = np.where(shown[name], 0, 255)
    return {f"{place}. {name}": png(picture) for place, (name, picture) in enumerate(shown.items(), start=1)}


def cropped() -> dict[str, str]:
    """R1's figure 5: the negative of each kind's crop."""
    return {kind.lower(): png(_first(kind).negative) for kind in KINDS}


def reduced() -> dict[str, str]:
    """R1's figure 7: the first picture of each kind, and what 40 components leave of it."""
    from sklearn.decomposition import PCA

    data = cells()
    reducer = PCA(COMPONENTS, svd_solver="randomized", random_state=0).fit(np.asarray(data.X, dtype=np.float32))
    shown = {}
    for kind, label in zip(KINDS, (-1, 1), strict=True):
        row = np.asarray(data.X[np.flatnonzero(data.y == label)[:1]], dtype=np.float32)
        back = reducer.inverse_transform(reducer.transform(row)).reshape(SIDE, SIDE)
        shown[kind.lower()] = png(row.reshape(SIDE, SIDE))
        shown[f"{kind.lower()}, {COMPONENTS} components"] = png(np.clip(back, 0, 255))
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
