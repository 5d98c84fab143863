"""Words that the code does not say: home-made ones the field has a word for, and amounts without a number."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted(
    path
    for folder, kinds in (("src", "*.py *.js *.html"), ("tests", "*.py"), ("docs", "*.md *.py"), (".", "*.md"))
    for kind in kinds.split()
    for path in (ROOT / folder).glob(kind if folder == "." else f"**/{kind}")
    if path != Path(__file__).resolve()
)
# Each had a meaning of its own, and has no other one in this code; docs/internals/words.md has those that do.
WORDS = (
    "piece",
    "pieces",
    "bend",
    "bends",
    "bending",
    "bent",
    "jerk",
    "foretold",
    "foretelling",
    "arrived",
    "narrowed",
    "picked",
    "steer",
    "steered",
    "steering",
    "pressure",
    "pressures",
    "representatives",
    "mobility",
    "residue",
    "chances",
    "put_to_bed",
    "wake",
    "heaped",
    "believed",
    "believed_gap",
    "of_gradient",
    "keep_at_hand",
    "intake",
)
# An amount has a number and a unit, or a name.
AMOUNTS = ("this part of", "this many", "so many", "that much", "this much", "so much")


def said(text: str, words: str) -> list[int]:
    """The numbers of the lines that say the words, alone or as a part of a name."""
    pattern = re.compile(rf"(?<![a-zA-Z]){re.escape(words)}(?![a-zA-Z])", re.IGNORECASE)
    return [number for number, line in enumerate(text.splitlines(), 1) if pattern.search(line)]


@pytest.mark.parametrize("words", [*WORDS, *AMOUNTS])
def test_home_made_word_is_not_said(words: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in PAGES
        for number in said(path.read_text(encoding="utf-8"), words)
    ]
    assert not found, f"{words!r} is said in {', '.join(found)}; say what the field says, or a number with its unit"


def test_words_are_found_in_text_and_in_names() -> None:
    text = "a Piece of it\npieces_of = 1\nmasterpiece\nbest_piece: int\n"
    assert said(text, "piece") == [1, 4]
    assert said("at most this many rows\nthis manynumber\n", "this many") == [1]
