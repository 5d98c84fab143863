"""Traces: the clock that runs only around updates, one record for each certificate of a run, and the list of records."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap.markup import records_table


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


class Iterate(NamedTuple):
    """What an algorithm would have returned at a record, as it carried it: before the judge moved b or the duals."""

    weights: NDArray[np.float64]
    intercept: Any
    """b: a float, or one number a class."""
    duals: NDArray[np.float64] | None
    """α; None where the algorithm carries none."""


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
    own_dual: float | None = None
    """D at the algorithm's own duals, which `dual`, the judge's bound, may exceed. None where the algorithm carries no duals, where
    they are infeasible (as Σ s_i α_i ≠ 0 with a free intercept), and where records were not asked for: it costs a pass."""
    iterate: Iterate | None = field(default=None, repr=False, compare=False)
    """Copies of weights, intercept and duals, where `keep_iterates` asked for them."""


# How many of the first and of the last records a table shows.
SHOWN = 5
SHOWN_FIELDS = ("epoch", "seconds", "primal", "dual", "gap", "relative_gap", "support", "train_score")
# A gap of zero has no place on a logarithmic axis.
SMALLEST_DRAWN = 1e-17

FIELDS = tuple(one.name for one in fields(Record) if one.name != "iterate")
"""The numbers of a record."""


class Trace:
    """The records of one run, in order."""

    def __init__(self, records: list[Record] | None = None) -> None:
        self.records: list[Record] = records if records is not None else []

    def append(self, record: Record) -> None:
        self.records.append(record)

    def columns(self) -> dict[str, list[Any]]:
        """One list per number of the records."""
        return {name: [getattr(record, name) for record in self.records] for name in FIELDS}

    def to_frame(self) -> Any:
        """The records as a pandas DataFrame."""
        try:
            import pandas
        except ImportError:
            raise ImportError("to_frame needs pandas, which is not installed; pip install 'dualgap[io]'") from None
        return pandas.DataFrame(self.columns(), columns=list(FIELDS))

    def iterates(self) -> dict[str, NDArray[Any]]:
        """The iterates of all records, stacked: what `keep_iterates` left in them.

        Returns
        -------
        dict of arrays
            `epoch` and `updates` of shape (r,) for r records, `weights` (r, d), `intercept` (r,) and `duals` (r, n), in the softmax
            model with one more axis for the classes. Duals are NaN in a record without any, and left out where no record has some.

        Examples
        --------
        >>> import numpy as np
        >>> import dualgap as dg
        >>> problem = dg.Problem(np.eye(2), [-1, 1], "hinge", strength=0.5)
        >>> result = dg.solve(problem, "sdca", max_epochs=3, tol=0, keep_iterates=True)
        >>> result.trace.iterates()["weights"].shape
        (2, 2)
        """
        kept = [(record, record.iterate) for record in self.records if record.iterate is not None]
        if not kept or len(kept) < len(self.records):
            raise ValueError("the records of this trace hold no iterates; pass keep_iterates=True to dg.solve")
        found = {
            "epoch": np.array([record.epoch for record, _ in kept]),
            "updates": np.array([record.updates for record, _ in kept]),
            "weights": np.stack([iterate.weights for _, iterate in kept]),
            "intercept": np.stack([np.asarray(iterate.intercept, dtype=np.float64) for _, iterate in kept]),
        }
        known = next((iterate.duals for _, iterate in kept if iterate.duals is not None), None)
        if known is not None:
            none = np.full(known.shape, np.nan)
            found["duals"] = np.stack([none if iterate.duals is None else iterate.duals for _, iterate in kept])
        return found

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def __getitem__(self, index: int) -> Record:
        return self.records[index]

    def __repr__(self) -> str:
        if not self.records:
            return "Trace(empty)"
        last = self[-1]
        return f"Trace({len(self)} records, epoch {last.epoch:g}, {last.seconds:.3g} s, relative gap {last.relative_gap:.3g})"

    def _repr_html_(self) -> str:
        """A table of the records for notebooks; of a long trace the first and the last ones."""
        kept = list(self.records)
        if len(kept) > 2 * SHOWN:
            kept = kept[:SHOWN] + kept[-SHOWN:]
        numbers = [[f"{getattr(record, name):.6g}" for name in SHOWN_FIELDS] for record in kept]
        if len(kept) < len(self):
            numbers.insert(SHOWN, ["…"] * len(SHOWN_FIELDS))
        return records_table(repr(self), [name.replace("_", " ") for name in SHOWN_FIELDS], numbers)

    def plot(self, x: str = "seconds", ax: Any = None) -> Any:
        """Draw the relative gap on a logarithmic axis, against seconds or epochs.

        Parameters
        ----------
        x : {"seconds", "cpu_seconds", "epoch", "updates"}, default="seconds"
            What the horizontal axis shows.
        ax : matplotlib.axes.Axes, optional
            The axes to draw into; new ones without.

        Returns
        -------
        ax : matplotlib.axes.Axes
            The axes, to be changed or saved (`ax.figure.savefig`).

        Examples
        --------
        >>> import numpy as np
        >>> import dualgap as dg
        >>> result = dg.solve(dg.Problem(np.eye(2), [-1, 1], "hinge", strength=0.5), "sdca", max_epochs=3, tol=0)
        >>> result.trace.plot(x="epoch").get_yscale()
        'log'
        """
        labels = {
            "seconds": "seconds of updates",
            "cpu_seconds": "CPU seconds of updates",
            "epoch": "epochs",
            "updates": "updates",
        }
        if x not in labels:
            raise ValueError(f"plot needs x to be one of {', '.join(labels)}, got {x!r}")
        if ax is None:
            ax = new_axes()
        gaps = [max(record.relative_gap, SMALLEST_DRAWN) for record in self.records]
        ax.plot([getattr(record, x) for record in self.records], gaps, marker=".")
        ax.set_yscale("log")
        ax.set_xlabel(labels[x])
        ax.set_ylabel("relative duality gap")
        return ax


def new_axes() -> Any:
    """Axes of a figure outside of pyplot: it is drawn where it is shown, and closes no window."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("plot needs matplotlib, which is not installed; pip install 'dualgap[plot]'") from None
    return Figure(layout="constrained").add_subplot()
