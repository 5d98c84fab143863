"""Feature maps: scikit-learn transformers that a spec such as `gaussian(centers=100, width=2)` describes.

A Gaussian feature is exp(−‖x − s‖²/h) with center s and width h: 1 at the center, and falling with the distance from it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

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

    def check(self) -> None:
        """Refuse parameters that no fit could use."""
        _gamma(self.width)
        self._count(1)

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


# NumPy's generators take seeds of 32 bits.
LARGEST_SEED = 2**32 - 1


class FeatureMap:
    """An entry of FEATURES: options as fields, a summary, the transformer with these options, and what its fit leaves."""

    name: ClassVar[str]
    summary: ClassVar[str]
    fitted: ClassVar[tuple[str, ...]] = ()
    """The arrays that a fit leaves, named as the transformer's attributes without their last underscore."""
    drawn_rows: ClassVar[str | None] = None
    """Which of them holds rows of the training data, sparse where these are."""

    def transformer(self) -> Any:
        """The transformer, not fitted."""
        raise NotImplementedError

    def fit(self, X: Any) -> Any:
        """The transformer, fitted to the rows of X."""
        return self.transformer().fit(X)

    def shapes(self, columns: int, count: int) -> dict[str, tuple[int, ...]]:
        """The shapes of the fitted arrays of a map from `columns` columns to `count` features; refuses what cannot be."""
        raise NotImplementedError

    def restored(self, columns: int, arrays: Mapping[str, Any]) -> Any:
        """The transformer as a fit left it."""
        transformer = self.transformer()
        for name in self.fitted:
            setattr(transformer, f"{name}_", arrays[name])
        transformer.n_features_in_ = columns
        return transformer


@dataclass(frozen=True)
class Polynomial(FeatureMap):
    """All products of at most `degree` columns."""

    name: ClassVar[str] = "polynomial"
    summary: ClassVar[str] = "all products of at most degree columns"
    degree: int = 2
    bias: bool = False
    """Whether to add the constant column 1."""

    def __post_init__(self) -> None:
        _check_count("degree", self.degree)
        if not isinstance(self.bias, bool):
            raise ValueError(f"the bias of polynomials needs true or false, got {self.bias!r}")

    def transformer(self) -> Any:
        """scikit-learn's PolynomialFeatures."""
        from sklearn.preprocessing import PolynomialFeatures

        return PolynomialFeatures(self.degree, include_bias=self.bias)

    def count(self, columns: int, limit: int) -> int:
        """The number of features, or one above `limit` where it is above: the exact one may have millions of digits."""
        products, small, large = 1, *sorted((self.degree, columns))
        for k in range(1, small + 1):
            products = products * (large + k) // k
            if products > limit + 1:
                return limit + 1
        return products - (not self.bias)

    def shapes(self, columns: int, count: int) -> dict[str, tuple[int, ...]]:
        """No arrays; the number of features follows from the number of columns."""
        if self.count(columns, count) != count:
            raise ValueError(f"polynomials of degree {self.degree} in {columns} columns are not {count} features")
        return {}

    def restored(self, columns: int, arrays: Mapping[str, Any]) -> Any:
        """A fit counts columns, and no more."""
        return self.transformer().fit(np.zeros((1, columns)))


@dataclass(frozen=True)
class Gaussian(FeatureMap):
    """Gaussian features around centers drawn from the rows."""

    name: ClassVar[str] = "gaussian"
    summary: ClassVar[str] = (
        "exp(−‖x − s‖²/width) for centers s drawn from the rows; centers below 1 are a fraction of the rows"
    )
    fitted: ClassVar[tuple[str, ...]] = ("centers",)
    drawn_rows: ClassVar[str | None] = "centers"
    centers: int | float = 100
    width: float = 1.0
    seed: int | None = 0

    def __post_init__(self) -> None:
        self.transformer().check()
        _check_seed(self.seed)

    def transformer(self) -> GaussianCenters:
        """dualgap's GaussianCenters."""
        return GaussianCenters(self.centers, width=self.width, random_state=self.seed)

    def shapes(self, columns: int, count: int) -> dict[str, tuple[int, ...]]:
        """A center for each feature."""
        if isinstance(self.centers, Integral) and count > self.centers:
            raise ValueError(f"{self.centers} centers are not {count} features")
        return {"centers": (count, columns)}


@dataclass(frozen=True)
class RBF(FeatureMap):
    """Random Fourier features, whose inner products approximate the Gaussian kernel."""

    name: ClassVar[str] = "rbf"
    summary: ClassVar[str] = (
        "random Fourier features: inner products approximate the Gaussian kernel exp(−‖x − x′‖²/width)"
    )
    fitted: ClassVar[tuple[str, ...]] = ("random_weights", "random_offset")
    components: int = 100
    width: float = 1.0
    seed: int | None = 0

    def __post_init__(self) -> None:
        _check_count("components", self.components)
        _gamma(self.width)
        _check_seed(self.seed)

    def transformer(self) -> Any:
        """scikit-learn's RBFSampler."""
        from sklearn.kernel_approximation import RBFSampler

        return RBFSampler(gamma=_gamma(self.width), n_components=self.components, random_state=self.seed)

    def shapes(self, columns: int, count: int) -> dict[str, tuple[int, ...]]:
        """A direction and a phase for each feature."""
        if count != self.components:
            raise ValueError(f"{self.components} components are not {count} features")
        return {"random_weights": (columns, count), "random_offset": (count,)}


@dataclass(frozen=True)
class Nystroem(FeatureMap):
    """Nyström features, whose inner products approximate the Gaussian kernel."""

    name: ClassVar[str] = "nystroem"
    summary: ClassVar[str] = (
        "Nyström features from drawn rows: inner products approximate the Gaussian kernel exp(−‖x − x′‖²/width)"
    )
    fitted: ClassVar[tuple[str, ...]] = ("components", "normalization")
    drawn_rows: ClassVar[str | None] = "components"
    components: int = 100
    width: float = 1.0
    seed: int | None = 0

    def __post_init__(self) -> None:
        _check_count("components", self.components)
        _gamma(self.width)
        _check_seed(self.seed)

    def transformer(self) -> Any:
        """scikit-learn's Nystroem."""
        from sklearn.kernel_approximation import Nystroem as Transformer

        return Transformer(gamma=_gamma(self.width), n_components=self.components, random_state=self.seed)

    def fit(self, X: Any) -> Any:
        """With fewer rows than components every row is one; scikit-learn does the same, with a warning."""
        return self.transformer().set_params(n_components=min(self.components, X.shape[0])).fit(X)

    def shapes(self, columns: int, count: int) -> dict[str, tuple[int, ...]]:
        """A row for each feature, and the inverse root of their kernel matrix."""
        if count > self.components:
            raise ValueError(f"{self.components} components are not {count} features")
        return {"components": (count, columns), "normalization": (count, count)}


def _check_count(name: str, value: Any) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"the {name} of a feature map needs to be a whole number ≥ 1, got {value!r}")


def _check_seed(seed: Any) -> None:
    is_whole = isinstance(seed, Integral) and not isinstance(seed, bool) and 0 <= int(seed) <= LARGEST_SEED
    if seed is not None and not is_whole:
        raise ValueError(f"the seed of a feature map needs to be a whole number from 0 to {LARGEST_SEED}, got {seed!r}")


_MAPS: tuple[Any, ...] = (Polynomial, Gaussian, RBF, Nystroem)
FEATURES: dict[str, type[FeatureMap]] = {kind.name: kind for kind in _MAPS}


def choose_map(given: object, seed: int | None = None) -> FeatureMap:
    """The entry of FEATURES that a spec or an object stands for; `seed` is for a spec that names none.

    Anything else is refused in one sentence that lists the maps.
    """
    try:
        chosen = spec.build(given, FEATURES, "feature map")
    except (ValueError, TypeError) as error:
        raise type(error)(f"a feature map is one of {', '.join(FEATURES)}, with its options: {error}") from None
    is_open = isinstance(given, str) and "seed" not in spec.parse(given)[1] and hasattr(chosen, "seed")
    return replace(chosen, seed=seed) if is_open and seed is not None else chosen  # type: ignore[type-var]


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
    return choose_map(text).transformer()
