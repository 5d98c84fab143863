"""Cases of `solve_path`: the same data at several strengths, each fit started at the answer of the one before."""

from __future__ import annotations

from dataclasses import replace

from data import Random, happens
from problems import Case, sparse_case
from problems import random_case as random_problem
from verdict import Claim

import dualgap as dg


def path_case(random: Random, seed: int) -> Case:
    """A random or a sparse problem at up to four strengths."""
    case = (sparse_case if happens(random, 0.6) else random_problem)(random, seed)
    options = {name: case.options[name] for name in ("solver", "tol", "max_seconds", "max_epochs")}
    strengths = case.facts.strength * 10.0 ** random.uniform(-3.0, 3.0, int(random.integers(1, 5)))
    return Case(seed, "path", case.facts, {**options, "strengths": strengths.tolist()}, claims=claims)


def claims(case: Case) -> list[Claim]:
    """One claim for each strength."""
    facts, options = case.facts, case.options
    path = dg.solve_path(
        facts.X,
        facts.labels,
        facts.loss,
        sample_weight=facts.sample_weight,
        intercept=facts.intercept,
        l1_ratio=facts.l1_ratio,
        **options,
    )
    return [
        Claim(
            replace(facts, strength=strength),
            found.weights,
            found.intercept,
            found.duals,
            found.certificate,
            found.status.name,
            options["tol"],
        )
        for strength, found in zip(path.strengths.tolist(), path.results, strict=True)
    ]
