"""The five reports as their first pages name them, what each is about, and the figure that carries its message."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Report:
    """A report: its title, authors and date as printed, a paragraph for those who never saw it, and one figure."""

    title: str
    authors: str
    date: str
    about: str
    figure: str

    @property
    def cited(self) -> str:
        """Title, authors and date in one line."""
        return f"{self.title} ({self.authors}, {self.date})"


REPORTS = {
    "R0": Report(
        "Distributed and Stochastic Optimisation for Machine Learning, project 1",
        "Sophie Ouillade, Satyanarayanan Vengathesa Sarma",
        "5 May 2017",
        "Four algorithms fit a linear support vector machine: SDCA, which improves one dual variable at a time; Pegasos, a "
        "sub-gradient descent; and the mini-batch variant of each (ASDCA is the accelerated one of SDCA). They are compared "
        "on simulated data (1,000 × 10), on genomic data with far more columns than rows, and on the skin data (245,057 × 3). "
        "The message: Pegasos is the slowest, ASDCA is best with many rows, mini-batch Pegasos with many columns; ways of "
        "drawing rows, averaging and projection matter little.",
        "R0 figure 1",
    ),
    "R1": Report(
        "SDCA vs. Pegasos for linear SVM fitting: applications to blood cells classification",
        "Dimitri Bouche, Cyril Verluise",
        "11 May 2018",
        "Lymphocytes are told from neutrophils in 4,982 pictures, cropped to 120 × 120 pixels: once with all 14,400 pixels as "
        "columns, once after a PCA to 40 columns. SDCA, with and without a first epoch of modified SGD, meets mini-batch "
        "Pegasos on a CPU clock. The message: SDCA wins with more columns than rows, Pegasos with more rows than columns.",
        "R1 figure 2",
    ),
    "R2": Report(
        "Etude de l'algorithme Stochastic Dual Coordinate Ascent (SDCA)",
        "Vincent Le Meur",
        "13 May 2018",
        "SDCA and Pegasos, each drawing rows at random or by permutation, on the breast cancer data of scikit-learn (569 × 30) "
        "and on simulated data (1,000 × 50). SDCA returns the average of its last iterates or a random one of them. The "
        "message: permutation helps SDCA; both algorithms are about equally accurate; an average over too many iterates hurts.",
        "R2 convergence, simulated",
    ),
    "R3": Report(
        "Machine Learning Algorithms Report",
        "Mahdi Ranjbar, Philippe Massouf, Maxime Jauroyon",
        "26 March 2023",
        "Three ways to fit a support vector machine to data generated with scikit-learn: sub-gradient descent on the primal, "
        "projected gradient ascent on the dual, and coordinate ascent on the dual with each variable clipped to its box. The "
        "message: coordinate ascent is as good as any, needs few epochs, and has no step size to choose.",
        "R3 figure 6",
    ),
    "R4": Report(
        "Stochastic Dual Coordinate Ascent",
        "Guillaume Desforges, Michaël Karpe, Matthieu Roux",
        "15 June 2018",
        "Logistic regression by SGD and by SDCA on Arrhythmia (452 × 279) and Adult (48,842 × 14), with hyperparameters "
        "selected on held-out rows, Gaussian features, and the theorem's sufficient number of updates. The message: SGD ends "
        "more accurate and keeps moving, SDCA settles, and the theorem asks for far more updates than practice.",
        "R4 figure 1",
    ),
}
