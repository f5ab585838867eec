"""Error messages and exit codes of every command: one sentence on stderr."""

import os
import re
import sys
import traceback
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from typing import Any

import typer
from typer.core import TyperGroup

from sourcebook.cli.answers import kept_for_answers
from sourcebook.cli.redaction import redact
from sourcebook.errors import ConfigurationError, QueryError, SourcebookError, UnknownDocumentError

FAILED, WRONG_USE, FAILED_ITEMS, INTERRUPTED = 1, 2, 3, 130
"""Exit codes: any other error, wrong usage or configuration, finished with failed items, Ctrl-C."""


class GuardedGroup(TyperGroup):
    """A group of commands whose errors are printed as one sentence, without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        typed = list(ctx.args)
        try:
            with kept_for_answers() if "--json" in typed else nullcontext():
                result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            _silence(sys.stdout)
            raise typer.Exit(FAILED) from None
        except KeyboardInterrupt:
            sys.stderr.write("\n")
            raise typer.Exit(INTERRUPTED) from None
        except Exception as error:
            if _is_typers_own(error):
                raise
            error = database_failure(error) or error
            if isinstance(error, QueryError):
                error = QueryError(as_typed(str(error), self._options(ctx), typed))
            print_error(error)
            raise typer.Exit(exit_code(error)) from None
        return result

    def _options(self, ctx: Any) -> list[list[str]]:
        """Return the spellings of each option of the command that runs."""
        command = self.get_command(ctx, ctx.invoked_subcommand or "")
        return [parameter.opts for parameter in command.params] if command is not None else []


def as_typed(message: str, options: Iterable[Sequence[str]], typed: Iterable[str]) -> str:
    """Return an error about a value with the option as it was typed: `-n is 0` instead of `the limit is 0`.

    Args:
        message: the error; it begins with the name of the value in the API.
        options: the spellings of each option of the command.
        typed: the arguments of the command.
    """
    named = re.match(r"(?:the )?(\w+) is ", message)
    if named is None:
        return message
    long_option = f"--{named[1].replace('_', '-')}"
    spellings = next((each for each in options if long_option in each), ())
    for argument in typed:
        for spelling in spellings:
            is_short = not spelling.startswith("--") and argument.startswith(spelling)
            if argument.partition("=")[0] == spelling or is_short:
                return f"{spelling} is {message[named.end() :].removesuffix(', or None')}"  # which nobody types
    return message


def database_failure(error: Exception) -> Exception | None:
    """Return the failure of the database behind an error of any library; None where psycopg is not even loaded."""
    if not {"psycopg", "psycopg2"} & sys.modules.keys():
        return None
    from sourcebook.database.failures import database_failure_in

    return database_failure_in(error)


def exit_code(error: Exception) -> int:
    """Return the exit code of a command that ends with an error."""
    return WRONG_USE if isinstance(error, ConfigurationError | QueryError | UnknownDocumentError) else FAILED


def print_error(error: Exception) -> None:
    """Print an error on stderr without secrets; with SOURCEBOOK_DEBUG=1 also its traceback."""
    if os.environ.get("SOURCEBOOK_DEBUG", "") not in {"", "0"}:
        sys.stderr.write(redact("".join(traceback.format_exception(error))))
    sys.stderr.write(f"sourcebook: {redact(explain(error))}\n")


def explain(error: Exception) -> str:
    """Return an error as one sentence."""
    hint = "set SOURCEBOOK_DEBUG=1 to see where"
    match error:
        case SourcebookError():
            return str(error)
        case ModuleNotFoundError():
            package = (error.name or str(error)).partition(".")[0]
            return f"the package {package} is not installed: `sourcebook doctor` names the command that installs it"
        case OSError() if error.strerror:
            return f"{error.filename}: {error.strerror}" if error.filename else f"{error.strerror} ({hint})"
    return f"unexpected error: {type(error).__name__}: {error} ({hint})"


def _is_typers_own(error: Exception) -> bool:
    """Return whether typer handles an error itself: wrong usage, or the end of a command."""
    return isinstance(error, typer.Exit | typer.Abort) or hasattr(error, "exit_code")


def _silence(stream: Any) -> None:
    """Discard the buffered output: its reader has gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
