"""Where the files of published data sets are looked for: the folders of DUALGAP_DATA, then the user's cache."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

DATA = "DUALGAP_DATA"
CACHE = "DUALGAP_CACHE"


def folders() -> list[Path]:
    """The folders that DUALGAP_DATA names, one or more, separated as PATH is."""
    return [Path(part).expanduser() for part in os.environ.get(DATA, "").split(os.pathsep) if part.strip()]


def cache() -> Path:
    """The folder of what was downloaded: DUALGAP_CACHE, or the place the system has for such things."""
    if given := os.environ.get(CACHE, "").strip():
        return Path(given).expanduser()
    try:
        import platformdirs
    except ImportError:
        raise ImportError(
            f"the folder for downloads needs platformdirs, which is not installed; python -m pip install 'dualgap[race]', "
            f"or let {CACHE} name a folder"
        ) from None
    return platformdirs.user_cache_path("dualgap", appauthor=False) / "data"


def find(files: Sequence[str]) -> tuple[str, list[Path]] | None:
    """The first place that holds all the files, as a word and their paths; None where none does."""
    for folder in folders():
        if (paths := _all_in(folder, files)) is not None:
            return "folder", paths
    paths = _all_in(cache(), files)
    return None if paths is None else ("cache", paths)


def _all_in(folder: Path, files: Sequence[str]) -> list[Path] | None:
    """The paths of the files in a folder; None where one of them is not there."""
    paths = [folder / file for file in files]
    return paths if all(path.is_file() for path in paths) else None


def what_to_do(name: str, files: Sequence[str], can_download: bool) -> str:
    """How to get a data set that is not here."""
    into = f"a folder and let {DATA} name it"
    if given := folders():
        into = f"{str(given[0])!r} or another folder that {DATA} names"
    sentence = f"put {' and '.join(files)} into {into}"
    return sentence + (f", or run: dualgap datasets {name} --download" if can_download else "")
