"""scikit-learn's linear models, each with a certificate."""

from __future__ import annotations

from dualgap.estimators.logistic import LogisticRegression
from dualgap.estimators.quantile import QuantileRegressor
from dualgap.estimators.ridge import Ridge
from dualgap.estimators.svm import LinearSVC, LinearSVR

__all__ = ["LinearSVC", "LinearSVR", "LogisticRegression", "QuantileRegressor", "Ridge"]
