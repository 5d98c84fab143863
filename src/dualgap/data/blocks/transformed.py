"""Blocks that are transformed as they are loaded: columns standardized, labels made −1 and +1. No copy of them is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from dualgap.data.blocks.block import Block, Coding
from dualgap.data.blocks.homes import BlockFunction, Home, Message, Out
from dualgap.data.columns import CONSTANT_PART, mean_squares
from dualgap.data.preparation import Preparation
from dualgap.data.validation import as_rows

Vector = NDArray[np.float64]
Transform = Callable[[Block], Block]


@dataclass(frozen=True)
class Transformed(Home):
    """The blocks of another home, transformed each time a function is carried out."""

    home: Home
    transforms: tuple[Transform, ...]

    @property
    def count(self) -> int:
        return self.home.count

    def map(self, function: BlockFunction[Message, Out], message: Message) -> Iterator[Out]:
        return self.home.map(_carry_out, (function, self.transforms, message))

    def sum(self, function: BlockFunction[Message, Out], message: Message, plus: Callable[[Out, Out], Out]) -> Out:
        return self.home.sum(_carry_out, (function, self.transforms, message), plus)

    def coded(self, coding: Coding) -> Home:
        return Transformed(self.home, (*self.transforms, coding.coded))


def _carry_out(block: Block, sent: tuple[BlockFunction[Message, Out], tuple[Transform, ...], Message]) -> Out:
    function, transforms, message = sent
    return function(transformed(block, transforms), message)


def transformed(block: Block, transforms: tuple[Transform, ...]) -> Block:
    """The block after all transforms, one after the other."""
    for transform in transforms:
        block = transform(block)
    return block


@dataclass(frozen=True, eq=False)
class Signs:
    """Labels as the real targets −1 and +1, and weights times a factor for each class."""

    classes: NDArray[Any]
    positive: Any
    factors: Vector | None

    def __call__(self, block: Block) -> Block:
        labels, weights = np.where(block.labels == self.positive, 1.0, -1.0), block.weights
        if self.factors is not None:
            factors = self.factors[np.searchsorted(self.classes, block.labels)]
            weights = factors if weights is None else weights * factors
        return Block(block.number, block.rows, labels, weights)


@dataclass(frozen=True, eq=False)
class Scaling:
    """Columns brought to mean 0 and deviation 1: (x − mean)/scale. Means are 0 where rows are sparse, which keeps their zeros."""

    means: Vector
    scales: Vector

    @staticmethod
    def of(home: Home, kept: NDArray[np.bool_] | None = None) -> Scaling:
        """The means and deviations of all rows, each counting as one; `kept` columns stay as they are."""
        found = home.sum(_moments, None, _joined)
        variances = found.spreads / found.rows
        # As in a fit of data in memory: a constant column is only centered.
        is_varied = variances > CONSTANT_PART**2 * (variances + found.means**2)
        means, scales = found.means, np.sqrt(np.where(is_varied, variances, 1.0))
        if not (np.isfinite(means).all() and np.isfinite(scales).all()):
            raise ValueError("X has values too large to standardize; divide them, or leave standardize out")
        if found.is_sparse:
            means = np.zeros_like(means)
        if kept is not None:
            means, scales = np.where(kept, 0.0, means), np.where(kept, 1.0, scales)
        return Scaling(means, scales)

    def __call__(self, block: Block) -> Block:
        rows = block.rows.of_width(self.means.size)
        matrix = rows.block(slice(0, rows.count))
        if rows.is_sparse:
            values = matrix.data / self.scales[matrix.indices]
            scaled: Any = sp.csr_matrix((values, matrix.indices, matrix.indptr), matrix.shape)
        else:
            scaled = (matrix - self.means) / self.scales
        return Block(block.number, as_rows(scaled), block.labels, block.weights)

    def preparation(self, made: Preparation | None, names: list[str] | None) -> Preparation:
        """The same for the columns of a table, some of which may be text."""
        told = tuple(map(str, range(self.means.size))) if names is None else tuple(names)
        if made is None:
            nothing = np.full(self.means.size, np.nan)
            return Preparation(told, names is not None, nothing, self.means, self.scales, {})
        means, scales, begin = made.means.copy(), made.scales.copy(), 0
        for place in range(len(made.names)):
            if place not in made.categories:
                means[place], scales[place] = self.means[begin], self.scales[begin]
            begin += len(made.categories.get(place, (None,)))
        return replace(made, means=means, scales=scales)

    def folded(self, weights: Vector, intercept: Any) -> tuple[Vector, Any]:
        """Weights and intercept that give the same scores on columns as they are, from those of standardized columns."""
        own = (weights.T / self.scales).T
        return own, intercept - self.means @ own

    def unfolded(self, weights: Vector, intercept: Any) -> tuple[Vector, Any]:
        """Weights and intercept of standardized columns, from those of the columns as they are."""
        return (weights.T * self.scales).T, intercept + self.means @ weights


class Moments(NamedTuple):
    """Of some rows: how many, the means of their columns, and the sums of squared differences from these."""

    rows: int
    means: Vector
    spreads: Vector
    is_sparse: bool


def _moments(block: Block, _: None) -> Moments:
    rows = block.rows
    if not rows.is_sparse:
        matrix = rows.block(slice(0, rows.count))
        with np.errstate(over="ignore", invalid="ignore"):
            return Moments(rows.count, matrix.mean(axis=0), matrix.var(axis=0) * rows.count, False)
    sums = np.zeros(rows.dimension)
    for _part, matrix in rows.blocks():
        sums += np.ones(matrix.shape[0]) @ matrix
    return Moments(rows.count, sums / rows.count, mean_squares(rows, centered=True) * rows.count, True)


def _joined(one: Moments, other: Moments) -> Moments:
    """The moments of both groups of rows."""
    if one.means.size != other.means.size:
        raise ValueError(
            f"X needs the same columns in all blocks, got {one.means.size} and {other.means.size}; select the same columns"
        )
    count, step = one.rows + other.rows, other.means - one.means
    with np.errstate(over="ignore", invalid="ignore"):
        means = one.means + step * (other.rows / count)
        spreads = one.spreads + other.spreads + step * step * (one.rows * (other.rows / count))
    return Moments(count, means, spreads, one.is_sparse or other.is_sparse)
