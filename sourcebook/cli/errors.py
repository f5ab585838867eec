"""Errors as a person reads them: one sentence on stderr and an exit code, in one place for every command."""

import os
import sys
import traceback
from typing import Any

import typer
from typer.core import TyperGroup

from sourcebook.cli.redaction import redact
from sourcebook.errors import ConfigurationError, QueryError, SourcebookError, UnknownDocumentError

FAILED, WRONG_USE, FAILED_ITEMS, INTERRUPTED = 1, 2, 3, 130
"""Exit codes beside 0: anything else, wrong usage or configuration, finished with failed items, Ctrl-C."""


class GuardedGroup(TyperGroup):
    """A group of commands whose errors end as one sentence and an exit code; nobody sees a traceback unasked."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
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
            tell(error)
            raise typer.Exit(exit_code(error)) from None
        return result


def exit_code(error: Exception) -> int:
    """Return the exit code an error ends the command with."""
    return WRONG_USE if isinstance(error, ConfigurationError | QueryError | UnknownDocumentError) else FAILED


def tell(error: Exception) -> None:
    """Say on stderr what happened; with SOURCEBOOK_DEBUG=1 the traceback too. Secrets are left out of both."""
    if os.environ.get("SOURCEBOOK_DEBUG", "") not in {"", "0"}:
        sys.stderr.write(redact("".join(traceback.format_exception(error))))
    sys.stderr.write(f"sourcebook: {redact(explain(error))}\n")


def explain(error: Exception) -> str:
    """Return an error's sentence."""
    hint = "set SOURCEBOOK_DEBUG=1 to see where"
    match error:
        case SourcebookError():
            return str(error)
        case ModuleNotFoundError():
            package = (error.name or str(error)).partition(".")[0]
            return f"the package {package} is not installed: `sourcebook doctor` says how to get what is missing"
        case OSError() if error.strerror:
            return f"{error.filename}: {error.strerror}" if error.filename else f"{error.strerror} ({hint})"
    if type(error).__module__.partition(".")[0] in {"psycopg", "psycopg_pool"}:
        return f"the database: {' '.join(str(error).split()) or type(error).__name__} ({hint})"
    return f"something went wrong that should not: {type(error).__name__}: {error} ({hint})"


def _is_typers_own(error: Exception) -> bool:
    """Return whether typer shows it itself: wrong usage, and the ways a command ends."""
    return isinstance(error, typer.Exit | typer.Abort) or hasattr(error, "exit_code")


def _silence(stream: Any) -> None:
    """Send what is still buffered nowhere: its reader has gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
