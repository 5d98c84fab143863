"""Homes of row blocks in one process: in memory, and behind readers of which one reads ahead.

A home carries out a function of (block, message) for every block. The function depends on nothing else, so a block may be loaded
again at any time, and the results come in block order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from dualgap.data.blocks.block import Block, Coding
from dualgap.data.rows import DenseRows, Rows
from dualgap.linalg.parallel import parallel_map
from dualgap.linalg.partial_sums import tree_sum

Out = TypeVar("Out")
Message = TypeVar("Message")
BlockFunction = Callable[[Block, Message], Out]
Reader = Callable[[], tuple[Any, ...]]
"""Reads (X, y, sample_weight) of one block; y and sample_weight may be None."""

# One byte of every so many is read to have a memory map's pages at hand: the size of a page.
PAGE_BYTES = 4096


class HomeLost(RuntimeError):
    """The blocks can no longer be reached."""


class Home(ABC):
    """Where the blocks are."""

    @property
    @abstractmethod
    def count(self) -> int:
        """How many blocks there are."""

    @abstractmethod
    def map(self, function: BlockFunction[Message, Out], message: Message) -> Iterator[Out]:
        """function(block, message) of every block, in block order."""

    @abstractmethod
    def coded(self, coding: Coding) -> Home:
        """The blocks with a problem's labels and weights."""

    def sum(self, function: BlockFunction[Message, Out], message: Message, plus: Callable[[Out, Out], Out]) -> Out:
        """The sum of function(block, message), along a tree over the numbers of the blocks."""
        return tree_sum(self.map(function, message), plus)


@dataclass(frozen=True)
class InMemory(Home):
    """Blocks in this process, which threads share."""

    blocks: Sequence[Block]

    @property
    def count(self) -> int:
        return len(self.blocks)

    def map(self, function: BlockFunction[Message, Out], message: Message) -> Iterator[Out]:
        return parallel_map(lambda block: function(block, message), self.blocks)

    def coded(self, coding: Coding) -> Home:
        return InMemory([coding.coded(block) for block in self.blocks])


@dataclass(frozen=True)
class Streamed(Home):
    """Blocks that are loaded one after the other, the next one while a function works on this one."""

    readers: Sequence[Reader] | Callable[[], Iterator[tuple[Any, ...]]]
    """A reader for each block, or a function that begins to iterate over them again."""
    coding: Coding | None = None
    sizes: dict[int, tuple[int, float]] = field(default_factory=dict)
    """Rows and Σ ‖x‖² of blocks that were loaded once. A memory map that is as it was need not be checked again."""

    @property
    def count(self) -> int:
        if not callable(self.readers):
            return len(self.readers)
        if not self.sizes:
            for _ in self._blocks():
                pass
        return len(self.sizes)

    def map(self, function: BlockFunction[Message, Out], message: Message) -> Iterator[Out]:
        for block in self._blocks():
            yield function(block, message)

    def coded(self, coding: Coding) -> Home:
        return replace(self, coding=coding)

    def _blocks(self) -> Iterator[Block]:
        """The blocks in order, with one read ahead."""
        loads = self._loads()
        with ThreadPoolExecutor(1, thread_name_prefix="dualgap_read") as pool:
            following = pool.submit(next, loads, None)
            while (block := following.result()) is not None:
                following = pool.submit(next, loads, None)
                yield block
                del block  # or it would be held while the next but one is read

    def _loads(self) -> Iterator[Block]:
        parts = self.readers() if callable(self.readers) else (reader() for reader in self.readers)
        for number, part in enumerate(parts):
            X, y, sample_weight = _three(part, number)
            block = self._checked(number, X, y, sample_weight)
            del part, X, y, sample_weight
            yield block if self.coding is None else self.coding.coded(block)
            del block

    def _checked(self, number: int, X: Any, y: Any, sample_weight: Any) -> Block:
        known = self.sizes.get(number)
        if isinstance(X, np.memmap) and known is not None and known[0] == X.shape[0] and _is_usable(X):
            _touch(X)
            rows = Rows(DenseRows(np.asarray(X)), *X.shape)
            rows.__dict__["squared_size"] = known[1]
            X = rows
        block = Block.of(number, X, y, sample_weight)
        self.sizes[number] = (block.rows.count, block.rows.squared_size)
        return block


def _three(part: Any, number: int) -> tuple[Any, Any, Any]:
    """X, y and sample_weight of what a source hands out."""
    if not isinstance(part, tuple | list) or len(part) not in (2, 3):
        got = f"{len(part)} parts" if isinstance(part, tuple | list) else type(part).__name__
        raise TypeError(f"block {number}: a block needs to be (X, y) or (X, y, sample_weight), got {got}")
    return (part[0], part[1], part[2] if len(part) == 3 else None)


def _is_usable(X: Any) -> bool:
    """Whether rows can be used in place."""
    return X.ndim == 2 and X.flags.c_contiguous and X.dtype in (np.float32, np.float64)


def _touch(X: Any) -> None:
    """Bring a memory map's pages into memory."""
    np.asarray(X).reshape(-1).view(np.uint8)[::PAGE_BYTES].max(initial=0)
