"""scikit-learn's LogisticRegression by LIBLINEAR's coordinate descent on the dual."""

from __future__ import annotations

from dualgap.workbench.rivals.logistic_regression import LogisticRegression


class LogisticLiblinearDual(LogisticRegression):
    """The same objective, solver='liblinear' with dual=True."""

    name = "scikit-learn liblinear dual"
    threaded = False
    solver = "liblinear"
    dual = True
    loosest = 1e3  # on rows of large values, or many, 1 is a tight tolerance already


RIVAL = LogisticLiblinearDual()
