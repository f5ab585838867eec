"""Records of data files between the parsing of the file and that of each record."""

from collections.abc import Sequence
from typing import Final

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import Attachment
from sourcebook.model.media_types import RECORD
from sourcebook.stages.documents.rows import StaleDocument

_MOST_BYTES: Final = 64 << 20
"""Bytes of records that are kept; those of one file are kept whatever they take."""


class Records:
    """The records of the data files that were parsed last; the others are found by parsing their file again."""

    def __init__(self) -> None:
        self._by_file: dict[str, Sequence[Attachment]] = {}
        self._bytes = 0

    def keep(self, uri: str, attachments: Sequence[Attachment]) -> None:
        """Keep what a file holds, where it is records."""
        if not attachments or attachments[0].content is None:
            return
        size = sum(each.size for each in attachments)
        if self._bytes + size > _MOST_BYTES:
            self._by_file, self._bytes = {}, 0
        self._by_file[uri] = attachments
        self._bytes += size

    def has(self, item: StaleDocument) -> bool:
        """Tell whether the record is at hand."""
        return item.media_type == RECORD and item.container in self._by_file

    def content(self, item: StaleDocument) -> bytes:
        """Return the bytes of a record that is at hand.

        Raises:
            ParseError: the file has other records by now.
        """
        kept = self._by_file.get(item.container or "", ())
        number = item.number or 0
        if number >= len(kept) or kept[number].sha256 != item.sha256 or kept[number].content is None:
            raise ParseError("the file that it is in has changed; the next ingest reads it again", FailureClass.MISSING)
        return kept[number].content or b""
