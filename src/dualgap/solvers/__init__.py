"""The table of solvers."""

from __future__ import annotations

from dualgap.solvers.asdca import ASDCA
from dualgap.solvers.auto import Auto
from dualgap.solvers.base import Answer, AnySolver, Solver
from dualgap.solvers.box_ascent import BoxAscent
from dualgap.solvers.newton import Newton
from dualgap.solvers.pegasos import Pegasos
from dualgap.solvers.projected_ascent import ProjectedAscent
from dualgap.solvers.sdca import SDCA
from dualgap.solvers.sgd import SGD
from dualgap.solvers.sparse_newton import SparseNewton
from dualgap.solvers.subgradient import Subgradient
from dualgap.solvers.theory import sufficient_updates

SOLVERS: dict[str, type[AnySolver] | type[Auto]] = {
    solver.name: solver
    for solver in (
        SDCA,
        ASDCA,
        Pegasos,
        SGD,
        Subgradient,
        ProjectedAscent,
        BoxAscent,
        Newton,
        SparseNewton,
        Auto,
    )
}

__all__ = [
    "ASDCA",
    "SDCA",
    "SGD",
    "SOLVERS",
    "Answer",
    "AnySolver",
    "Auto",
    "BoxAscent",
    "Newton",
    "Pegasos",
    "ProjectedAscent",
    "Solver",
    "SparseNewton",
    "Subgradient",
    "sufficient_updates",
]
