"""What each option of the solvers means, and the values that it takes."""

from __future__ import annotations

from typing import NamedTuple


class Option(NamedTuple):
    """An option as a person chooses it; `example` is a value that every solver with this option takes."""

    about: str
    values: str
    example: str


OPTIONS: dict[str, Option] = {
    "output": Option(
        "Which iterate is the answer: the last, the average of the later ones, or one of these drawn at random.",
        "last, average or random",
        "average",
    ),
    "average_from": Option(
        "The fraction of the run after which iterates enter the average, or the draw of output=random.",
        "a number from 0 to below 1",
        "0.25",
    ),
    "sampling": Option(
        "The order in which an epoch takes rows: drawn with replacement, shuffled anew, shuffled once, or as they are stored.",
        "random, permutation, cyclic or stored",
        "cyclic",
    ),
    "first_epoch": Option(
        "How the first pass is made: by dual ascent as the others, or by modified SGD as in the paper.",
        "sdca or sgd",
        "sgd",
    ),
    "shrinking": Option(
        "Whether rows that a bound of their dual holds are left out of some passes.", "true or false", "true"
    ),
    "logistic_step": Option(
        "The dual step under the logistic loss: the exact one by Newton's method, or the paper's closed form.",
        "newton or closed_form",
        "closed_form",
    ),
    "batch_size": Option("Rows that are touched together in one update.", "a whole number of at least 1", "8"),
    "theta": Option(
        "The acceleration θ; none takes the paper's choice, and 16x sixteen times that.",
        "none, a number above 0 and up to 1, or a factor such as 16x",
        "16x",
    ),
    "gamma": Option(
        "How much a loss with a kink is smoothed inside: the kink becomes a parabola of this width.",
        "a number above 0",
        "0.1",
    ),
    "projection": Option(
        "Whether weights are projected onto the ball that the optimum is known to lie in.", "true or false", "true"
    ),
    "step": Option(
        "The step size at the beginning; none derives it from the loss and the lengths of the rows.",
        "none, or a number above 0",
        "0.1",
    ),
    "schedule": Option(
        "How the step falls with the update t: not at all, as step/(1 + λ·step·t), or as step/√t.",
        "constant, inverse or sqrt (subgradient also none, which chooses by the loss)",
        "sqrt",
    ),
}
