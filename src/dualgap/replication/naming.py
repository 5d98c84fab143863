"""Data sets of experiments in words: what a spec such as first_rows(data=adult_codes, joined=True) is."""

from __future__ import annotations

from dualgap.replication.rules_r1 import in_words
from dualgap.spec import parse

KNOWN = {
    "genomic": "genomic (stand-in: prostate, 102 × 5,966)",
    "breast_cancer": "breast cancer",
    "gaussians": "two Gaussian clouds",
    "adult_codes": "adult",
}


def data_words(data: str, scaling: bool = True) -> str:
    """A data set in words, without the seed of its draw; `scaling` tells what was done to rows and columns too."""
    name, options = parse(data)
    inner = str(options.get("data", ""))
    rows = f", first {options['rows']:,} rows" if options.get("rows") else ", all rows" if options.get("joined") else ""
    if name == "unit_rows":
        done = ("columns standardized, " if options.get("standardized") else "") + "rows of length at most 1"
        return data_words(inner) + (f", {done}" if scaling else "")
    if name == "first_rows":
        return data_words(inner) + rows + ("" if options.get("standardize", True) else ", raw columns")
    if name == "zero_one":
        return f"{data_words(inner)}, labels 0/1"
    if name == "gaussian_map":
        return f"Gaussian features of {data_words(inner)}{rows}"
    if name == "cells":
        return f"blood cells, {in_words(data)}"
    told = ", ".join(f"{key}={value}" for key, value in options.items() if key not in ("seed", "rows"))
    return KNOWN.get(name, name) + (f" ({told})" if told else "") + rows
