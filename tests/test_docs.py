"""The documentation is true: the reference is current, links lead somewhere, and the README's example runs."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_command_line", ROOT / "docs" / "make_command_line.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def targets(text: str) -> list[str]:
    """Where the links and pictures of a Markdown text lead, those into the web left out."""
    outside_code = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
    found = re.findall(r"\]\(([^)\s]+)\)", outside_code)
    return [target for target in found if not re.match(r"[a-z]+:", target)]


def anchors(text: str) -> set[str]:
    """The names that headings of a Markdown text get as anchors."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_the_command_line_reference_is_current() -> None:
    made = generator()
    assert made.PAGE.read_text(encoding="utf-8") == made.page(), "stale; run python docs/make_command_line.py"


def test_the_reference_names_every_command_and_option() -> None:
    import typer

    from dualgap.cli.app import app

    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    root = typer.main.get_command(app)
    commands = root.commands  # type: ignore[attr-defined]
    assert "race" in commands
    for name, command in commands.items():
        section = text.split(f"## `dualgap {name}`\n")[1].split("\n## ")[0]
        for parameter in command.params:
            for spelling in parameter.opts if parameter.param_type_name == "option" else []:
                assert spelling in section, f"{name} {spelling}"
            assert parameter.help, f"{name} {parameter.name} has no help"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in targets(page.read_text(encoding="utf-8")):
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        assert file.exists(), f"{page.name} links to {target}, which does not exist"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file.read_text(encoding="utf-8")), f"{page.name} links to {target}"


def test_the_pages_of_docs_are_linked() -> None:
    """A page without a link to it is not found."""
    linked = {
        (page.parent / target.partition("#")[0]).resolve()
        for page in PAGES
        for target in targets(page.read_text(encoding="utf-8"))
    }
    lost = [path.name for path in (ROOT / "docs").iterdir() if path.suffix in {".md", ".ipynb", ".png", ".svg"}]
    lost = [name for name in lost if (ROOT / "docs" / name).resolve() not in linked]
    assert not lost, f"no page links to {', '.join(lost)}"


def test_links_are_found() -> None:
    text = "[a](b.md) ![c](d.png) `[no](code.md)` [w](https://x.org) [f](e.md#here)\n```\n[g](h.md)\n```\n"
    assert targets(text) == ["b.md", "d.png", "e.md#here"]
    assert anchors("# A `b`, c\n```\n# no\n```\n## Two words\n") == {"a-b-c", "two-words"}


@pytest.mark.parametrize(
    ("page", "begins", "said", "left"),
    [
        ("README.md", "dg.solve(", "the duality gap reached tol", []),
        ("docs/race.md", "race = dg.race(", "", ["gap.pdf", "monday", "monday.html"]),
    ],
)
def test_an_example_of_a_page_runs(page: str, begins: str, said: str, left: list[str], tmp_path: Path) -> None:
    """What it prints, and which files it leaves."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    example = next(block for block in blocks if begins in block)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", example], capture_output=True, text=True, timeout=300, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert said in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == left
