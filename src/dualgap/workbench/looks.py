"""How contenders look in every figure: a color, a dash and a symbol for each."""

from __future__ import annotations

from collections.abc import Iterable

# Okabe & Ito's colors, the strong ones first; the dash and the symbol tell solvers apart without any color.
# After these eight purple, brown, olive and crimson, none of them close to another.
EIGHT = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
COLORS = (*EIGHT, "#7A52B3", "#8C5A2B", "#6E8B23", "#C2185B")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "hexagon", "x", "star", "triangle-down", "cross")


def styles(solvers: Iterable[str]) -> dict[str, tuple[str, str, str]]:
    """Color, dash and symbol of each solver, in the given order; no two of the first seventy-two are alike."""
    return {
        solver: (COLORS[i % len(COLORS)], DASHES[(i + i // len(COLORS)) % len(DASHES)], SYMBOLS[i % len(SYMBOLS)])
        for i, solver in enumerate(dict.fromkeys(solvers))
    }
