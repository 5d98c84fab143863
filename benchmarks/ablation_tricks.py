"""The tricks of the ablation: for each what is replaced, so that the solver does without it, and on which problems it can matter.

A replacement is an attribute of a module, a field of Newton's settings, or a text in a file of the kernels, which are compiled
anew. A trick whose attribute, field or text does not exist in a revision is left out there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Any

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
}  # fmt: skip
INFORMATION = ("wide",)

KINKED = ("kinked dense", "kinked sparse", "kinked sparse n<d")
LOGISTIC = ("logistic dense", "logistic sparse", "logistic sparse n<d")
ALL = tuple(CLASSES)


@dataclass(frozen=True)
class Trick:
    """A trick by what it does, and the way to do without it."""

    name: str
    classes: tuple[str, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    """module:attribute and what replaces it; a value or, for a function, a function."""
    settings: dict[str, Any] = field(default_factory=dict)
    """Fields of Newton's settings."""
    edits: tuple[tuple[str, str, str], ...] = ()
    """File under src/dualgap, old text, new text."""


def uncorrected(sub: Any, point: Any, system: Any, step: Any, settings: Any) -> tuple[Any, None]:
    return step.direction(sub.rows), None


def _never(*_: Any, **__: Any) -> None:
    return None


def _rows(**values: Any) -> dict[str, Any]:
    return {f"dualgap.data.rows:{name}": value for name, value in values.items()}


def _auto(**values: Any) -> dict[str, Any]:
    return {f"dualgap.solvers.auto:{name}": value for name, value in values.items()}


def _loop(**values: Any) -> dict[str, Any]:
    return {f"dualgap.loop:{name}": value for name, value in values.items()}


def _shrinking(name: str, before: str, after: str) -> tuple[tuple[str, str, str], ...]:
    return (("kernels/shrinking.py", f"{name}{before}", f"{name}{after}"),)


NEWTON_KINKED = ("kinked dense", "kinked sparse")
NEWTON_SMOOTH = ("logistic dense", "logistic sparse")
_SEARCH = "dualgap.solvers.newton.line_search"
_TRIALS = "dualgap.linalg.line_search"

TRICKS = [
    # Newton: rows of a step
    Trick("subsamples for a loss with kinks", ("kinked dense",), settings={"subsample_saving": inf}),
    Trick("subsamples for a smooth loss", ("logistic dense",), settings={"smooth_rows_per_column": 10**12}),
    Trick("several subsamples, each 16 times as large", ("kinked dense", "logistic dense"), settings={"subsample_growth": inf}),
    Trick("smallest subsample of 2000 rows: 500", ("kinked dense", "logistic dense"), settings={"subsample_rows": 500}),
    Trick("smallest subsample of 24 rows per column: 0", ("kinked dense", "logistic dense"), settings={"subsample_rows_per_column": 0}),
    Trick("subsample left at its sampling error (kinks): at tol", ("kinked dense",), settings={"subsample_gap": 0.0}),
    Trick("subsample left at gap 0.3·d/m·P: 3·d/m·P", ("kinked dense",), settings={"subsample_gap": 3.0}),
    Trick("subsample left at decrement 3·d/m·P: 0.3", ("logistic dense",), settings={"subsample_decrement": 0.3}),
    Trick("working sets", NEWTON_KINKED, settings={"working_set_min_rows": 10**12}),
    Trick("working set of at least 1/8 of the rows: 0", NEWTON_KINKED, settings={"working_set_part": 0.0}),
    Trick("working set of at least 4 rows per column: 0", NEWTON_KINKED, settings={"working_set_rows_per_column": 0}),
    Trick("working sets only from 2000 rows on: always", NEWTON_KINKED, settings={"working_set_min_rows": 0}),
    Trick("working set solved to 0.02 of the gap: to tol/2", NEWTON_KINKED, settings={"working_set_gap": 0.0}),
    # Newton: γ
    Trick("γ decreases by 10: by 4", NEWTON_KINKED, settings={"gamma_decay": 0.25}),
    Trick("γ decreases by 10: by 100", NEWTON_KINKED, settings={"gamma_decay": 0.01}),
    Trick("warm start at γ = 32 gaps: 2 gaps", NEWTON_KINKED, settings={"warm_gamma": 2.0}),
    Trick("warm start at γ = 32 gaps: 8 gaps", NEWTON_KINKED, settings={"warm_gamma": 8.0}),
    Trick("step that keeps rows on their segments", NEWTON_KINKED, {"dualgap.solvers.newton.gamma_step:_step_on_segments": _never}),
    Trick("steps aim at tol/2: at tol", ALL, settings={"part_of_tol": 1.0}),
    # Newton: predictions and correction
    Trick("predicted duals", NEWTON_SMOOTH, settings={"prediction_reach": 0.0}),
    Trick("predictions expected within 30·tol: always tried", NEWTON_SMOOTH, settings={"prediction_reach": inf}),
    Trick("predictions expected within 30·tol: 1·tol", NEWTON_SMOOTH, settings={"prediction_reach": 1.0}),
    Trick("prediction accepted at 0.7·tol: 0.5·tol", NEWTON_SMOOTH, settings={"prediction_part": 0.5}),
    Trick("third-order correction", NEWTON_SMOOTH, {"dualgap.solvers.newton.smooth:corrected": uncorrected}),
    Trick("correction bounded by 0.3 shorter: 1", NEWTON_SMOOTH, settings={"correction_shortening": 1.0}),
    Trick("correction bounded by 1 longer: 0.3", NEWTON_SMOOTH, settings={"correction_lengthening": 0.3}),
    # Newton: truncated steps
    Trick("truncated steps from 300 columns on: 1500", ("logistic dense",), settings={"dense_side": 1500}),
    Trick("solves end at ½‖gradient‖ or earlier: 0.1", ("logistic dense",), settings={"loosest_solve": 0.1}),
    Trick("preconditioner", ("logistic dense",), settings={"preconditioner_share": 10**9}),
    Trick("preconditioner of 8 rows per column: 2", ("logistic dense",), settings={"preconditioner_rows_per_column": 2}),
    Trick("preconditioner used again after ≤ 2 products", ("logistic dense",), settings={"few_products": 0}),
    Trick("preconditioner grows after > 5 products", ("logistic dense",), settings={"many_products": 10**9}),
    Trick("preconditioner in 4 sums for threads: 1", ("logistic dense",), {"dualgap.solvers.newton.preconditioner:SUMS": 1}),
    Trick("preconditioner in blocks of 1,024 rows: all", ("logistic dense",), {"dualgap.solvers.newton.preconditioner:BLOCK_ROWS": 1 << 40}),
    # Newton: row space, line search, estimates
    Trick("row space by Cholesky: by eigenvalues", ("wide",), {"dualgap.solvers.newton.row_space:SMALLEST_PIVOT": inf}),
    Trick("rough line search for γ steps: 0.1", NEWTON_KINKED, {f"{_SEARCH}:ROUGH_SLOPE_REDUCTION": 0.1}),
    Trick("fine line search for Newton steps: 0.2", NEWTON_SMOOTH, {f"{_SEARCH}:SLOPE_REDUCTION": 0.2}),
    Trick("trials at most 8 times as far: 2", (*NEWTON_KINKED, *NEWTON_SMOOTH), {f"{_TRIALS}:MAX_GROWTH": 2.0}),
    Trick("P of a subset from 2,048 rows: from all", (*NEWTON_KINKED, *NEWTON_SMOOTH), {"dualgap.solvers.newton.point:PRIMAL_ROWS": 1 << 40}),
    # Rows
    Trick("parts of 2¹⁹ values for threads: 2¹⁷", ALL, _rows(PART_VALUES=1 << 17)),
    Trick("parts of 2¹⁹ values for threads: one part", ALL, _rows(PART_VALUES=1 << 60)),
    Trick("parts of at least 8 values per column: 1", ALL, _rows(PART_WIDTHS=1)),
    Trick("16 small parts before larger ones: 8", ALL, _rows(FEW_PARTS=8)),
    Trick("rows below 2¹⁹ values multiplied as they are", ALL, _rows(PLAIN_VALUES=0)),
    Trick("values squared in lines of 2¹³", ALL, _rows(LINE_VALUES=1 << 40)),
    Trick("short rows squared by einsum: by vecdot", ALL, _rows(SHORT=0)),
    Trick("rows of few columns summed by a product", ("kinked sparse", "logistic sparse"), _rows(NARROW=0)),
    Trick("X Xᵀ in parts by columns", ("wide",), _rows(GRAM_PARTS=1)),
    Trick("chunks of 2¹⁶ rows: 2¹⁴", ALL, {"dualgap.problem:CHUNK": 1 << 14, "dualgap.problem:SHORTEST": 1 << 13}),
    Trick("chunks of 2¹⁶ rows: all rows", ALL, {"dualgap.problem:CHUNK": 1 << 60, "dualgap.problem:SHORTEST": 1 << 60}),
    Trick("gram in at most 8 parts: 16", (*NEWTON_KINKED, *NEWTON_SMOOTH), {"dualgap.linalg.gram:MAX_PARTS": 16}),
    Trick("gram in blocks of 1 MB: 64 MB", (*NEWTON_KINKED, *NEWTON_SMOOTH), {"dualgap.linalg.gram:BLOCK_BYTES": 1 << 26}),
    Trick("judge's terms of 2¹⁵ rows at once: all of a chunk", ALL, {
        "dualgap.certificate.evaluation:FEWEST_AT_ONCE": 1 << 60, "dualgap.certificate.evaluation:MOST_AT_ONCE": 1 << 60,
    }),
    Trick("judge's terms of n/16 rows at once: 2¹³", ALL, {"dualgap.certificate.evaluation:MOST_AT_ONCE": 1 << 13}),
    # Auto
    Trick("auto: newton below 24 columns", ("kinked dense",), _auto(FEW_COLUMNS=0)),
    Trick("auto: newton from 1000 dense rows per column", ("kinked dense",), _auto(MANY_ROWS=10**12)),
    Trick("auto: newton where a column dominates", ("kinked dense",), _auto(DOMINANT=inf)),
    Trick("auto: newton takes over from sdca", NEWTON_KINKED, _auto(CLEARLY=inf)),
    Trick("auto: newton takes over when twice as quick: as quick", NEWTON_KINKED, _auto(CLEARLY=1.0)),
    Trick("auto: record at 0.75 of the epochs tells the pace: first", NEWTON_KINKED, _auto(LATELY=0.0)),
    Trick("auto: sdca for a smooth loss and a strong penalty", ("logistic sparse n<d",), _auto(GENTLE=0.0)),
    # Loop and SDCA's plan
    Trick("loop: unasked certificates 4 times rarer", KINKED, _loop(PATIENCE=1.0)),
    Trick("loop: first certificate of auto at 12 epochs: 20", KINKED, _loop(UNDECIDED=4.0)),
    Trick("loop: first certificate of auto at 12 epochs: 5", KINKED, _loop(UNDECIDED=1.0)),
    Trick("loop: first certificate of auto at 5 epochs where far off", KINKED, _loop(FAR_OFF=inf)),
    Trick("sdca: several passes in a call", (*KINKED, "logistic sparse n<d"), {"dualgap.solvers.shrinking:PLAN_VALUES": 1}),
    # Kernels
    Trick("sdca: shrinking", KINKED, edits=_shrinking("", "pressure(loss, score, label, old) < 0.0:", "pressure(loss, score, label, old) < -1e300:")),
    Trick("sdca: second absence of two passes: doubling", KINKED, edits=_shrinking(
        "sleep[i] = min(", "LENGTHENED * sleep[i] + 1 if sleep[i] > 1 else sleep[i] + 1,", "2 * sleep[i] + 1,")),
    Trick("sdca: absences of at most 31 passes: 7", KINKED, edits=_shrinking("LENGTHENED, LONGEST_SLEEP", " = 3, 31", " = 3, 7")),
    Trick("sdca: next absence 4 times shorter: 0", KINKED, edits=_shrinking("FORGETTING", " = 4", " = 255")),
    Trick("sdca: extrapolation", (*KINKED, "logistic sparse n<d"), edits=_shrinking("FIRST_EXTRAPOLATION", " = 3", " = 1 << 40")),
    Trick("sdca: extrapolation from pass 3 on: 1", (*KINKED, "logistic sparse n<d"), edits=_shrinking("FIRST_EXTRAPOLATION", " = 3", " = 1")),
    Trick("sdca: extrapolation where ≥ 2 values per weight are met: always", (*KINKED, "logistic sparse n<d"), edits=_shrinking("WORTHWHILE", " = 2.0", " = 0.0")),
    Trick("sdca: extrapolation where ≤ 0.3 of rows end at a bound: always", KINKED, edits=(("kernels/extrapolation.py", "UNSETTLED = 0.3", "UNSETTLED = 2.0"),)),
    Trick("sdca: gap estimate times 0.85: 1", (*KINKED, "logistic sparse n<d"), edits=_shrinking("OPTIMISM", " = 0.85", " = 1.0")),
    Trick("sdca: gap estimate lowered to the end of a pass", (*KINKED, "logistic sparse n<d"), edits=_shrinking("", "estimate *= _left_at_the_end(whole / moving[WHOLE])", "estimate *= 1.0")),
]  # fmt: skip


def replaced(trick: Trick, newton: Any, find: Callable[[str], Any]) -> list[tuple[Any, str, Any]] | None:
    """What to set for a trick to be left out, as (owner, attribute, value); None where the revision does not have the trick."""
    from dataclasses import replace

    out: list[tuple[Any, str, Any]] = []
    for path, value in trick.attributes.items():
        module, name = path.split(":")
        owner = find(module)
        if owner is None or not hasattr(owner, name):
            return None
        out.append((owner, name, value))
    if trick.settings:
        if not all(hasattr(newton.settings, name) for name in trick.settings):
            return None
        out.append((newton, "settings", replace(newton.settings, **trick.settings)))
    return out
