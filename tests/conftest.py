"""What every test shares: a kernel cache of its own, the folder of real data, and repeatable property tests.

Numba's cache does not notice an edit in another file than the cached function's, so the folder is named after a hash of
all kernels: an edit anywhere in them starts an empty one. Numba's version is in the name too: two versions that shared a
folder would each throw away what the other compiled.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import pytest
from hypothesis import settings

SOURCE = Path(__file__).resolve().parent.parent / "src" / "dualgap"


def kernel_hash() -> str:
    """A short hash of every kernel file and of the files that kernels take constants from, their names and their bytes."""
    digest = hashlib.sha256()
    kernels = sorted((SOURCE / "kernels").rglob("*.py"))
    words = [re.findall(r"from dualgap\.((?:linalg|losses)\.\w+) import", path.read_text()) for path in kernels]
    constants = [
        SOURCE / f"{name.replace('.', '/')}.py" for name in sorted({name for names in words for name in names})
    ]
    for path in [*kernels, *constants]:
        digest.update(str(path.relative_to(SOURCE)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


# Numba reads the variable once, when it is imported.
assert "numba" not in sys.modules, "numba was imported before tests/conftest.py could choose its cache folder"
os.environ["NUMBA_CACHE_DIR"] = str(Path(tempfile.gettempdir()) / f"dualgap-kernels-{version('numba')}-{kernel_hash()}")

# Helpers that assert explain themselves like tests do.
pytest.register_assert_rewrite("driving", "reference")

# A run today and a run tomorrow try the same examples; a busy machine is no failure.
settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=150)
settings.load_profile("repeatable")


@pytest.fixture
def data_folder() -> Path:
    """The folder of real data sets named by DUALGAP_DATA."""
    given = os.environ.get("DUALGAP_DATA")
    if not given:
        pytest.skip("DUALGAP_DATA is not set; point it at the folder of data sets to run this test")
    folder = Path(given)
    if not folder.is_dir():
        pytest.skip(f"DUALGAP_DATA={given} is not a folder; point it at the folder of data sets to run this test")
    return folder
