"""Notes: warnings that say how a fit took a parameter that scikit-learn's users write."""

from __future__ import annotations

import sys
import warnings


class ParameterNote(UserWarning):
    """A fit took a parameter in dualgap's way; the sentence says which way.

    Examples
    --------
    >>> import warnings
    >>> import dualgap as dg
    >>> warnings.simplefilter("ignore", dg.ParameterNote)
    """


_said: set[str] = set()
"""Subjects on which this process has given its one note."""


def note(sentence: str) -> None:
    """Warn with a ParameterNote at the line that called fit."""
    warnings.warn(sentence, ParameterNote, stacklevel=caller_level())


def note_once(subject: str, sentence: str) -> None:
    """Give the note unless this process has already given one on the same subject."""
    if subject not in _said:
        _said.add(subject)
        note(sentence)


def caller_level() -> int:
    """The `stacklevel` of the first frame outside dualgap and scikit-learn: the line that called fit."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(("dualgap.", "sklearn.")):
        frame, level = frame.f_back, level + 1
    return level
