"""The socket of a server, and the addresses it is given. Imports no framework."""

import ipaddress
import socket

from sourcebook.errors import SourcebookError

DEFAULT_PORT = 8320
SECONDS_TO_END = 5
"""Seconds in which requests that run may end when the server is told to."""


class ServingError(SourcebookError):
    """The server cannot listen where it is told to."""


def is_local(address: str) -> bool:
    """Return whether an address can be reached from this machine alone."""
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens.

    Raises:
        ServingError: the port is taken, or the address is none of this machine.
    """
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, protocol)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(place)
            made.listen(128)
        except BaseException:
            made.close()
            raise
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ServingError(
            f"the server cannot listen on {host}, port {port} ({reason}): choose others with --host and --port"
        ) from error
    return made
