"""How the page is read: its words, and how a claim is judged, for a reader who never saw the reports."""

from __future__ import annotations

GLOSSARY = (
    ("n, d, λ", "rows, columns, and the strength of the penalty λ/2‖w‖²"),
    ("P, P*, P(0)", "the mean loss plus the penalty, its minimum, and its value at zero weights"),
    ("D, gap", "the dual value, which is never above P*, and P − D; every P* here is proven by a small gap"),
    ("way", "from P(0) down to P*; 10 % of the way is left where (P − P*)/(P(0) − P*) is 0.1"),
    ("update", "one step of an algorithm, on one row or on one batch of rows"),
    ("epoch", "n rows touched; an update on a batch of 8 touches 8"),
    ("SDCA", "stochastic dual coordinate ascent: each update maximizes D over the dual variable of one row"),
    ("Pegasos", "stochastic sub-gradient descent on P, with steps of 1/(λt) after t updates"),
    (
        "ASDCA",
        "accelerated mini-batch SDCA. It needs a smooth loss and minimizes a hinge smoothed with γ = 1, as its paper does; the "
        "figures show P of the hinge itself, so its curves end above P*",
    ),
    ("θ", "the step parameter of ASDCA; 1x is the value in its paper, 4x and 16x are multiples of it"),
    ("T, T₀", "the last update, and the one after which iterates are averaged or drawn"),
    ("repeats", "runs with other seeds; where data are drawn or split, each repeat has a draw or split of its own"),
    (
        "figures",
        "a line is the median over repeats, the band around it holds 5 to 95 % of them; P* is the median where repeats have data "
        "of their own",
    ),
    (
        "4.5 (3.8 to 5.5)",
        "an estimate over repeats with its 95 % interval; where a curve hovers around a height the estimate can lie outside, and "
        "the interval decides nothing",
    ),
)

JUDGING = (
    "A verdict is computed. Each claim has parts, and a rule for each part, which is a function of the results alone.",
    "Every part has a 95 % interval, from a bootstrap of 1,000 resamples of the repeats, with the same seeds for all solvers. A "
    "difference holds if its interval lies on the claimed side of zero (a ratio: of 1) and does not hold if it lies on the other "
    "side; an equality holds if its interval lies inside a margin fixed beforehand and does not hold if it lies outside; "
    "otherwise the part is undecided.",
    "A difference of accuracies does not hold either where its interval lies inside a least difference fixed beforehand, such as "
    "one row of the test part: of two algorithms that are equally accurate no interval would ever lie on one side of zero. "
    "Speeds have no least difference: a lead of any size is a lead.",
    "Speeds are compared where 30, 10, 3, 1 and 0.1 % of the way is left for good. A comparison holds if it holds at every one of "
    "these heights that both curves reach, and does not hold if it fails at one. A curve that is below a height at its first "
    "record decides nothing there.",
    "Findings on different data sets are different parts. All parts hold: the claim holds. Some hold and some do not: it holds in "
    "part. None holds: it does not hold. If undecided parts could still change that, the claim is undecided.",
)
