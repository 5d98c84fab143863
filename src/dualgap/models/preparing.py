"""Data made into the rows of a model whose columns were prepared: frames, arrays, and files."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from dualgap.data.preparation import Preparation, Prepared
from dualgap.data.sheet import Sheet
from dualgap.datasets import readers
from dualgap.datasets.catalog import source_of
from dualgap.datasets.columns import positions, read_rows, wanted_columns
from dualgap.datasets.layout import TextOptions
from dualgap.datasets.sheets import as_sheet, frame_sheet, matched_sheet, read_csv_columns
from dualgap.datasets.text import checked_encoding

LOG = logging.getLogger("dualgap")


def prepared(preparation: Preparation, X: Any, strict: bool = False) -> Prepared:
    """The rows of a frame or an array as the model needs them; what could not be taken as it is goes to the log too."""
    if isinstance(X, Sheet):
        found = _of_sheet(preparation, X, strict)
    elif hasattr(X, "columns"):
        found = _of_sheet(preparation, frame_sheet(X), strict)
    elif preparation.categories:
        some = ", ".join(preparation.names[:4]) + (" …" if len(preparation.names) > 4 else "")
        raise ValueError(
            f"a model with columns of text needs a data frame with the columns {some}, got {type(X).__name__}; pass a frame"
        )
    else:
        found = Prepared(preparation.of_matrix(X))
    for note in found.notes:
        LOG.warning("%s", note)
    return found


def _of_sheet(preparation: Preparation, sheet: Sheet, strict: bool) -> Prepared:
    order = positions(sheet.names, preparation.names) if preparation.has_names and sheet.has_names else None
    if order is None and len(sheet.names) != len(preparation.names):
        raise ValueError(f"the model needs {len(preparation.names)} columns, got {len(sheet.names)}; select the same")
    chosen = sheet if order is None else sheet.selected(order)
    return preparation.of_sheet(matched_sheet(chosen, preparation.categories), strict)


def read_prepared(
    preparation: Preparation, text: str, target: str | None, options: TextOptions, strict: bool = False
) -> Prepared:
    """The rows that `text` stands for (a name, a spec or a file) as the model needs them; a target is not needed."""
    checked_encoding(options.encoding)
    path = Path(text)
    is_file = source_of(text) is None and "\0" not in text and path.is_file()
    fitted, width = (preparation.names if preparation.has_names else None), len(preparation.names)
    if is_file:
        with readers.refusing_damage(path, options.encoding):
            kind = readers.kind_of(path)
            if kind in readers.TABLES:

                def places(names: list[str], header: bool) -> list[int]:
                    return wanted_columns(path.name, names, header, fitted, width, target, options.drop)

                return preparation.of_sheet(read_csv_columns(path, options, places, preparation.categories), strict)
            if kind == ".parquet":
                from dualgap.datasets import parquet

                names = parquet.column_names(path)
                order = wanted_columns(path.name, names, True, fitted, width, target, options.drop)
                chosen = [names[place] for place in order]
                sheet = as_sheet(path.name, chosen, parquet.columns(path, chosen))
                return preparation.of_sheet(matched_sheet(sheet, preparation.categories), strict)
    X = read_rows(text, fitted, width, target, options)
    if preparation.categories:
        raise ValueError(f"the model has columns of text, which csv and parquet files have, and {text!r} is neither")
    return Prepared(preparation.of_matrix(X))
