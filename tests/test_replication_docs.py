"""docs/replication.md says what the committed results say."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_replication", ROOT / "docs" / "make_replication.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_current() -> None:
    made = generator()
    if not made.RESULTS.exists():
        pytest.skip(
            "no results of a full replication are committed yet; python docs/make_replication.py FOLDER does it"
        )
    assert made.PAGE.read_text(encoding="utf-8") == made.page(), "stale; run python docs/make_replication.py"
