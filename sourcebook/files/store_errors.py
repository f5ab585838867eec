"""Errors of stores behind URLs as Python's own, in sentences without secrets: each file system raises others.

Packages of stores are not imported to be asked: their errors are known by their names, and by those that led to them.
"""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sourcebook.config.store_urls import shown_store
from sourcebook.errors import SourcebookError

_LONGEST: Final = 300
"""Characters of another package's sentence."""
_NETWORK: Final = frozenset(
    {
        "ClientConnectionError",
        "ConnectTimeoutError",
        "ConnectionClosedError",
        "ConnectionError",
        "EndpointConnectionError",
        "HTTPClientError",
        "NewConnectionError",
        "ReadTimeoutError",
        "ServerTimeoutError",
        "ServiceRequestError",
        "TimeoutError",
        "TransportError",
        "gaierror",
    }
)
"""Names of errors of aiohttp, botocore, urllib3, azure-core, google-auth and sockets: no answer came."""
_CREDENTIALS: Final = frozenset(
    {
        "ClientAuthenticationError",
        "CredentialRetrievalError",
        "CredentialUnavailableError",
        "DefaultCredentialsError",
        "NoCredentialsError",
        "PartialCredentialsError",
    }
)
"""Names of errors of botocore, azure-identity and google-auth: the environment holds no credentials."""


class StoreError(OSError):
    """A store has raised an error, or its package is not installed."""


class MissingInStoreError(StoreError, FileNotFoundError):
    """A file, a folder or a bucket is not there."""


class ForbiddenByStoreError(StoreError, PermissionError):
    """The environment has no credentials, or others than the store wants."""


class StoreNetworkError(StoreError, ConnectionError):
    """No answer of a store came."""


def store_error(error: Exception, url: str) -> StoreError:
    """Return an error of a store as one of Python's, with a sentence.

    Args:
        error: what the file system has raised.
        url: the URL that it was asked for.

    Returns:
        The error of this module, with the number that it had; what is one already stays as it is.
    """
    if isinstance(error, StoreError):
        return error
    place, reason = shown_store(url), _reason(error)
    number = error.errno if isinstance(error, OSError) else None
    names = {kind.__name__ for each in _chain(error) for kind in type(each).__mro__}
    if isinstance(error, FileNotFoundError):
        return MissingInStoreError(errno.ENOENT, f"{place} is not there ({reason})")
    if names & _CREDENTIALS:
        return ForbiddenByStoreError(
            errno.EACCES, f"{place} needs credentials, and the environment has none ({reason})"
        )
    if isinstance(error, PermissionError):
        return ForbiddenByStoreError(errno.EACCES, f"{place} refuses the credentials of the environment ({reason})")
    if names & _NETWORK:
        return StoreNetworkError(f"{place} cannot be reached ({reason})")
    if isinstance(error, ImportError):
        return StoreError(f"{place} needs a package that is not installed ({reason})")
    return StoreError(number, f"{place}: {reason}") if number is not None else StoreError(f"{place}: {reason}")


@contextmanager
def store_calls(url: str) -> Iterator[None]:
    """Raise every error of a store as `store_error` returns it; the errors of this project stay as they are."""
    try:
        yield
    except (MemoryError, StoreError, SourcebookError):
        raise
    except Exception as error:
        raise store_error(error, url) from error


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    for _ in range(10):
        if error is None:
            return
        yield error
        error = error.__cause__ or error.__context__


def _reason(error: Exception) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    line = " ".join(shown_store(text).split()) or type(error).__name__
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
