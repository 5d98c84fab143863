"""Writes docs/command-line.md from the command line itself: every command, its arguments, options, defaults and help.

Run `python docs/make_command_line.py` after a change of any command; tests/test_docs.py holds the page current.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import typer

from dualgap.cli.app import app

PAGE = Path(__file__).with_name("command-line.md")
HEAD = """# The command line

`dualgap …` and `python -m dualgap …` are the same program; it comes with the extra `race` (`python -m pip install ".[race]"`). This page is written by `python docs/make_command_line.py`
from the program's own help; [How to race](race.md) and [Model files](models.md) tell the stories.
"""


def page() -> str:
    """The whole reference as Markdown."""
    root: Any = typer.main.get_command(app)
    parts = [HEAD, "## `dualgap`\n", _paragraphs(root.help), _table(root.params, root.epilog)]
    for name, command in root.commands.items():
        if not command.hidden:
            parts += [f"## `dualgap {name}`\n", f"```\n{_usage(name, command)}\n```\n", _paragraphs(command.help)]
            parts.append(_table(command.params, command.epilog))
    return "\n".join(filter(None, parts)).rstrip() + "\n"


def _usage(name: str, command: Any) -> str:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    words = []
    for argument in arguments:
        word = _metavar(argument) + ("…" if argument.nargs == -1 else "")
        words.append(word if argument.required else f"[{word}]")
    options = ["[OPTIONS]"] if len(arguments) < len(command.params) else []
    return " ".join(["dualgap", name, *words, *options])


def _table(parameters: list[Any], epilog: str | None) -> str:
    """The parameters as a table, then the examples of the epilog as code."""
    shown = [parameter for parameter in parameters if not getattr(parameter, "hidden", False)]
    lines = [f"| `{_spelling(p)}` | {_cell(p.help or '')}{_default(p)} |" for p in shown]
    examples = [line.strip() for line in re.findall(r"dualgap .+", epilog or "")]
    table = ["| | |\n|---|---|", *lines, ""] if lines else []
    code = ["```", *examples, "```", ""] if examples else []
    return "\n".join([*table, *code])


def _spelling(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return _metavar(parameter)
    flags = ", ".join(parameter.opts) + "".join(f" / {no}" for no in parameter.secondary_opts)
    return flags if parameter.is_flag else f"{flags} {_metavar(parameter)}"


def _metavar(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _default(parameter: Any) -> str:
    """The default where there is one to speak of; the help of the others says what happens without them."""
    value = parameter.default
    if value is None or isinstance(value, bool) or "(default" in (parameter.help or ""):
        return ""
    return f" (default: {value:g})" if isinstance(value, float) else f" (default: {value})"


def _paragraphs(text: str | None) -> str:
    return _plain(text or "") + "\n"


def _cell(text: str) -> str:
    return _plain(text).replace("|", "\\|").replace("\n", " ")


def _plain(text: str) -> str:
    """Rich's markup as Markdown: bold commands become code, other marks go."""
    text = re.sub(r"\[bold\](.+?)\[/(?:bold)?\]", r"`\1`", text)
    return re.sub(r"\[/?(?:bold|dim|italic|cyan|green|yellow|red|blue|magenta)\]", "", text).strip()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
