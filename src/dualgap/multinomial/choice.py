"""Which solver of the softmax model a name, a spec or an object stands for, and the policy that chooses one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dualgap.multinomial.newton import LARGEST_SIDE, MultinomialNewton
from dualgap.multinomial.sdca import MultinomialSDCA
from dualgap.solvers import SDCA, SOLVERS, Auto, Newton, Solver
from dualgap.spec import build, text_of

if TYPE_CHECKING:
    from dualgap.trace import Record


@dataclass(frozen=True)
class MultinomialAuto(Auto):
    """Takes newton, whose steps need no luck with the scale of the data, and says how; it has no options."""

    def choose(self, problem: Any, records: Sequence[Record], tol: float = 0.0) -> tuple[Solver, str]:
        side = problem.class_count * min(problem.rows.dimension, problem.rows.count)
        how = "small enough to factor" if side <= LARGEST_SIDE else "used in products only"
        return MultinomialNewton(), f"newton: second-order steps, with a Hessian of side {side}, {how}"


def chosen_solver(solver: Any) -> Solver | Auto:
    """The softmax model's own solver for a name, spec or object of the table of solvers."""
    if isinstance(solver, MultinomialNewton | MultinomialSDCA | MultinomialAuto):
        return solver
    asked = build(solver, SOLVERS, "solver")
    if isinstance(asked, Auto):
        return MultinomialAuto()
    if asked == Newton():
        return MultinomialNewton()
    if isinstance(asked, SDCA) and asked == SDCA(sampling=asked.sampling):
        return MultinomialSDCA(sampling=asked.sampling)
    raise ValueError(
        f"the softmax model needs newton, sdca, sdca(sampling=…) or auto, got {text_of(asked)}; use solver='auto'"
    )
