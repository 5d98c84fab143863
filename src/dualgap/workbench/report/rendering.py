"""Rendering: what a page shows, its styles and its scripts, put into one HTML text."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib import resources
from typing import Any

import jinja2

STYLES = ("base.css", "layout.css", "parts.css", "table.css")
SCRIPTS = (
    "packed.js",
    "data.js",
    "words.js",
    "theme.js",
    "swatches.js",
    "table.js",
    "legend.js",
    "traces.js",
    "axes.js",
    "chart.js",
    "pointing.js",
    "charts.js",
    "extras.js",
    "download.js",
    "main.js",
)


def render(
    shown: dict[str, Any],
    template: str = "page.html",
    *,
    styles: Sequence[str] = STYLES,
    scripts: Sequence[str] = SCRIPTS,
    own: str = __package__,
) -> str:
    """A page. Only scripts whose hash stands in its security policy run, so that no name in a file can bring one.

    Files are taken from the package `own` where it has them, and otherwise from this one.
    """

    def file(name: str) -> str:
        found = resources.files(own).joinpath(name)
        return (found if found.is_file() else resources.files(__package__).joinpath(name)).read_text(encoding="utf-8")

    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(file), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    texts = {"page": "(() => {\n" + "\n".join(map(file, scripts)) + "\n})();"}
    return environment.get_template(template).render(
        shown=shown,
        data=_json(shown["data"]),
        styles="\n".join(map(file, styles)),
        scripts=texts,
        hashes=" ".join(f"'sha256-{_hash(script)}'" for script in texts.values()),
    )


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _json(value: Any) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
