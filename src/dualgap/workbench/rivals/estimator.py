"""An estimator of the user's as a contender: scikit-learn's `fit`, with what decides the objective set to that of the race."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from dualgap import spec
from dualgap.estimators.base import CertifiedModel
from dualgap.losses import Loss
from dualgap.workbench.rivals import objectives
from dualgap.workbench.rivals.base import Fit, Rival
from dualgap.workbench.rivals.function import ONE_RUNG


def name_of_estimator(estimator: Any) -> str:
    """Its own words for itself, without what the race sets, after the package they are from: sklearn.LinearSVC(dual=True)."""
    from sklearn.base import clone

    package = type(estimator).__module__.partition(".")[0]
    shown = clone(estimator, safe=False)
    if hasattr(shown, "set_params"):
        defaults = objectives.defaults_of(type(shown))
        set_by_race = objectives.set_by_race(objectives.name_of_class(type(shown))) & defaults.keys()
        shown.set_params(**{name: defaults[name] for name in set_by_race & _parameters(shown)})
    words = " ".join(repr(shown).split())
    return words if package == "__main__" else f"{package}.{words}"


class EstimatorRival(Rival):
    """A clone of the estimator for every fit, without an intercept, its objective made that of the race.

    `objectives` says for the classes of scikit-learn and dualgap by which parameters, and under which losses that can be; under another loss the class
    refuses, because its weights are the answer to another question. Any other class is trusted: it is given
    C = 1/(λn), the spec of the loss and the loss's own options, where it has such parameters. With `tol` it is fitted at one tolerance after the other; the
    weights are its `coef_`, and the duals are those of dualgap's own estimators, which have them in `dual_coef_`.
    """

    package = "yours"
    module = "builtins"

    def __init__(self, estimator: Any, name: str) -> None:
        self.estimator, self.name = estimator, name  # type: ignore[misc]
        self.known = objectives.name_of_class(type(estimator))
        self.losses = objectives.losses_of(self.known)  # type: ignore[misc]
        self.takes = _parameters(estimator)

    def refusal(self, loss: str) -> str:
        """Why its weights would answer another question than the race's."""
        if not self.losses:
            return (
                f"{self.name} minimizes an objective of its own, which no parameter makes that of a race; "
                "race a function that returns its weights to have them judged nevertheless"
            )
        return (
            f"{self.name} minimizes the objective of a race under {' and '.join(self.losses)} only, and one of its own "
            f"under {loss}; race it under a loss it knows"
        )

    def tolerances(self) -> list[float]:
        return super().tolerances() if "tol" in self.takes else ONE_RUNG

    def fit(
        self,
        X: Any,
        y: Any,
        loss: Loss,
        strength: float,
        tolerance: float,
        *,
        rows: int,
        seed: int,
        iterations: int,
        threads: int = 1,
    ) -> Fit:
        from sklearn.base import clone

        wanted = {"tol": tolerance, "max_iter": iterations, "random_state": seed, "fit_intercept": False}
        wanted |= self._objective(loss, strength, rows)
        model = clone(self.estimator, safe=False)
        if self.takes:
            model.set_params(**{name: value for name, value in wanted.items() if name in self.takes})
        model.fit(X, y)
        if not hasattr(model, "coef_"):
            raise ValueError("its fit leaves no coef_, which the judge needs")
        iterations_made = getattr(model, "n_iter_", None)
        return Fit(
            np.asarray(model.coef_, dtype=np.float64).ravel(),
            None if iterations_made is None else int(np.max(iterations_made)),
            self._duals(model, loss) if isinstance(model, CertifiedModel) else None,
        )

    def _objective(self, loss: Loss, strength: float, rows: int) -> dict[str, Any]:
        if self.known is None:
            options: dict[str, Any] = asdict(loss)  # type: ignore[call-overload]
            return {"C": 1.0 / (strength * rows), "loss": spec.text_of(loss)} | options
        defaults = objectives.defaults_of(type(self.estimator))
        neutral = {name: defaults[name] for name in objectives.NEUTRAL if name in defaults}
        return neutral | objectives.parameters_of(self.known, loss, strength, rows)

    def _duals(self, model: Any, loss: Loss) -> Any:
        return objectives.DUAL_FACTORS.get((str(self.known), loss.name), 1.0) * np.asarray(model.dual_coef_).ravel()


def _parameters(estimator: Any) -> set[str]:
    return set(estimator.get_params(deep=False)) if hasattr(estimator, "get_params") else set()
