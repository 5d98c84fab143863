"""Traces: the clock that runs only around updates, one record for each certificate of a run, and the list of records."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any


class Clock:
    """Wall and CPU seconds spent inside `with clock:`."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.cpu_seconds = 0.0
        self._created = time.perf_counter()
        self._entered = (0.0, 0.0)

    def __enter__(self) -> None:
        self._entered = time.perf_counter(), time.process_time()

    def __exit__(self, *_: object) -> None:
        wall, cpu = self._entered
        self.seconds += time.perf_counter() - wall
        self.cpu_seconds += time.process_time() - cpu

    def elapsed(self) -> float:
        """Wall seconds since the clock was made, updates or not."""
        return time.perf_counter() - self._created


@dataclass(frozen=True)
class Record:
    """The certificate and scores of a run at one moment."""

    epoch: float
    """Examples touched, divided by the number of rows."""
    updates: int
    """Steps taken; a batch is one."""
    seconds: float
    """Wall seconds of the updates alone."""
    cpu_seconds: float
    """CPU seconds of the updates alone."""
    primal: float
    dual: float
    gap: float
    relative_gap: float
    support: int
    """Duals that are not zero."""
    train_score: float
    test_score: float | None = None


FIELDS = tuple(field.name for field in fields(Record))


class Trace:
    """The records of one run, in order."""

    def __init__(self, records: list[Record] | None = None) -> None:
        self.records: list[Record] = records if records is not None else []

    def append(self, record: Record) -> None:
        self.records.append(record)

    def columns(self) -> dict[str, list[Any]]:
        """One list per field."""
        return {name: [getattr(record, name) for record in self.records] for name in FIELDS}

    def to_frame(self) -> Any:
        """The records as a pandas DataFrame."""
        try:
            import pandas
        except ImportError:
            raise ImportError("to_frame needs pandas, which is not installed; pip install 'dualgap[io]'") from None
        return pandas.DataFrame([asdict(record) for record in self.records], columns=list(FIELDS))

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def __getitem__(self, index: int) -> Record:
        return self.records[index]

    def __repr__(self) -> str:
        if not self.records:
            return "Trace(empty)"
        return f"Trace({len(self)} records, epoch {self[-1].epoch:g}, relative gap {self[-1].relative_gap:.3g})"
