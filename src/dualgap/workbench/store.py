"""Results on disk: one line of JSON per finished run, appended and flushed, never overwritten, read back with care."""

from __future__ import annotations

import json
import logging
import math
import os
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

FORMAT = 1
FILE = "results.jsonl"

log = logging.getLogger("dualgap")


@dataclass(frozen=True)
class FinishedRun:
    """What is kept of a run: its settings, where it ran, how it ended, and its records as one list per field."""

    run: str
    settings: dict[str, Any]
    data: dict[str, Any]
    strength: float
    status: str
    sentence: str
    reason: str
    certificate: dict[str, float | None]
    records: dict[str, list[Any]]
    started: str = ""
    machine: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    def last(self, name: str) -> Any:
        """The last value of a field of the records, None where there is none."""
        values = self.records.get(name) or [None]
        return values[-1]


def new_folder(parent: Path, stem: str = "dualgap-race") -> Path:
    """Make the first folder `stem-001`, `stem-002`, … that does not exist yet."""
    for number in range(1, 10_000):
        folder = parent / f"{stem}-{number:03d}"
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return folder
    raise ValueError(f"{parent} already holds 9,999 folders {stem}-…; clean up or choose another folder")


def claim_folder(folder: Path) -> Path:
    """Make `folder` if need be; refused where it already holds results."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{str(folder)!r} is a file; choose a folder for the results")
    if (folder / FILE).exists():
        raise ValueError(f"{str(folder)!r} already holds {FILE}, and nothing is overwritten; choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def append(path: Path, finished: FinishedRun) -> None:
    """Add one line, and come back only when the disk has it; a torn line left by a crash is cut off first."""
    line = json.dumps({"format": FORMAT} | _plain(finished.__dict__), allow_nan=False, ensure_ascii=False)
    with path.open("a+b") as file:
        _mend(file, path)
        file.write(line.encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def read(path: Path) -> list[FinishedRun]:
    """All finished runs of a results file, plain or .gz; a torn last line is dropped and said in the log."""
    if not path.exists():
        raise FileNotFoundError(f"there is no file {str(path)!r}")
    lines, whole = _lines(path)
    finished: list[FinishedRun] = []
    for number, line in enumerate(lines, start=1):
        try:
            content = json.loads(line)
        except ValueError:
            if number == len(lines) and not whole:
                log.warning("the last line of %s is torn and was dropped", path)
                break
            raise ValueError(
                f"line {number} of {str(path)!r} is not JSON; it is not a results file, or was edited"
            ) from None
        finished.append(_finished(content, path, number))
    if not finished:
        raise ValueError(f"{str(path)!r} holds no finished run")
    return finished


def _lines(path: Path) -> tuple[list[bytes], bool]:
    """The lines that are not blank, and whether the file ends as it should: with the end of a line."""
    content = path.read_bytes()
    if path.suffix == ".gz":
        try:
            content = _unpacked(content)
        except zlib.error as error:
            raise ValueError(f"{str(path)!r} is not a gzip file: {error}") from None
    return [line for line in content.split(b"\n") if line.strip()], content.endswith(b"\n")


def _unpacked(packed: bytes) -> bytes:
    """The content of a gzip file, as far as it goes: of a file cut short, what stands before the cut."""
    content = b""
    while packed:
        member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        content += member.decompress(packed)
        packed = member.unused_data
    return content


def _finished(content: Any, path: Path, number: int) -> FinishedRun:
    where = f"line {number} of {str(path)!r}"
    if not isinstance(content, dict) or not isinstance(content.get("format"), int):
        raise ValueError(f"{where} is not a run of dualgap")
    if content.pop("format") > FORMAT:
        raise ValueError(f"{where} was written by a newer dualgap; upgrade this one (python -m pip install -U dualgap)")
    try:
        return FinishedRun(**content)
    except TypeError as error:
        raise ValueError(f"{where} is not a run of dualgap: {error}") from None


def _mend(file: IO[bytes], path: Path) -> None:
    """Leave the file, open for appending, at the end of a whole line."""
    end = file.seek(0, os.SEEK_END)
    if end == 0:
        return
    file.seek(end - 1)
    if file.read(1) == b"\n":
        return
    file.seek(0)
    kept = file.read().rfind(b"\n") + 1
    log.warning("the last line of %s is torn and was dropped", path)
    file.truncate(kept)


def _plain(value: Any) -> Any:
    """The same value as strict JSON knows it: no NumPy scalars, and null for what is not a finite number."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def rows_of(runs: Iterable[FinishedRun]) -> Iterator[dict[str, Any]]:
    """One flat row per record of every run: the settings, then the record's fields."""
    for finished in runs:
        settings = {name: value for name, value in finished.settings.items() if name != "positive"}
        shared = {"run": finished.run, **settings, "strength": finished.strength, "status": finished.status}
        for values in zip(*finished.records.values(), strict=True):
            yield shared | dict(zip(finished.records, values, strict=True))


def check_parquet() -> None:
    """Refuse, before any work is done, where the packages that write parquet are missing."""
    try:
        import pandas  # noqa: F401
        import pyarrow  # noqa: F401
    except ImportError:
        raise ImportError("parquet files need pandas and pyarrow; python -m pip install 'dualgap[io]'") from None


def write_parquet(path: Path, runs: Iterable[FinishedRun]) -> None:
    """The records of all runs as one parquet table, written under a temporary name and then moved into place."""
    check_parquet()
    import pandas

    if path.exists():
        raise ValueError(f"{str(path)!r} exists already, and nothing is overwritten")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        pandas.DataFrame(list(rows_of(runs))).to_parquet(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
