"""Model files: a record as one zip of JSON and plain arrays, written whole or not at all, and read with suspicion.

Members are stored uncompressed, so that none can be larger than the file it is in, and only members of known names are
read. Nothing is unpickled and nothing is unpacked to disk.
"""

from __future__ import annotations

import io
import json
import math
import os
import struct
import zipfile
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from dualgap.files import source, written_whole
from dualgap.models.parsing import Part, fields_of
from dualgap.models.record import Model
from dualgap.npy import read_header

FORMAT = 1
RECORD = "model.json"
ARRAYS = ("weights", "duals")
# The oldest date a zip can hold, so that the same model gives the same bytes.
NO_DATE = (1980, 1, 1, 0, 0, 0)


def save(model: Model, path: str | PathLike[str]) -> None:
    """Write a model to one file. It appears under its name only when all of it is on the disk."""
    arrays = {name: getattr(model, name) for name in ARRAYS if getattr(model, name) is not None}
    record = {"format": FORMAT, **_plain(model), "arrays": {name: list(a.shape) for name, a in arrays.items()}}
    text = json.dumps(record, allow_nan=False, ensure_ascii=False, indent=1)
    with written_whole(Path(path)) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_member(RECORD), text.encode())
        for name, array in arrays.items():
            with archive.open(_member(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.ascontiguousarray(array, dtype="<f8"), allow_pickle=False)


def load(path: str | PathLike[str]) -> Model:
    """The model in a file; a damaged, foreign or newer file is refused in one sentence."""
    file = source(Path(path))
    # What the system refuses here is its own affair; an error after this is the content's.
    with file.open("rb") as raw:
        try:
            return _read(raw)
        except zipfile.BadZipFile as error:
            reason = f"is not a model file, or it is damaged ({error}); save the model again"
        except NewerFormat as error:
            reason = f"was {error}"
        except (ValueError, EOFError, NotImplementedError, RuntimeError, OSError, struct.error) as error:
            # zipfile refuses encrypted members and unknown ways of packing with the third and fourth, and stumbles over
            # places that do not exist with the last two.
            reason = f"is not a model file that can be trusted: {error}"
    raise ValueError(f"{str(file)!r} {reason}")


def _read(raw: IO[bytes]) -> Model:
    with zipfile.ZipFile(raw) as archive:
        size = os.fstat(raw.fileno()).st_size
        record = _record(_bytes(archive, RECORD, size))
        shapes = Part(record, "it").part("arrays")
        arrays = {
            name: _array(_bytes(archive, f"{name}.npy", size), name, shapes.numbers(name))
            for name in ARRAYS
            if name in shapes.values
        }
    if "weights" not in arrays:
        raise ValueError("it has no weights")
    return Model(**(fields_of(record) | arrays))


class NewerFormat(Exception):
    """The file is of a later format than this version reads."""


def _plain(model: Model) -> dict[str, Any]:
    """Everything but the arrays, as JSON knows it."""
    classes = model.classes
    return {
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
        "certificates": [
            {name: _number(value) for name, value in vars(certificate).items()} | {"status": status.name}
            for certificate, status in zip(model.certificates, model.statuses, strict=True)
        ],
        "data": None if model.data is None else vars(model.data),
        "class_factors": model.class_factors,
        "reading": model.reading,
        "estimator": model.estimator,
        "parameters": model.parameters,
        "versions": model.versions,
    }


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


def _bytes(archive: zipfile.ZipFile, name: str, size: int) -> bytes:
    """A member's bytes, no more of them than the file has."""
    found = [info for info in archive.infolist() if info.filename == name]
    if len(found) != 1:
        raise ValueError(f"it holds {name} {'twice' if found else 'not at all'}")
    if found[0].compress_type != zipfile.ZIP_STORED or found[0].file_size != found[0].compress_size:
        raise ValueError(f"{name} is compressed, and a model file stores its parts as they are")
    if found[0].file_size > size:
        raise ValueError(f"{name} claims {found[0].file_size:,} bytes in a file of {size:,}")
    return archive.read(found[0])


def _record(data: bytes) -> dict[str, Any]:
    def refuse(name: str) -> Any:
        raise ValueError(f"{name} is no number of JSON")

    try:
        record = json.loads(data.decode(), parse_constant=refuse)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{RECORD} is not JSON ({error})") from None
    if not isinstance(record, dict):
        raise ValueError(f"{RECORD} should hold one object, and holds a {type(record).__name__}")
    version = record.get("format")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise ValueError(f"{RECORD} names no format version, got {version!r}")
    if version > FORMAT:
        raise NewerFormat(f"made by a newer dualgap (format {version}, this one reads {FORMAT}); upgrade dualgap")
    return record


def _array(data: bytes, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """A plain array of the shape the record says; its header must agree before anything is made of its bytes."""
    stream = io.BytesIO(data)
    told, fortran, kind = read_header(stream, f"{name}.npy")
    if kind != np.dtype("<f8") or fortran or tuple(told) != shape:
        raise ValueError(f"{name}.npy should hold float64 numbers of shape {shape}, and says {kind} of shape {told}")
    start = stream.tell()
    if len(data) - start != 8 * math.prod(shape):
        raise ValueError(f"{name}.npy should hold {math.prod(shape):,} numbers, and holds {len(data) - start:,} bytes")
    return np.frombuffer(data, "<f8", offset=start).reshape(shape).astype(np.float64)
