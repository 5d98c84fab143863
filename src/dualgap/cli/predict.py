"""The command `predict`: a model file and rows in, a csv file of predictions out, and how good they are."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from dualgap.cli.checks import checked_data, checked_output

if TYPE_CHECKING:
    from dualgap.data.unseen import Unseen
    from dualgap.models.model import Model
    from dualgap.models.streaming import Part

ROWS_AT_A_TIME = 1 << 14  # predicted and written together

HELP = (
    "Predict with a model file, into a csv file.\n\n"
    "DATA is a name, a spec or a file; several Parquet files, a folder of them, a .npy file, and any Parquet file with "
    "--memory-limit are read part by part, however large they are. Columns are matched by their names where the model and the data have names, else "
    "by their place; other columns are left alone. Columns are prepared as the fit did it: text as its categories, missing "
    "cells filled, numbers standardized; a category that the fit did not see is zeros and a note, or refused with --strict. "
    "A target column is not needed; where it is there, the predictions are scored against it.\n\n"
    "The csv file has a line for each row: columns that --keep names; the prediction; for a classification the scores, "
    "one of two classes or one for each; and the probability of each class for the logistic loss. Where the model was "
    "fitted with --features, its map is applied to the columns.\n\n"
    "Exit codes: 0, 2 for bad input."
)
EPILOG = """Examples:

dualgap predict wine.dg new-wines.csv -o predicted.csv

dualgap predict people.dg people.csv --keep name --keep age -o predicted.csv

dualgap predict cancer.dg breast_cancer | head

dualgap predict clicks.dg data/*.parquet --memory-limit 1GB -o predicted.csv
"""


def predict(
    context: typer.Context,
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file written by dualgap fit or by save.")],
    data: Annotated[
        list[str], typer.Argument(metavar="DATA", help="The rows: a name, a spec or a file; or several Parquet files.")
    ],
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="COL", help="Copy a column of a table to the predictions; repeatable."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse categories that the fit did not see, instead of zeros.")
    ] = False,
    encoding: Annotated[
        str | None, typer.Option(metavar="NAME", help="Encoding of a csv file. (default: the one of the fit)")
    ] = None,
    decimal: Annotated[
        str | None, typer.Option(metavar="MARK", help="Decimal mark of a csv file. (default: the one of the fit)")
    ] = None,
    memory_limit: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Read Parquet files part by part, within a limit on memory: 1GB, 512MiB.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", help="The csv file. (default: the screen)")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE where it exists.")] = False,
) -> None:
    """Predict with a model file."""
    path = None if out is None else checked_output(out, overwrite)
    # What computes is imported here: help and refusals of options must not wait for it.
    from dualgap.data.files import written_whole
    from dualgap.models.reading import load
    from dualgap.models.streaming import are_streamed, parts_of

    for name in data:
        if "*" not in name:
            checked_data(name)
    fitted = load(model)
    names = list(keep or ())
    if memory_limit is not None or are_streamed(data):
        parts = parts_of(fitted, data, memory_limit, keep=names, strict=strict)
    else:
        names, parts = _in_memory(fitted, data[0], names, strict, encoding, decimal)
    quiet, told = context.obj == "quiet", Told(fitted)
    if path is None:
        try:
            for lines in _csv_lines(fitted, parts, names, told):
                typer.echo(lines, nl=False)
        except BrokenPipeError:
            # The reader of the pipe has closed it, as `head` does; what Python still buffers goes to the null device.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return
    else:
        with written_whole(path) as file:
            for lines in _csv_lines(fitted, parts, names, told):
                file.write(lines.encode())
        typer.echo(str(path) if quiet else f"{told.tally.rows:,} predictions: {path}")
    if not quiet:
        for sentence in told.sentences():
            # Predictions on the screen go to a pipe as they are; what is said about them goes beside.
            typer.echo(sentence, err=path is None)


def _in_memory(
    model: Model, data: str, keep: Sequence[str], strict: bool, encoding: str | None, decimal: str | None
) -> tuple[list[str], Iterator[Part]]:
    """The names of the kept columns, and all rows as one part."""
    from dualgap.data.preparation import Prepared
    from dualgap.data.validation import as_rows
    from dualgap.datasets.beside import kept_columns, target_of
    from dualgap.datasets.columns import read_rows
    from dualgap.datasets.layout import TextOptions
    from dualgap.models.preparing import read_prepared
    from dualgap.models.streaming import Part

    how, preparation = model.reading, model.preparation
    options = TextOptions(encoding or how.get("encoding"), decimal or how.get("decimal"), tuple(how.get("drop", ())))
    target = how.get("target")
    if preparation is None:
        names, width = model.feature_names, model.columns
        made = Prepared(read_rows(data, names, width, target, options))
    else:
        names, width = preparation.names if preparation.has_names else None, len(preparation.names)
        made = read_prepared(preparation, data, target, options, strict)
    y = target_of(data, target, names, width, options, how.get("positive", ()))
    called, kept = kept_columns(data, keep, options) if keep else ([], [])
    return called, iter([Part(as_rows(made.X).of_width(model.columns), y, None, kept, made.unseen)])


class Told:
    """What is said of predictions once they are written: unseen categories, and metrics where every row has its target."""

    def __init__(self, model: Model) -> None:
        from dualgap.models.streaming import Tally

        self.tally = Tally(model)
        self.unseen: list[Unseen] = []

    def add(self, part: Part, scores: Any) -> None:
        """Count one part."""
        self.unseen += part.unseen
        self.tally.add(scores, part.y)

    def sentences(self) -> list[str]:
        """Notes, and a line with the metrics."""
        from dualgap.data.unseen import joined

        said, metrics, strange = (
            [f"Note: {one.note}." for one in joined(self.unseen)],
            self.tally.metrics,
            self.tally.strange,
        )
        also = f"; {strange:,} rows have a label that the fit did not have" if strange else ""
        if metrics:
            shown = ", ".join(f"{name} {value:.3f}" for name, value in metrics.items())
            said.append(f"Against the target in the data: {shown}{also}.")
        return said


def _csv_lines(model: Model, parts: Iterator[Part], kept_names: Sequence[str], told: Told) -> Iterator[str]:
    """The csv text, ROWS_AT_A_TIME lines at a time; numbers are as short as they can be and read back to the same bits."""
    import numpy as np

    from dualgap.data.validation import as_rows

    yield _text([[*kept_names, *_headings(model)]])
    for part in parts:
        found = []
        for begin in range(0, part.rows.count, ROWS_AT_A_TIME):
            slice_ = slice(begin, min(begin + ROWS_AT_A_TIME, part.rows.count))
            scores = model.scores_of_rows(as_rows(part.rows.block(slice_)))
            columns = [model.decided(scores)]
            if model.classes is not None:
                columns.append(scores)
            if model.has_probabilities:
                columns.append(model.probabilities(scores))
            cells: list[list[Any]] = [[[cell] for cell in column[slice_]] for column in part.kept]
            cells += [(column[:, None] if column.ndim == 1 else column).tolist() for column in columns]
            yield _text([cell for group in row for cell in group] for row in zip(*cells, strict=True))
            found.append(scores)
        told.add(part, np.concatenate(found))


def _headings(model: Model) -> list[str]:
    if model.classes is None:
        count = 1 if model.weights.ndim == 1 else model.weights.shape[1]
        return ["prediction"] if count == 1 else [f"prediction_{k}" for k in range(count)]
    several = model.weights.ndim == 2
    labels = model.classes.tolist()
    scores = [f"score_{label}" for label in labels] if several else ["score"]
    return ["prediction", *scores, *([f"probability_{label}" for label in labels] if model.has_probabilities else [])]


def _text(rows: Any) -> str:
    file: IO[str] = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue()  # type: ignore[attr-defined, no-any-return]
