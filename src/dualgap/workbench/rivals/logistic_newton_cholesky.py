"""scikit-learn's LogisticRegression by Newton steps on the d × d Hessian."""

from __future__ import annotations

from dualgap.workbench.rivals.logistic_regression import LogisticRegression


class LogisticNewtonCholesky(LogisticRegression):
    """The same objective, solver='newton-cholesky'."""

    name = "scikit-learn newton-cholesky"
    solver = "newton-cholesky"
    loosest = 1e3  # on rows of large values, or many, 1 is a tight tolerance already


RIVAL = LogisticNewtonCholesky()
