"""Rows and what belongs to them: matrices, labels and sample weights as numbers that everything above can trust."""
