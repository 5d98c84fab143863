"""Homes of row blocks in one process: in memory, and behind readers of which one reads ahead.

A home carries out a function of (block, message) for every block. The function depends on nothing else, so a block may be loaded
again at any time, and the results come in block order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from mmap import mmap
from typing import Any, TypeVar

import numpy as np

from dualgap.data.blocks.block import Block, Coding, other_rows
from dualgap.data.rows import DenseRows, Rows
from dualgap.linalg.parallel import checkpoint, parallel_map
from dualgap.linalg.partial_sums import tree_sum

Out = TypeVar("Out")
Message = TypeVar("Message")
BlockFunction = Callable[[Block, Message], Out]
Reader = Callable[[], tuple[Any, ...]]
"""Reads (X, y, sample_weight) of one block; y and sample_weight may be None."""


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
    first: list[tuple[int, float]] = field(default_factory=list)
    """Checksum and Σ ‖x‖² of each block in the first pass; every later pass has to give the same blocks."""

    @property
    def count(self) -> int:
        if not callable(self.readers):
            return len(self.readers)
        if not self.first:
            for _ in self._blocks():
                checkpoint()
        return len(self.first)

    def map(self, function: BlockFunction[Message, Out], message: Message) -> Iterator[Out]:
        for block in self._blocks():
            checkpoint()
            yield function(block, message)

    def coded(self, coding: Coding) -> Home:
        return replace(self, coding=coding)

    def _blocks(self) -> Iterator[Block]:
        """The blocks in order, with one read ahead."""
        loads = self._loads()
        with ThreadPoolExecutor(1, thread_name_prefix="dualgap_read") as pool:
            next_block = pool.submit(next, loads, None)
            while (block := next_block.result()) is not None:
                next_block = pool.submit(next, loads, None)
                yield block
                del block  # or it would be held while the next but one is read

    def _loads(self) -> Iterator[Block]:
        parts = self.readers() if callable(self.readers) else (reader() for reader in self.readers)
        seen: list[tuple[int, float]] = []
        for number, part in enumerate(parts):
            if self.first and number >= len(self.first):
                raise other_rows(number, f"a block more than the first {number}")
            block = self._checked(number, *_three(part, number))
            del part
            seen.append((block.checksum, block.rows.squared_size))
            yield block if self.coding is None else self.coding.coded(block)
            del block
        if len(seen) < len(self.first):
            raise other_rows(len(seen), "none")
        if not seen:
            raise ValueError("Blocks needs at least one block, got a source without any; check what it iterates over")
        self.first[:] = seen

    def _checked(self, number: int, X: Any, y: Any, sample_weight: Any) -> Block:
        if not self.first:
            return Block.of(number, X, y, sample_weight)
        checksum, squared_size = self.first[number]
        if is_mapped(X) and _is_usable(X):
            # The checksum, which reads all pages, says that the values are those that were checked in the first pass.
            rows = Rows(DenseRows(np.asarray(X)), *X.shape)
            rows.__dict__["squared_size"] = squared_size
            X = rows
        block = Block.of(number, X, y, sample_weight)
        block.check_unchanged(checksum)
        return block


def _three(part: Any, number: int) -> tuple[Any, Any, Any]:
    """X, y and sample_weight of what a source hands out."""
    if not isinstance(part, tuple | list) or len(part) not in (2, 3):
        got = f"{len(part)} parts" if isinstance(part, tuple | list) else type(part).__name__
        raise TypeError(f"block {number}: a block needs to be (X, y) or (X, y, sample_weight), got {got}")
    return (part[0], part[1], part[2] if len(part) == 3 else None)


def _is_usable(X: Any) -> bool:
    """Whether rows can be used in place."""
    return X.ndim == 2 and X.size > 0 and X.flags.c_contiguous and X.dtype in (np.float32, np.float64)


def is_mapped(values: Any) -> bool:
    """Whether an array is a view of a file in a memory map."""
    while isinstance(values, np.ndarray) and not isinstance(values, np.memmap):
        values = values.base
    return isinstance(values, np.memmap | mmap)
