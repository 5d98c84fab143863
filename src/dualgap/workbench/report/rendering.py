"""Rendering: what a page shows, its styles, its scripts and plotly, put into one HTML text."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib import resources
from typing import Any

import jinja2

STYLES = ("base.css", "layout.css", "parts.css", "table.css")
SCRIPTS = (
    "data.js",
    "words.js",
    "theme.js",
    "swatches.js",
    "table.js",
    "legend.js",
    "traces.js",
    "charts.js",
    "extras.js",
    "download.js",
    "main.js",
)


def render(shown: dict[str, Any]) -> str:
    """The page. Only scripts whose hash stands in its security policy run, so that no name in a file can bring one."""
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_file), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    scripts = {"plotly": _plotly(), "page": "(() => {\n" + "\n".join(map(_file, SCRIPTS)) + "\n})();"}
    return environment.get_template("page.html").render(
        shown=shown,
        data=_json(shown["data"]),
        styles="\n".join(map(_file, STYLES)),
        scripts=scripts,
        hashes=" ".join(f"'sha256-{_hash(script)}'" for script in scripts.values()),
    )


def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _plotly() -> str:
    from plotly.offline import get_plotlyjs  # type: ignore[import-untyped]

    # A browser hashes a script with its line ends already made uniform.
    return str(get_plotlyjs()).replace("\r\n", "\n").replace("\r", "\n").replace("</script", "<\\/script")


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _json(value: Any) -> str:
    """JSON that cannot end the element it stands in."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
