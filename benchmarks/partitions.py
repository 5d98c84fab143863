"""SDCA on partitions of the rows: how many more epochs it takes, and what its merges cost, in counts and not in seconds.

    DUALGAP_DATA=… python benchmarks/partitions.py FOLDER > benchmarks/partitions.csv

FOLDER is that of the prepared data of the rivals bench. Hinge, permutation, no shrinking. An epoch is a random order of all
rows, cut into rounds of P parts. In a round every part makes its steps on its own copy of the weights, with the quadratic
term times σ′; then the weights move by γ times what all parts found (CoCoA+: Ma et al., "Adding vs. averaging in distributed
primal-dual optimization", ICML 2015). Parts see nothing of each other in a round: any number of threads counts the same.

    plain      P = 1                      added      γ = 1, σ′ = 1: nothing says that D rises
    safe       γ = 1, σ′ = P              searched   σ′ = 1, and the γ in [0, 1] that makes D largest
    averaged   γ = 1/P, σ′ = 1            shrinking   P = 1, as `auto` runs it: rows are shrunk, passes are extrapolated

`merge_cost` is what merges have to bring together at least, the columns that occur in a part's rows, over an epoch and as a
part of its non-zeros. `two_cores` is plain's epochs over the rule's, times 2/(1 + merge_cost): the best that two cores can
bring, if waiting, memory and starting threads cost nothing; one core brings half of it. inf: more than twice plain's epochs.
"""

from __future__ import annotations

import csv
import os
import sys

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"

from collections.abc import Iterator, Sequence
from itertools import product
from math import inf, isinf, log, nan
from pathlib import Path
from typing import NamedTuple

import numpy as np

from dualgap import SDCA, Problem, kernels, solve
from rival_problems import load, prepare

PROBLEMS = [*product(("news20", "newsgroups"), ("1", "10", "0.01")), ("mushrooms", "1"), ("a9a", "1")]
TOLERANCES, SEED = (1e-3, 1e-6), 0
# What takes more than twice the epochs of plain SDCA cannot pay on two cores.
PATIENCE, MOST_EPOCHS = 2.0, 300.0
COLUMNS = "data lambda_n rule parts merges epochs_1e-3 epochs_1e-6 merge_cost two_cores_1e-3 two_cores_1e-6"


class Rule(NamedTuple):
    """How parts come together, how many there are, and how often in an epoch they do."""

    name: str
    parts: int
    merges: int


PLAIN, SLEEPING = Rule("plain", 1, 1), Rule("shrinking", 1, 1)
NAMES = ("safe", "searched", "averaged", "added")


def rules(names: tuple[str, ...], parts: tuple[int, ...], merges: tuple[int, ...]) -> list[Rule]:
    return [PLAIN, SLEEPING, *(Rule(*each) for each in product(names, parts, merges))]


# By λn: the usual strength shows all of them, and the weakest, which takes hundreds of epochs, those that end well.
RULES = {
    "1": rules(NAMES, (2, 4), (1, 4, 16, 64)),
    "10": rules(NAMES, (2,), (1, 4, 16)),
    "0.01": rules(NAMES[:2], (2,), (1, 4, 16)),
}
TO_THE_END = RULES["10"]  # The others end at the first tolerance.


def rounds(rule: Rule, count: int, epoch: int) -> Iterator[list[np.ndarray]]:
    """The rows of each part, round by round, that make up an epoch."""
    parts_of_rows = np.array_split(np.random.default_rng((SEED, epoch)).permutation(count), rule.merges * rule.parts)
    for k in range(0, len(parts_of_rows), rule.parts):
        yield parts_of_rows[k : k + rule.parts]


def merge_cost(problem: Problem, rule: Rule) -> float:
    """The columns in a part's (sparse) rows, over all parts of the first epoch, as a part of the non-zeros."""
    taken = [problem.rows.take(part) for parts in rounds(rule, problem.rows.count, 1) for part in parts]
    return sum(len(np.unique(rows.arrays.indices)) for rows in taken) / problem.rows.stored


def best_mixing(problem: Problem, rows: np.ndarray, change: np.ndarray, weights: np.ndarray, way: np.ndarray) -> float:
    """The γ in [0, 1] for which D(α + γΔ) is largest; D is a parabola in it, since the hinge's conjugate is linear."""
    second_derivative, slope = (
        problem.lambda_n * (way @ way),
        problem.labels[rows] @ change - problem.lambda_n * (weights @ way),
    )
    return min(1.0, max(0.0, slope / second_derivative)) if second_derivative > 0.0 else 1.0


def make_round(problem: Problem, rule: Rule, parts: list[np.ndarray], duals: np.ndarray, weights: np.ndarray) -> None:
    """One round: steps of every part on its copy of the weights, then the merge."""
    rows, loss = problem.rows, kernels.families.kernel_loss(problem.loss)
    stiffness = rule.parts if rule.name == "safe" else 1  # σ′: the other parts move too.
    touched = np.concatenate(parts)
    before, way = duals[touched], np.zeros_like(weights)
    for part in parts:
        own, scalars = weights.copy(), kernels.sdca.new_scalars(0.0)
        data = kernels.arguments.RowData(rows.arrays, problem.labels, None)
        constants = kernels.arguments.DualConstants(
            rows.squared_norms, problem.strength, problem.lambda_n / stiffness, 0.0
        )
        kernels.sdca.sdca_steps(data, loss, constants, part, duals, own, scalars, None)
        way += (own - weights) / stiffness
    mixing = 1.0 / rule.parts if rule.name == "averaged" else 1.0
    if rule.name == "searched":
        mixing = best_mixing(problem, touched, duals[touched] - before, weights, way)
    if mixing != 1.0:
        duals[touched] = before + mixing * (duals[touched] - before)
    weights += mixing * way


def epochs_to(problem: Problem, rule: Rule, limits: Sequence[float]) -> list[float]:
    """Epochs to each tolerance, read between two epochs on the logarithm of the gap: inf beyond limits, nan where not tried."""
    if rule == SLEEPING:
        return [solve(problem, SDCA(shrinking=True), tol=tol, record_every=inf).trace[-1].epoch for tol in TOLERANCES]
    duals, weights = np.zeros(problem.rows.count), np.zeros(problem.rows.dimension)
    reached, last, epoch = [nan if isinf(limit) else inf for limit in limits], 1.0, 0
    while inf in reached and all(epoch < limit for limit, value in zip(limits, reached, strict=True) if value == inf):
        epoch += 1
        for parts in rounds(rule, problem.rows.count, epoch):
            make_round(problem, rule, parts, duals, weights)
        primal = problem.primal(problem.scores(weights), weights)
        gap = max(1e-16, (primal - problem.dual(duals, weights)) / primal)
        for k, tol in enumerate(TOLERANCES):
            if gap <= tol < last and reached[k] == inf:
                reached[k] = epoch - log(tol / gap) / log(last / gap)
        last = gap
    assert np.allclose(weights, problem.weights_of(duals), rtol=0.0, atol=1e-9 * (1.0 + np.abs(weights).max()))
    return reached


def main(folder: Path) -> None:
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(COLUMNS.split())
    for name, factor in PROBLEMS:
        prepare(folder, [name])
        X, y = load(folder, name)
        problem = Problem(X, y, "hinge", float(factor) / X.shape[0])
        plain = epochs_to(problem, PLAIN, [MOST_EPOCHS] * 2)
        for rule in RULES[factor]:
            limits = [PATIENCE * plain[0], PATIENCE * plain[1] if rule in TO_THE_END else inf]
            epochs = plain if rule == PLAIN else epochs_to(problem, rule, limits)
            cost = merge_cost(problem, rule) if rule.parts > 1 else 0.0
            gains = [2.0 * one / (many * (1.0 + cost)) for one, many in zip(plain, epochs, strict=True)]
            shown = [f"{value:.2f}" for value in (*epochs, cost, *(gains if rule.parts > 1 else ()))]
            table.writerow([name, factor, *rule, *shown])
            sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
