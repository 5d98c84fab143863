"""Problems: P, D and w(α) for binary labels, real targets and the softmax model; the owner of 1/S and λ."""

from dualgap.problem.base import BaseProblem, Intercept
from dualgap.problem.one_score import Problem
from dualgap.problem.row_blocks import BlockProblem
from dualgap.problem.scoring import accuracy, score
from dualgap.problem.softmax import MultinomialProblem
from dualgap.problem.softmax_blocks import MultinomialBlockProblem
from dualgap.problem.sums import EVERY, each, root_of_squares, total

__all__ = [
    "EVERY",
    "BaseProblem",
    "BlockProblem",
    "Intercept",
    "MultinomialBlockProblem",
    "MultinomialProblem",
    "Problem",
    "accuracy",
    "each",
    "root_of_squares",
    "score",
    "total",
]
