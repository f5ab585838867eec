"""Files that records name: read below one place, by the readers of stores or the guarded client of sites."""

import asyncio
from functools import cached_property
from urllib.parse import quote, unquote, urldefrag, urljoin

from sourcebook.config.record_files import FilePlace
from sourcebook.config.sites import SiteSource
from sourcebook.errors import FailureClass, ParseError, SourcebookError, failure_class_of
from sourcebook.files.reading import read_file
from sourcebook.files.source import Source
from sourcebook.records.record import NamedFile

_MOST_REDIRECTS = 5


class RecordFiles:
    """The files of one source of records.

    Args:
        place: where they lie.
        max_bytes: maximum bytes of a file.
    """

    def __init__(self, place: FilePlace, max_bytes: int) -> None:
        self._place = place
        self._max_bytes = max_bytes

    def read(self, path: str) -> NamedFile:
        """Read a file.

        Args:
            path: relative to the root, or with it.

        Raises:
            ParseError: it cannot be read, is too large, or is not below the root.
        """
        try:
            found = asyncio.run(self._fetched(path)) if self._place.is_web else self._stored(path)
        except ParseError:
            raise
        except SourcebookError as error:
            failure_class = getattr(error, "failure_class", FailureClass.UNREADABLE)
            raise ParseError(f"its file {path} cannot be fetched: {error}", failure_class) from None
        except OSError as error:
            reason = f"its file {path} cannot be read: {error.strerror or error}"
            raise ParseError(reason, failure_class_of(error)) from None
        if len(found.content) > self._max_bytes:
            reason = f"its file {path} has more than max_bytes of its source allows ({self._max_bytes:,})"
            raise ParseError(reason, FailureClass.TOO_LARGE)
        return found

    @cached_property
    def _source(self) -> Source:
        return Source(0, self._place.root, (), (), self._max_bytes)

    def _stored(self, path: str) -> NamedFile:
        root = self._place.root.rstrip("/")
        inner = path.removeprefix(f"{root}/").lstrip("/")
        if ".." in inner.split("/") or "://" in inner:
            raise ParseError(f"its file {path} is not below {root}", FailureClass.FORBIDDEN)
        uri = f"file://{quote(f'{root}/{inner}')}" if self._source.is_local else f"{root}/{inner}"
        return NamedFile(path.rpartition("/")[2], read_file(self._source, uri).content)

    async def _fetched(self, path: str) -> NamedFile:
        from sourcebook.web.fetching.fetcher import HttpFetcher
        from sourcebook.web.http_types import Request

        root = f"{self._place.root.rstrip('/')}/"
        url = urldefrag(urljoin(root, path)).url
        if not url.startswith(root) or ".." in unquote(url).split("/"):
            raise ParseError(f"its file {path} is not below {root}", FailureClass.FORBIDDEN)
        limits = self._place.request.model_copy(update={"max_bytes": self._max_bytes})
        async with HttpFetcher(SiteSource(url=root, request=limits)) as fetcher:
            for _ in range(_MOST_REDIRECTS + 1):
                response = await fetcher.fetch(Request(url))
                if 300 <= response.status < 400 and (target := response.headers.get("location")):
                    url = urljoin(url, target)
                    continue
                if response.status != 200:
                    denied = response.status in {401, 403}
                    failure_class = FailureClass.FORBIDDEN if denied else FailureClass.SERVER
                    raise ParseError(f"its file {path} is answered with status {response.status}", failure_class)
                name = urljoin(root, path).partition("?")[0].rpartition("/")[2]
                return NamedFile(name, response.body, response.media_type or None)
        raise ParseError(f"its file {path} leads from one address to the next", FailureClass.SERVER)
