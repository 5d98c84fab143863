"""The words of a replication's page: data sets, settings, styles and captions, as a newcomer reads them."""

from __future__ import annotations

import re

import pytest

from dualgap.replication import settings
from dualgap.replication.content import _once, _styled
from dualgap.replication.naming import data_words
from dualgap.replication.panels import Line, Panel
from dualgap.replication.table import experiments


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("unit_rows(data=simulated(seed=3))", "simulated, rows of length at most 1"),
        (
            "unit_rows(data=gaussians, standardized=True)",
            "two Gaussian clouds, columns standardized, rows of length at most 1",
        ),
        ("first_rows(data=adult_codes, joined=True)", "adult, all rows"),
        ("first_rows(data=adult_codes, rows=500)", "adult, first 500 rows"),
        ("first_rows(data=arrhythmia, standardize=False)", "arrhythmia, raw columns"),
        ("zero_one(data=breast_cancer)", "breast cancer, labels 0/1"),
        (
            "gaussian_map(data=adult_codes, rows=1200, width=0.1, seed=2)",
            "Gaussian features of adult, first 1,200 rows",
        ),
        ("cells(pixels=255, plain=True)", "blood cells, pixels 0–255, black frames kept"),
        ("classification(n=200, separation=1.5, seed=4)", "classification (n=200, separation=1.5)"),
    ],
)
def test_a_data_set_is_told_in_words_without_its_seed(data: str, words: str) -> None:
    assert data_words(data) == words


@pytest.mark.parametrize("quick", [True, False])
def test_settings_of_every_experiment_stand_in_the_table_without_specs(quick: bool) -> None:
    rows = settings.table(experiments(quick))
    assert {row[0] for row in rows} == {one.name for one in experiments(quick) if one.contenders}
    for row in rows:
        assert len(row) == len(settings.HEAD)
        assert not re.search(r"\bdata=|_rows|true|false", " ".join(row)), row


def test_two_names_in_one_panel_differ_in_color_and_a_name_looks_alike_in_all() -> None:
    def panel(*names: str) -> Panel:
        return Panel("", "x", "y", tuple(Line(name, [0.0], [1.0]) for name in names))

    # Twelve colors: 40 names on a page share them, those in one panel do not.
    panels = [panel(*(f"{page}-{place}" for place in range(8)), "SDCA") for page in range(5)]
    styles = _styled(panels)
    for one in panels:
        colors = [styles[line.name][0] for line in one.lines]
        assert len(set(colors)) == len(colors)
    assert _styled([]) == {}


def test_a_caption_of_several_experiments_says_nothing_twice() -> None:
    assert _once(["A stand-in is used. λ = 1/n.", "A stand-in is used. λ = 0.1/n."]) == (
        "A stand-in is used. λ = 1/n. λ = 0.1/n."
    )
