"""The loss families as kernels know them, one file each: a NamedTuple of the loss's numbers with its scalar functions as methods.

A loss names its family (`Loss.family`), and `FAMILY` in the file of that name is its class. Its methods are those of
`families/base.py`; their compiled versions are generated there, so a new family is a new file and nothing else. Each class has a
name of its own, because Numba names compiled functions after it.
"""

from __future__ import annotations

from importlib import import_module


def kernel_loss(loss, family=None):
    """The NamedTuple by which kernels know a loss; `family` replaces the loss's own, as logistic_closed_form does for logistic."""
    return import_module(f"{__name__}.{family or loss.family}").FAMILY(**loss.parameters())
