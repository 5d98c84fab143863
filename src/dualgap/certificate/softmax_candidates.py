"""Duals of the softmax model, made feasible, and the best factor along their ray."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dualgap.certificate import ray
from dualgap.linalg.parallel import parallel_map
from dualgap.losses.multinomial import Entropies, Matrix, Vector, entropies, keep_inside, probabilities, softmax
from dualgap.problem import MultinomialProblem


def make_feasible(problem: MultinomialProblem, duals: Matrix) -> None:
    """In place: empty rows go to their optimum; where Σ s_i A_i must vanish, probability moves between classes until it does.

    Let d_c = (1/S) Σ s_i A_ic, what class c lacks of its part n_c of the rows, and q_c = n_c − d_c what it holds; the
    d_c sum to 0. A class with d_c < 0 keeps n_c/q_c of its probability in every row; what a row thus frees, m_i, goes to
    the classes with d_c > 0 in the proportions d_c/T, T = Σ of those d_c. Every p stays ≥ 0 and every row sums to 1, and
    since (1/S) Σ s_i m_i = T every class then holds n_c: this is feasible from any p. At the optimum all d_c are 0 and
    nothing moves, so the gap closes.
    """
    if not problem.intercept:
        empty = problem.rows.empty
        # An empty row never moves W, yet its dual must sit at its optimum for the gap to close.
        duals[empty] = softmax(np.zeros((empty.size, problem.class_count)), problem.labels[empty]).duals
    else:
        _move_probability(problem, duals)
    keep_all_inside(problem, duals)


class Moved(NamedTuple):
    """What moves between classes in every row."""

    freed: Vector
    """The part of its probability that each class gives up."""
    parts: Vector
    """The part of what is given up that each class receives."""


def transfer(lacking: Vector, class_weights: Vector) -> Moved | None:
    """What has to move where each class lacks d_c of its part n_c of the rows; None where nothing has to."""
    held = class_weights - lacking
    has_too_much = lacking < 0.0
    freed = np.where(has_too_much, -lacking / np.where(has_too_much, held, 1.0), 0.0)
    needed = np.maximum(lacking, 0.0)
    total = float(needed.sum())
    return Moved(freed, needed / total) if total > 0.0 else None


def moved_probabilities(p: Matrix, moved: Moved) -> Matrix:
    """Probabilities after the move; p is changed in place."""
    p += (p @ moved.freed)[:, None] * moved.parts - p * moved.freed
    return p


def _move_probability(problem: MultinomialProblem, duals: Matrix) -> None:
    """In place: duals with Σ s_i A_i = 0."""
    moved = transfer(problem.dual_sums(duals), problem.class_weights)
    if moved is None:
        return

    def move(c: slice) -> None:
        # The own entry, 1 − p_c, is set by keep_all_inside.
        duals[c] = -moved_probabilities(probabilities(duals[c], problem.labels[c]), moved)

    for _ in parallel_map(move, problem.formula_slices()):
        pass


def keep_all_inside(problem: MultinomialProblem, duals: Matrix) -> None:
    """In place: duals whose domain holds them exactly, as sums of floats."""
    for _ in parallel_map(lambda c: keep_inside(duals[c], problem.labels[c]), problem.formula_slices()):
        pass


def best_factor(problem: MultinomialProblem, duals: Matrix, quadratic: float) -> float:
    """About the t that maximizes D(tA); `quadratic` is λ‖W(A)‖²."""
    found = list(parallel_map(lambda c: entropies(duals[c], problem.labels[c]), problem.formula_slices()))
    all_rows = Entropies(np.concatenate([p.missing for p in found]), np.concatenate([p.others for p in found]))
    largest = float(all_rows.missing.max())
    if largest == 0.0:
        return 1.0

    def slope(t: float) -> float:
        return float(problem.normalized_weights @ all_rows.slope(t)) - t * quadratic

    return ray.best_factor(slope, 1.0 / largest, problem.baseline)
