"""The report: one HTML page, a function of results files alone, that opens offline and asks nothing of any network."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from dualgap.data.files import write_text
from dualgap.workbench.report.content import content
from dualgap.workbench.report.reading import read_all
from dualgap.workbench.report.rendering import render
from dualgap.workbench.store import FinishedRun

__all__ = ["page", "write_page"]

log = logging.getLogger("dualgap")


def page(runs: Sequence[FinishedRun], notes: Sequence[str] = (), command: str | None = None) -> str:
    """The whole page as text. `notes` are shown on it; without a `command` the settings of the runs give one."""
    return render(content(runs, notes, command))


def write_page(paths: Sequence[Path], output: Path, command: str | None = None) -> Path:
    """Make the page of all runs in the files, under a temporary name and then moved to `output`, which it replaces.

    What is damaged in a file is left out, said in the log, and said on the page. A file without any run, or written by a
    newer dualgap, is a ValueError.
    """
    runs, notes = read_all(paths)
    for note in notes:
        log.warning("%s", note)
    write_text(output, page(runs, notes, command))
    return output
