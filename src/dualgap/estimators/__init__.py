"""scikit-learn's linear models on top of `solve`, each with a certificate."""

# scikit-learn is imported here, at a shallow call depth: CPython 3.11 allocates and frees a chunk of its stack at each
# call across the end of the chunk, which the same import some modules deeper does 12,000 times (0.1 s).
import sklearn.base  # noqa: F401
