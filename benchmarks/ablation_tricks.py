"""The tricks of the ablation: for each which numbers are replaced, so that a fit does without it, and on which problems it can matter.

A number is a field of a settings object or a constant of a module, by its path under dualgap: "solvers.auto:Auto.settings.few_columns",
"linalg.line_search:MAX_GROWTH". Constants of kernels are replaced in a copy of the sources, because kernels are compiled with them. A
number that a revision does not have leaves its trick out there; tests/test_ablation.py holds that the working tree has them all.
Rows of tricks that are not in the code any more stay in docs/internals/ablation.csv, with the revision they were measured at.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from rival_problems import against, standardized, stored, sublinear, unit_rows

# Classes of problems, fixed before anything was measured: loss family × dense or sparse × more rows than columns or not. Problems
# are those of the committed duel that take 10 ms or longer to 1e-6, at most four in a class, below 2 s. No problem of the squared
# loss takes 10 ms, and no dense one with more columns than rows: the class "wide" is shown for information.
CLASSES = {
    "kinked dense": ("hinge covtype 10/n", "hinge skin_raw 1/n", "hinge cod_rna 1/n", "hinge spambase 1/n"),
    "kinked sparse": ("hinge a9a 0.01/n", "hinge a9a 1/n", "hinge a9a 10/n", "hinge mushrooms 1/n"),
    "kinked sparse n<d": ("hinge news20 1/n", "hinge newsgroups 1/n", "hinge news20 0.01/n", "hinge newsgroups 10/n"),
    "logistic dense": ("logistic covtype 1/n", "logistic skin 1/n", "logistic skin_raw 1/n", "logistic mnist 10/n"),
    "logistic sparse": ("logistic a9a 1/n", "logistic a9a 10/n", "logistic a9a 0.01/n"),
    "logistic sparse n<d": (
        "logistic news20 0.01/n", "logistic newsgroups 0.01/n", "logistic newsgroups 1/n", "logistic news20 10/n",
    ),
    "wide": ("hinge prostate 1/n", "logistic prostate 1/n", "hinge golub 1/n", "logistic golub 1/n"),
    "L1": ("L1 logistic a9a", "L1 logistic newsgroups", "L1 hinge spambase", "L1 absolute california"),
    "softmax": ("softmax letter", "softmax digits", "softmax covtype", "softmax mnist"),
    "blocks": ("blocks hinge a9a", "blocks hinge covtype", "blocks logistic covtype"),
}  # fmt: skip
INFORMATION = ("wide",)

KINKED = ("kinked dense", "kinked sparse", "kinked sparse n<d")
LOGISTIC = ("logistic dense", "logistic sparse", "logistic sparse n<d")
ALL = (*KINKED, *LOGISTIC, "wide")


def _letter() -> tuple[Any, Any]:
    X, y = stored("letter")
    return standardized(X), y


def _digits() -> tuple[Any, Any]:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X / 16.0, y


def _covtype(count: int) -> tuple[Any, Any]:
    X, y = stored("covtype")
    X = X[:count]
    return standardized(X[:, X.std(axis=0) > 0.0]), y[:count]


def _mnist() -> tuple[Any, Any]:
    X, y = stored("mnist")
    return X[:3000] / 255.0, y[:3000]


def _newsgroups() -> tuple[Any, Any]:
    groups = (*range(1, 6), *range(11, 15))
    return against(stored("newsgroups20_counts"), groups, lambda X: unit_rows(sublinear(X)))


def _spambase() -> tuple[Any, Any]:
    X, y = stored("spambase")
    return standardized(X), y


def _california() -> tuple[Any, Any]:
    X, y = stored("california_housing")
    return standardized(X), standardized(y)


def _l1(data: Callable[[], tuple[Any, Any]], loss: str, part: float) -> Callable[[], Any]:
    """A problem with an L1 penalty, at a part of the strength from which w = 0."""

    def make() -> Any:
        import dualgap as dg

        X, y = data()
        largest = dg.Problem(X, y, loss, 1.0, intercept=True, l1_ratio=1.0).strength_max
        return lambda: dg.Problem(X, y, loss, part * largest, intercept=True, l1_ratio=1.0)

    return make


def _softmax(data: Callable[[], tuple[Any, Any]]) -> Callable[[], Any]:
    def make() -> Any:
        import dualgap as dg

        X, y = data()
        return lambda: dg.MultinomialProblem(X, y, 1.0 / len(y), intercept=True)

    return make


def _blocks(data: Callable[[], tuple[Any, Any]], loss: str) -> Callable[[], Any]:
    """A problem on row blocks of which eight fit into the memory allowed."""

    def make() -> Any:
        import dualgap as dg

        X, y = data()
        return lambda: dg.Problem(dg.Blocks(X, y, memory_limit="64MB"), loss, strength=1.0 / len(y), intercept=True)

    return make


def _second_class() -> tuple[Any, Any]:
    X, y = _covtype(100_000)
    return X, np.where(y == 2, 1.0, -1.0)


# Problems that are not in the duel: how each is made.
MORE: dict[str, Callable[[], Any]] = {
    "L1 logistic a9a": _l1(lambda: stored("a9a"), "logistic", 0.01),
    "L1 logistic newsgroups": _l1(_newsgroups, "logistic", 0.1),
    "L1 hinge spambase": _l1(_spambase, "hinge", 0.02),
    "L1 absolute california": _l1(_california, "absolute", 0.01),
    "softmax letter": _softmax(_letter),
    "softmax digits": _softmax(_digits),
    "softmax covtype": _softmax(lambda: _covtype(20_000)),
    "softmax mnist": _softmax(_mnist),
    "blocks hinge a9a": _blocks(lambda: stored("a9a"), "hinge"),
    "blocks hinge covtype": _blocks(_second_class, "hinge"),
    "blocks logistic covtype": _blocks(_second_class, "logistic"),
}


@dataclass(frozen=True)
class Trick:
    """A trick by what it does, and the numbers without it."""

    name: str
    classes: tuple[str, ...]
    numbers: dict[str, Any]
    """Path of a number, and the value that replaces it."""

    @property
    def kernel_numbers(self) -> dict[str, Any]:
        """Those that are compiled into kernels."""
        return {path: value for path, value in self.numbers.items() if path.startswith("kernels.")}


def _under(place: str) -> Callable[..., dict[str, Any]]:
    return lambda **values: {f"{place}{name}": value for name, value in values.items()}


_newton = _under("solvers.newton.settings:SETTINGS.")
_auto = _under("solvers.auto:Auto.settings.")
_schedule = _under("schedule:SETTINGS.")
_slices = _under("linalg.partition:SETTINGS.")
_sparse = _under("solvers.sparse_newton.settings:SETTINGS.")
_softmax_step = _under("solvers.newton.softmax_settings:SETTINGS.")
_rounds = _under("rounds.settings:SETTINGS.")
_shrinking = _under("kernels.shrinking:")
_extrapolation = _under("kernels.extrapolation:")

NEWTON_KINKED = ("kinked dense", "kinked sparse")
NEWTON_SMOOTH = ("logistic dense", "logistic sparse")
NEWTON = (*NEWTON_KINKED, *NEWTON_SMOOTH)
SDCA = (*KINKED, "logistic sparse n<d")
SUBSAMPLED = ("kinked dense", "logistic dense")

TRICKS = [
    # Newton: rows of a step
    Trick("subsamples for a loss with kinks", ("kinked dense",), _newton(subsample_saving=inf)),
    Trick("subsamples for a smooth loss", ("logistic dense",), _newton(many_rows_per_column=10**12)),
    Trick("several subsamples, each 16 times as large", SUBSAMPLED, _newton(subsample_growth=inf)),
    Trick("smallest subsample of 2000 rows: 500", SUBSAMPLED, _newton(few_rows=500)),
    Trick("smallest subsample of 24 rows per column: 0", SUBSAMPLED, _newton(subsample_rows_per_column=0)),
    Trick("subsample left at its sampling error (kinks): at tol", ("kinked dense",), _newton(subsample_gap=0.0)),
    Trick("subsample left at gap 0.3·d/m·P: 3·d/m·P", SUBSAMPLED, _newton(subsample_gap=3.0)),
    Trick("working sets", NEWTON_KINKED, _newton(few_rows=10**12)),
    Trick("working set of at least 1/8 of the rows: 0", NEWTON_KINKED, _newton(working_set_part=0.0)),
    Trick("working set solved to 0.02 of the gap: to tol/2", NEWTON_KINKED, _newton(working_set_gap=0.0)),
    # Newton: γ
    Trick("γ decreases by 10: by 4", NEWTON_KINKED, _newton(gamma_decay=0.25)),
    Trick("γ decreases by 10: by 100", NEWTON_KINKED, _newton(gamma_decay=0.01)),
    # Newton: truncated steps
    Trick("truncated steps from 300 columns on: 1500", ("logistic dense",), _newton(dense_side=1500)),
    Trick("preconditioner", ("logistic dense",), _newton(preconditioner_sizes=10**9)),
    Trick("preconditioner of 8 rows per column: 2", ("logistic dense",), _newton(preconditioner_rows_per_column=2)),
    # Line search
    Trick("slope reduced to 0.2 of its start: 0.02", NEWTON, {"solvers.newton.line_search:SLOPE_REDUCTION": 0.02}),
    Trick("trials at most 8 times as far: 2", NEWTON, {"linalg.line_search:MAX_GROWTH": 2.0}),
    # Rows
    Trick("slices of 2¹⁹ values: 2¹⁷", ALL, _slices(slice_values=1 << 17)),
    Trick("slices of 2¹⁹ values: all", ALL, _slices(slice_values=1 << 60)),
    # Auto
    Trick("auto: newton below 24 columns", ("kinked dense",), _auto(few_columns=0)),
    Trick("auto: newton where a column dominates", ("kinked dense",), _auto(dominant_part=inf)),
    Trick("auto: newton takes over from sdca", NEWTON_KINKED, _auto(pass_epochs=inf)),
    Trick("auto: sdca for a smooth loss and a strong penalty", ("logistic sparse n<d",), _auto(few_epochs_ratio=0.0)),
    # Loop
    Trick("loop: unasked certificates 4 times rarer", KINKED, _schedule(estimate_wait=1.0)),
    Trick("loop: first certificate of auto at 12 epochs: 20", KINKED, _schedule(undecided_wait=4.0)),
    Trick("loop: first certificate of auto at 12 epochs: 5", KINKED, _schedule(undecided_wait=1.0)),
    Trick("loop: first certificate of auto at 5 epochs where far off", KINKED, _schedule(far_gap=inf)),
    # Kernels
    Trick("sdca: shrinking", KINKED, _shrinking(MAX_SHRUNK_PASSES=0)),
    Trick("sdca: absences of at most 31 passes: 7", KINKED, _shrinking(MAX_SHRUNK_PASSES=7)),
    Trick("sdca: extrapolation", SDCA, _extrapolation(MIN_IMAGE=1e100)),
    Trick("sdca: gap estimate times 0.85: 1", SDCA, _shrinking(GAP_FRACTION=1.0)),
    # Sparse Newton
    Trick("L1: 50 columns added at least: 5", ("L1",), _sparse(least_added=5)),
    Trick("L1: inner steps end at 0.1 of the gap: 0.01", ("L1",), _sparse(inner_part=0.01)),
    Trick("L1: quadratic model solved to 0.03: 0.3", ("L1",), _sparse(quadratic_part=0.3)),
    Trick("L1: γ decreases by 5: by 2", ("L1",), _sparse(gamma_decay=0.5)),
    Trick("L1: floor of φ″ after a poor step", ("L1",), _sparse(poor_step=0.0)),
    Trick("L1: 4 passes between solves on the support: 1", ("L1",), {"solvers.sparse_newton.quadratic:PASSES": 1}),
    # Softmax
    Trick("softmax: solves end at 0.15·‖gradient‖: 0.5", ("softmax",), _softmax_step(loosest_solve=0.5)),
    Trick("softmax: blocks of 8 rows per column: 32", ("softmax",), _newton(preconditioner_rows_per_column=32)),
    # Rounds
    Trick("rounds: γ decreases by 3: by 10", ("blocks",), _rounds(gamma_decay=0.1)),
    Trick("rounds: 20 curved rows per column at first: 5", ("blocks",), _rounds(first_curved=5.0)),
    Trick("rounds: whole steps to a slope of 0.6: 0.2", ("blocks",), _rounds(accepted_slope=0.2)),
]  # fmt: skip


def replaced(trick: Trick, find: Callable[[str], Any]) -> list[tuple[Any, str, Any]] | None:
    """What to set for a trick to be left out, as (owner, attribute, value); None where the sources do not have a number."""
    out: list[tuple[Any, str, Any]] = []
    for path, value in trick.numbers.items():
        module, _, names = path.partition(":")
        *between, last = names.split(".")
        owner = find(f"dualgap.{module}")
        for name in between:
            owner = getattr(owner, name, None)
        if owner is None or not hasattr(owner, last):
            return None
        if path not in trick.kernel_numbers:
            out.append((owner, last, value))
    return out


def with_constants(text: str, values: dict[str, Any]) -> str:
    """The source of a module with other values of its constants."""
    for name, value in values.items():
        text, count = re.subn(rf"^{name} = .*$", f"{name} = {value!r}", text, flags=re.MULTILINE)
        if count != 1:
            raise ValueError(f"the source needs one line {name} = …, got {count}; mend the trick")
    return text
