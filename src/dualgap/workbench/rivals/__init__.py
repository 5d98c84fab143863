"""Rivals: other packages that minimize the same objective, each in a file of its own, and the table of them."""

from __future__ import annotations

import pkgutil
from importlib import import_module

from dualgap.workbench.rivals.base import Rival

# A module here that holds a RIVAL enters the table; the modules import their packages only when they fit.
_FOUND = [import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)]
RIVALS: dict[str, Rival] = {module.RIVAL.name: module.RIVAL for module in _FOUND if hasattr(module, "RIVAL")}


def installed() -> list[str]:
    """The names of the rivals whose packages are here."""
    return [name for name, rival in RIVALS.items() if rival.available()]


def missing() -> list[str]:
    """The names of the rivals whose packages are not installed."""
    return [name for name, rival in RIVALS.items() if not rival.available()]


__all__ = ["RIVALS", "Rival", "installed", "missing"]
