"""The command line: parse, call, print. What a command does is one or two calls in Python.

`options` has what several commands share; the other modules have the commands, by what they are about.
Exit codes of errors are those of `cryplab.errors`; three more are below and in `options`.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from typing import Any

import click

from cryplab.cli import bench, check, reference, run, tls
from cryplab.cli.options import STOPPED
from cryplab.errors import CryplabError, GuestCrash, UsageError

__all__ = ["cli", "main"]

INTERNAL = 70
"Exit code of a fault in cryplab itself, as sysexits.h has it."
NO_READER = 128 + signal.SIGPIPE
"Exit code when what reads standard output has gone."


class ReaderGone(Exception):
    """What reads standard output has gone; click would make exit code 1 of it, which means findings."""


class Commands(click.Group):
    """The group of commands."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except BrokenPipeError:
            raise ReaderGone from None


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 90})
@click.version_option(package_name="cryplab")
def cli() -> None:
    """A virtual STM32 bench for hardware crypto."""


for command in (*reference.COMMANDS, *run.COMMANDS, *bench.COMMANDS, *check.COMMANDS, *tls.COMMANDS):
    cli.add_command(command)


def _sentence(error: click.ClickException) -> str:
    """A usage error of the parser as one sentence, and where help is."""
    text = error.format_message().rstrip(".")
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "cryplab"
    return f"{text[:1].lower()}{text[1:]}; see '{command} --help'"


def _run_command(arguments: list[str]) -> int:
    """The exit code of a command line; every error becomes one sentence on standard error."""
    try:
        code = cli.main(arguments, prog_name="cryplab", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except CryplabError as error:
        if "--debug" in arguments:
            traceback.print_exc()
        click.echo(f"cryplab: {error}", err=True)
        if isinstance(error, GuestCrash) and error.report:
            click.echo(f"\n{error.report}", err=True)
        return error.exit_code
    except click.ClickException as error:
        click.echo(f"cryplab: {_sentence(error)}", err=True)
        return UsageError.exit_code
    except (ReaderGone, BrokenPipeError):
        raise
    except Exception as error:  # a fault of ours: a sentence all the same
        if "--debug" in arguments:
            traceback.print_exc()
        click.echo(f"cryplab: internal error, {type(error).__name__}: {error}; --debug shows where", err=True)
        return INTERNAL
    except (KeyboardInterrupt, click.Abort):
        click.echo("cryplab: stopped", err=True)
        return STOPPED


def main() -> None:
    """Entry point of the `cryplab` command."""
    try:
        code = _run_command(sys.argv[1:])
    except (ReaderGone, BrokenPipeError):
        # the interpreter flushes once more at its end; that must find no closed pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = NO_READER
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    sys.exit(code)
