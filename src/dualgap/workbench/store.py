"""Results on disk: one line of JSON per finished run, appended and flushed, never overwritten, read back with care."""

from __future__ import annotations

import json
import logging
import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import IO, Any

from numpy.typing import NDArray

from dualgap.data.files import destination, parsed_json, refuse_unwritable, unused, written_whole
from dualgap.data.npy import write_arrays
from dualgap.workbench.decompression import content_of
from dualgap.workbench.results_schema import strange_field

FORMAT = 1
FILE = "results.jsonl"
ITERATES = "iterates"  # the folder of their files
REFUSED = "REFUSED"  # the status of a line that holds no run, but the sentence by which a solver refused the problem

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
    weights: list[float] | None = None  # kept, with the intercept, where data["beta"] holds the true ones
    intercept: float | None = None
    update_seconds: float | None = None  # of the updates in the call that was timed by itself
    # By the names of Trace.iterates, where they were asked for; in a file of their own, and never in a line of results.
    iterates: dict[str, NDArray[Any]] | None = field(default=None, repr=False, compare=False)

    @property
    def is_refused(self) -> bool:
        """Whether this is the refusal of a solver, which ran nothing."""
        return self.status == REFUSED

    def last(self, name: str) -> Any:
        """The last value of a field of the records, None where there is none."""
        values = self.records.get(name) or [None]
        return values[-1]


KNOWN = tuple(one.name for one in fields(FinishedRun) if one.name != "iterates")
REQUIRED = tuple(one.name for one in fields(FinishedRun) if one.default is MISSING and one.default_factory is MISSING)


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


def newest_folder(parent: Path, stem: str = "dualgap-race") -> Path:
    """The folder `stem-…` with the highest number; refused where there is none."""
    numbered = [path for path in parent.glob(f"{stem}-[0-9][0-9][0-9]*") if path.is_dir()]
    if not numbered:
        raise ValueError(f"there is no folder {stem}-001 or later here to resume; pass -o DIR, or leave --resume out")
    return max(numbered, key=lambda path: (len(path.name), path.name))


def check_folder(folder: Path) -> None:
    """A refusal of a folder that already holds results, or that cannot be made or written to; nothing is left behind."""
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{str(folder)!r} is a file; choose a folder for the results")
    if (folder / FILE).exists():
        raise ValueError(
            f"{str(folder)!r} already holds {FILE}, and nothing is overwritten; choose another folder, or pass --resume to go on there"
        )
    nearest = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not nearest.is_dir():
        raise ValueError(f"{str(nearest)!r} is a file, and no folder can be made in it; choose another folder")
    refuse_unwritable(nearest / FILE)


def claim_folder(folder: Path) -> Path:
    """Make `folder` if need be; refused where it already holds results."""
    check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def append(path: Path, finished: FinishedRun) -> None:
    """Add one line, and come back only when the disk has it; a torn line left by a crash is cut off first."""
    kept = {name: getattr(finished, name) for name in KNOWN}
    line = json.dumps({"format": FORMAT} | _plain(kept), allow_nan=False, ensure_ascii=False)
    with destination(path).open("a+b") as file:
        _drop_torn_line(file, path)
        file.write(line.encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def iterates_file(results: Path, run: str) -> Path:
    """Where the iterates of a run are, beside its results file."""
    return results.with_name(ITERATES) / f"{run}.npz"


def write_iterates(results: Path, finished: FinishedRun) -> None:
    """The iterates of a run, where it has some, in a file of their own beside the results file."""
    if finished.iterates is not None:
        path = iterates_file(results, finished.run)
        path.parent.mkdir(exist_ok=True)
        write_arrays(path, finished.iterates)


def resume(path: Path) -> list[FinishedRun]:
    """The runs a race has finished so far, none where it never wrote one; a torn last line is cut off the file."""
    if not path.exists() or destination(path).stat().st_size == 0:
        return []
    with path.open("r+b") as file:
        _drop_torn_line(file, path)
        if file.seek(0, os.SEEK_END) == 0:
            return []
    return read(path)


def read(path: Path) -> list[FinishedRun]:
    """All finished runs of a results file, plain or .gz; a torn last line is dropped and said in the log."""
    lines, complete = _lines(path)
    finished: list[FinishedRun] = []
    for number, line in enumerate(lines, start=1):
        try:
            content = parsed_json(line)
        except ValueError:
            if number == len(lines) and not complete:
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
    content = content_of(path)
    if content.damage:
        raise ValueError(f"{str(path)!r} is not a gzip file, or a damaged one: {content.damage}")
    if content.cut:
        log.warning("%s is cut short; the runs before the cut were read", path)
    return [line for line in content.text.split(b"\n") if line.strip()], content.text.endswith(b"\n")


def _finished(content: Any, path: Path, number: int) -> FinishedRun:
    where = f"line {number} of {str(path)!r}"
    if not isinstance(content, dict) or not isinstance(content.get("format"), int):
        raise ValueError(f"{where} is not a run of dualgap")
    if content.pop("format") > FORMAT:
        raise ValueError(f"{where} was written by a newer dualgap; upgrade this one (python -m pip install -U dualgap)")
    lacking = [name for name in REQUIRED if name not in content]
    if lacking:
        raise ValueError(f"{where} is not a run of dualgap, or not a whole one: it lacks {', '.join(lacking)}")
    strange = strange_field(content)
    if strange is not None:
        raise ValueError(f"{where} holds something else than dualgap writes in {strange}; it was edited")
    # A later version may add fields without making the file unreadable for this one.
    return FinishedRun(**{name: value for name, value in content.items() if name in KNOWN})


def _drop_torn_line(file: IO[bytes], path: Path) -> None:
    """Leave the file, open for appending, at the end of a complete line."""
    end = file.seek(0, os.SEEK_END)
    if end == 0:
        return
    file.seek(end - 1)
    if file.read(1) == b"\n":
        return
    file.seek(0)
    content = file.read()
    kept = content.rfind(b"\n") + 1
    if _is_whole(content[kept:]):
        file.write(b"\n")  # only the end of the line was lost
        return
    log.warning("the last line of %s is torn and was dropped", path)
    file.truncate(kept)


def _is_whole(line: bytes) -> bool:
    try:
        parsed_json(line)
    except ValueError:
        return False
    return True


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
        settings = {name: value for name, value in finished.settings.items() if not isinstance(value, list)}
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


def write_parquet(path: Path, runs: Iterable[FinishedRun], overwrite: bool = False) -> None:
    """The records of all runs as one parquet table, written whole or not at all."""
    check_parquet()
    import pandas

    if not overwrite:
        unused(path)
    with written_whole(path) as file:
        pandas.DataFrame(list(rows_of(runs))).to_parquet(file)
