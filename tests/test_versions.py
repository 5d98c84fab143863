"""The oldest supported versions: the lower bounds that users read are those that .ci/run installs and tests."""

from __future__ import annotations

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from conftest import SOURCE

ROOT = SOURCE.parent.parent
# Tools that look at the code and never run it: their newest versions serve as well beside old packages.
TOOLS = {"ruff", "mypy", "import-linter", "playwright", "nbclient", "ipykernel"}


def lower_bounds() -> dict[str, Version]:
    """The lower bound of each requirement of the package, with all extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
    found = {}
    for requirement in map(Requirement, lines):
        if requirement.name != project["name"]:
            (bound,) = requirement.specifier
            assert bound.operator == ">=", f"{requirement} needs a lower bound and no other"
            found[requirement.name] = Version(bound.version)
    return found


def constraints() -> dict[str, Version]:
    found = {}
    for line in (ROOT / "constraints-oldest.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            requirement = Requirement(line)
            (exact,) = requirement.specifier
            assert exact.operator == "==", f"{line} needs to name one version"
            found[requirement.name] = Version(exact.version)
    return found


@pytest.mark.parametrize("name", sorted(set(lower_bounds()) - TOOLS))
def test_the_lower_bound_is_the_version_that_is_tested(name: str) -> None:
    assert constraints().get(name) == lower_bounds()[name]


def test_tools_are_in_use() -> None:
    assert set(lower_bounds()) >= TOOLS


def test_the_tests_that_ci_names_exist() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    patterns = re.findall(r"tests/test_[\w*]+\.py", script)
    assert patterns
    assert [pattern for pattern in patterns if not list(ROOT.glob(pattern))] == []
