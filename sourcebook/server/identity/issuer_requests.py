"""Requests to an issuer: one JSON each, within bounds of time and size, from the address that was named alone."""

import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import httpx2

from sourcebook.model.certificates import shared_context
from sourcebook.providers.failures import Cure, RequestFailedError, of_connection
from sourcebook.providers.streamed_answer import Sockets, StreamedAnswer

MOST_BYTES: Final = 1 << 20
"""Bytes of an answer, at most."""


class RefusedError(RequestFailedError):
    """The issuer has refused a request with status 400 or 401."""


def get_json(url: str, deadline: float) -> object:
    """Return the JSON at a URL.

    Args:
        url: the URL.
        deadline: seconds of `time.monotonic()` at which it is given up.

    Raises:
        RequestFailedError: it does not come in time, is none, is too large, or is elsewhere.
    """
    return _sent("GET", url, deadline)


def post_form(url: str, fields: Mapping[str, str], headers: Mapping[str, str], deadline: float) -> object:
    """Return the JSON that answers a form; see `get_json`.

    Raises:
        RefusedError: the issuer refuses what was sent.
        RequestFailedError: it does not answer with a JSON in time.
    """
    return _sent("POST", url, deadline, fields, headers)


def _sent(
    method: str,
    url: str,
    deadline: float,
    fields: Mapping[str, str] | None = None,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> object:
    sockets, seconds = Sockets(), max(deadline - time.monotonic(), 0.01)
    verify = shared_context(httpx2.create_ssl_context)
    with sockets.within(seconds) as expired:
        try:
            with (
                httpx2.Client(timeout=seconds, verify=verify, event_hooks={"request": [sockets.watch]}) as client,
                client.stream(method, url, data=fields, headers={"Accept": "application/json", **headers}) as response,
            ):
                return _json_of(response, deadline)
        except RequestFailedError as failure:
            raise (of_connection(failure, timed_out=True) if expired.is_set() else failure) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            timed_out = expired.is_set() or isinstance(error, httpx2.TimeoutException)
            raise of_connection(error, timed_out=timed_out) from None


def _json_of(response: httpx2.Response, deadline: float) -> object:
    """Return the JSON of an answer, which leads to no other."""
    status = response.status_code
    if status in {httpx2.codes.BAD_REQUEST, httpx2.codes.UNAUTHORIZED}:
        raise RefusedError(f"refuses with status {status}", Cure.NONE)
    if status != httpx2.codes.OK:
        raise RequestFailedError(f"answers with status {status}", Cure.RETRY)
    return StreamedAnswer(response, deadline, MOST_BYTES).json()
