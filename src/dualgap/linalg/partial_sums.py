"""Partial sums of blocks, added along a tree that follows from the number of blocks alone: the same bits wherever the blocks are.

Neighbours are added first, then sums of neighbours, and so on; an odd last one waits for the next level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Term = TypeVar("Term")


class Partial(NamedTuple):
    """What a block contributes to a round: numbers that are added, and roots of sums of squares."""

    sums: Vector
    roots: Vector


def add(left: Partial, right: Partial) -> Partial:
    """The partial sum of two neighbours."""
    return Partial(left.sums + right.sums, np.hypot(left.roots, right.roots))


def add_pairs(left: tuple[Partial, Partial], right: tuple[Partial, Partial]) -> tuple[Partial, Partial]:
    """Two partial sums side by side: the judge's and Newton's."""
    return add(left[0], right[0]), add(left[1], right[1])


def tree_sum(terms: Iterable[Term], plus: Callable[[Term, Term], Term]) -> Term:
    """The sum along the tree, of terms that come one by one; about log₂ of their number are held at a time."""
    waiting: list[tuple[int, Term]] = []
    for term in terms:
        level, total = 0, term
        while waiting and waiting[-1][0] == level:
            total = plus(waiting.pop()[1], total)
            level += 1
        waiting.append((level, total))
    total = waiting.pop()[1]
    while waiting:
        total = plus(waiting.pop()[1], total)
    return total


def tree_depth(count: int) -> int:
    """Additions that a term passes through in the tree at most."""
    return max(count - 1, 0).bit_length()
