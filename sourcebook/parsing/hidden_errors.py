"""Errors that a parser's code raised, for the log: the sentence about a file says nothing of the code."""

import logging
import traceback
from typing import Final

from sourcebook.errors import ParseError

_FRAMES: Final = 3
"""Functions of the code that are named, the last of them being the one that raised the error."""
_log = logging.getLogger(__name__)


def note_cause(reported: ParseError, cause: Exception) -> ParseError:
    """Return the reported error with a note of its cause: the cause itself does not leave a child process.

    The note names the type and the lines of code. It leaves out the message, which may repeat a file's text, except the
    system's own reason.
    """
    kind = type(cause)
    said = f" ({cause.strerror})" if isinstance(cause, OSError) and cause.strerror else ""
    lines = [
        f"{frame.f_globals.get('__name__', frame.f_code.co_filename)}:{line}"
        for frame, line in list(traceback.walk_tb(cause.__traceback__))[-_FRAMES:]
    ]
    reported.add_note(f"{kind.__module__}.{kind.__qualname__}{said} in {' > '.join(lines)}")
    return reported


def log_cause(name: str, error: ParseError) -> None:
    """Write what an error's notes say to the log, where it has any."""
    for note in getattr(error, "__notes__", ()):
        _log.warning("%s: its parser raised %s", name, note, extra={"document": name})
