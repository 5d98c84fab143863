"""Commands called in this process: their exit code, and the one sentence of a refusal."""

from __future__ import annotations

import pytest

from dualgap.cli.app import main


def ended(*words: str) -> object:
    """The exit code of a command."""
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    return ended.value.code


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The one sentence of a command that was given something it cannot use."""
    assert ended(*words) == 2
    said = capsys.readouterr()
    assert said.err.startswith("dualgap: ")
    assert len(said.err.splitlines()) == 1, said.err
    return said.err
