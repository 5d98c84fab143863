"""The table of penalties, and the one that an `l1_ratio` names."""

from __future__ import annotations

from typing import Any

from dualgap.linalg.elementary import is_number
from dualgap.penalties.base import Penalty, PenaltyGap
from dualgap.penalties.elastic_net import L1, ElasticNet
from dualgap.penalties.ridge import L2

PENALTIES: dict[str, type[Penalty]] = {penalty.name: penalty for penalty in (L2, ElasticNet, L1)}

__all__ = ["L1", "L2", "PENALTIES", "ElasticNet", "Penalty", "PenaltyGap", "penalty_of"]


def penalty_of(l1_ratio: Any) -> Penalty:
    """The penalty with this L1 part: L2 for 0, L1 for 1, the elastic net between."""
    if not (is_number(l1_ratio) and not isinstance(l1_ratio, bool) and 0.0 <= l1_ratio <= 1.0):
        raise ValueError(f"l1_ratio needs a number from 0 (L2) to 1 (L1), got {l1_ratio!r}; 0.5 mixes them evenly")
    if l1_ratio == 0.0:
        return L2()
    return L1() if l1_ratio == 1.0 else ElasticNet(float(l1_ratio))
