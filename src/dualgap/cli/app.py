"""The entry point: commands, global options, and what every failure looks like."""

from __future__ import annotations

import logging
import sys
from typing import Annotated

import typer

import dualgap
from dualgap.cli import certify, data, fit, info, lists, predict, race, replicate, report
from dualgap.cli.screen import forgive_encoding

app = typer.Typer(
    name="dualgap",
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(help=race.HELP, epilog=race.EPILOG)(race.race)
app.command(help=report.HELP, epilog=report.EPILOG)(report.report)
app.command(help=replicate.HELP, epilog=replicate.EPILOG)(replicate.replicate)
app.command(help=fit.HELP, epilog=fit.EPILOG)(fit.fit)
app.command(help=predict.HELP, epilog=predict.EPILOG)(predict.predict)
app.command(help=certify.HELP, epilog=certify.EPILOG)(certify.certify)
app.command(help=lists.SOLVERS_HELP, epilog=lists.SOLVERS_EPILOG)(lists.solvers)
app.command(help=lists.LOSSES_HELP, epilog=lists.LOSSES_EPILOG)(lists.losses)
app.command(help=data.HELP, epilog=data.EPILOG)(data.datasets)
app.command(epilog=info.EPILOG)(info.info)


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
    """Run the command line and leave with 0, 1, 2 for bad input, or 130 for Ctrl-C."""
    forgive_encoding()
    arguments = sys.argv[1:] if arguments is None else arguments
    command = typer.main.get_command(app)
    try:
        code = command.main(args=arguments, prog_name="dualgap", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        code = _say("interrupted", 130)
    except (ValueError, TypeError, OSError, ImportError) as error:
        # What the library refuses, it refuses in one sentence; the stack trace is for -v.
        if logging.getLogger().isEnabledFor(logging.DEBUG):
            raise
        code = _say(_sentence(error), 2)
    except Exception as error:
        # The parser's own refusals: an unknown option, a missing value. Typer carries its own copy of click, so that
        # their class cannot be named here for all versions.
        if not hasattr(error, "format_message"):
            raise
        code = _say(f"{error.format_message().rstrip('.')} (see dualgap --help)", getattr(error, "exit_code", 2))
    sys.exit(code if isinstance(code, int) else 0)


def _sentence(error: Exception) -> str:
    """The message of an error; what the system refused is named before its reason."""
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _say(sentence: str, code: int) -> int:
    typer.echo(f"dualgap: {sentence}", err=True)
    return code
