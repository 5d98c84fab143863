"""Reading a model file: members of known names, each field of the type it should be; anything else is refused in one sentence.

Nothing is unpickled and nothing is unpacked to disk. The fields are taken out of JSON by `fields.py`.
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

from dualgap.data.files import source
from dualgap.data.npy import read_header
from dualgap.models.feature_fields import FLOATS, features_of
from dualgap.models.fields import Part, fields_of
from dualgap.models.model import Model
from dualgap.models.preparation_fields import preparation_of

FORMAT = 3  # 1 is without a feature map, and 2 without a preparation of columns
RECORD = "model.json"
ARRAYS = ("weights", "duals")


def load(path: str | PathLike[str]) -> Model:
    """The model in a file; a damaged, foreign or newer file is refused in one sentence.

    Parameters
    ----------
    path : str or path
        A file that `Model.save` or `dualgap fit --out` wrote. Nothing in it is executed.

    Returns
    -------
    Model
        Weights, duals, problem and certificate. `predict` uses it, `verify` judges it again.

    Examples
    --------
    >>> import tempfile, dualgap as dg
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> problem = dg.Problem(X / X.max(axis=0), 2 * y - 1, "hinge", 0.01)
    >>> model = dg.Model.of(dg.solve(problem, tol=1e-6), problem, tol=1e-6)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/cancer.dg")
    ...     again = dg.load(f"{folder}/cancer.dg")
    >>> again.certificate.relative_gap <= 1e-6
    True
    """
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
        root = Part(record, "it")
        shapes = root.part("arrays")

        def read(name: str, kind: np.dtype[Any] = FLOATS) -> NDArray[Any]:
            return _array(_bytes(archive, f"{name}.npy", size), name, shapes.numbers(name), kind)

        arrays = {name: read(name) for name in ARRAYS if name in shapes.values}
        features, preparation = features_of(root, read), preparation_of(root, read)
    if "weights" not in arrays:
        raise ValueError("it has no weights")
    return Model(**(fields_of(record) | arrays), features=features, preparation=preparation)


class NewerFormat(Exception):
    """The file is of a later format than this version reads."""


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


def _array(data: bytes, name: str, shape: tuple[int, ...], expected: np.dtype[Any]) -> NDArray[Any]:
    """A plain array of the shape the record says; its header must agree before anything is made of its bytes."""
    stream = io.BytesIO(data)
    told, fortran, kind = read_header(stream, f"{name}.npy")
    if kind != expected or fortran or tuple(told) != shape:
        raise ValueError(
            f"{name}.npy should hold {expected.name} numbers of shape {shape}, and says {kind} of shape {told}"
        )
    start = stream.tell()
    if len(data) - start != expected.itemsize * math.prod(shape):
        raise ValueError(f"{name}.npy should hold {math.prod(shape):,} numbers, and holds {len(data) - start:,} bytes")
    return np.frombuffer(data, expected, offset=start).reshape(shape).astype(expected.newbyteorder("="))
