"""HTTP request, response and errors of a crawl."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from sourcebook.errors import FailureClass, SourcebookError


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request: a GET, or the POST of a form."""

    url: str
    """In normal form; see `sourcebook.web.url`."""
    etag: str | None = None
    """ETag of the stored version, sent as If-None-Match."""
    last_modified: str | None = None
    """Last-Modified of the stored version, sent as If-Modified-Since."""
    form: tuple[tuple[str, str], ...] | None = field(default=None, repr=False)
    """Fields that are sent by POST, which may be secrets; None: a GET."""


@dataclass(frozen=True, slots=True)
class Response:
    """A server's response. Redirects are responses too; they are not followed."""

    url: str
    """URL of the request."""
    status: int
    headers: Mapping[str, str]
    """Values by name in lower case; values of a repeated name are joined with `, `."""
    body: bytes = b""
    """Body, decompressed."""
    rendered: bool = False
    """Whether the body is the serialized DOM of a browser, in UTF-8."""
    final_url: str | None = None
    """Final URL of the browser where it differs from `url`."""

    @property
    def media_type(self) -> str:
        """The Content-Type without its parameters, in lower case; empty where there is none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


class FetchError(SourcebookError):
    """A URL could not be fetched; the message is the reason.

    Attributes:
        failure_class: the class of the reason.
        transient: whether a later retry may succeed.
        retry_after: pause that the server asked for.
        host_failed: whether the host failed, and not only this URL.
        answered: whether the request for this URL was sent and the host answered it.
    """

    def __init__(
        self,
        reason: str,
        *,
        failure_class: FailureClass,
        transient: bool,
        retry_after: timedelta | None = None,
        host_failed: bool = False,
        answered: bool = False,
    ) -> None:
        super().__init__(reason)
        self.failure_class = failure_class
        self.transient = transient
        self.retry_after = retry_after
        self.host_failed = host_failed
        self.answered = answered


class NotAPageError(FetchError):
    """The URL leads to no HTML page, but to a download, a PDF, plain text or an image: fetch it without a browser."""
