"""Messages for network and server errors. Imports aiohttp, so import it only to fetch."""

import asyncio
import ssl

import aiohttp

from sourcebook.web.http_types import FetchError

CONNECT_SECONDS = 10.0
"""Seconds for a connection, from the DNS lookup to the end of the TLS handshake."""


def fetch_error(error: BaseException, host: str, *, seconds: float, received: int | None) -> FetchError | None:
    """Return the message for a failed request; None where neither network nor server failed.

    A failure before the response headers concerns the host; a later one concerns the URL.

    Args:
        error: exception of aiohttp.
        host: host of the request.
        seconds: limit on the whole request.
        received: bytes of the body received; None before the response headers.
    """
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return _host_failure(_certificate(error.certificate_error, host), transient=False)
    if isinstance(error, aiohttp.ClientConnectorSSLError):
        reason = getattr(error.os_error, "reason", None) or "it broke off"
        return _host_failure(f"{host} could not agree on TLS ({_words(str(reason))})", transient=False)
    if isinstance(error, aiohttp.ClientConnectorError):
        return _host_failure(f"{host} could not be reached on port {error.port}: {_system_reason(error.os_error)}")
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        limit = min(CONNECT_SECONDS, seconds)
        return _host_failure(f"{host} could not be reached: no connection within {limit:g} seconds")
    if isinstance(error, aiohttp.InvalidURL):
        return FetchError("this is not a URL that can be requested", transient=False)
    if isinstance(error, asyncio.TimeoutError):
        if received is None:
            return _host_failure(f"{host} did not answer within {seconds:g} seconds")
        reason = f"the response did not end within {seconds:g} seconds, the site's timeout; it sent {received:,} bytes"
        return FetchError(reason, transient=True)
    if isinstance(error, aiohttp.ClientResponseError):
        return FetchError(f"{host} answered with something that is not valid HTTP", transient=False)
    if isinstance(error, aiohttp.ClientError | OSError):
        if received is None:
            return _host_failure(f"{host} closed the connection without an answer")
        reason = f"the connection was cut off in the middle of the response; {received:,} bytes were received"
        return FetchError(reason, transient=True)
    return None


def _host_failure(reason: str, *, transient: bool = True) -> FetchError:
    return FetchError(reason, transient=transient, host_failed=True)


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
