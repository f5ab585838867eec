"""Refusals of a provider in its own words: an error as status or in the answer, read within limits, in any form."""

import json
import re
import time
from typing import TYPE_CHECKING, Final

from sourcebook.providers.failures import Cure, RequestFailedError, clip, of_status, retry_after

if TYPE_CHECKING:
    import httpx2

_MOST_BYTES: Final = 1 << 16
"""Bytes of a refusal that are read; the rest is left, and the connection closed."""
_MOST_SECONDS: Final = 10.0
_STATUS: Final = re.compile(r"[45]\d\d", re.ASCII)


def refusal_of(response: "httpx2.Response", key: str | None, key_variable: str | None) -> RequestFailedError:
    """Return the failure that an answer with an error as its status tells of.

    Args:
        response: the answer, whose body has not been read yet.
        key: the key that was sent, which an answer may quote.
        key_variable: variable of the environment with the key.
    """
    body = _beginning(response)
    message, code = "", None
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        is_text = "html" not in response.headers.get("content-type", "") and not body.lstrip().startswith(b"<")
        message = (body.decode(errors="replace") if is_text else "") or response.reason_phrase
    else:
        message, code = _words(told.get("error", told) if isinstance(told, dict) else told)
    wait = retry_after(response.headers.get("retry-after-ms"), response.headers.get("retry-after"))
    return of_status(response.status_code, clip(message, key), code, wait, key_variable)


def refusal_in(answer: object, key: str | None, key_variable: str | None) -> RequestFailedError | None:
    """Return the failure that an answer with status 200 tells of, as gateways send it; None where it is none.

    Args:
        answer: decoded JSON.
        key: the key that was sent, which an answer may quote.
        key_variable: variable of the environment with the key.
    """
    error = answer.get("error") if isinstance(answer, dict) else None
    if not error:
        return None
    message, code = _words(error)
    message = clip(message, key)
    if code is not None and _STATUS.fullmatch(code):
        return of_status(int(code), message, None, None, key_variable)
    return RequestFailedError(f"answers with an error{f' ({message})' if message else ''}", Cure.RETRY)


def _words(error: object) -> tuple[str, str | None]:
    """Return the message and the code of an error."""
    if not isinstance(error, dict):
        return str(error), None
    message = str(error.get("message") or error.get("detail") or error.get("error") or "")
    return message, str(error.get("code") or error.get("type") or "")


def _beginning(response: "httpx2.Response") -> bytes:
    """Return the beginning of a body; what does not come, or cannot be unpacked, is left out."""
    import httpx2

    read, until = bytearray(), time.monotonic() + _MOST_SECONDS
    try:
        for piece in response.iter_bytes():
            read += piece
            if len(read) >= _MOST_BYTES or time.monotonic() > until:
                break
    except (httpx2.HTTPError, httpx2.StreamError, OSError):
        pass  # the status says enough
    return bytes(read[:_MOST_BYTES])
