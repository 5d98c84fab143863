"""Fresh processes: what importing loads, what the kernel cache saves, and an install that cannot be written to."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import dualgap

FIT = """
import numpy as np, dualgap as dg
rng = np.random.default_rng(0)
X = rng.normal(size=(200, 5))
y = np.sign(X[:, 0] + 0.1 * rng.normal(size=200))
result = dg.solve(dg.Problem(X, y, "hinge", 1e-2), "sdca", tol=1e-3)
assert result.status is dg.Status.CERTIFIED, result
"""


def run(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_loads_neither_numba_nor_scikit_learn() -> None:
    loaded = run("import sys, dualgap; print(' '.join(sys.modules))").split()
    assert "dualgap" in loaded
    heavy = {"numba", "sklearn", "scipy", "pandas", "rich", "typer", "plotly", "llvmlite"}
    assert not heavy & set(loaded)


def test_a_fit_loads_neither_scikit_learn_nor_pandas() -> None:
    loaded = run(FIT + "\nimport sys; print(' '.join(sys.modules))").split()
    assert not {"sklearn", "pandas", "rich", "typer", "matplotlib"} & set(loaded)


def test_every_public_name_is_there() -> None:
    for name in dualgap.__all__:
        assert getattr(dualgap, name) is not None
    assert set(dualgap.__all__) <= set(dir(dualgap))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = dualgap.nothing


def test_a_warm_cache_misses_nothing(tmp_path: Path) -> None:
    count = """
    from dualgap.kernels import sdca
    stats = sdca.sdca_steps.stats
    print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
    """
    cold = run(FIT + textwrap.dedent(count), NUMBA_CACHE_DIR=str(tmp_path)).split()
    warm = run(FIT + textwrap.dedent(count), NUMBA_CACHE_DIR=str(tmp_path)).split()
    assert cold == ["0", "1"]
    assert warm == ["1", "0"]


def test_full_disk_under_the_cache_is_no_error(tmp_path: Path) -> None:
    """Kernels that cannot be saved run from memory, and one line of the log says so."""
    full = """
    import errno, logging
    import numba.core.caching as caching
    def is_full(self, key, data):
        raise OSError(errno.ENOSPC, "No space left on device")
    caching.IndexDataCacheFile.save = is_full
    lines = []
    class Kept(logging.Handler):
        def emit(self, record):
            lines.append(record.getMessage())
    logging.getLogger("dualgap").addHandler(Kept())
    """
    said = "print(*lines, sep='\\n')"
    found = run(textwrap.dedent(full) + FIT + said, NUMBA_CACHE_DIR=str(tmp_path))
    assert found.count("compiled kernels cannot be cached") == 1
    assert "No space left on device" in found


def test_cache_of_another_version_is_replaced(tmp_path: Path) -> None:
    """An index that names a class which is gone is emptied, and kernels are compiled and kept again."""
    run(FIT, NUMBA_CACHE_DIR=str(tmp_path))
    indexes = [path for path in tmp_path.rglob("*.nbi") if b"dualgap.data.rows" in path.read_bytes()]
    assert indexes
    for path in indexes:
        path.write_bytes(path.read_bytes().replace(b"dualgap.data.rows", b"dualgap.gone.rows"))
    run(FIT, NUMBA_CACHE_DIR=str(tmp_path))
    assert not any(b"dualgap.gone.rows" in path.read_bytes() for path in indexes)


def test_a_read_only_install_still_works(tmp_path: Path) -> None:
    """No folder for a cache: neither beside the code, nor at home, nor by environment."""
    package = tmp_path / "dualgap"
    shutil.copytree(Path(dualgap.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    home = tmp_path / "home"
    home.mkdir()
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where a folder would be needed")
    for path in sorted(package.rglob("*"), reverse=True):
        path.chmod(stat.S_IRUSR | stat.S_IXUSR if path.is_dir() else stat.S_IRUSR)
    package.chmod(stat.S_IRUSR | stat.S_IXUSR)
    # Root may write anywhere, so the cache folders are blocked by files where folders would be made.
    environment = {
        "HOME": str(blocked),
        "XDG_CACHE_HOME": str(blocked),
        "PYTHONPATH": str(tmp_path),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    code = """
    import numba.core.caching as caching
    names = ("InTreeCacheLocator", "UserWideCacheLocator")
    for locator in (getattr(caching, name, None) or getattr(caching, "_" + name) for name in names):
        def refuse(self, *args, **options):
            raise OSError("read-only")
        locator.ensure_cache_path = refuse
    """
    env = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code) + FIT + "\nprint(dg.__file__)"],
        capture_output=True,
        text=True,
        timeout=120,
        env={**env, **environment},
    )
    package.chmod(stat.S_IRWXU)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().startswith(str(package))
