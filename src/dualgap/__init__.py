"""dualgap: regularized linear models that prove how good their answer is.

Public names load on first use, so that `import dualgap` stays as quick as NumPy.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dualgap.certificate import Certificate, certify
    from dualgap.data.blocks import Blocks
    from dualgap.estimators.cv import LinearSVCCV, LogisticRegressionCV
    from dualgap.estimators.elastic_net import ElasticNet, Lasso
    from dualgap.estimators.elastic_net_cv import ElasticNetCV, LassoCV
    from dualgap.estimators.huber import HuberRegressor
    from dualgap.estimators.logistic import LogisticRegression
    from dualgap.estimators.notes import ParameterNote
    from dualgap.estimators.poisson import PoissonRegressor
    from dualgap.estimators.quantile import QuantileRegressor
    from dualgap.estimators.ridge import Ridge
    from dualgap.estimators.ridge_classifier import RidgeClassifier
    from dualgap.estimators.ridge_cv import RidgeCV
    from dualgap.estimators.svm import LinearSVC, LinearSVR
    from dualgap.estimators.svr_cv import LinearSVRCV
    from dualgap.features import FEATURES, GaussianCenters, feature_map
    from dualgap.fitted_features import FittedMap
    from dualgap.losses import (
        LOSSES,
        Absolute,
        EpsilonInsensitive,
        Hinge,
        Huber,
        Logistic,
        Loss,
        Poisson,
        Quantile,
        SmoothedHinge,
        Squared,
        SquaredEpsilonInsensitive,
        SquaredHinge,
    )
    from dualgap.models.model import Model
    from dualgap.models.reading import load
    from dualgap.paths import Path, solve_path
    from dualgap.penalties import PENALTIES, Penalty
    from dualgap.problem import MultinomialProblem, Problem
    from dualgap.run import Result, Status, solve
    from dualgap.solvers import (
        ASDCA,
        SDCA,
        SGD,
        SOLVERS,
        Auto,
        BoxAscent,
        Newton,
        Pegasos,
        ProjectedAscent,
        Solver,
        SparseNewton,
        Subgradient,
        sufficient_updates,
    )
    from dualgap.trace import Record, Trace
    from dualgap.workbench.races import Race, race

try:
    __version__ = version("dualgap")
except PackageNotFoundError:  # run from a source tree that was never installed
    __version__ = "0+unknown"

_HOMES = {
    "dualgap.data.blocks": ("Blocks",),
    "dualgap.problem": ("MultinomialProblem", "Problem"),
    "dualgap.paths": ("Path", "solve_path"),
    "dualgap.penalties": ("PENALTIES", "Penalty"),
    "dualgap.certificate": ("Certificate", "certify"),
    "dualgap.models.reading": ("load",),
    "dualgap.models.model": ("Model",),
    "dualgap.run": ("Result", "Status", "solve"),
    "dualgap.trace": ("Record", "Trace"),
    "dualgap.estimators.cv": ("LinearSVCCV", "LogisticRegressionCV"),
    "dualgap.estimators.elastic_net": ("ElasticNet", "Lasso"),
    "dualgap.estimators.elastic_net_cv": ("ElasticNetCV", "LassoCV"),
    "dualgap.estimators.huber": ("HuberRegressor",),
    "dualgap.estimators.logistic": ("LogisticRegression",),
    "dualgap.estimators.notes": ("ParameterNote",),
    "dualgap.estimators.poisson": ("PoissonRegressor",),
    "dualgap.estimators.quantile": ("QuantileRegressor",),
    "dualgap.estimators.ridge": ("Ridge",),
    "dualgap.estimators.ridge_classifier": ("RidgeClassifier",),
    "dualgap.estimators.ridge_cv": ("RidgeCV",),
    "dualgap.estimators.svm": ("LinearSVC", "LinearSVR"),
    "dualgap.estimators.svr_cv": ("LinearSVRCV",),
    "dualgap.features": ("FEATURES", "GaussianCenters", "feature_map"),
    "dualgap.fitted_features": ("FittedMap",),
    "dualgap.workbench.races": ("Race", "race"),
    "dualgap.losses": (
        "LOSSES",
        "Absolute",
        "EpsilonInsensitive",
        "Hinge",
        "Huber",
        "Logistic",
        "Loss",
        "Poisson",
        "Quantile",
        "SmoothedHinge",
        "Squared",
        "SquaredEpsilonInsensitive",
        "SquaredHinge",
    ),
    "dualgap.solvers": (
        "ASDCA",
        "SDCA",
        "SGD",
        "SOLVERS",
        "Auto",
        "BoxAscent",
        "Newton",
        "Pegasos",
        "ProjectedAscent",
        "Solver",
        "SparseNewton",
        "Subgradient",
        "sufficient_updates",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", *sorted(_HOME_OF)]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'dualgap' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
