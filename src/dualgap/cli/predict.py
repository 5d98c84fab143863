"""The command `predict`: a model file and rows in, a csv file of predictions out."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from dualgap.cli.fit import checked_output

if TYPE_CHECKING:
    from dualgap.models.model import Model

ROWS_AT_A_TIME = 1 << 14  # predicted and written together

HELP = (
    "Predict with a model file, into a csv file.\n\n"
    "DATA is a name, a spec or a file. Columns are matched by their names where the model and the data have names, else "
    "by their place; a target column is not needed, and other columns are left alone. The csv file has a line for each "
    "row: the prediction; for a classification the scores, one of two classes or one for each; and the probability of "
    "each class for the logistic loss. Where the model was fitted with --features, its map is applied to the columns.\n\n"
    "Exit codes: 0, 2 for bad input."
)
EPILOG = """Examples:

dualgap predict wine.dg new-wines.csv -o predicted.csv

dualgap predict cancer.dg breast_cancer | head
"""


def predict(
    context: typer.Context,
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file written by dualgap fit or by save.")],
    data: Annotated[str, typer.Argument(metavar="DATA", help="The rows: a name, a spec or a file.")],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", metavar="FILE", help="The csv file. (default: the screen)")
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE where it exists.")] = False,
) -> None:
    """Predict with a model file."""
    path = None if out is None else checked_output(out, overwrite)
    # What computes is imported here: help and refusals of options must not wait for it.
    from dualgap.data.files import written_whole
    from dualgap.data.validation import as_rows
    from dualgap.datasets.columns import read_rows
    from dualgap.models.reading import load

    fitted = load(model)
    width = fitted.columns
    X = read_rows(data, fitted.feature_names, width, fitted.reading.get("target"))
    as_rows(X).of_width(width)
    if path is None:
        try:
            for lines in _csv_lines(fitted, X):
                typer.echo(lines, nl=False)
        except BrokenPipeError:
            # The reader of the pipe has closed it, as `head` does; what Python still buffers goes to the null device.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return
    with written_whole(path) as file:
        for lines in _csv_lines(fitted, X):
            file.write(lines.encode())
    quiet = context.obj == "quiet"
    typer.echo(str(path) if quiet else f"{X.shape[0]:,} predictions: {path}")


def _csv_lines(model: Model, X: Any) -> Iterator[str]:
    """The csv text, ROWS_AT_A_TIME lines at a time; numbers are as short as they can be and read back to the same bits."""
    yield _text([_headings(model)])
    for begin in range(0, X.shape[0], ROWS_AT_A_TIME):
        scores = model.scores(X[begin : begin + ROWS_AT_A_TIME])
        columns = [model.decided(scores)]
        if model.classes is not None:
            columns.append(scores)
        if model.has_probabilities:
            columns.append(model.probabilities(scores))
        parts = [column[:, None] if column.ndim == 1 else column for column in columns]
        yield _text(
            [cell for part in row for cell in part] for row in zip(*(part.tolist() for part in parts), strict=True)
        )


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
