"""Help and advice of the command line: every option explained, no types, and names that exist there."""

from __future__ import annotations

import re

import pytest

from dualgap.solvers import SOLVERS
from test_cli import called


def test_solvers_explains_every_option_of_one(capsys: pytest.CaptureFixture[str]) -> None:
    import inspect

    from dualgap.solvers.options import OPTIONS
    from dualgap.spec import build

    for name, solver in SOLVERS.items():
        code, shown, _ = called(capsys, "solvers", name)
        assert code == 0
        assert name in shown
        for option in inspect.signature(solver).parameters:
            assert f"\n{option} " in shown
            assert OPTIONS[option].values in shown
            build(f"{name}({option}={OPTIONS[option].example})", SOLVERS, "solver")
    code, _, errors = called(capsys, "solvers", "sdac")
    assert (code, "did you mean 'sdca'" in errors) == (2, True)


def test_no_help_shows_a_type(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ([], ["race"], ["fit"], ["show"], ["certify"], ["solvers"]):
        shown = called(capsys, *command, "--help")[1]
        assert not re.search(r"<(bool|str|path|int|float|list)", shown)


def test_advice_names_the_options_of_the_command_line() -> None:
    from dualgap.cli.console import in_options
    from dualgap.result import Status

    assert in_options(Status.EPOCHS_EXHAUSTED.value) == "--epochs was reached first; raise --epochs or --tol"
    assert in_options(Status.TIME_EXHAUSTED.value) == "--seconds was reached first; raise --seconds or --tol"
    assert in_options("use sdca, or intercept=False") == "use sdca, or --no-intercept"
