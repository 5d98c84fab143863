"""scikit-learn's LogisticRegression by SAGA: stochastic gradients with a memory of the last one of each row."""

from __future__ import annotations

from dualgap.workbench.rivals.logistic_regression import LogisticRegression


class LogisticSaga(LogisticRegression):
    """The same objective, solver='saga'."""

    name = "scikit-learn saga"
    threaded = False
    solver = "saga"


RIVAL = LogisticSaga()
