"""scikit-learn's LogisticRegression by LIBLINEAR: a trust-region Newton method on the primal."""

from __future__ import annotations

from dualgap.workbench.rivals.logistic_regression import LogisticRegression


class LogisticLiblinear(LogisticRegression):
    """The same objective, solver='liblinear'."""

    name = "scikit-learn liblinear"
    threaded = False
    solver = "liblinear"


RIVAL = LogisticLiblinear()
