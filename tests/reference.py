"""Slow twins: every algorithm once more, from the papers' formulas, with plain loops and dense vectors.

Nothing here is scaled lazily, carried along or shared with the package: weights are recomputed from the duals at each
step, averages are means over a list of all iterates, and each dual step is found by bisecting on the derivative of the
one-dimensional dual. Given the same order, a kernel and its twin agree to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import quad

from reference_losses import Table, best_dual, kkt_violation, rough_logistic_dual


class Data(NamedTuple):
    """A problem as plain arrays: dense rows, labels, weights (ones where there are none) and λ."""

    X: np.ndarray
    labels: np.ndarray
    sample_weight: np.ndarray
    strength: float

    @property
    def total(self) -> float:
        return float(self.sample_weight.sum())

    @property
    def mean_squared_norm(self) -> float:
        return float((self.sample_weight * (self.X**2).sum(axis=1)).sum()) / self.total

    def weights_of(self, duals: np.ndarray, total: float | None = None) -> np.ndarray:
        """w(α) = (1/(λS)) Σ s_i α_i x_i, or with another total in place of S."""
        return self.X.T @ (self.sample_weight * duals) / (self.strength * (total or self.total))


def plain(problem: Any) -> Data:
    """The arrays of one of the package's problems, as dense float64."""
    stored = problem.rows.arrays
    if hasattr(stored, "values"):
        X = np.array(stored.values, dtype=np.float64)
    else:
        X = np.zeros((problem.rows.count, problem.rows.dimension))
        for i in range(X.shape[0]):
            for p in range(int(stored.indptr[i]), int(stored.indptr[i + 1])):
                X[i, int(stored.indices[p])] += float(stored.data[p])
    sample_weight = np.ones(X.shape[0]) if problem.sample_weight is None else problem.sample_weight.copy()
    return Data(X, problem.labels.copy(), sample_weight, problem.strength)


class Iterate(NamedTuple):
    """Where an algorithm is after an update."""

    weights: np.ndarray
    intercept: float
    duals: np.ndarray


def mean_of(iterates: Iterable[Iterate]) -> tuple[np.ndarray, np.ndarray]:
    """The means of the weights and of the duals, term by term."""
    kept = list(iterates)
    return np.mean([it.weights for it in kept], axis=0), np.mean([it.duals for it in kept], axis=0)


class Run(NamedTuple):
    """All iterates, one list per epoch, and where the last epoch ended."""

    epochs: list[list[Iterate]]
    end: Iterate

    @property
    def iterates(self) -> list[Iterate]:
        return [iterate for epoch in self.epochs for iterate in epoch]


def sdca(
    data: Data,
    loss: Table,
    orders: Iterable[np.ndarray],
    intercept_fraction: float = 0.0,
    modified_sgd_first: bool = False,
    step: Callable[..., float] = best_dual,
    center: float = 0.0,
    ratio: float = 0.0,
) -> Run:
    """Procedures SDCA and, for the first epoch if asked, Modified-SGD (Shalev-Shwartz & Zhang, JMLR 2013).

    A free intercept is b = center + Σ s_i α_i/(μS) with μ = λ/(ρ·mean‖x‖²): the dual of a penalty (μ/2)(b − center)².
    After an epoch the center moves to b. ρ = intercept_fraction; zero means no intercept. With an L1 part `ratio` of the penalty it is
    procedure Prox-SDCA: w is soft(x, ratio)/(1 − ratio) for the x that is w without that part.
    """
    X, y, s, strength = data
    one_over_mu = intercept_fraction * data.mean_squared_norm / strength
    alpha = np.zeros(y.size)

    def weights_of(seen: float) -> np.ndarray:
        x = data.weights_of(alpha, seen)
        return np.sign(x) * np.maximum(np.abs(x) - ratio, 0.0) / (1.0 - ratio)

    epochs: list[list[Iterate]] = []
    for number, order in enumerate(orders):
        iterates = []
        seen = 0.0 if number == 0 and modified_sgd_first else data.total
        for i in map(int, order):
            # Before the first row of modified SGD there is nothing to divide by, and w^(0) = 0.
            w = weights_of(seen) if seen > 0.0 else np.zeros(X.shape[1])
            b = center + (one_over_mu * float(s @ alpha) / seen if seen > 0.0 else 0.0)
            if number == 0 and modified_sgd_first:
                seen += s[i]
                if s[i] == 0.0:
                    iterates.append(Iterate(w, b, alpha.copy()))
                    continue
            dual_curvature = s[i] * (X[i] @ X[i] / (strength * (1.0 - ratio)) + one_over_mu) / seen
            alpha[i] = step(loss, float(X[i] @ w) + b, y[i], alpha[i], dual_curvature)
            w = weights_of(seen)
            b = center + one_over_mu * float(s @ alpha) / seen
            iterates.append(Iterate(w, b, alpha.copy()))
        epochs.append(iterates)
        center += one_over_mu * float(s @ alpha) / data.total
    b = center + one_over_mu * float(s @ alpha) / data.total
    return Run(epochs, Iterate(weights_of(data.total), b, alpha.copy()))


# How far a step size may be from 1 by rounding alone.
ROUNDING = 1e-12


def part_at_the_end(fall: float) -> float:
    """What is left of a pass's terms at its end, as a part of what it is for terms that do not fall.

    Steps at the time τ lower the gap by fall^τ; a row that is visited at the time t of a pass is met with the steps since t − 1, and at
    the end with those since t.
    """

    def steps(begin: float, end: float) -> float:
        return (fall**begin - fall**end) / -np.log(fall)

    met, left = quad(lambda t: steps(t - 1.0, t), 0.0, 1.0)[0], quad(lambda t: steps(t, 1.0), 0.0, 1.0)[0]
    return float(2.0 * left / met)


class ShrinkingPasses:
    """Passes of coordinate ascent in which rows that a bound holds are left out: for 1, 3, 7, 15, 31 passes when held again.

    A row that is not held begins at one pass again. `step` is the step before, for extrapolation.
    """

    def __init__(self, data: Data, loss: Table, intercept_fraction: float = 0.0, center: float = 0.0) -> None:
        count = data.labels.size
        self.data, self.loss, self.alpha = data, loss, np.zeros(count)
        self.shrunk_passes, self.returns, self.number = [0] * count, [0] * count, 0
        self.step = np.zeros(count)
        self.one_over_mu = intercept_fraction * data.mean_squared_norm / data.strength
        self.center = center

    @property
    def intercept(self) -> float:
        return self.center + self.one_over_mu * float(self.data.sample_weight @ self.alpha) / self.data.total

    @property
    def active(self) -> set[int]:
        return {i for i, returns in enumerate(self.returns) if returns <= self.number}

    def dual(self) -> float:
        _, y, s, strength = self.data
        w = self.data.weights_of(self.alpha)
        conjugates = sum(s[i] * self.loss.dual_value(self.alpha[i], y[i]) for i in range(y.size))
        return conjugates / self.data.total - strength / 2.0 * float(w @ w)

    def make_pass(self, order: np.ndarray) -> float:
        """One pass over the active rows, in this order; returns the sum of the gap's terms before each step."""
        X, y, s, strength = self.data
        before, terms = self.alpha.copy(), 0.0
        for i in map(int, order):
            score = float(X[i] @ self.data.weights_of(self.alpha)) + self.intercept
            if kkt_violation(self.loss, score, y[i], self.alpha[i]) < 0.0:
                self.shrunk_passes[i] = min(2 * self.shrunk_passes[i] + 1, 31)
                self.returns[i] = self.number + 1 + self.shrunk_passes[i]
                continue
            self.shrunk_passes[i] = 0
            self.returns[i] = self.number + 1
            gap = self.loss.value(score, y[i]) - self.loss.dual_value(self.alpha[i], y[i]) + self.alpha[i] * score
            terms += s[i] * gap
            dual_curvature = s[i] * (X[i] @ X[i] / strength + self.one_over_mu) / self.data.total
            # A conjugate that is curved all over has no closed step: near the best one is enough.
            row = (score, y[i], self.alpha[i], dual_curvature)
            near = (
                rough_logistic_dual(*row)
                if self.loss.domain(1.0) == (0.0, 1.0) and self.loss.conjugate_curvature is None
                else None
            )
            self.alpha[i] = best_dual(self.loss, *row) if near is None else near
        self.center += (self.intercept - self.center) * len(order) / y.size
        if self.one_over_mu == 0.0 and self.number > 0:
            self.extrapolate(before, {int(i) for i in order})
        else:
            self.step[:] = 0.0
        self.number += 1
        return terms

    def conjugate_interval(self, i: int) -> tuple[float, float]:
        """Where the conjugate is smooth around α_i; a curved one is followed at most eight times closer to an end."""
        low, high = self.loss.domain(self.data.labels[i])
        alpha = self.alpha[i]
        if self.loss.near is not None:
            return self.loss.near(alpha, self.data.labels[i])
        if low < 0.0 < high and self.loss.dual_slope(0.0, 0.0, 1) != self.loss.dual_slope(0.0, 0.0, -1):
            low, high = (0.0, high) if alpha > 0.0 else (low, 0.0)
        return low, high

    def extrapolate(self, before: np.ndarray, moved: set[int]) -> None:
        """Maximize D over α + c₁(this pass) + c₂(the step before) for duals inside their interval, then stay in it."""
        X, y, s, strength = self.data
        free = [i for i in moved if self.conjugate_interval(i)[0] < self.alpha[i] < self.conjugate_interval(i)[1]]
        p, q = np.zeros(y.size), np.zeros(y.size)
        p[free], q[free] = (self.alpha - before)[free], self.step[free]
        gradient, curvatures = np.zeros(y.size), np.zeros(y.size)
        for i in free:
            slope = self.loss.dual_slope(self.alpha[i], y[i], 1)
            gradient[i] = s[i] * (slope - X[i] @ self.data.weights_of(self.alpha))
            own = (
                self.loss.conjugate_curvature
                if self.loss.curvature_at is None
                else self.loss.curvature_at(self.alpha[i], y[i])
            )
            curvatures[i] = s[i] * own
        K = (s[:, None] * X) @ (s[:, None] * X).T / (strength * self.data.total) + np.diag(curvatures)
        pp, pq, qq, gp, gq = p @ K @ p, p @ K @ q, q @ K @ q, gradient @ p, gradient @ q
        w = self.data.weights_of(self.alpha)
        noise = 1e-20 * strength * self.data.total * float(w @ w)
        determinant = pp * qq - pq * pq
        if min(pp, qq) > noise and determinant > 1e-10 * pp * qq:
            step = ((gp * qq - gq * pq) * p + (gq * pp - gp * pq) * q) / determinant
        else:
            step = gp / pp * p if pp > noise else np.zeros(y.size)
        for i in free:
            low, high = self.conjugate_interval(i)
            step[i] = min(max(self.alpha[i] + step[i], low), high) - self.alpha[i]
        slope_along, dual_curvature = gradient @ step, step @ K @ step
        self.step = p
        if slope_along > 0.0:
            # The best step size of a direction that was not clipped is 1 up to rounding, and then 1 exactly: duals reach their ends.
            length = slope_along / dual_curvature if dual_curvature > (1.0 + ROUNDING) * slope_along else 1.0
            old, value = self.alpha.copy(), self.dual()
            self.alpha = old + length * step
            if self.dual() > value:
                self.step = p + length * step
            else:
                self.alpha = old


def sub_gradient(
    data: Data,
    loss: Table,
    orders: Iterable[np.ndarray],
    batch: int,
    eta: Callable[[int], float],
    intercept_eta: Callable[[int], float] | None = None,
    radius: float = inf,
    intercept: float = 0.0,
) -> Run:
    """Pegasos and its relatives (Shalev-Shwartz, Singer, Srebro & Cotter): w ← w − η_t(λw − (1/k) Σ (n s_i/S) a_i x_i).

    a_i = −φ_i′(z_i); then w is projected onto the ball of `radius`. The duals follow, α ← (1 − λη)α and on the drawn rows
    α_i += ηλn a_i/k; the projection scales both. A free intercept moves by intercept_eta(t)·(1/k) Σ (n s_i/S) a_i.
    """
    X, y, s, strength = data
    n = y.size
    w, b, alpha, t = np.zeros(X.shape[1]), intercept, np.zeros(n), 0
    epochs: list[list[Iterate]] = []
    for order in orders:
        iterates = []
        for begin in range(0, len(order), batch):
            drawn = [int(i) for i in order[begin : begin + batch]]
            a = {i: -loss.slope(float(X[i] @ w) + b, y[i]) for i in drawn}
            step, k = eta(t), len(drawn)
            gradient = strength * w - sum(n * s[i] / data.total * a[i] * X[i] for i in drawn) / k
            w = w - step * gradient
            alpha *= 1.0 - strength * step
            for i in drawn:
                alpha[i] += step * strength * n * a[i] / k
            if intercept_eta is not None:
                b += intercept_eta(t) * sum(n * s[i] / data.total * a[i] for i in drawn) / k
            length = float(np.linalg.norm(w))
            if length > radius:
                w, alpha = w * (radius / length), alpha * (radius / length)
            t += 1
            iterates.append(Iterate(w.copy(), b, alpha.copy()))
        epochs.append(iterates)
    return Run(epochs, Iterate(w, b, alpha))


def asdca(
    data: Data, loss: Table, orders: Iterable[np.ndarray], batch: int, theta: float, gamma: float | None = None
) -> Run:
    """Accelerated mini-batch SDCA (Shalev-Shwartz & Zhang, NIPS 2013), with u, α, v and w as the paper has them.

    With `gamma` the loss is smoothed: −φ_γ′(u) is the α that maximizes −φ*(−α) − αu − γα²/2.
    """
    X, y, _, _ = data
    w, alpha = np.zeros(X.shape[1]), np.zeros(y.size)
    epochs: list[list[Iterate]] = []
    for order in orders:
        iterates = []
        for begin in range(0, len(order), batch):
            v = data.weights_of(alpha)
            u = (1.0 - theta) * w + theta * v
            for i in map(int, order[begin : begin + batch]):
                score = float(X[i] @ u)
                candidate = -loss.slope(score, y[i]) if gamma is None else best_dual(loss, score, y[i], 0.0, gamma)
                alpha[i] = (1.0 - theta) * alpha[i] + theta * candidate
            v = data.weights_of(alpha)
            w = (1.0 - theta) * w + theta * v
            iterates.append(Iterate(w.copy(), 0.0, alpha.copy()))
        epochs.append(iterates)
    return Run(epochs, Iterate(w, 0.0, alpha))


def box_ascent_in_sum_form(X: np.ndarray, labels: np.ndarray, c: float, epochs: int) -> np.ndarray:
    """The report's own coordinate ascent for Σ hinge + (c/2)‖a‖², mended: K = Y X Xᵀ Y and multipliers in [−1, 0].

    λ_k = clip((−c − Σ over i ≠ k of K_ki λ_i)/K_kk, −1, 0). Returns α_k = −y_k λ_k; rows of zeros are left at −1.
    """
    K = np.outer(labels, labels) * (X @ X.T)
    multipliers = np.where(K.diagonal() > 0.0, 0.0, -1.0)
    for _ in range(epochs):
        for k in np.flatnonzero(K.diagonal() > 0.0):
            others = K[k] @ multipliers - K[k, k] * multipliers[k]
            multipliers[k] = min(max((-c - others) / K[k, k], -1.0), 0.0)
    return -labels * multipliers


def projected_ascent(data: Data, loss: Table, epochs: int, step: float) -> Run:
    """α ← projection of α + step·(the slope of −φ*(−α_i) minus z_i), all rows at once.

    Where ε|α| gives the conjugate a kink at zero there is no slope, and its proximal step takes the place of the projection.
    """
    X, y, _, _ = data
    alpha = np.zeros(y.size)
    iterates = []
    for _ in range(epochs):
        scores = X @ data.weights_of(alpha)
        moved = np.empty(y.size)
        for i in range(y.size):
            low, high = loss.domain(y[i])
            if loss.dual_slope(0.0, y[i], -1) == loss.dual_slope(0.0, y[i], +1):
                slope = loss.dual_slope(alpha[i], y[i], +1) - scores[i]
                moved[i] = min(max(alpha[i] + step * slope, low), high)
            else:
                moved[i] = best_dual(loss, scores[i], y[i], alpha[i], 1.0 / step - loss.conjugate_curvature)
        alpha = moved
        iterates.append(Iterate(data.weights_of(alpha), 0.0, alpha.copy()))
    return Run([[it] for it in iterates], iterates[-1])
