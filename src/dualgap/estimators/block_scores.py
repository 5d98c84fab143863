"""Scores on row blocks and on Dask: two numbers a row, summed over the blocks; a lazy number on Dask.

A regressor's baseline is the mean of all targets, which takes a pass of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dualgap.data.blocks import Block, Blocks
from dualgap.data.blocks.on_dask import delayed_blocks
from dualgap.data.blocks.sources import refuse_other_names
from dualgap.data.labels import real_targets
from dualgap.estimators.blocks import bare, fitted_names

Vector = NDArray[np.float64]


def block_score(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """The score of `Blocks`, which hold their labels, or of Dask collections as a lazy number."""
    names = fitted_names(estimator)
    if not isinstance(X, Blocks):
        return _lazy(estimator, X, y, sample_weight, names)
    if y is not None or sample_weight is not None:
        raise ValueError("Blocks hold y and sample_weight themselves, got them apart; pass them to Blocks")
    blocks, model = X.aligned(names), bare(estimator)
    mean = _mean(blocks.home.sum(_label_sums, None, np.add)) if _needs_mean(model) else 0.0
    sums = blocks.home.sum(_sums, (model, mean), np.add)
    blocks.note_unseen()
    return _score(model, sums)


def _lazy(estimator: Any, X: Any, y: Any, sample_weight: Any, names: Any) -> Any:
    import dask.array as da
    from dask import delayed

    columns = getattr(X, "columns", None)
    if names is not None and columns is not None:
        refuse_other_names([str(name) for name in columns], list(names))
    model, mean = delayed(bare(estimator), traverse=False), 0.0
    blocks = delayed_blocks(X, y, sample_weight)
    if _needs_mean(estimator):
        sums = delayed(_label_sums, pure=False)
        mean = delayed(_mean_of)([sums(block, None) for block in blocks])
    sums = delayed(_sums_of, pure=False)
    total = delayed(_score_of)(model, [sums(block, model, mean) for block in blocks])
    return da.from_delayed(total, (), np.float64)


def _needs_mean(estimator: Any) -> bool:
    return not hasattr(estimator, "classes_")


def _label_sums(block: Block | None, _: None) -> Vector:
    """Σ s y and Σ s of a block."""
    if block is None:
        return np.zeros(2)
    targets = real_targets(_labels(block), None)
    weights = np.ones(targets.size) if block.weights is None else block.weights
    return np.array([weights @ targets, weights.sum()])


def _sums_of(block: Block | None, model: Any, mean: float) -> Vector:
    return np.zeros(2) if block is None else _sums(block, (model, mean))


def _sums(block: Block, called: tuple[Any, float]) -> Vector:
    """The sums of what the model's score is a ratio of."""
    model, mean = called
    rows, labels = block.rows, _labels(block)
    X = rows.of_width(model.n_features_in_).block(slice(0, rows.count))
    own, base = model._score_terms(X, real_targets(labels, None) if _needs_mean(model) else labels, mean)
    weights = np.ones(rows.count) if block.weights is None else block.weights
    return np.array([weights @ own, weights @ base])


def _labels(block: Block) -> NDArray[Any]:
    if block.labels.size != block.rows.count:
        raise ValueError(f"block {block.number}: a score needs y, got none; name the target, or pass y")
    return block.labels


def _mean(sums: Vector) -> float:
    return float(sums[0] / sums[1])


def _mean_of(parts: list[Vector]) -> float:
    return _mean(np.sum(parts, axis=0))


def _score_of(model: Any, parts: list[Vector]) -> float:
    return _score(model, np.sum(parts, axis=0))


def _score(model: Any, sums: Vector) -> float:
    """The part of the rows that are right, or 1 − the error over that of the best constant."""
    own, base = map(float, sums)
    if not _needs_mean(model):
        return own / base
    return 1.0 - own / base if base > 0.0 else float(own == 0.0)
