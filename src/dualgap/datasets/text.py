"""Text files as streams: decompressed where the name says so, and refused where they hold more than memory has room for."""

from __future__ import annotations

import bz2
import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from dualgap.data.files import source
from dualgap.memory import available_bytes

COMPRESSED = (".gz", ".bz2")
# What ends or joins the numbers of svmlight text and of csv.
SEPARATORS = (b":", b",", b";", b"\t", b"\n")
# A number of text becomes a value of 8 bytes, and an index or a copy beside it.
BYTES_A_NUMBER = 16
# A line of ten million numbers is shorter; a longer one is no table, and would be held in memory as it is.
LONGEST_LINE = 1 << 28
AT_A_TIME = 1 << 20


def opened(path: Path) -> IO[str]:
    """The text of a file, decompressed where its name says so."""
    # A byte-order mark is dropped; a stray byte in a header must not stop the reading of numbers.
    return io.TextIOWrapper(decompressed(path), encoding="utf-8-sig", errors="replace", newline="")


def decompressed(path: Path) -> io.BufferedReader:
    """The bytes of a file, decompressed where its name says so."""
    openers: dict[str, Callable[..., Any]] = {".gz": gzip.GzipFile, ".bz2": bz2.BZ2File}
    inner = openers.get(path.suffix.lower(), open)(source(path), "rb")
    return io.BufferedReader(_Bounded(inner, repr(str(path))), AT_A_TIME)


class TooMuchText(MemoryError):
    """A text holds more than memory has room for; its own class, because readers read a file with a fault again."""


class _Bounded(io.RawIOBase):
    """A stream that counts the numbers it hands out: a small compressed file can unpack to any amount of text."""

    def __init__(self, inner: Any, name: str) -> None:
        self.inner, self.name = inner, name
        self.room = available_bytes() // BYTES_A_NUMBER
        self.numbers = self.line = 0

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: Any) -> int:
        """The next bytes, or TooMuchText."""
        data = self.inner.read(len(buffer))
        buffer[: len(data)] = data
        self.numbers += sum(map(data.count, SEPARATORS))
        last = data.rfind(b"\n")
        self.line = self.line + len(data) if last < 0 else len(data) - last - 1
        if self.numbers > self.room:
            raise TooMuchText(
                f"{self.name} holds more than the {self.room:,} numbers that memory has room for; take a part of its rows or columns"
            )
        if self.line > LONGEST_LINE:
            raise TooMuchText(f"{self.name} has a line of more than {LONGEST_LINE:,} bytes, which is no row of a table")
        return len(data)

    def close(self) -> None:
        """Close the file too."""
        self.inner.close()
        super().close()
