"""Cards: what a reader wants to know of each algorithm, in plain words and formulas that need no typesetting."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Card:
    """An algorithm in five short texts."""

    title: str
    update: str
    needs: str
    good_at: str
    paper: str


CARDS = {
    "auto": Card(
        "The solver chosen by rule",
        "Newton or SDCA with shrinking, by loss, rows, columns and scale;  SDCA hands over to Newton where its first certificates fall slowly",
        "Nothing: it is what a fit uses where no solver is named. The run's reason in the results file says what it chose.",
        "Data of which nothing is known: smooth losses take Newton, long data with a kinked loss takes SDCA.",
        "No paper: the rules and their thresholds are in docs/architecture.md",
    ),
    "sdca": Card(
        "Stochastic dual coordinate ascent",
        "draw i;  αᵢ ← argmax over αᵢ of D(α);  w ← w + (sᵢ Δαᵢ / λS) xᵢ",
        "No step size. One dual per row, and the squared length of each row.",
        "Small gaps: its error falls geometrically on smooth losses, and the duals that prove it come for free.",
        "Shalev-Shwartz & Zhang, Stochastic dual coordinate ascent methods for regularized loss minimization, JMLR 2013",
    ),
    "asdca": Card(
        "Accelerated mini-batch SDCA",
        "u = (1 − θ) w + θ v;  on a batch: αᵢ ← (1 − θ) αᵢ − θ φᵢ′(⟨xᵢ, u⟩);  v = w(α);  w ← (1 − θ) w + θ v",
        "A smooth loss, or one smoothed by γ; a batch size; θ, which the paper chooses carefully.",
        "Batches that are computed together, and weak regularization, where plain SDCA slows down.",
        "Shalev-Shwartz & Zhang, Accelerated mini-batch stochastic dual coordinate ascent, NIPS 2013",
    ),
    "pegasos": Card(
        "Primal estimated sub-gradient solver",
        "draw i;  w ← (1 − 1/t) w − (1 / λt) φᵢ′(⟨xᵢ, w⟩) xᵢ",
        "Nothing but λ, which sets the step 1/(λt); the first steps are large.",
        "A fair answer within a few passes, at a cost that does not grow with the number of rows.",
        "Shalev-Shwartz, Singer, Srebro & Cotter, Pegasos: primal estimated sub-gradient solver for SVM, ICML 2007 and Mathematical Programming 2011",
    ),
    "sgd": Card(
        "Stochastic sub-gradient descent",
        "draw i;  w ← (1 − ηₜλ) w − ηₜ φᵢ′(⟨xᵢ, w⟩) xᵢ",
        "A step size and a schedule: constant, η/(1 + ληt), or η/√t.",
        "Quick first passes over long data; a gentler start than Pegasos when λ is small.",
        "Robbins & Monro, A stochastic approximation method, Annals of Mathematical Statistics 1951",
    ),
    "subgradient": Card(
        "Full sub-gradient descent",
        "w ← w − ηₜ (λw + (1/S) Σ sᵢ φᵢ′(⟨xᵢ, w⟩) xᵢ)",
        "A step size; each step reads all rows, in two products with the matrix.",
        "A yardstick: what descent does without any drawing of rows, and fair on smooth, well-scaled problems.",
        "Shor, Minimization methods for non-differentiable functions, Springer 1985",
    ),
    "projected_ascent": Card(
        "Projected gradient ascent on the dual",
        "α ← Π(α + η ∇),  ∇ᵢ = −φᵢ*′(−αᵢ) − ⟨xᵢ, w(α)⟩,  with Π onto the interval of each αᵢ",
        "A step below 1/Lipschitz, found by power iteration; a dual with a bounded slope, so not the logistic one.",
        "A yardstick for the dual: every step raises D, and all rows move at once.",
        "Levitin & Polyak, Constrained minimization methods, USSR Computational Mathematics 1966",
    ),
    "box_ascent": Card(
        "Exact coordinate ascent on the Gram matrix",
        "for i = 1 … n:  αᵢ ← argmax over αᵢ of D(α), with ⟨xᵢ, w⟩ = Σⱼ Gᵢⱼ αⱼ / λS",
        "Memory for n × n inner products; no step size, no randomness.",
        "Up to some 10,000 rows, above all where there are more columns than rows.",
        "Hildreth, A quadratic programming procedure, Naval Research Logistics Quarterly 1957",
    ),
    "newton": Card(
        "Newton's method",
        "w ← w − η H⁻¹ ∇P(w),  H = λI + (1/S) Σ sᵢ φᵢ″ xᵢxᵢᵀ",
        "Second derivatives: losses with a kink are smoothed, and the smoothing is taken away step by step.",
        "Very small gaps in a handful of steps where the columns are few.",
        "Keerthi & DeCoste, A modified finite Newton method for fast solution of large scale linear SVMs, JMLR 2005",
    ),
    "sparse_newton": Card(
        "Newton's method on a working set of columns",
        "w ← argmin of the quadratic model of the loss + λ(ρ‖w‖₁ + (1 − ρ)/2 ‖w‖²), over the columns in the working set",
        "A penalty with an L1 part; losses with a kink are smoothed, and the smoothing is taken away round by round.",
        "Weights of which most are zero: a round reads all columns once, and its steps only a few of them.",
        "Lee, Sun & Saunders, Proximal Newton-type methods for minimizing composite functions, SIAM Journal on Optimization 2014",
    ),
}

RIVAL = Card(
    "Another package",
    "its own; seen from outside, weights only",
    "Each point is a fit of its own to one tolerance of the package. The gap is judged here, by duals built from its weights.",
    "A second opinion: the same problem, the same judge, code that shares nothing with dualgap.",
    "The documentation of the package",
)
ZEROS = Card(
    "The zero vector",
    "w = 0",
    "Nothing.",
    "Sanity: a solver that is not far better has learned nothing.",
    "No paper: P(0) is the mean loss of a score of zero",
)
OWN = Card(
    "A contender of your own",
    "its own; the judge knows its answers alone",
    "What its author says of it.",
    "Being raced under the same clock and the same judge as all others.",
    "Yours",
)
OTHER = Card(
    "An algorithm without a card",
    "not described in this version",
    "See the results file for its settings.",
    "See its curve.",
    "Not known here",
)


def card_of(solver: str, rival: bool = False, own: bool = False) -> Card:
    """The card of a solver's spec, whatever its options."""
    if own:
        return OWN
    if rival:
        return ZEROS if solver == "zeros" else RIVAL
    return CARDS.get(solver.partition("(")[0].strip(), OTHER)
