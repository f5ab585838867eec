"""Rows of fetched pages, and of their content, as a site's settings let them be stored."""

from typing import Any

from psycopg.types.json import Jsonb

from sourcebook.database.parsed_content import parsed_content_row
from sourcebook.model.document import content_hash
from sourcebook.parsing.html.read_html import page_document
from sourcebook.parsing.redacted_document import redacted_document
from sourcebook.parsing.registry import page_identity
from sourcebook.redaction.documents import redacted_facts
from sourcebook.redaction.ingestion import ingest_redactor, with_identity
from sourcebook.web.outcome import PageContent, Stored
from sourcebook.web.site import Site


class PageRows:
    """Makes the rows of one site's pages.

    Args:
        site: the site, with the redaction of its collection.
    """

    def __init__(self, site: Site) -> None:
        self._site = site
        self._redactor = ingest_redactor(site.redaction)
        self._page_identity = with_identity(page_identity(), site.redaction_identity)

    def page(self, outcome: Stored, cleaner: str) -> dict[str, object]:
        """Return the parameters of `record_pages`."""
        page = outcome.page
        title, metadata = page.title, dict(page.metadata or {})
        if self._redactor is not None:
            title, metadata = redacted_facts(self._redactor, title, metadata)
        return {
            "source_id": self._site.id,
            "url": outcome.claimed.url,
            "status": page.status,
            "media_type": page.media_type,
            "etag": page.etag,
            "last_modified": page.last_modified,
            "lastmod": outcome.claimed.lastmod,
            "title": title,
            "language": page.language,
            "metadata": Jsonb(metadata),
            "canonical_url": page.canonical_url,
            "parser": None if page.markdown is None else self._page_identity,
            "content": page.content,
            "size": page.size,
            "sha256": page.sha256,
            "links": list(page.links),
            "rendered": page.rendered,
            "cleaner": cleaner,
            "tags": self._site.tags_of(outcome.claimed.url),
            "depth": outcome.claimed.depth,
        }

    def content(self, page: PageContent) -> dict[str, Any] | None:
        """Return the row of `parsed_content` of an HTML page, None for any other document."""
        if page.markdown is None or page.blocks is None:
            return None
        document = page_document(page.markdown, page.blocks, title=page.title, language=page.language)
        if self._redactor is not None:
            document = redacted_document(document, self._redactor)
        digest = content_hash(document.markdown, document.blocks, document.title)
        return parsed_content_row(page.sha256, self._page_identity, document, digest)
