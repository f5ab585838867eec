"""One request to a site and what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from sourcebook.errors import SourcebookError


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a server: always a GET."""

    url: str
    """In normal form; see `sourcebook.web.url`."""
    etag: str | None = None
    """Of the version that is known; sent as If-None-Match."""
    last_modified: str | None = None
    """Of the version that is known; sent as If-Modified-Since."""


@dataclass(frozen=True, slots=True)
class Response:
    """What a server answered. Redirects are not followed: they are answers."""

    url: str
    """As requested."""
    status: int
    headers: Mapping[str, str]
    """Names in lower case; a name that came twice is joined with `, `."""
    body: bytes = b""
    """Decompressed."""
    rendered: bool = False
    """Whether a browser made the body: then it is the serialized DOM in UTF-8."""
    final_url: str | None = None
    """Where a browser ended up, if that is not `url`."""

    @property
    def media_type(self) -> str:
        """The Content-Type without its parameters, in lower case; empty where there is none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


class FetchError(SourcebookError):
    """A URL could not be fetched; the message is the reason a person reads.

    Attributes:
        transient: whether trying again later may help.
        retry_after: how long the server asked to be left alone.
        host_failed: whether it says something about the host, not only about this URL.
    """

    def __init__(
        self, reason: str, *, transient: bool, retry_after: timedelta | None = None, host_failed: bool = False
    ) -> None:
        super().__init__(reason)
        self.transient = transient
        self.retry_after = retry_after
        self.host_failed = host_failed


class NotAPageError(FetchError):
    """The URL leads to something a browser does not make a page of: a download, a PDF, plain text, an image.

    Fetch it without a browser.
    """
