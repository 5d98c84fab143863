"""Proximal SDCA under an elastic net: one dual at a time, against a lower bound of D.

Shalev-Shwartz & Zhang, "Accelerated proximal stochastic dual coordinate ascent for regularized loss minimization",
Math. Programming 155 (2016), procedure Prox-SDCA. With x = Σ s_i α_i x_i/(λS) and w = soft(x, ρ)/(1 − ρ)

    Δ maximizes −φ_i*(−(α_i + Δ)) − Δ·z_i − (s_i/S)(‖x_i‖²/(λ(1 − ρ)) + 1/μ)·Δ²/2 ,   z_i = ⟨x_i, w⟩ + b
    α_i += Δ ,   x += s_i Δ x_i/(λS) ,   b += s_i Δ/(μS)

r* is 1/(1 − ρ)-smooth, so D rises by at least what the bound says. The soft threshold is taken where a row reads w.
"""

from __future__ import annotations

from dualgap.kernels.arguments import weight_of
from dualgap.kernels.compile import kernel
from dualgap.kernels.rows import add_to, prefetch, soft_dot
from dualgap.kernels.sdca import AHEAD


@kernel
def elastic_net_steps(data, loss, constants, l1_ratio, order, duals, combination, scalars):
    """Coordinate steps over `order`. Updates duals, combination and scalars in place; combination = x(duals) still holds."""
    rows, labels, squared_norms = data.rows, data.labels, constants.squared_norms
    intercept, rate, scale = scalars.intercept, constants.intercept_rate, 1.0 / constants.lambda_n
    stretch = 1.0 / (1.0 - l1_ratio)
    for k in range(order.size):
        if k + AHEAD < order.size:
            prefetch(rows, order[k + AHEAD])
        i = order[k]
        old, weight = duals[i], weight_of(data.sample_weight, i)
        score = soft_dot(rows, i, combination, l1_ratio) * stretch + intercept
        dual_curvature = weight * (squared_norms[i] * scale * stretch + rate)
        new = loss.dual_step(score, labels[i], old, dual_curvature)
        delta = new - old
        if delta != 0.0:
            duals[i] = new
            add_to(rows, i, weight * delta * scale, combination)
            intercept += weight * delta * rate
    scalars.intercept = intercept
