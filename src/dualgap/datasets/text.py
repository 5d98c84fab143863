"""Text files as streams: decompressed where the name says so, and refused where they hold more than memory has room for."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from dualgap.data.files import source
from dualgap.memory import available_bytes

UTF_8 = "utf-8-sig"  # a byte-order mark is dropped
# Byte-order marks, the longer ones first; of UTF-16 they say the order of bytes.
MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
COMPRESSED = (".gz", ".bz2")
# What ends or joins the numbers of svmlight text and of csv.
SEPARATORS = (b":", b",", b";", b"\t", b"\n")
# A number of text becomes a value of 8 bytes, and an index or a copy beside it.
BYTES_A_NUMBER = 16
# A line of ten million numbers is shorter; a longer one is no table, and would be held in memory as it is.
LONGEST_LINE = 1 << 28
AT_A_TIME = 1 << 20


def opened(path: Path, encoding: str | None = None) -> IO[str]:
    """The text of a file, decompressed where its name says so; without an encoding UTF-8, or as its byte-order mark says.

    A byte that is no text is never replaced: two labels that differ in such bytes alone would become one.
    """
    return io.TextIOWrapper(decompressed(path), encoding=encoding or _marked(path), newline="")


def checked_encoding(name: str | None) -> str | None:
    """The name itself, if Python can read text in this encoding."""
    if name is not None:
        try:
            io.TextIOWrapper(io.BytesIO(), encoding=name)
        except (LookupError, ValueError):
            raise ValueError(f"there is no text encoding {name!r}; common ones are utf-8, latin-1 and cp1252") from None
    return name


def undecodable(path: Path, encoding: str | None) -> str | None:
    """A sentence with the first line that is no text in the encoding, and its byte; None where every line is."""
    known = encoding or _marked(path)
    if known in MARKS.values() and known != UTF_8:
        return f"{str(path)!r} is no text in {known}, as the mark at its beginning says; save it as UTF-8"
    with decompressed(path) as file:
        for number, line in enumerate(file, start=1):
            try:
                line.decode(known)
            except UnicodeDecodeError as error:
                said = "UTF-8" if known == UTF_8 else known
                advice = (
                    "save the file as UTF-8, or name its encoding, for instance --encoding latin-1"
                    if encoding is None
                    else "name another encoding"
                )
                return f"line {number} of {str(path)!r} has the byte 0x{line[error.start]:02x}, which is no {said}; {advice}"
    return None


def _marked(path: Path) -> str:
    """The encoding that the first bytes of a file name, else UTF-8."""
    with decompressed(path) as file:
        start = file.read(4)
    return next((name for mark, name in MARKS.items() if start.startswith(mark)), UTF_8)


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
