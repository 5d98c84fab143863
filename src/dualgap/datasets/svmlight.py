"""Svmlight text, a label and then index:value pairs in each line: read by scikit-learn, its faults named by their line."""

from __future__ import annotations

import math
from collections.abc import Callable
from io import BufferedReader
from typing import Any

import numpy as np

from dualgap.memory import refuse_beyond_memory

Opener = Callable[[], BufferedReader]

# The widest public sets have 55 million columns; an index far beyond is a slip, and a fit would allocate one weight for each column up to it.
MAX_COLUMNS = 100_000_000
# Weights, gradient, direction and the like: the vectors of one float64 a column that a fit holds, about.
VECTORS = 10
MARK = b"\xef\xbb\xbf"  # a byte-order mark, as some editors put it before the first line
FORM = "a line is a label and index:value pairs, indices ascending from 1"


def read_svmlight(opener: Opener, name: str) -> tuple[Any, np.ndarray[Any, Any]]:
    """Sparse rows and targets; only a file that fails is read again, to say in which line and why."""
    from sklearn.datasets import load_svmlight_file

    try:
        with opener() as file:
            X, y = load_svmlight_file(_after_mark(file))
    except (ValueError, OverflowError) as error:
        _refuse(opener, name)
        raise ValueError(f"{name} is not svmlight text ({FORM}): {error}") from None
    if X.shape[0] == 0:
        raise ValueError(f"{name} holds no rows; {FORM}")
    if X.shape[1] <= MAX_COLUMNS:
        refuse_too_wide(X.shape[1], name)
    if X.shape[1] > MAX_COLUMNS or not (np.isfinite(X.data).all() and np.isfinite(y).all()):
        _refuse(opener, name)
    return X, y


def refuse_too_wide(columns: int, name: str) -> None:
    """A ValueError for more columns than are read, or than a fit could hold its vectors for."""
    if columns > MAX_COLUMNS:
        raise ValueError(f"{name} has {columns:,} columns, and more than {MAX_COLUMNS:,} are not read")
    refuse_beyond_memory(8 * VECTORS * columns, f"a fit of the {columns:,} columns of {name}")


def _after_mark(file: BufferedReader) -> BufferedReader:
    if file.peek(len(MARK))[: len(MARK)] == MARK:
        file.read(len(MARK))
    return file


def _refuse(opener: Opener, name: str) -> None:
    """Raise with the first line that is not as it should be; return where every line is."""
    with opener() as file:
        for number, line in enumerate(_after_mark(file), 1):
            fault = _fault(line.split(b"#")[0].decode("utf-8", errors="replace").split())
            if fault:
                raise ValueError(f"{name} is not svmlight text: line {number} has {fault}; {FORM}")


def _fault(words: list[str]) -> str:
    """What is wrong with a line, or nothing."""
    if not words:
        return ""
    label, *pairs = words
    if not _is_finite(label):
        return f"the label {label!r}, which is no finite number"
    before = -1
    for pair in pairs:
        place, colon, value = pair.partition(":")
        if place == "qid":
            continue
        if not colon or not place.lstrip("-+").isdigit():
            return f"{pair!r}, which is no index:value"
        index = int(place)
        if index < 0:
            return f"the negative index {index}"
        if index > MAX_COLUMNS:
            return f"the index {index}, and more than {MAX_COLUMNS:,} columns are not read"
        if index <= before:
            return f"the index {index} behind {before}"
        if not _is_finite(value):
            return f"{pair!r}, whose value is no finite number"
        before = index
    return ""


def _is_finite(text: str) -> bool:
    try:
        return math.isfinite(float(text)) and "_" not in text
    except ValueError:
        return False
