"""Messages for network and server errors. Imports aiohttp, so import it only to fetch."""

import asyncio
import ssl

import aiohttp
from aiohttp.http_exceptions import LineTooLong

from sourcebook.errors import FailureClass
from sourcebook.web.fetching.proxies import Proxy, refusal_of_proxy
from sourcebook.web.http_types import FetchError

HEADER_BYTES = 65_536
"""Longest header in bytes; policies and cookies of real sites exceed aiohttp's 8 KB."""
CONNECT_SECONDS = 10.0
"""Seconds for a connection, from the DNS lookup to the end of the TLS handshake."""


def fetch_error(
    error: aiohttp.ClientError | OSError,
    host: str,
    *,
    seconds: float,
    received: int | None,
    proxy: Proxy | None = None,
) -> FetchError:
    """Return the message for a failed request.

    A failure before the response headers concerns the host; a later one concerns the URL.

    Args:
        error: exception of aiohttp; a TimeoutError is an OSError.
        host: host of the request.
        seconds: limit on the whole request.
        received: bytes of the body received; None before the response headers.
        proxy: the proxy of the request.
    """
    if proxy is not None and isinstance(error, aiohttp.ClientHttpProxyError):
        return refusal_of_proxy(proxy, host, error.status)
    if proxy is not None and isinstance(error, aiohttp.ClientProxyConnectionError):
        reason = _system_reason(error.os_error)
        return _host_failure(f"the proxy could not be reached: {reason}")
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return _host_failure(_certificate(error.certificate_error, host), transient=False)
    if isinstance(error, aiohttp.ClientConnectorSSLError):
        reason = getattr(error.os_error, "reason", None) or "it broke off"
        return _host_failure(f"{host} could not agree on TLS ({_words(str(reason))})", transient=False)
    if isinstance(error, aiohttp.ClientConnectorError):
        return _host_failure(f"{host} could not be reached on port {error.port}: {_system_reason(error.os_error)}")
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        limit = min(CONNECT_SECONDS, seconds)
        return _host_failure(
            f"{host} could not be reached: no connection within {limit:g} seconds", failure_class=FailureClass.TIMEOUT
        )
    if isinstance(error, aiohttp.InvalidURL):
        return FetchError(
            "this is not a URL that can be requested", transient=False, failure_class=FailureClass.UNSUPPORTED
        )
    if isinstance(error, asyncio.TimeoutError):
        if received is None:
            return _host_failure(
                f"{host} did not answer within {seconds:g} seconds", failure_class=FailureClass.TIMEOUT
            )
        reason = f"the response did not end within {seconds:g} seconds (`request.timeout`); it sent {received:,} bytes"
        return FetchError(reason, transient=True, failure_class=FailureClass.TIMEOUT)
    if isinstance(error, aiohttp.ClientResponseError) and _has_long_line(error):
        reason = f"{host} sent a header of more than {HEADER_BYTES:,} bytes, which is not read: an oversized header"
        return FetchError(reason, transient=False, failure_class=FailureClass.TOO_LARGE)
    if isinstance(error, aiohttp.ClientResponseError) and "many headers" in error.message:
        reason = f"{host} sent more headers than are read: too many headers"
        return FetchError(reason, transient=False, failure_class=FailureClass.TOO_LARGE)
    if isinstance(error, aiohttp.ClientResponseError):
        return FetchError(
            f"{host} answered with something that is not valid HTTP", transient=False, failure_class=FailureClass.SERVER
        )
    if received is None:
        return _host_failure(f"{host} closed the connection without an answer")
    reason = f"the connection was cut off in the middle of the response; {received:,} bytes were received"
    return FetchError(reason, transient=True, failure_class=FailureClass.NETWORK)


def _has_long_line(error: BaseException | None) -> bool:
    """Return whether a header was too long for the parser, whose error may be wrapped."""
    while error is not None and not isinstance(error, LineTooLong):
        error = error.__cause__
    return error is not None


def _host_failure(
    reason: str, *, transient: bool = True, failure_class: FailureClass = FailureClass.NETWORK
) -> FetchError:
    return FetchError(reason, failure_class=failure_class, transient=transient, host_failed=True)


def _certificate(error: Exception, host: str) -> str:
    reason = error.verify_message if isinstance(error, ssl.SSLCertVerificationError) else "it could not be verified"
    return (
        f"the certificate of {host} is not trusted: {reason}; "
        "if your organisation issued it, name the file of its authority in SSL_CERT_FILE"
    )


def _system_reason(error: OSError) -> str:
    # asyncio writes `Connect call failed ('127.0.0.1', 9)` and hides the system's message.
    text = error.strerror if error.strerror and "Connect call" not in error.strerror else ""
    refused = isinstance(error, ConnectionRefusedError)
    return "connection refused" if refused else (text or "no connection").lower()


def _words(constant: str) -> str:
    return constant.replace("_", " ").lower()
