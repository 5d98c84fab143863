"""Rows for a model part by part, from Parquet files and .npy files of any size: prepared as its fit did it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dualgap.data.blocks import Blocks
from dualgap.data.blocks.parquet import DECODED_PARTS
from dualgap.data.blocks.sources import parquet_paths
from dualgap.data.preparation import Prepared
from dualgap.data.rows import Rows
from dualgap.data.unseen import Unseen, joined
from dualgap.data.validation import as_rows
from dualgap.datasets import parquet
from dualgap.datasets.columns import wanted_columns
from dualgap.datasets.dataset import signs_of
from dualgap.datasets.sheets import as_sheet, matched_sheet
from dualgap.memory import refuse_beyond_memory
from dualgap.models.metrics import AUC, R2, of_scores

if TYPE_CHECKING:
    from dualgap.models.model import Model

Vector = NDArray[np.float64]


class Part(NamedTuple):
    """A run of rows as the model needs them, and what stands beside them."""

    rows: Rows
    y: NDArray[Any] | None
    """Labels or targets; None where there is no such column, or some of its cells are missing."""
    weights: Vector | None
    kept: list[list[str]]
    """The cells of columns that were asked for."""
    unseen: tuple[Unseen, ...]


def are_streamed(data: Sequence[str]) -> bool:
    """Whether data is read part by part without being asked to: several files, a folder of Parquet files, or a .npy file."""
    path = Path(data[0])
    if len(data) > 1 or path.suffix == ".npy" or ("*" in data[0] and not path.exists()):
        return True
    return path.is_dir() and next(path.rglob("*.parquet"), None) is not None


def parts_of(
    model: Model,
    data: Sequence[str],
    memory_limit: str | None = None,
    *,
    keep: Sequence[str] = (),
    strict: bool = False,
) -> Iterator[Part]:
    """The rows of the files in order, in parts that `memory_limit` has room for."""
    paths = parquet_paths(data if len(data) > 1 else data[0])
    if paths is not None:
        return _of_parquet(model, paths, memory_limit, keep, strict)
    if len(data) > 1 or Path(data[0]).suffix != ".npy":
        raise ValueError(
            f"rows are read part by part from Parquet and .npy files, got {data[0]!r}; leave --memory-limit out"
        )
    if keep:
        raise ValueError("--keep copies columns of csv and parquet files, and a .npy file has no names; leave it out")
    return _of_npy(model, Blocks(data[0], memory_limit=memory_limit))


def gathered(model: Model, data: Sequence[str]) -> Part:
    """All rows of the files as one part, which memory has to hold."""
    parts, rows = [], 0
    for part in parts_of(model, data):
        parts.append(part)
        rows += part.rows.count
        # The parts and the matrix made of them are held at the same time.
        refuse_beyond_memory(8 * rows * model.columns, f"{rows:,} × {model.columns:,} numbers")
    y = [part.y for part in parts if part.y is not None]
    weights = [part.weights for part in parts if part.weights is not None]
    return Part(
        as_rows(np.concatenate([part.rows.block(slice(0, part.rows.count)) for part in parts])),
        np.concatenate(y) if len(y) == len(parts) else None,
        np.concatenate(weights) if len(weights) == len(parts) else None,
        [],
        joined(one for part in parts for one in part.unseen),
    )


def _of_npy(model: Model, blocks: Blocks) -> Iterator[Part]:
    for rows in blocks.home.map(lambda block, _: block.rows, None):
        made = rows
        if model.preparation is not None:
            made = as_rows(model.preparation.of_matrix(rows.block(slice(0, rows.count))))
        yield Part(made.of_width(model.columns), None, None, [], ())


def _of_parquet(
    model: Model, paths: Sequence[str], memory_limit: str | None, keep: Sequence[str], strict: bool
) -> Iterator[Part]:
    preparation, how = model.preparation, model.reading
    table = Blocks(list(paths), memory_limit=memory_limit).table
    assert table is not None
    known, target, weight = table.columns, how.get("target"), how.get("weight")
    name = Path(paths[0]).name + (" …" if len(paths) > 1 else "")
    fitted = model.feature_names if preparation is None else preparation.names if preparation.has_names else None
    width = model.columns if preparation is None else len(preparation.names)
    order = wanted_columns(name, known, True, fitted, width, target, tuple(how.get("drop", ())))
    names = [known[place] for place in order]
    for one in keep:
        if one not in known:
            raise ValueError(f"--keep needs columns of {name}, got {one!r}; check its name")
    target = target if target in known and target not in names else None
    weight = weight if weight in known else None
    wanted = dict.fromkeys([*names, *keep, *(one for one in (target, weight) if one is not None)])
    table.refuse_lacking(list(wanted))
    rows = max(table.block_bytes // (8 * DECODED_PARTS * (model.columns + len(wanted))), 1)
    begin = 0
    for batch in table.batches(list(wanted), rows):
        # A refusal counts rows from the beginning of the part.
        called = name if begin == 0 else f"{name} from row {begin + 1:,} on"
        found = [parquet.values_of(batch.column(one)) for one in names]
        if preparation is None:
            made = Prepared(parquet.matrix_of(called, names, found))
        else:
            made = preparation.of_sheet(matched_sheet(as_sheet(called, names, found), preparation.categories), strict)
        yield Part(
            as_rows(made.X).of_width(model.columns),
            None if target is None else _labels(batch.column(target), how.get("positive", ())),
            None if weight is None else parquet.values_of(batch.column(weight)),
            [list(map(str, parquet.values_of(batch.column(one)).tolist())) for one in keep],
            made.unseen,
        )
        begin += batch.num_rows


def _labels(column: Any, positive: Sequence[str]) -> NDArray[Any] | None:
    found = parquet.labels_of(column)
    return signs_of(found, positive) if positive and found is not None else found


@dataclass
class Tally:
    """Metrics of predictions that come part by part: means over all rows, and R² from the moments of the targets.

    Of a single part they are those of `of_scores`, with AUC, which needs all scores in order. A part without targets ends them.
    """

    model: Model
    rows: int = 0
    parts: int = 0
    is_scored: bool = True
    sums: dict[str, float] = field(default_factory=dict)
    """Each metric times the rows; under R² the squares of the errors."""
    first: dict[str, float] = field(default_factory=dict)
    """The metrics of the first part."""
    mean: float = 0.0
    spread: float = 0.0
    """Σ (y − mean)² of the targets."""
    strange: int = 0
    """Rows with a label that the fit did not have."""

    def add(self, scores: Vector, y: NDArray[Any] | None) -> None:
        """Count one part."""
        is_number = y is not None and y.dtype.kind in "biuf" and scores.ndim == 1
        self.is_scored = self.is_scored and y is not None and (self.model.classes is not None or is_number)
        if self.is_scored and y is not None:
            self._add(scores, y)
        self.rows += len(scores)
        self.parts += 1

    def _add(self, scores: Vector, y: NDArray[Any]) -> None:
        found = of_scores(self.model, scores, y)
        self.first = self.first or found
        for name in found.keys() - {R2, AUC}:
            self.sums[name] = self.sums.get(name, 0.0) + found[name] * y.size
        if self.model.classes is not None:
            self.strange += int((~np.isin(y, self.model.classes)).sum())
            return
        targets = y.astype(np.float64)
        errors = targets - self.model.decided(scores)
        self.sums[R2] = self.sums.get(R2, 0.0) + float(errors @ errors)
        # Two groups' moments make those of both.
        step, total = float(targets.mean()) - self.mean, self.rows + y.size
        self.spread += float(np.square(targets - targets.mean()).sum()) + step * step * self.rows * y.size / total
        self.mean += step * y.size / total

    @property
    def metrics(self) -> dict[str, float]:
        """The metrics of all rows; none where a part has no targets."""
        if not self.is_scored or self.parts < 2:
            return self.first if self.is_scored else {}
        found = {name: self.sums[name] / self.rows for name in self.first if name in self.sums}
        if R2 in found:
            found[R2] = 1.0 - self.sums[R2] / self.spread if self.spread > 0.0 else float(self.sums[R2] == 0.0)
        return found
