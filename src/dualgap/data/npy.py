"""Arrays of NumPy's own format, read with suspicion: nothing is unpickled, and a header is checked before it is obeyed."""

from __future__ import annotations

import math
import tokenize
from collections.abc import Mapping
from os import SEEK_END
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap.data.files import written_whole
from dualgap.memory import refuse_beyond_memory

_READERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
# What NumPy's reader of headers raises: it evaluates a literal of Python, and repairs those of Python 2 token by token.
_MALFORMED = (ValueError, TypeError, SyntaxError, tokenize.TokenError, RecursionError, MemoryError, KeyError, EOFError)


def write_arrays(path: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Arrays by name as one .npz file, whole or not at all; an older file of that name is replaced."""
    with written_whole(path) as file:
        members: dict[str, Any] = dict(arrays)
        np.savez(file, **members)


class Header(NamedTuple):
    """What an array says of itself."""

    shape: tuple[int, ...]
    fortran: bool
    kind: np.dtype[Any]

    @property
    def size(self) -> int:
        """Bytes of all values."""
        return math.prod(self.shape) * self.kind.itemsize


def read_header(stream: IO[bytes], name: str) -> Header:
    """The header at the start of a stream; a ValueError where it is malformed or announces Python objects."""
    try:
        version = np.lib.format.read_magic(stream)
        reader = _READERS.get(version)
        header = None if reader is None else Header(*reader(stream))
    except _MALFORMED:
        # NumPy's own words may repeat the whole header.
        raise ValueError(f"{name} has a malformed header") from None
    if header is None:
        raise ValueError(f"{name} is of an unknown version")
    if header.kind.hasobject:
        raise ValueError(f"{name} holds Python objects, which are never loaded")
    if any(type(length) is not int or length < 0 for length in header.shape):
        raise ValueError(f"{name} has a shape that is not made of whole numbers ≥ 0")
    return header


def read_array(stream: IO[bytes], stored: int, name: str) -> NDArray[Any]:
    """The array in a stream of `stored` bytes; its header must agree with that number before memory is taken for it."""
    header = read_header(stream, name)
    size = header.size
    rest = stored - stream.tell()
    if rest != size:
        raise ValueError(f"{name} should hold {size:,} bytes of values by its header, and holds {rest:,}")
    refuse_beyond_memory(size, name)
    content = bytearray(size)
    view, done = memoryview(content), 0
    while done < size:
        count = stream.readinto(view[done:])  # type: ignore[attr-defined]
        if not count:
            raise ValueError(f"{name} ends after {done:,} of {size:,} bytes")
        done += count
    values = np.frombuffer(content, header.kind) if size else np.empty(0, header.kind)
    return values.reshape(header.shape, order="F" if header.fortran else "C")


def mapped_array(path: Path) -> NDArray[Any]:
    """The array of a file as a memory map that is read only; its header must agree with the bytes of the file."""
    with path.open("rb") as file:
        header = read_header(file, path.name)
        start, end = file.tell(), file.seek(0, SEEK_END)
    if header.size != end - start:
        raise ValueError(
            f"{path.name} should hold {header.size:,} bytes of values by its header, and holds {end - start:,}"
        )
    if not header.size:
        return np.empty(header.shape, header.kind)
    return np.memmap(path, header.kind, "r", start, header.shape, "F" if header.fortran else "C")
