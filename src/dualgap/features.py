"""Feature maps: what a spec such as `gaussian(centers=100, width=2)` makes of the columns, as scikit-learn transformers.

A Gaussian feature is exp(−‖x − s‖²/h): 1 at its center s, and the smaller the farther x lies, in units of the width h.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from dualgap import spec


def _gamma(width: Any) -> float:
    """1/h, as scikit-learn calls the width of a Gaussian."""
    number = float(width) if isinstance(width, Real) and not isinstance(width, bool) else 0.0
    if not number > 0 or not 0 < 1.0 / number < math.inf:
        raise ValueError(f"a Gaussian needs a width above 0, got {width!r}; try the median of ‖x − x′‖²")
    return 1.0 / number


class GaussianCenters(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Gaussian bumps exp(−‖x − s‖²/width) around centers s that are drawn from the rows seen in `fit`.

    With every row a center these are the columns of the Gaussian kernel's matrix, and a linear model on them is no longer
    linear in x.

    Parameters
    ----------
    n_centers : int or float, default=100
        How many rows are drawn, without repetition; all of them where there are fewer. A float below 1 is a share of the
        rows.
    width : float, default=1.0
        The h of the formula, in squared units of x: `gamma=1/width` of scikit-learn's `rbf_kernel`.
    random_state : int, RandomState instance or None, default=None
        Draws the centers; an int draws the same ones every time.

    Attributes
    ----------
    centers_ : array or CSR matrix of shape (number of centers, n_features_in_)
        The rows drawn, sparse where X was, in their order in X.

    Examples
    --------
    A ring around a disc, which no straight line separates:

    >>> import numpy as np
    >>> from sklearn.datasets import make_circles
    >>> from sklearn.pipeline import make_pipeline
    >>> import dualgap as dg
    >>> X, y = make_circles(200, factor=0.4, noise=0.05, random_state=0)
    >>> bumps = dg.GaussianCenters(n_centers=20, width=0.5, random_state=0)
    >>> bumps.fit_transform(X).shape
    (200, 20)
    >>> dg.LinearSVC(loss="hinge").fit(X, y).score(X, y) < 0.7
    True
    >>> make_pipeline(bumps, dg.LinearSVC(loss="hinge")).fit(X, y).score(X, y)
    1.0
    """

    centers_: Any

    def __init__(self, n_centers: float = 100, *, width: float = 1.0, random_state: Any = None) -> None:
        self.n_centers = n_centers
        self.width = width
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the centers from the rows of X; y is not looked at."""
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        _gamma(self.width)
        rows = X.shape[0]
        drawn = check_random_state(self.random_state).permutation(rows)[: self._count(rows)]
        self.centers_ = X[np.sort(drawn)]
        return self

    def transform(self, X: Any) -> Any:
        """A row of Gaussian features for each row of X."""
        from sklearn.metrics.pairwise import rbf_kernel

        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return rbf_kernel(X, self.centers_, gamma=_gamma(self.width))

    def _count(self, rows: int) -> int:
        """How many of the rows are centers."""
        wanted = self.n_centers
        if isinstance(wanted, Integral) and not isinstance(wanted, bool) and wanted >= 1:
            return min(int(wanted), rows)
        if isinstance(wanted, Real) and not isinstance(wanted, Integral) and 0 < wanted < 1:
            return max(1, int(wanted * rows))
        raise ValueError(
            f"GaussianCenters needs n_centers of 1 or more, or a share of the rows between 0 and 1, got {wanted!r}"
        )

    @property
    def _n_features_out(self) -> int:
        return int(self.centers_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class FeatureMap(Protocol):
    """What a row of the table offers: options as fields, a description, and the transformer they stand for."""

    name: ClassVar[str]
    summary: ClassVar[str]

    def transformer(self) -> Any:
        """A transformer that is not yet fitted."""


@dataclass(frozen=True)
class Polynomial:
    """All products of at most `degree` columns."""

    name: ClassVar[str] = "polynomial"
    summary: ClassVar[str] = "all products of at most so many columns"
    degree: int = 2
    bias: bool = False  # whether the product of no columns, 1, is among them

    def transformer(self) -> Any:
        """scikit-learn's PolynomialFeatures."""
        from sklearn.preprocessing import PolynomialFeatures

        return PolynomialFeatures(self.degree, include_bias=self.bias)


@dataclass(frozen=True)
class Gaussian:
    """Gaussian bumps around centers drawn from the rows."""

    name: ClassVar[str] = "gaussian"
    summary: ClassVar[str] = (
        "exp(−‖x − s‖²/width) for centers s drawn from the rows; centers below 1 are a share of them"
    )
    centers: float = 100
    width: float = 1.0
    seed: int | None = 0

    def transformer(self) -> GaussianCenters:
        """GaussianCenters of this module."""
        return GaussianCenters(self.centers, width=self.width, random_state=self.seed)


@dataclass(frozen=True)
class RBF:
    """Random waves whose products approach the Gaussian kernel."""

    name: ClassVar[str] = "rbf"
    summary: ClassVar[str] = "random waves whose products approach the Gaussian kernel exp(−‖x − x′‖²/width)"
    components: int = 100
    width: float = 1.0
    seed: int | None = 0

    def transformer(self) -> Any:
        """scikit-learn's RBFSampler."""
        from sklearn.kernel_approximation import RBFSampler

        return RBFSampler(gamma=_gamma(self.width), n_components=self.components, random_state=self.seed)


@dataclass(frozen=True)
class Nystroem:
    """Gaussian bumps, turned so that their products approach the Gaussian kernel."""

    name: ClassVar[str] = "nystroem"
    summary: ClassVar[str] = (
        "features from drawn rows, whose products approach the Gaussian kernel exp(−‖x − x′‖²/width)"
    )
    components: int = 100
    width: float = 1.0
    seed: int | None = 0

    def transformer(self) -> Any:
        """scikit-learn's Nystroem."""
        from sklearn.kernel_approximation import Nystroem as Transformer

        return Transformer(gamma=_gamma(self.width), n_components=self.components, random_state=self.seed)


_MAPS: tuple[Any, ...] = (Polynomial, Gaussian, RBF, Nystroem)
FEATURES: dict[str, type[FeatureMap]] = {kind.name: kind for kind in _MAPS}


def feature_map(text: object) -> Any:
    """The transformer that a spec of the table `FEATURES` stands for, not yet fitted.

    >>> feature_map("gaussian(centers=50, width=2)")
    GaussianCenters(n_centers=50, random_state=0, width=2)
    """
    chosen: FeatureMap = spec.build(text, FEATURES, "feature map")
    return chosen.transformer()
