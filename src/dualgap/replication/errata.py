"""Errata: what each report printed wrong, the corrected formula, how it was found, and what it changes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Erratum:
    """One slip of a report."""

    report: str
    where: str
    printed: str
    corrected: str
    found: str
    changes: str


DERIVED = "by deriving the formula"
CODE = "by reading the printed code"
PUBLIC = "by reading the report's public code"
COMPUTED = "by computing the number"

ERRATA = (
    Erratum(
        "R0",
        "section 2.4",
        "T ≥ max{0, ⌈n log(0.5 λnL − 2)⌉} + n + 5L²/(λε)",
        "T ≥ t₀ + n + 20L²/(λε) with t₀ = max{0, ⌈n ln(λn/(2L²))⌉}: “L − 2” is L⁻², and averages start at T₀ ≥ t₀",
        "by comparison with the paper it cites and with R4's section 1.6",
        "the sufficient number of updates; no figure",
    ),
    Erratum(
        "R0",
        "algorithm 2 (ASDCA)",
        "u = (1 − θ)x + θ∇g*(ᾱ)",
        "u = (1 − θ)w + θ∇g*(ᾱ): x⁽ᵗ⁾ is the iterate w⁽ᵗ⁾",
        DERIVED,
        "nothing, if the code had w",
    ),
    Erratum(
        "R0",
        "algorithm 2 and section 4.2",
        "θ and γ are inputs of ASDCA; no value of either is given",
        "γ = 1 and the θ of the paper it cites; 4 and 16 times that θ stand beside",
        "by reading which settings are given",
        "claims R0.1, R0.2, R0.8 and R0.9, whose parts on ASDCA turn on θ",
    ),
    Erratum(
        "R0",
        "section 2.5",
        "φ(x) with y x⊤w_i",
        "φ_i(w) with y_i x_i⊤w: the names of row and weights are exchanged",
        DERIVED,
        "nothing",
    ),
    Erratum(
        "R0",
        "section 3.3",
        "42c ln(T/δ)/(λT) as a promise of accuracy",
        "the same bound, which is 89 on the simulated data, where zero weights have P = 1",
        COMPUTED,
        "claim R0.11: the bound says nothing at this size",
    ),
    Erratum(
        "R0",
        "algorithm 1 and the list of parameters",
        "a random output, and an end at a duality gap of ε",
        "the implemented outputs are the last iterate and the average",
        "by comparing the pseudo-code with the parameters",
        "claim R0.11 has no experiment in the report",
    ),
    Erratum(
        "R1",
        "algorithm 3, step size",
        "η_t = 1/(λn)",
        "η_t = 1/(λ(t + 1))",
        "by comparison with the paper it cites",
        "with the printed step the iterates do not settle",
    ),
    Erratum(
        "R1",
        "algorithm 3, divisor",
        "(η_t/k) Σ y_l x_l, k being the epoch",
        "(η_t/m) Σ y_l x_l, m being the batch size; for k = 0 the printed step divides by 0",
        DERIVED,
        "every step of Pegasos",
    ),
    Erratum("R1", "algorithm 3, margin", "y_i x_l⊤w < 1", "y_l x_l⊤w < 1", DERIVED, "which rows of a batch count"),
    Erratum(
        "R1",
        "algorithm 1",
        "the gap g is computed once, before the loop",
        "g is computed anew after each epoch",
        DERIVED,
        "the run would never end by its gap",
    ),
    Erratum(
        "R1",
        "section 3.2",
        "“the best score (≈ 26 %)”",
        "an error rate: of two kinds of equal number 26 % right would be worse than chance",
        "our reading",
        "claim R1.1",
    ),
    Erratum(
        "R1",
        "figures 2 and 3",
        "λ = 1.6, without the range of the pixels (0–1 or 0–255) or the centering of the PCA",
        "all readings are run; claims are judged by the one that fits the printed curves best",
        "by reading which settings are given",
        "claims R1.1 to R1.4",
    ),
    Erratum(
        "R1",
        "section 3.1",
        "the steps of the cropping “in figure 6”",
        "they are in figure 4; figure 6 has the duality gaps",
        "by reading the captions",
        "nothing",
    ),
    Erratum(
        "R2",
        "formula of Δα",
        "max(−1, min(… + α)) − α",
        "y·max(0, min(1, (1 − y x⊤ω)/(‖x‖²/(λn)) + yα)) − α: the printed one is of the absolute loss and lost a bound",
        DERIVED,
        "nothing: the printed code has the right form",
    ),
    Erratum(
        "R2",
        "SDCA, SDCA_perm",
        "np.linalg.norm(X[i])/(λn)",
        "‖x_i‖²/(λn): the norm is squared",
        CODE,
        "steps are ‖x_i‖ times too long before they are clipped, which raw rows of length 1,000 make large",
    ),
    Erratum(
        "R2",
        "SDCA_perm, pegasos_perm",
        "perm = permutation(n); for i in range(len(perm))",
        "for i in perm: the permutation is drawn and never used",
        CODE,
        "claim R2.1 compares random draws with the stored order",
    ),
    Erratum(
        "R2",
        "pegasos_perm",
        "eta_t = 1/(λt) without any t",
        "t grows by 1 with each update",
        CODE,
        "the printed function stops with an error, or takes a t left over from elsewhere",
    ),
    Erratum(
        "R2",
        "SDCA, SDCA_perm",
        "list_alpha.append(alpha)",
        "append(alpha.copy()): all entries are the same array",
        CODE,
        "the average of α is its last value; the average of ω is right",
    ),
    Erratum(
        "R2",
        "SDCA_perm",
        "for k in range(1, nb_epoch), averages up to nb_epoch·n",
        "range(nb_epoch)",
        CODE,
        "one epoch fewer than is averaged over; the sum reaches past the list",
    ),
    Erratum(
        "R2",
        "SDCA, both outputs",
        "(1/(T − T₀)) Σ over range(T₀, T − 1); k from T₀ … T − 1 in a list of T − 1 iterates",
        "the T − T₀ − 1 iterates added are divided by their number; k ends at T − 2",
        CODE,
        "averages are short by the factor (T − T₀ − 1)/(T − T₀); one random output in T − T₀ ends with an error",
    ),
    Erratum(
        "R2",
        "accuracy on breast cancer",
        "about 60 % for both algorithms",
        "0.86 to 0.92 with labels −1/+1",
        "by running it; labels left at 0/1 give 63.2 %, the larger class (a hypothesis)",
        "claim R2.2",
    ),
    Erratum(
        "R3",
        "coordinate update",
        "λ_k = clip((1 − (1/c) Σ λ_i Q_ki)/Q_kk) with Q = −YXX⊤Y",
        "λ_k = clip((−c − Σ_{i≠k} K_ki λ_i)/K_kk, −1, 0) with K = YXX⊤Y: the derivative of λ_k²Q_kk/(2c) is λ_kQ_kk/c",
        DERIVED,
        "nothing for c = 1; any other c gives another maximizer",
    ),
    Erratum("R3", "dual objective", "(1/2c) λ⊤YXX⊤Y", "(1/2c) λ⊤YXX⊤Yλ", DERIVED, "nothing: the code has the last λ"),
    Erratum(
        "R4",
        "appendix A, log loss",
        "φ*(−a) = −ay log(ay) + (1 − ay) log(1 − ay)",
        "φ*(−a) = ay log(ay) + (1 − ay) log(1 − ay)",
        DERIVED,
        "the dual value and so every gap",
    ),
    Erratum(
        "R4",
        "appendix A, absolute loss",
        "max(1, min(1, …))",
        "max(−1, min(1, …))",
        DERIVED,
        "the printed step is 1 − α whatever the data are",
    ),
    Erratum(
        "R4",
        "appendix A, smoothed hinge",
        "φ(a) = max{0, 1 − ya}",
        "0, 1 − ya − γ/2, or (1 − ya)²/(2γ) between: the conjugate and the step printed below it belong to this φ",
        DERIVED,
        "nothing: no experiment uses it",
    ),
    Erratum(
        "R4",
        "formula (5)",
        "P(y = 1|x)/P(y = −1|x) = w⊤x",
        "ln of that quotient = w⊤x",
        DERIVED,
        "nothing",
    ),
    Erratum(
        "R4",
        "formula (7)",
        "Σ (C log(1 + z_i) + α_i z_i) − Σ α_i e^(−z_i) + ½w⊤w",
        "Σ C log(1 + e^(−z_i)) + Σ α_i (z_i − y_i w⊤x_i) + ½w⊤w",
        DERIVED,
        "nothing: the dual (9) is right",
    ),
    Erratum(
        "R4",
        "theorem of section 1.6, smooth case",
        "a bound on T",
        "a bound on T₀; T follows from it",
        "by comparison with the paper it cites",
        "nothing in table 2, which is of the Lipschitz case",
    ),
    Erratum(
        "R4",
        "tables 1 and 2",
        "c = 0.1 (Arrhythmia) and 0.05 (Adult)",
        "table 2's numbers follow from λ = 0.05 (Arrhythmia) and 0.1 (Adult): exchanged",
        COMPUTED,
        "claim R4.2",
    ),
    Erratum(
        "R4",
        "Gaussian projection",
        "exp(+‖x − s‖²/h)",
        "exp(−‖x − s‖²/h)",
        PUBLIC,
        "figure 3",
    ),
    Erratum(
        "R4",
        "comparison of SGD and SDCA",
        "one c for both",
        "SGD(c) minimizes with λ = 1/c, SDCA(c) with λ = c; it records c·Σφ + ½‖w‖² and returns the best iterate by that: two objectives",
        PUBLIC,
        "claim R4.1: two different optima are compared",
    ),
    Erratum(
        "R4",
        "section 2.7",
        "“highly probable that the SDCA gets trapped in a local minimum”",
        "P is convex: it has no local minimum but the global one",
        "by the duality gap, which proves the optimum",
        "claim R4.1",
    ),
    Erratum(
        "R4",
        "section 2.2",
        "Adult has 48,842 instances",
        "the public code takes the first 500, categories as codes, columns standardized",
        PUBLIC,
        "claims R4.1, R4.4 and R4.5 have both",
    ),
)
