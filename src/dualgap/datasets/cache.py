"""The cache of downloaded data sets: nothing enters it that was not compared with the table, and never half a file."""

from __future__ import annotations

import os
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path

from dualgap.data.files import destination
from dualgap.datasets import downloads, locations
from dualgap.datasets.published import Published

Tell = Callable[[int], object]
POLL_SECONDS = 0.1  # between two counts of the bytes that have come


def fetch(row: Published, tell: Tell | None = None) -> list[Path]:
    """Download a set into the cache, in full or not at all; `tell` is called with the bytes that have come so far."""
    if not row.download:
        raise ValueError(f"{row.name} cannot be downloaded; {locations.what_to_do(row.name, row.files, False)}")
    folder = locations.cache()
    folder.mkdir(parents=True, exist_ok=True)
    # In the same folder, because only there a move is one step.
    with tempfile.TemporaryDirectory(prefix=".download-", dir=folder) as name:
        temporary = Path(name)
        try:
            with _watched(temporary, tell):
                downloads.write_files(row.name, row.download, row.files, temporary)
            row.prepared([temporary / file for file in row.files])
        except (OSError, EOFError, ValueError, LookupError, HTTPException, zlib.error) as error:
            raise ValueError(_failed(row, error, temporary)) from error
        for file in row.files:
            os.replace(temporary / file, destination(folder / file))
    return [folder / file for file in row.files]


def _failed(row: Published, error: Exception, temporary: Path) -> str:
    """One sentence; the temporary folder is gone when it is read."""
    lines = str(error).replace(f"{temporary}{os.sep}", "").splitlines()
    reason = lines[0] if lines else type(error).__name__
    if isinstance(error, LookupError):
        reason = f"the answer lacks {reason}"
    return (
        f"{row.name} could not be downloaded ({row.download}): {reason.rstrip('.')}; try again later, or "
        f"{locations.what_to_do(row.name, row.files, False)}"
    )


@contextmanager
def _watched(folder: Path, tell: Tell | None) -> Iterator[None]:
    """Tell the bytes in a folder while it fills: the fetchers of scikit-learn report nothing themselves."""
    if tell is None:
        yield
        return
    done = threading.Event()

    def poll() -> None:
        while not done.wait(POLL_SECONDS):
            tell(_bytes_in(folder))

    watcher = threading.Thread(target=poll, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
        tell(_bytes_in(folder))


def _bytes_in(folder: Path) -> int:
    count = 0
    # A folder that is gone when its turn comes is passed over.
    for place, _, files in os.walk(folder):
        for file in files:
            try:
                count += os.stat(os.path.join(place, file)).st_size
            except FileNotFoundError:
                continue  # moved or removed since it was listed
    return count
