"""The command line: collects the subcommands and turns every failure into one line and an exit code."""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence

import typer

from dbdyno import engine
from dbdyno.commands import (
    calibrate_command,
    compare_command,
    list_command,
    ndv_command,
    pack_command,
    plan_command,
    profile_command,
    report_command,
    run_command,
    selftest_command,
    show_command,
    trace_command,
    unpack_command,
)
from dbdyno.errors import EXIT_DONE, EXIT_INPUT_WRONG, EXIT_INTERRUPTED, EXIT_RUN_FAILED, DynoError
from dbdyno.targets.binaries import find_binaries

app = typer.Typer(
    name="dbdyno",
    help="A database-performance laboratory: put your database on the dyno.",
    epilog="Start with: dbdyno run commit-write --quick",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def _main(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print versions and build profile, then exit."),
) -> None:
    if version:
        typer.echo(f"dbdyno {engine.VERSION} ({engine.BUILD_PROFILE} build)")
        typer.echo(f"Python {platform.python_version()}")
        typer.echo(f"PostgreSQL {find_binaries(None).version} (for the embedded server)")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command("list")(list_command.list_experiments)
app.command("show")(show_command.show)
app.command("plan")(plan_command.plan)
app.command("run")(run_command.run)
app.command("report")(report_command.report)
app.command("profile")(profile_command.profile)
app.command("compare")(compare_command.compare)
app.command("calibrate")(calibrate_command.calibrate)
app.command("ndv")(ndv_command.ndv)
app.command("trace")(trace_command.trace)
app.command("selftest")(selftest_command.selftest)
app.command("pack")(pack_command.pack)
app.command("unpack")(unpack_command.unpack)


def run(arguments: Sequence[str]) -> int:
    """Run one command line; returns the exit code. A user's mistake is one line on stderr, never a traceback."""
    try:
        code = app(args=list(arguments), standalone_mode=False)
    except DynoError as error:
        return _fail(error.message, error.exit_code)
    except typer.TyperException as error:
        return _fail(f"{error.format_message().rstrip('.')}; see dbdyno --help", EXIT_INPUT_WRONG)
    except (KeyboardInterrupt, typer.Abort):
        return _fail("interrupted", EXIT_INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output went away (dbdyno report | head): nothing is wrong and nobody is listening.
        sys.stderr.close()
        return EXIT_RUN_FAILED
    if code == EXIT_INTERRUPTED:  # typer makes that of a Ctrl-C, without a word
        return _fail("interrupted", EXIT_INTERRUPTED)
    return int(code or EXIT_DONE)


def _fail(message: str, exit_code: int) -> int:
    one_line = " ".join(message.split())
    typer.echo(f"dbdyno: {one_line}", err=True)
    return exit_code
