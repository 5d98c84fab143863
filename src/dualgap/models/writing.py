"""Files that appear whole or not at all: written beside their name, put on the disk, then moved there."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def written_whole(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to. It takes the place of `path` when the block ends well; else `path` is as it was."""
    if path.is_dir():
        raise ValueError(f"{str(path)!r} is a folder; name a file in it")
    if not path.parent.is_dir():
        raise ValueError(f"there is no folder {str(path.parent)!r} for {path.name}; make it first")
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        with beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    if hasattr(os, "O_DIRECTORY"):
        # The new name is on the disk when its folder is.
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
