"""Errors of a page that a browser could not show."""

import re
from typing import Final
from urllib.parse import urlsplit

from sourcebook.errors import FailureClass
from sourcebook.web.http_types import FetchError, NotAPageError

NET_ERROR: Final = re.compile(r"net::(ERR_\w+)")
"""Pattern of the network errors in Chromium's messages."""
_LASTING: Final = ("ERR_CERT", "ERR_SSL", "ERR_TOO_MANY_REDIRECTS", "ERR_UNSAFE", "ERR_BLOCKED", "ERR_CONTENT_DECODING")
_OF_THE_HOST: Final = ("ERR_CERT", "ERR_SSL", "ERR_CONNECTION", "ERR_EMPTY_RESPONSE", "ERR_TIMED_OUT")


def net_error(url: str, code: str) -> FetchError:
    """Return the error for a network error of Chromium, such as `ERR_CONNECTION_REFUSED`."""
    said = code.removeprefix("ERR_").replace("_", " ").lower()
    return FetchError(
        f"the browser could not load it from {urlsplit(url).hostname}: {said}",
        transient=not code.startswith(_LASTING),
        host_failed=code.startswith(_OF_THE_HOST),
        failure_class=FailureClass.NETWORK,
    )


def no_page(reason: str) -> NotAPageError:
    """Return the error for a URL that leads to something else than a page."""
    return NotAPageError(reason, transient=False, failure_class=FailureClass.UNSUPPORTED)


def too_large(max_bytes: int) -> FetchError:
    """Return the error for a page of more than `max_bytes` bytes."""
    return FetchError(
        f"the page is larger than {max_bytes:,} bytes", transient=False, failure_class=FailureClass.TOO_LARGE
    )


def timed_out(*, answered: bool) -> FetchError:
    """Return the error for a page that took too long.

    Args:
        answered: whether the server has sent anything.
    """
    if answered:
        return FetchError("the page did not load in time", transient=True, failure_class=FailureClass.TIMEOUT)
    return FetchError(
        "the server did not answer in time", transient=True, host_failed=True, failure_class=FailureClass.TIMEOUT
    )


def unknown(message: str) -> FetchError:
    """Return the error for any other message of the browser."""
    if "navigating" in message or "context was destroyed" in message:
        return FetchError("the page keeps navigating to other pages", transient=True, failure_class=FailureClass.SERVER)
    said = message.strip().splitlines() or ["it gave no reason"]
    return FetchError(f"the browser failed: {said[0][:300]}", transient=True, failure_class=FailureClass.CRASH)
