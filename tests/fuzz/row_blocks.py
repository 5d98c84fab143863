"""Cases on row blocks: a problem of another family, its rows cut into a few blocks, of which some may have no weights."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import problems
from data import Random, happens
from problems import EPOCHS, Case
from verdict import Claim

import dualgap as dg

# The families whose problems are cut, by their functions in `problems`; losses and penalties come from there.
CUT = ("random_case", "aimed_case", "extreme_case", "softmax_case", "softmax_aimed_case")


def blocks_case(random: Random, seed: int) -> Case:
    """Up to five blocks, the smallest of one row."""
    case = getattr(problems, str(random.choice(CUT)))(random, seed)
    facts = replace(case.facts, l1_ratio=0.0)
    count = facts.X.shape[0]
    cuts = tuple(sorted(set(random.integers(1, count, size=random.integers(0, 5)).tolist()))) if count > 1 else ()
    if facts.sample_weight is not None and cuts and happens(random, 0.2):
        # A block of ones stands for one without weights.
        weights = facts.sample_weight.copy()
        weights[: cuts[0]] = 1.0
        facts = replace(facts, sample_weight=weights)
    kept = ("tol", "seed", "n_jobs", "start", "max_seconds")
    options = {name: value for name, value in case.options.items() if name in kept} | {"max_epochs": EPOCHS}
    if "start" in options:
        options["start"] = (*options["start"][:2], None)
    return Case(seed, "blocks", facts, {**options, "cuts": cuts}, claims=claims)


def parts_of(case: Case) -> list[tuple[Any, ...]]:
    """(X, y) or (X, y, sample_weight) of each block."""
    facts, s = case.facts, case.facts.sample_weight
    ends = [0, *case.options["cuts"], facts.X.shape[0]]
    parts: list[tuple[Any, ...]] = []
    for begin, end in pairwise(ends):
        c = slice(begin, end)
        has_weights = s is not None and not (begin == 0 and (s[c] == 1.0).all())
        parts.append((facts.X[c], facts.labels[c], *((s[c],) if has_weights else ())))
    return parts


def claims(case: Case) -> list[Claim]:
    """What a fit on the blocks claims, with the duals of each block as the fit had it."""
    facts, parts = case.facts, parts_of(case)
    options = {name: value for name, value in case.options.items() if name != "cuts"}
    blocks = dg.Blocks(parts)
    problem: Any
    if facts.is_softmax:
        problem = dg.MultinomialProblem(blocks, strength=facts.strength, intercept=facts.intercept)
    else:
        problem = dg.Problem(blocks, loss=facts.loss, strength=facts.strength, intercept=facts.intercept)
    found = dg.solve(problem, **options)
    duals = np.concatenate([np.asarray(found.duals.of(X, y)) for X, y, *_ in parts])
    answer = (found.weights, found.intercept, duals)
    return [Claim(facts, *answer, found.certificate, found.status.name, options["tol"], dual_is_bound=True)]
