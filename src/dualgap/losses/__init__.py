"""The table of losses."""

from __future__ import annotations

from dualgap.losses.base import Loss
from dualgap.losses.margin import Hinge, Logistic, SmoothedHinge, SquaredHinge
from dualgap.losses.poisson import Poisson
from dualgap.losses.residual import (
    Absolute,
    EpsilonInsensitive,
    Huber,
    Quantile,
    Squared,
    SquaredEpsilonInsensitive,
)

LOSSES: dict[str, type[Loss]] = {
    loss.name: loss
    for loss in (
        Hinge,
        SmoothedHinge,
        SquaredHinge,
        Logistic,
        Squared,
        Absolute,
        EpsilonInsensitive,
        SquaredEpsilonInsensitive,
        Quantile,
        Huber,
        Poisson,
    )
}

__all__ = [
    "LOSSES",
    "Absolute",
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "Poisson",
    "Quantile",
    "SmoothedHinge",
    "Squared",
    "SquaredEpsilonInsensitive",
    "SquaredHinge",
]
