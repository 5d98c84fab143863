"""The entry point: commands, global options, and the sentence and exit code of every failure."""

from __future__ import annotations

import csv
import logging
import sys
import traceback
import zipfile
import zlib
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

import dualgap
from dualgap.cli import certify, datasets, fit, info, losses, predict, race, replicate, report, show, solvers
from dualgap.cli.console import forgive_encoding, in_options

# What reading, checking and computing may raise for files and arguments that are not as they should be. Readers say in
# their own words what is wrong; this is where everything they did not foresee becomes a sentence too.
REFUSALS = (
    ValueError,
    TypeError,
    OSError,
    ImportError,
    EOFError,
    MemoryError,
    RecursionError,
    OverflowError,
    zipfile.BadZipFile,
    zlib.error,
    csv.Error,
)
# The exit code of a mistake in dualgap itself, as sysexits.h has it: 1 is certify's word for a claim that is refuted.
MISTAKE = 70


class Command(TyperCommand):
    """A command whose help names no types: a flag takes no <bool>, and an argument's name says what it is."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, flags and arguments without their types."""
        return _without_types(super().get_params(ctx))


class Group(TyperGroup):
    """The same for the program itself."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, flags and arguments without their types."""
        return _without_types(super().get_params(ctx))


def _without_types(parameters: list[Any]) -> list[Any]:
    for parameter in parameters:
        if getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
        if parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda ctx: None
    return parameters


app = typer.Typer(
    name="dualgap",
    cls=Group,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(cls=Command, help=race.HELP, epilog=race.EPILOG)(race.race)
app.command(cls=Command, help=report.HELP, epilog=report.EPILOG)(report.report)
app.command(cls=Command, help=replicate.HELP, epilog=replicate.EPILOG)(replicate.replicate)
app.command(cls=Command, help=fit.HELP, epilog=fit.EPILOG)(fit.fit)
app.command(cls=Command, help=predict.HELP, epilog=predict.EPILOG)(predict.predict)
app.command(cls=Command, name="show", help=show.HELP, epilog=show.EPILOG)(show.show_model)
app.command(cls=Command, help=certify.HELP, epilog=certify.EPILOG)(certify.certify)
app.command(cls=Command, help=solvers.HELP, epilog=solvers.EPILOG)(solvers.solvers)
app.command(cls=Command, help=losses.HELP, epilog=losses.EPILOG)(losses.losses)
app.command(cls=Command, help=datasets.HELP, epilog=datasets.EPILOG)(datasets.datasets)
app.command(cls=Command, epilog=info.EPILOG)(info.info)


@app.callback(invoke_without_command=True, epilog="Start here:  dualgap race")
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Print results only.")] = False,
    verbose: Annotated[
        bool, typer.Option("-v", "--verbose", help="Print the log, and stack traces of errors.")
    ] = False,
) -> None:
    """Regularized linear models that prove how good their answer is: every run ends with a duality gap."""
    if version:
        typer.echo(f"dualgap {dualgap.__version__}")
        raise typer.Exit
    context.obj = "quiet" if quiet else None
    logging.basicConfig(
        level=logging.DEBUG if verbose else logging.ERROR if quiet else logging.WARNING,
        format="dualgap: %(message)s",
        stream=sys.stderr,
    )
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with 0, 1, 2 for bad input, 70 for a mistake in dualgap, or 130 for Ctrl-C."""
    forgive_encoding()
    arguments = sys.argv[1:] if arguments is None else arguments
    command = typer.main.get_command(app)
    try:
        code = command.main(args=arguments, prog_name="dualgap", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort) as error:
        # The parser takes the end of a file for Ctrl-D.
        cut = isinstance(error.__cause__, EOFError)
        code = _say(_sentence(error.__cause__), 2) if cut else _say("interrupted", 130)
    except REFUSALS as error:
        # What the library refuses, it refuses in one sentence; the stack trace is for -v.
        logging.getLogger("dualgap").debug("the refusal comes from here", exc_info=True)
        code = _say(_sentence(error), 2)
    except Exception as error:
        # The parser's own refusals: an unknown option, a missing value. Typer carries its own copy of click, so that
        # their class cannot be named here for all versions.
        if not hasattr(error, "format_message"):
            traceback.print_exc()
            code = _say("this is a mistake in dualgap; please report it with the lines above", MISTAKE)
        else:
            code = _say(f"{error.format_message().rstrip('.')} (see dualgap --help)", 2)
    sys.exit(code if isinstance(code, int) else 0)


def _sentence(error: BaseException | None) -> str:
    """The message of an error on one line; what the system refused is named before its reason."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return "this needs more memory than there is; take a part of the rows or columns"
    if isinstance(error, RecursionError):
        return "a file or an argument is nested too deeply to be read; name another one"
    return in_options(" ".join(str(error).split())) or type(error).__name__


def _say(sentence: str, code: int) -> int:
    typer.echo(f"dualgap: {sentence}", err=True)
    return code
