"""Writing a model file: one zip of JSON and plain arrays, which appears whole or not at all.

Members are stored uncompressed, so that none is larger than the file it is in.
"""

from __future__ import annotations

import json
import math
import zipfile
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualgap.data.files import written_whole
from dualgap.models import feature_fields, preparation_fields
from dualgap.models.feature_fields import FLOATS
from dualgap.models.model import Model
from dualgap.models.reading import ARRAYS, FORMAT, RECORD

# The oldest date a zip can hold, so that the same model gives the same bytes.
NO_DATE = (1980, 1, 1, 0, 0, 0)


def save(model: Model, path: str | PathLike[str]) -> None:
    """Write a model to one file. It appears under its name only when all of it is on the disk."""
    arrays = {
        name: np.ascontiguousarray(getattr(model, name), FLOATS) for name in ARRAYS if getattr(model, name) is not None
    }
    arrays |= feature_fields.arrays_of(model.features) | preparation_fields.arrays_of(model.preparation)
    # Versions that know no preparation, no feature map or no L1 part read every other file, and refuse these as newer.
    is_plain = model.features is None and model.l1_ratio == 0.0
    version = FORMAT if model.preparation is not None else 1 if is_plain else 2
    record = {"format": version, **_plain(model), "arrays": {name: list(a.shape) for name, a in arrays.items()}}
    text = json.dumps(record, allow_nan=False, ensure_ascii=False, indent=1)
    with written_whole(Path(path)) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_member(RECORD), text.encode())
        for name, array in arrays.items():
            with archive.open(_member(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)


def _plain(model: Model) -> dict[str, Any]:
    """Everything but the arrays, as JSON knows it."""
    classes = model.classes
    return (
        {
            "kind": model.kind,
            "loss": model.loss,
            "strengths": [float(strength) for strength in model.strengths],
            "free_intercept": bool(model.free_intercept),
            "intercept": np.asarray(model.intercept, dtype=np.float64).tolist(),
            "classes": None if classes is None else {"type": _type_of(classes), "values": classes.tolist()},
            "feature_names": None if model.feature_names is None else list(model.feature_names),
            "solver": model.solver,
            "reason": model.reason,
            "tol": model.tol,
            **({} if model.l1_ratio == 0.0 else {"l1_ratio": float(model.l1_ratio)}),
            **({} if model.gap_tol is None else {"gap_tol": model.gap_tol}),
            "certificates": [
                {name: _number(value) for name, value in vars(certificate).items()} | {"status": status.name}
                for certificate, status in zip(model.certificates, model.statuses, strict=True)
            ],
            "data": None if model.data is None else vars(model.data),
            "class_factors": model.class_factors,
            "reading": model.reading,
            **({"metrics": {part: _numbers(found) for part, found in model.metrics.items()}} if model.metrics else {}),
            **({"history": [_columns(one) for one in model.history]} if model.history else {}),
            "estimator": model.estimator,
            "parameters": model.parameters,
            "versions": model.versions,
        }
        | feature_fields.plain(model.features)
        | preparation_fields.plain(model.preparation)
    )


def _numbers(values: dict[str, float]) -> dict[str, float | str]:
    return {name: _number(value) for name, value in values.items()}


def _columns(history: dict[str, tuple[float, ...]]) -> dict[str, list[float | str]]:
    return {name: [_number(value) for value in values] for name, values in history.items()}


def _number(value: float) -> float | str:
    """A number; JSON has no infinity, so a broken run's is written as its name."""
    return float(value) if math.isfinite(value) else str(float(value))


def _type_of(classes: NDArray[Any]) -> str:
    if classes.dtype.kind not in "biufU":
        raise ValueError(
            f"a model file holds classes that are numbers or text, got {classes.dtype}; encode the labels first"
        )
    return classes.dtype.str


def _member(name: str) -> zipfile.ZipInfo:
    return zipfile.ZipInfo(name, NO_DATE)
