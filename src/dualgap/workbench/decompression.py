"""The bytes of a results file, unpacked where it is a .gz, and no more of them than memory has room for."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import NamedTuple

from dualgap.data.files import source
from dualgap.memory import available_bytes, refuse_beyond_memory

# A number of JSON, some four bytes with its comma, becomes a float of 24 bytes and a place in a list.
BYTES_AS_OBJECTS = 10
AT_A_TIME = 1 << 20


class Content(NamedTuple):
    """The text as far as it could be unpacked, and where it ends early whether it was cut or damaged."""

    text: bytes
    cut: bool = False
    damage: str = ""


def content_of(path: Path) -> Content:
    """The text of a results file; of an archive cut short or damaged, what stands before that."""
    refuse_beyond_memory(BYTES_AS_OBJECTS * source(path).stat().st_size, repr(str(path)), "read fewer runs at a time")
    packed = path.read_bytes()
    return _unpacked(packed, str(path)) if path.suffix == ".gz" else Content(packed)


def _unpacked(packed: bytes, name: str) -> Content:
    room = available_bytes() // BYTES_AS_OBJECTS
    text = bytearray()
    cut = False
    while packed:
        member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        while packed and not member.eof:
            try:
                text += member.decompress(packed, AT_A_TIME)
            except zlib.error as error:
                return Content(bytes(text), damage=str(error))
            packed = member.unconsumed_tail
            if len(text) > room:
                raise ValueError(
                    f"{name!r} unpacks to more than the {room:,} bytes that memory has room for; read fewer runs at a time"
                )
        cut = not member.eof
        packed = member.unused_data
    return Content(bytes(text), cut)
