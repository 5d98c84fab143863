"""How many updates the theorems call sufficient."""

from __future__ import annotations

from math import ceil, log

from dualgap.losses.base import positive


def sufficient_updates(
    n: int, strength: float, gap: float, lipschitz: float = 1.0, smoothness: float | None = None
) -> int:
    """Updates after which SDCA's expected duality gap is at most `gap`, for rows of length at most 1.

    Shalev-Shwartz & Zhang (JMLR 2013). For an L-Lipschitz loss and averaged output, T = t₀ + n + 20L²/(λε) with
    t₀ = max(0, ⌈n ln(λn/(2L²))⌉), averaging from T₀ ≥ t₀. For a β-smooth loss (`smoothness`) and the last iterate,
    T = (n + β/λ)·ln((n + β/λ)/ε).

    >>> sufficient_updates(452, 0.05, 1e-3)
    401549
    """
    for name, value in (("n", n), ("strength", strength), ("gap", gap), ("lipschitz", lipschitz)):
        positive("sufficient_updates", name, value)
    if smoothness is not None:
        positive("sufficient_updates", "smoothness", smoothness)
        size = n + smoothness / strength
        return max(0, ceil(size * log(size / gap)))
    first = max(0, ceil(n * log(strength * n / (2.0 * lipschitz**2))))
    return first + n + ceil(20.0 * lipschitz**2 / (strength * gap) * (1.0 - 1e-15))
