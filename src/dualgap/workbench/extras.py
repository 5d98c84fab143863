"""The packages of the extra `race`, and the sentence that says how to install those that are missing."""

from __future__ import annotations

from importlib.util import find_spec

PACKAGES = ("typer", "rich", "jinja2", "plotly", "platformdirs")


def what_is_missing(task: str) -> str | None:
    """One sentence with the packages that `task` needs and that are not installed; None where all are."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if not missing:
        return None
    verb = "is" if len(missing) == 1 else "are"
    return f"{task} needs {', '.join(missing)}, which {verb} not installed; python -m pip install 'dualgap[race]'"


def require(task: str) -> None:
    """An ImportError with that sentence where a package is missing."""
    if sentence := what_is_missing(task):
        raise ImportError(sentence)
