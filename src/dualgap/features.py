"""Feature maps: scikit-learn transformers that a spec such as `gaussian(centers=100, width=2)` describes.

A Gaussian feature is exp(−‖x − s‖²/h) with center s and width h: 1 at the center, and falling with the distance from it.
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
    """1/h, which scikit-learn calls gamma."""
    number = float(width) if isinstance(width, Real) and not isinstance(width, bool) else 0.0
    if not number > 0 or not 0 < 1.0 / number < math.inf:
        raise ValueError(f"a Gaussian needs width > 0, got {width!r}; try the median of ‖x − x′‖²")
    return 1.0 / number


class GaussianCenters(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Gaussian features exp(−‖x − s‖²/width) around centers s drawn from the rows of `fit`.

    With every row as a center the features are the columns of the Gaussian kernel matrix. A linear model on them is not
    linear in x.

    Parameters
    ----------
    n_centers : int or float, default=100
        Number of rows drawn without replacement; all rows if there are fewer. A float below 1 is a fraction of the rows.
    width : float, default=1.0
        The width in squared units of x: `gamma=1/width` of scikit-learn's `rbf_kernel`.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw; an int draws the same centers in every fit.

    Attributes
    ----------
    centers_ : array or CSR matrix of shape (number of centers, n_features_in_)
        The drawn rows in their order in X; sparse if X is sparse.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if X has any.

    Examples
    --------
    No straight line separates a ring from the disc inside it:

    >>> import numpy as np
    >>> from sklearn.datasets import make_circles
    >>> from sklearn.pipeline import make_pipeline
    >>> import dualgap as dg
    >>> X, y = make_circles(200, factor=0.4, noise=0.05, random_state=0)
    >>> features = dg.GaussianCenters(n_centers=20, width=0.5, random_state=0)
    >>> features.fit_transform(X).shape
    (200, 20)
    >>> dg.LinearSVC(loss="hinge").fit(X, y).score(X, y) < 0.7
    True
    >>> make_pipeline(features, dg.LinearSVC(loss="hinge")).fit(X, y).score(X, y)
    1.0
    """

    centers_: Any

    def __init__(self, n_centers: float = 100, *, width: float = 1.0, random_state: Any = None) -> None:
        self.n_centers = n_centers
        self.width = width
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the centers from the rows of X; y is ignored."""
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        _gamma(self.width)
        rows = X.shape[0]
        drawn = check_random_state(self.random_state).permutation(rows)[: self._count(rows)]
        self.centers_ = X[np.sort(drawn)]
        return self

    def transform(self, X: Any) -> Any:
        """Gaussian features of each row of X."""
        from sklearn.metrics.pairwise import rbf_kernel

        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return rbf_kernel(X, self.centers_, gamma=_gamma(self.width))

    def _count(self, rows: int) -> int:
        """Number of centers."""
        n_centers = self.n_centers
        if isinstance(n_centers, Integral) and not isinstance(n_centers, bool) and n_centers >= 1:
            return min(int(n_centers), rows)
        if isinstance(n_centers, Real) and not isinstance(n_centers, Integral) and 0 < n_centers < 1:
            return max(1, int(n_centers * rows))
        raise ValueError(
            f"GaussianCenters needs n_centers ≥ 1, or a fraction of the rows between 0 and 1, got {n_centers!r}; the default is 100"
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
    """An entry of FEATURES: options as fields, a summary, and the transformer with these options."""

    name: ClassVar[str]
    summary: ClassVar[str]

    def transformer(self) -> Any:
        """The transformer, not fitted."""


@dataclass(frozen=True)
class Polynomial:
    """All products of at most `degree` columns."""

    name: ClassVar[str] = "polynomial"
    summary: ClassVar[str] = "all products of at most degree columns"
    degree: int = 2
    bias: bool = False
    """Whether to add the constant column 1."""

    def transformer(self) -> Any:
        """scikit-learn's PolynomialFeatures."""
        from sklearn.preprocessing import PolynomialFeatures

        return PolynomialFeatures(self.degree, include_bias=self.bias)


@dataclass(frozen=True)
class Gaussian:
    """Gaussian features around centers drawn from the rows."""

    name: ClassVar[str] = "gaussian"
    summary: ClassVar[str] = (
        "exp(−‖x − s‖²/width) for centers s drawn from the rows; centers below 1 are a fraction of the rows"
    )
    centers: float = 100
    width: float = 1.0
    seed: int | None = 0

    def transformer(self) -> GaussianCenters:
        """dualgap's GaussianCenters."""
        return GaussianCenters(self.centers, width=self.width, random_state=self.seed)


@dataclass(frozen=True)
class RBF:
    """Random Fourier features, whose inner products approximate the Gaussian kernel."""

    name: ClassVar[str] = "rbf"
    summary: ClassVar[str] = (
        "random Fourier features: inner products approximate the Gaussian kernel exp(−‖x − x′‖²/width)"
    )
    components: int = 100
    width: float = 1.0
    seed: int | None = 0

    def transformer(self) -> Any:
        """scikit-learn's RBFSampler."""
        from sklearn.kernel_approximation import RBFSampler

        return RBFSampler(gamma=_gamma(self.width), n_components=self.components, random_state=self.seed)


@dataclass(frozen=True)
class Nystroem:
    """Nyström features, whose inner products approximate the Gaussian kernel."""

    name: ClassVar[str] = "nystroem"
    summary: ClassVar[str] = (
        "Nyström features from drawn rows: inner products approximate the Gaussian kernel exp(−‖x − x′‖²/width)"
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
    """The transformer of a spec of the table `FEATURES`, not fitted.

    Parameters
    ----------
    text : str or object
        A spec such as "gaussian(centers=50, width=2)", or an object of the table.

    Returns
    -------
    transformer : object
        A scikit-learn transformer.

    Examples
    --------

    >>> feature_map("gaussian(centers=50, width=2)")
    GaussianCenters(n_centers=50, random_state=0, width=2)
    """
    chosen: FeatureMap = spec.build(text, FEATURES, "feature map")
    return chosen.transformer()
