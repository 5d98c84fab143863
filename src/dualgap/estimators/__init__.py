"""scikit-learn's linear models, each with a certificate."""

# First of all, and from here: CPython 3.11 maps and unmaps a piece of its stack at every call that crosses the piece's
# end, and scikit-learn's many imports, begun some modules deeper, do so 12,000 times (0.1 s).
import sklearn.base  # noqa: F401
