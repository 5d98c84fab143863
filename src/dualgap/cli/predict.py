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
    from dualgap.data.rows import Rows
    from dualgap.models.model import Model

ROWS_AT_A_TIME = 1 << 14  # predicted and written together

HELP = (
    "Predict with a model file, into a csv file.\n\n"
    "DATA is a name, a spec or a file. Columns are matched by their names where the model and the data have names, else "
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
"""


def predict(
    context: typer.Context,
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file written by dualgap fit or by save.")],
    data: Annotated[str, typer.Argument(metavar="DATA", help="The rows: a name, a spec or a file.")],
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
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", help="The csv file. (default: the screen)")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE where it exists.")] = False,
) -> None:
    """Predict with a model file."""
    path = None if out is None else checked_output(out, overwrite)
    # What computes is imported here: help and refusals of options must not wait for it.
    from dualgap.data.files import written_whole
    from dualgap.datasets.beside import kept_columns
    from dualgap.datasets.layout import TextOptions
    from dualgap.models.reading import load

    checked_data(data)
    fitted = load(model)
    how = fitted.reading
    options = TextOptions(encoding or how.get("encoding"), decimal or how.get("decimal"), tuple(how.get("drop", ())))
    rows, notes = _rows(fitted, data, options, strict)
    kept = kept_columns(data, keep, options) if keep else ([], [])
    quiet = context.obj == "quiet"
    if path is None:
        try:
            for lines in _csv_lines(fitted, rows, *kept):
                typer.echo(lines, nl=False)
        except BrokenPipeError:
            # The reader of the pipe has closed it, as `head` does; what Python still buffers goes to the null device.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return
    else:
        with written_whole(path) as file:
            for lines in _csv_lines(fitted, rows, *kept):
                file.write(lines.encode())
        typer.echo(str(path) if quiet else f"{rows.count:,} predictions: {path}")
    if not quiet:
        for sentence in (*notes, *_scored(fitted, rows, data, options)):
            # Predictions on the screen go to a pipe as they are; what is said about them goes beside.
            typer.echo(sentence, err=path is None)


def _rows(model: Model, data: str, options: Any, strict: bool) -> tuple[Rows, list[str]]:
    """The rows as the model needs them, and notes about them."""
    from dualgap.data.validation import as_rows
    from dualgap.datasets.columns import read_rows
    from dualgap.models.preparing import read_prepared

    target = model.reading.get("target")
    if model.preparation is None:
        X = read_rows(data, model.feature_names, model.columns, target, options)
        return as_rows(X).of_width(model.columns), []
    made = read_prepared(model.preparation, data, target, options, strict)
    return as_rows(made.X).of_width(model.columns), [f"Note: {note}." for note in made.notes]


def _scored(model: Model, rows: Rows, data: str, options: Any) -> list[str]:
    """A line with the metrics where the data has the target."""
    from dualgap.datasets.beside import target_of
    from dualgap.models.metrics import of_scores

    preparation, how = model.preparation, model.reading
    names = model.feature_names if preparation is None else preparation.names if preparation.has_names else None
    width = model.columns if preparation is None else len(preparation.names)
    y = target_of(data, how.get("target"), names, width, options, how.get("positive", ()))
    if y is None or (model.classes is None and y.dtype.kind not in "biuf"):
        return []
    found = of_scores(model, model.scores_of_rows(rows), y)
    told = ", ".join(f"{name} {value:.3f}" for name, value in found.items())
    strange = 0 if model.classes is None else sum(label not in set(model.classes.tolist()) for label in y.tolist())
    also = f"; {strange:,} rows have a label that the fit did not have" if strange else ""
    return [f"Against the target in the data: {told}{also}."]


def _csv_lines(model: Model, rows: Rows, kept_names: Sequence[str], kept: Sequence[list[str]]) -> Iterator[str]:
    """The csv text, ROWS_AT_A_TIME lines at a time; numbers are as short as they can be and read back to the same bits."""
    from dualgap.data.validation import as_rows

    yield _text([[*kept_names, *_headings(model)]])
    for begin in range(0, rows.count, ROWS_AT_A_TIME):
        part = slice(begin, min(begin + ROWS_AT_A_TIME, rows.count))
        scores = model.scores_of_rows(as_rows(rows.block(part)))
        columns = [model.decided(scores)]
        if model.classes is not None:
            columns.append(scores)
        if model.has_probabilities:
            columns.append(model.probabilities(scores))
        parts: list[list[Any]] = [[[cell] for cell in column[part]] for column in kept]
        parts += [(column[:, None] if column.ndim == 1 else column).tolist() for column in columns]
        yield _text([cell for part in row for cell in part] for row in zip(*parts, strict=True))


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
