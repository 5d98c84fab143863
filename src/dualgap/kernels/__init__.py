"""Compiled inner loops; the only package that speaks Numba."""
