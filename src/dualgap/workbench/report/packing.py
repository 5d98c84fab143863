"""Packing: lists of numbers as base64 texts of four-byte floats, each different list kept once."""

from __future__ import annotations

import base64
from collections.abc import Sequence

import numpy as np

# Beyond these a four-byte float is infinite, which a chart cannot draw.
LARGEST = float(np.finfo(np.float32).max)


class Pool:
    """The packed lists of a page, which name each other by their place here."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def add(self, values: Sequence[float]) -> int:
        """The place of a list; seven digits of each number are kept."""
        numbers = np.clip(np.asarray(values, dtype=float), -LARGEST, LARGEST).astype("<f4")
        text = base64.b64encode(numbers.tobytes()).decode("ascii")
        return self._places.setdefault(text, len(self._places))

    @property
    def texts(self) -> list[str]:
        """All lists, by place."""
        return list(self._places)
