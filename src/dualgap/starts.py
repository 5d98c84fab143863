"""What a caller may start a run from: an earlier result or (weights, intercept, duals), checked part by part."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def parts_of(start: Any, kind: type) -> tuple[Any, Any, Any]:
    """Weights, intercept and duals of a result of the given kind or of a tuple."""
    if isinstance(start, kind):
        found: Any = start
        return found.weights, found.intercept, found.duals
    if not isinstance(start, tuple | list):
        raise TypeError(
            f"start needs a {kind.__name__} or (weights, intercept, duals), got {type(start).__name__}; duals may be None"
        )
    if len(start) != 3:
        raise ValueError(
            f"start needs a {kind.__name__} or (weights, intercept, duals), got {len(start)} parts; duals may be None"
        )
    return start[0], start[1], start[2]


def numbers(name: str, values: Any, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """One part of a start as finite float64 of the given shape; a single line of numbers may be shaped as it likes."""
    needed = f"{shape[0]} finite {name}" if len(shape) == 1 else f"finite {name} of shape {shape}"
    try:
        found = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"start needs {needed}, got values that are not numbers; pass floats") from None
    got = f"{found.size}" if len(shape) == 1 else f"shape {found.shape}"
    if len(shape) == 1 and found.size == shape[0]:
        found = found.reshape(shape)
    if found.shape != shape:
        raise ValueError(f"start needs {needed}, got {got}; start from a fit of data of the same shape")
    if not np.isfinite(found).all():
        bad = int(np.count_nonzero(~np.isfinite(found)))
        raise ValueError(f"start needs {needed}, got NaN or infinity in {bad} of them; leave start out for zeros")
    return found
