"""Rows, labels and sample weights as numbers that everything above can trust, and files read and written with care."""
