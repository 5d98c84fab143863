"""Watching a race: what a view may hear while runs go on in this process or in others."""

from __future__ import annotations

from typing import Any

from dualgap.trace import Record
from dualgap.workbench.plan import Heat, Run
from dualgap.workbench.store import FinishedRun


class Watcher:
    """Hears what happens in a race. Every method does nothing here; a view overrides what it wants to show."""

    def loading(self, heat: Heat) -> None:
        """The data of a heat is about to be read."""

    def loaded(self, heat: Heat, data: dict[str, Any], strength: float) -> None:
        """The data of a heat is in memory and its problem stands."""

    def preparing(self, solver: str) -> None:
        """The kernels of a solver are being compiled, or read from the cache."""

    def refused(self, solver: str, sentence: str) -> None:
        """A solver cannot do this problem, and says why."""

    def already(self, run: Run, finished: FinishedRun) -> None:
        """A run was found finished on disk."""

    def started(self, run: Run) -> None:
        """A run begins."""

    def recorded(self, run: Run, record: Record) -> None:
        """A run made a record."""

    def finished(self, run: Run, finished: FinishedRun) -> None:
        """A run ended by itself, or by Ctrl-C."""
