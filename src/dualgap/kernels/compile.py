"""How kernels are compiled: once per type, cached on disk where a folder can be written, without the interpreter lock."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pickle import UnpicklingError
from typing import Any

from numba import config, njit, types
from numba.extending import overload

log = logging.getLogger("dualgap")

# NumPy's error model spares a test for zero at every division; the steps handle zero curvature themselves.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}

# What reading a pickle raises that is cut short or names classes that are gone.
UNREADABLE = (AttributeError, EOFError, ImportError, UnpicklingError)

# Sums over a dense row may be regrouped, which lets them use vector registers; NaN and infinity keep their meaning.
REGROUP = {"reassoc", "contract", "nsz"}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` on first use, from the disk cache if it is there."""
    try:
        compiled = njit(cache=True, **OPTIONS)(function)
    except RuntimeError:
        # No folder for the cache can be written, as in a read-only install without a home: compile anew each time.
        return njit(**OPTIONS)(function)
    if not is_interpreted():
        _go_on_without_cache(compiled._cache)
    return compiled


def _go_on_without_cache(kernel_cache: Any) -> None:
    """Let a kernel that cannot be read from the cache be compiled, and one that cannot be written run from memory.

    Numba reads the whole index of a cache before it looks whether the index is out of date; one that another version of
    dualgap wrote may name classes that are gone. Numba saves a kernel after it was compiled and added to those it can call.
    """
    load, save = kernel_cache.load_overload, kernel_cache.save_overload

    def load_or_go_on(signature: Any, context: Any) -> Any:
        try:
            return load(signature, context)
        except UNREADABLE:
            with suppress(OSError):
                kernel_cache.flush()
            return None

    def save_or_go_on(signature: Any, compiled: Any) -> None:
        try:
            save(signature, compiled)
        except (OSError, *UNREADABLE) as error:
            _say_once(f"compiled kernels cannot be cached ({error}); each process compiles them anew")

    kernel_cache.load_overload, kernel_cache.save_overload = load_or_go_on, save_or_go_on


@cache
def _say_once(sentence: str) -> None:
    """One line in the log, however many kernels there are."""
    log.warning(sentence)


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
