"""Compiled inner loops, the only place that speaks Numba; each module is loaded when it is first asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    """A module of kernels: Numba takes a third of a second to load, which a run without kernels does not pay."""
    if name.startswith("_"):
        raise AttributeError(name)
    try:
        return import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":
            raise
        raise AttributeError(f"there are no kernels named {name!r}") from None
