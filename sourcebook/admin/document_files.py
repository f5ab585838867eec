"""The part of the Python interface that gives the files that documents were made from, and pictures of their pages."""

import threading
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sourcebook.admin.items import Document
    from sourcebook.admin.originals import Original
    from sourcebook.database.database import Database
    from sourcebook.model.page_picture import PagePicture
    from sourcebook.parsing.reading_child import ReadingChild


class DocumentFiles(ABC):
    """Originals of documents. They need the extra `pipeline`, and the sources of the documents on this machine."""

    _child: "ReadingChild | None" = None
    _child_lock = threading.Lock()

    @property
    @abstractmethod
    def database(self) -> "Database":
        """The knowledge base's database."""

    @abstractmethod
    def show(
        self, document: str | int | Path, collection: str | None = None, *, unredacted: bool = False
    ) -> "Document":
        """Return one document."""

    def original(
        self, document: str | int | Path, collection: str | None = None, *, unredacted: bool = False
    ) -> "Original":
        """Open the bytes that a document was made from, read again from its source and compared with the ledger.

        Args:
            document: its id, its URI, or the path of its file.
            collection: name of its collection, where several have it.
            unredacted: whether they are given out also where the collection redacts what is in them.

        Returns:
            The bytes with name and media type, to be used in a `with` block, which closes them.

        Raises:
            UnknownDocumentError: there is no such document, or several collections have it and none is named.
            OriginalGoneError: the source has other bytes by now, or none, or only the text of a page was kept.
            OriginalError: the source cannot be read now.
            WithheldError: the collection redacts, and `unredacted` is False.
            DatabaseError: the database is out of reach.
        """
        from sourcebook.admin.originals import open_original
        from sourcebook.admin.redacted_documents import collection_redactions
        from sourcebook.errors import WithheldError

        item = self.show(document, collection).item
        with self.database.connection() as connection:
            if not unredacted and collection_redactions(connection, [item.collection]):
                raise WithheldError(
                    "its collection redacts what leaves it: originals and pages stay inside without unredacted"
                )
            return open_original(connection, item.document_id or 0, self._reading_child().member)

    def page_image(
        self,
        document: str | int | Path,
        page: int,
        collection: str | None = None,
        *,
        scale: float | None = 1.5,
        passage: int | None = None,
        unredacted: bool = False,
    ) -> "PagePicture":
        """Return a page of a PDF as a picture of at most 2,000 pixels a side, drawn in a process of its own.

        Args:
            document: its id, its URI, or the path of its file.
            page: number of the page, from 1.
            collection: name of its collection, where several have it.
            scale: pixels a point (1/72 inch), up to 10; None for no picture, only the size and the places.
            passage: place of a passage within the document, counted from 0, that is marked; none where None.
            unredacted: see `original`.

        Raises:
            UnknownDocumentError: there is no such document, or several collections have it and none is named.
            QueryError: it is no PDF, cannot be shown, or has no such page or passage.
            OriginalGoneError: see `original`.
            OriginalError: see `original`.
            WithheldError: see `original`.
            DatabaseError: the database is out of reach.
        """
        from sourcebook.admin.page_images import check_scale, draw_page, passage_text

        check_scale(scale)
        found = self.show(document, collection, unredacted=unredacted)
        text = passage_text(found, passage)
        with self.original(found.item.document_id or 0, unredacted=unredacted) as original:
            return draw_page(original, page, scale, text, self._reading_child())

    def _reading_child(self) -> "ReadingChild":
        with self._child_lock:
            if self._child is None:
                from sourcebook.parsing.reading_child import ReadingChild

                self._child = ReadingChild()
            return self._child

    def _close_reading_child(self) -> None:
        with self._child_lock:
            child, self._child = self._child, None
        if child is not None:
            child.close()
