"""A run says which commit of the source tree it ran from, and an installed package says nothing."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import dualgap
from dualgap.workbench import machine


def git(folder: Path, *arguments: str) -> str:
    options = ["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    asked = ["git", "-C", str(folder), *options, *arguments]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def test_the_revision_is_that_of_the_source_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        git(tmp_path, "init")
    except FileNotFoundError:
        pytest.skip("git is not installed")
    module = tmp_path / "src" / "dualgap" / "__init__.py"
    module.parent.mkdir(parents=True)
    module.write_text("")
    monkeypatch.setattr(dualgap, "__file__", str(module))
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "one")
    assert machine.revision() == {"revision": git(tmp_path, "rev-parse", "--short", "HEAD")}
    module.write_text("changed = True\n")
    assert machine.revision()["revision"].endswith("-dirty")
    (tmp_path / ".git").rename(tmp_path / "no git")
    assert machine.revision() == {}
    (tmp_path / ".git").write_text("no folder of git's")
    assert machine.revision() == {}
