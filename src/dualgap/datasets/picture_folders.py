"""Albums: folders and zips of pictures, a folder for each label; pictures become rows, and those that cannot are named.

The label of a picture is the folder it lies in; its part is the folder above where that is named like one, and else TRAIN:
`TRAIN/NEUTROPHIL/_0_207.jpeg`. What lies further above does not matter.
"""

from __future__ import annotations

import logging
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap.data.files import source
from dualgap.datasets.dataset import Dataset
from dualgap.datasets.images import Picture, decode, grey
from dualgap.linalg.parallel import parallel_map, use_threads
from dualgap.memory import refuse_beyond_memory

SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".tif", ".tiff", ".webp", ".pgm", ".ppm")
TRAIN, TEST = "TRAIN", "TEST"
PARTS = (TRAIN, TEST, "TEST_SIMPLE", "VALIDATION")
# What a picture may unpack to; a file that claims more is not one of these small pictures.
LARGEST_FILE = 1 << 26
# Pictures a thread takes at a time: a few tenths of a second of work, and of progress.
AT_A_TIME = 32
# What reading one damaged, encrypted or oddly packed member of a zip, or one file, may raise.
UNREADABLE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError, RuntimeError)

_log = logging.getLogger("dualgap")


class Part(NamedTuple):
    """The pictures of one part: a row for each, its label and its name."""

    X: NDArray[np.uint8]
    y: NDArray[Any]
    names: tuple[str, ...]


@dataclass(frozen=True)
class Album:
    """The parts by their names, and why each picture that is in none of them was skipped."""

    parts: dict[str, Part]
    shape: tuple[int, int]  # of the picture in a row, height and width
    skipped: dict[str, str]

    def dataset(self, name: str, source: str, description: str = "pictures, one in each row") -> Dataset:
        """The parts TRAIN and, where there is one, TEST."""
        if TRAIN not in self.parts:
            raise ValueError(f"{name} has no pictures in {TRAIN}; it has {', '.join(self.parts)}")
        train, test = self.parts[TRAIN], self.parts.get(TEST)
        X_test, y_test = (None, None) if test is None else (test.X, test.y)
        return Dataset(name, train.X, train.y, X_test, y_test, description=description, source=source)


class _Entry(NamedTuple):
    part: str
    label: str
    name: str  # the whole path inside the album


def read_album(
    path: str | Path,
    row_of: Callable[[Picture], Picture] = grey,
    *,
    labels: Collection[str] = (),
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Album:
    """The pictures of a folder or a zip as rows, in the order of their names; a zip is read in memory and never unpacked.

    `row_of` makes of a picture in color a grey one, of the same size for all. `labels` picks some of the labels, and
    `progress(done, total)` is called as pictures are done. Pictures that are skipped are also named in the log.
    """
    path = Path(path)
    with ExitStack() as open_files:
        names, read = _opened(path, open_files)
        entries = _entries(names, labels)
        if not entries:
            labelled = f" labelled {' or '.join(labels)}" if labels else ""
            raise ValueError(f"{str(path)!r} holds no pictures{labelled}; put them into a folder for each label")

        def rows_of(some: Sequence[_Entry]) -> list[Picture | str]:
            return [_row_or_reason(entry, read, row_of) for entry in some]

        batches = [entries[start : start + AT_A_TIME] for start in range(0, len(entries), AT_A_TIME)]
        rows: list[Picture | str] = []
        with use_threads(n_jobs):
            for some in parallel_map(rows_of, batches):
                rows += some
                if progress is not None:
                    progress(len(rows), len(entries))
    return _gathered(path, entries, rows)


def _opened(path: Path, open_files: ExitStack) -> tuple[list[str], Callable[[str], bytes]]:
    """The names of all files in a folder or zip, and how to read one."""
    if path.is_dir():
        names = [file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file()]
        return names, lambda name: (path / name).read_bytes()
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {str(path)!r}")
    try:
        archive = open_files.enter_context(zipfile.ZipFile(source(path)))
    except UNREADABLE as error:
        raise ValueError(f"{str(path)!r} is neither a folder nor a whole zip of pictures: {error}") from None
    infos = [info for info in archive.infolist() if not info.is_dir()]
    for info in infos:
        if _leaves(info.filename):
            raise ValueError(
                f"{str(path)!r} holds the path {info.filename!r}, which leads out of its folder; pack the pictures anew"
            )
    sizes = {info.filename: info.file_size for info in infos}
    lock = Lock()

    def read(name: str) -> bytes:
        if sizes[name] > LARGEST_FILE:
            raise ValueError(f"it unpacks to {sizes[name]:,} bytes, and {LARGEST_FILE:,} are allowed")
        with lock:  # threads share the file's place
            return archive.read(name)

    return list(sizes), read


def _leaves(name: str) -> bool:
    """Whether a path leads out of the folder it is unpacked in, on any system."""
    return any(bool(path.anchor) or ".." in path.parts for path in (PurePosixPath(name), PureWindowsPath(name)))


def _entries(names: Sequence[str], labels: Collection[str]) -> list[_Entry]:
    """The pictures among the files, sorted; files that systems hide between them are no pictures."""
    found: dict[tuple[str, str, str], _Entry] = {}
    for name in sorted(names):
        path = PurePosixPath(name)
        hidden = any(folder.startswith((".", "__")) for folder in path.parts)
        if hidden or path.suffix.lower() not in SUFFIXES or len(path.parts) < 2:
            continue
        label = path.parts[-2]
        above = path.parts[-3].upper() if len(path.parts) > 2 else TRAIN
        part = above if above in PARTS else TRAIN
        if not labels or label in labels:
            # Packed twice, as in a folder of its own name, a picture counts once.
            found.setdefault((part, label, path.name), _Entry(part, label, name))
    return [found[key] for key in sorted(found)]


def _row_or_reason(entry: _Entry, read: Callable[[str], bytes], row_of: Callable[[Picture], Picture]) -> Picture | str:
    """The grey picture of an entry, or why there is none."""
    try:
        return row_of(decode(read(entry.name)))
    except ValueError as error:
        return str(error)
    except UNREADABLE as error:
        return f"it cannot be read ({error})"
    except MemoryError:
        return "it does not fit into memory"


def _gathered(path: Path, entries: Sequence[_Entry], rows: Sequence[Picture | str]) -> Album:
    """Rows put together part by part; a picture of another size than the first has no place among them."""
    shape = next((row.shape for row in rows if not isinstance(row, str)), None)
    if shape is None:
        raise ValueError(f"none of the {len(entries)} pictures in {str(path)!r} can be used; of the first: {rows[0]}")
    height, width = shape
    # The pictures are held one by one, and then once more as rows of a matrix.
    refuse_beyond_memory(2 * height * width * len(rows), f"{str(path)!r} with {len(rows):,} pictures")
    skipped: dict[str, str] = {}
    kept: dict[str, list[tuple[_Entry, Picture]]] = {}
    for entry, row in zip(entries, rows, strict=True):
        if isinstance(row, str):
            skipped[entry.name] = row
        elif row.shape != shape:
            skipped[entry.name] = f"it has {row.shape[1]} × {row.shape[0]} pixels, and the first has {width} × {height}"
        else:
            kept.setdefault(entry.part, []).append((entry, row))
    for name, reason in skipped.items():
        _log.warning("skipped %s: %s", name, reason)
    parts = {
        part: Part(
            np.stack([row.ravel() for _, row in pictures]),
            np.array([entry.label for entry, _ in pictures]),
            tuple(entry.name for entry, _ in pictures),
        )
        for part, pictures in kept.items()
    }
    return Album(parts, (height, width), skipped)
