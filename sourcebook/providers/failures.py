"""Failures of a request to a provider: what a retry may cure, what it cannot, and the sentence for the reader."""

from __future__ import annotations

import json
import re
import ssl
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import TYPE_CHECKING, Final

from sourcebook.errors import ModelError

if TYPE_CHECKING:
    import httpx2


_SECONDS: Final = re.compile(r"\d{1,300}(\.\d{0,300})?", re.ASCII)
_LONGEST: Final = 1e9
"""Seconds that stand for any longer wait."""
_SHOWN: Final = 200
"""Characters of a provider's own words in a sentence."""
_LOOKED_AT: Final = 4_000
_TELLING: Final = 8
"""Characters of a key in a row that must not be shown."""
_TEMPORARY_STATUS: Final = frozenset({408, 409, 425, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
_SPLIT_STATUS: Final = frozenset({400, 413, 422})
"""Status codes by which servers refuse a batch with too many or too long texts."""


class ProviderError(ModelError):
    """A provider cannot be used: it refuses, does not answer, or its answers are not what was asked for."""


class Cure(Enum):
    """Remedies of a failure."""

    RETRY = "retry"
    WAIT = "wait"
    """The provider asks for patience (429): it is not faulty."""
    SPLIT = "split"
    """The request may be too large."""
    NONE = "none"


@dataclass
class RequestFailedError(Exception):
    """One attempt at a request failed."""

    reason: str
    """Predicate of a sentence whose subject is the provider."""
    cure: Cure
    seconds: float | None = None
    """Time that the provider asks to wait."""

    def __str__(self) -> str:
        """Return the reason."""
        return self.reason


def invalid(reason: str) -> RequestFailedError:
    """Return the failure of an answer that is not what was asked for: a retry may bring a better one."""
    return RequestFailedError(f"gives an invalid answer: {reason}", Cure.RETRY)


def of_status(
    status: int, message: str, code: str | None, wait: float | None, key_variable: str | None
) -> RequestFailedError:
    """Return the failure of an answer whose status is an error.

    Args:
        status: the HTTP status.
        message: the provider's own words, without the key.
        code: the provider's code of the error.
        wait: seconds that the provider asks to wait.
        key_variable: variable of the environment with the key.
    """
    said = f" ({message})" if message else ""
    if status in {401, 403}:
        remedy = f"correct the key in the variable {key_variable}" if key_variable else "name its key in api_key_env"
        return RequestFailedError(f"refuses the key with status {status}{said}: {remedy}", Cure.NONE)
    if status == 402 or code == "insufficient_quota":
        return RequestFailedError(f"refuses because the account's credit is used up{said}: pay there", Cure.NONE)
    if status == 404:
        return RequestFailedError(f"knows no such address or model{said}: correct base_url or model", Cure.NONE)
    if status == 429:
        return RequestFailedError(f"refuses with status 429{said}", Cure.WAIT, wait)
    if status in _TEMPORARY_STATUS:
        return RequestFailedError(f"answers with status {status}{said}", Cure.RETRY, wait)
    if status in _SPLIT_STATUS:
        return RequestFailedError(f"refuses the request with status {status}{said}", Cure.SPLIT)
    if 300 <= status < 400:
        return RequestFailedError(f"redirects with status {status}: write the final address into base_url", Cure.NONE)
    return RequestFailedError(f"answers with status {status}{said}", Cure.NONE)


def of_content_type(content_type: str) -> RequestFailedError:
    """Return the failure of an answer with status 200 that is no JSON, such as the page of a portal."""
    kind = content_type.partition(";")[0].strip()[:80] or "no content type"
    return RequestFailedError(
        f"answers with {kind} and not with JSON: correct base_url, which often ends with /v1", Cure.NONE
    )


def of_connection(error: BaseException, *, timed_out: bool) -> RequestFailedError:
    """Return the failure of a connection by the errors that led to it."""
    causes = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) is not None and len(causes) < 20:
        causes.append(cause)
    texts = [" ".join(str(each).split()) for each in causes]
    if any(isinstance(each, ssl.SSLCertVerificationError) for each in causes) or any(
        "CERTIFICATE_VERIFY_FAILED" in text for text in texts
    ):
        told = [each.verify_message for each in causes if isinstance(each, ssl.SSLCertVerificationError)]
        return RequestFailedError(
            f"shows a certificate that is not trusted{f' ({told[0]})' if told else ''}: "
            "name the file of its authority in the variable SSL_CERT_FILE",
            Cure.NONE,
        )
    if timed_out:
        return RequestFailedError("does not answer in time", Cure.RETRY)
    return RequestFailedError(f"cannot be reached or breaks the connection ({clip(texts[-1])})", Cure.RETRY)


def retry_after(milliseconds: str | None, value: str | None, now: datetime | None = None) -> float | None:
    """Return the seconds that the headers `retry-after-ms` and `retry-after` ask for; None where they ask for none."""
    if milliseconds and _SECONDS.fullmatch(milliseconds.strip()):
        return min(float(milliseconds) / 1000, _LONGEST)
    value = (value or "").strip()
    if _SECONDS.fullmatch(value):
        return min(float(value), _LONGEST)
    try:
        date = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return min(max((date - (now or datetime.now(UTC))).total_seconds(), 0.0), _LONGEST)


def clip(text: str, key: str | None = None) -> str:
    """Return a provider's own words in one short line, without parts of the key and control characters."""
    text = " ".join("".join(each if each.isprintable() else " " for each in text[:_LOOKED_AT]).split())
    text = without_key(text, key)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def without_key(text: str, key: str | None) -> str:
    """Return a text with `***` in place of a key, or of any part of it that tells something."""
    if not key:
        return text
    length = min(len(key), _TELLING)
    hidden = [False] * len(text)
    for start in range(len(text) - length + 1):
        if text[start : start + length] in key:
            hidden[start : start + length] = [True] * length
    return re.sub(r"\0+", "***", "".join("\0" if hide else each for each, hide in zip(text, hidden, strict=True)))


_MOST_BYTES: Final = 1 << 16
"""Bytes of a refusal that are read; the rest is left, and the connection closed."""
_MOST_SECONDS: Final = 10.0
_STATUS: Final = re.compile(r"[45]\d\d", re.ASCII)


def refusal_of(response: httpx2.Response, key: str | None, key_variable: str | None) -> RequestFailedError:
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


def _beginning(response: httpx2.Response) -> bytes:
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
