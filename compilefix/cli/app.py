"""The `compilefix` command: a table of commands, each of which is imported only when it runs."""

from __future__ import annotations

import errno
import importlib
import os
import sys
import traceback
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from compilefix import __version__
from compilefix.cli.parameters import PlainCommand, PlainGroup
from compilefix.source import interpreter
from compilefix.source.errors import InputError

COMMANDS: Mapping[str, tuple[str, str]] = {
    "check": ("compilefix.cli.check", "Report what makes torch.compile break a graph or recompile."),
    "apply": ("compilefix.cli.apply", "Fix files in place, or show the diff."),
    "verify": ("compilefix.cli.verify", "Measure the fixes on a workload, without writing them."),
    "trace": ("compilefix.cli.trace", "Show where a real run breaks graphs and recompiles."),
    "run": ("compilefix.cli.run", "Run a program with the fixes served from memory."),
    "rule": ("compilefix.cli.rule", "Explain one rule."),
    "rules": ("compilefix.cli.rules", "List the rules."),
    "explain": ("compilefix.cli.explain", "Explain a graph-break id, and which rule covers it."),
    "server": ("compilefix.cli.server", "Serve editors: diagnostics, quick fixes, the rules' pages."),
}
"""Command -> the module that holds it, in a function of the command's name, and its line in the help."""

_OUTPUT_ENDED = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What the system says when it takes no more output: the pipe is closed, the disk full or broken."""


class Commands(PlainGroup):
    """The group of all commands. Listing them, as the help does, imports none of them."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, (_, summary) in COMMANDS.items():
            self.commands[name] = PlainCommand(name, help=summary, short_help=summary)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that was asked for, now with its module."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, (None if command is None or name is None else load(name)), rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command; what the user can put right ends in one line and exit code 2."""
        try:
            return super().invoke(ctx)
        except InputError as error:
            typer.echo(f"compilefix: {error}", err=True)
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            typer.echo("compilefix: interrupted", err=True)
            raise typer.Exit(130) from None


def load(name: str) -> Any:
    """Import the module of a command and build the command."""
    module = importlib.import_module(COMMANDS[name][0])
    # `apply --diff` writes bytes and `check` may print to a pipe with a narrow encoding, so texts are plain.
    single = typer.Typer(add_completion=False, rich_markup_mode=None)
    settings = getattr(module, "SETTINGS", None)
    single.command(name, cls=PlainCommand, context_settings=settings)(getattr(module, name))
    return typer.main.get_command(single)


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"compilefix {__version__}")
        raise typer.Exit


@app.callback()
def compilefix(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Find what makes torch.compile slow, rewrite it, and prove the rewrite."""


def _open_closed_streams() -> None:
    """Let nothing be written where the shell has closed the output (`>&-`)."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_WRONLY), "w"))


def main() -> None:
    """Run the command line. Exit codes: 0, 1 and 2 as each command says, 130 when interrupted."""
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            # A source line may hold what the terminal's encoding lacks; that is no reason to stop.
            reconfigure(errors="backslashreplace")
    interpreter.prepare()
    try:
        try:
            app(prog_name="compilefix")
        finally:
            if not sys.stdout.closed:  # as the server leaves it
                sys.stdout.flush()  # here, and not when Python ends, a closed pipe can be handled
    except Exception as error:
        # Exit code 1 means findings, so that nothing else must end with it.
        if isinstance(error, OSError) and error.errno in _OUTPUT_ENDED:
            if error.errno != errno.EPIPE:  # whoever reads a pipe and closes it has enough
                print(f"compilefix: {error.filename or 'the output'}: {error.strerror}", file=sys.stderr)
            # Python would complain once more when it closes the stream.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(2)
        traceback.print_exc()
        print("compilefix: this is a bug; please report it with the lines above", file=sys.stderr)
        sys.exit(2)
