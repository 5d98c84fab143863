"""How kernels are compiled: once per type, cached on disk where a folder can be written, without the interpreter lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import config, njit, types
from numba.extending import overload

# NumPy's error model spares a test for zero at every division; the steps handle zero curvature themselves.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}

# Sums over a dense row may be regrouped, which lets them use vector registers; NaN and infinity keep their meaning.
REGROUP = {"reassoc", "contract", "nsz"}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` on first use, from the disk cache if it is there."""
    try:
        return njit(cache=True, **OPTIONS)(function)
    except RuntimeError:
        # No folder for the cache can be written, as in a read-only install without a home: compile anew each time.
        return njit(**OPTIONS)(function)


def regrouped(function: Callable[..., Any]) -> Any:
    """Compile a part of kernels whose sums may be regrouped."""
    return njit(fastmath=REGROUP, **OPTIONS)(function)


def specialized(stub: Callable[..., Any], regroup: bool = False) -> Callable[..., Any]:
    """Let compiled code choose what `stub` does by the class of its first argument, as the stub does in plain Python.

    The decorated function has the stub's arguments and returns an implementation from a table with `by_class`.
    """
    options = {**OPTIONS, "fastmath": REGROUP} if regroup else OPTIONS
    return overload(stub, jit_options=options)  # type: ignore[no-any-return]


def by_class(table: dict[type, Callable[..., Any]], kind: Any) -> Callable[..., Any] | None:
    """The implementation for a NamedTuple's Numba type; None where the table has none, which Numba reports."""
    return table.get(kind.instance_class) if isinstance(kind, types.BaseNamedTuple) else None


def is_interpreted() -> bool:
    """Whether kernels run as plain Python (NUMBA_DISABLE_JIT=1)."""
    return bool(config.DISABLE_JIT)
