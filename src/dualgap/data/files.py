"""Paths that are read or written: only regular files, symbolic links followed, and files that appear whole or not at all.

A device, a FIFO or a socket is neither read nor written: reading one may never end, and moving a file to its name would
replace it. A symbolic link stays what it is, and the file it leads to is replaced.
"""

from __future__ import annotations

import itertools
import json
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

KINDS: dict[str, Callable[[int], bool]] = {
    "a folder": stat.S_ISDIR,
    "a device": lambda mode: stat.S_ISCHR(mode) or stat.S_ISBLK(mode),
    "a FIFO": stat.S_ISFIFO,
    "a socket": stat.S_ISSOCK,
}


def source(path: Path) -> Path:
    """The path itself, if it leads to a regular file that can be read; else a refusal in one sentence."""
    mode = _mode(path)
    if mode is None:
        raise FileNotFoundError(f"there is no file {str(path)!r}")
    if not stat.S_ISREG(mode):
        raise ValueError(f"only a regular file can be read, and {str(path)!r} is {_kind(mode)}; name a file")
    return path


def destination(path: Path) -> Path:
    """Where a file of this name is written: the end of its symbolic links, a regular file or nothing yet."""
    mode = _mode(path)
    if mode is not None and stat.S_ISDIR(mode):
        raise ValueError(f"{str(path)!r} is a folder; name a file in it")
    if mode is not None and not stat.S_ISREG(mode):
        raise ValueError(
            f"only a regular file can be written, and {str(path)!r} is {_kind(mode)}; name a file, or leave the name out"
        )
    end = Path(os.path.realpath(path))
    if not end.parent.is_dir():
        folder = end.parent if path.is_symlink() else path.parent
        raise ValueError(f"there is no folder {str(folder)!r} for {end.name}; make it first")
    return end


def unused(path: Path, advice: str = ", and nothing is overwritten; choose another name") -> Path:
    """The path itself, if no file has it yet and one can be written there; else a refusal in one sentence."""
    if destination(path).exists():
        raise ValueError(f"{str(path)!r} exists already{advice}")
    return path


def refuse_unwritable(path: Path) -> None:
    """A refusal where no file can be made in the folder of `path`, found out by making one beside it."""
    beside = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        beside.open("xb").close()
    except OSError as error:
        folder = str(path.parent)
        raise ValueError(
            f"no file can be written to the folder {folder!r}: {error.strerror}; choose another one"
        ) from None
    beside.unlink()


def first_unused(folder: Path, stem: str, suffix: str) -> Path:
    """The first of stem.suffix, stem-002.suffix, … in a folder that does not exist yet."""
    names = itertools.chain([stem], (f"{stem}-{number:03d}" for number in itertools.count(2)))
    return next(path for name in names if not (path := folder / f"{name}.{suffix}").exists())


def _mode(path: Path) -> int | None:
    """What kind of file the path leads to, None where there is none."""
    if "\0" in str(path):
        raise ValueError(f"a path has no NUL byte, got {str(path)!r}; correct the name")
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise ValueError(f"{str(path)!r} leads through a file as if it were a folder; correct the path") from None
    except OSError as error:
        # A circle of symbolic links, a name that is too long, a folder that may not be entered.
        raise ValueError(f"{str(path)!r} cannot be looked up: {error.strerror}; choose another path") from None


def _kind(mode: int) -> str:
    return next((name for name, fits in KINDS.items() if fits(mode)), "no regular file")


@contextmanager
def written_whole(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to. It takes the place of `path` when the block ends well; else `path` is as it was."""
    end = destination(path)
    beside = end.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with beside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        # Looked up again: what the path leads to may have changed while the file was written.
        os.replace(beside, destination(path))
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    if hasattr(os, "O_DIRECTORY"):
        # The new name is on the disk when its folder is.
        folder = os.open(end.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def write_text(path: Path, text: str) -> None:
    """Text as UTF-8 with plain line ends, whole or not at all."""
    with written_whole(path) as file:
        file.write(text.encode())


def parsed_json(text: str | bytes) -> Any:
    """What JSON text stands for; a ValueError where it is none, is not UTF-8, or is nested too deeply to be read."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
