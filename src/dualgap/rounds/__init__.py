"""Fits on row blocks: rounds of sums over all blocks, and steps between them."""

from dualgap.rounds.solving import solve_blocks

__all__ = ["solve_blocks"]
