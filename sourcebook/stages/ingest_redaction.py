"""Redaction at ingestion, as the stages need it: the rules of a collection, and rows that were stored before them.

What redacts is imported where a collection redacts: every look at a collection asks for the identity of its rules.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from psycopg import Connection
from psycopg.types.json import Jsonb

from sourcebook.database.queries import queries
from sourcebook.database.redacted_titles import has_digit
from sourcebook.errors import ConfigurationError, MissingDependencyError
from sourcebook.model.generation import Generation
from sourcebook.redaction.ingestion import ingest_identity, ingest_redactor

if TYPE_CHECKING:
    from sourcebook.redaction.redactor import Redactor

_WITHHELD: Final = "(withheld)"


def redaction_settings(connection: Connection, collection: str) -> dict[str, Any] | None:
    """Return the settings of redaction of a collection; None without any."""
    row = connection.execute(queries["redaction_settings"], {"collection": collection}).fetchone()
    return row[0] if row and row[0] else None


def redaction_identity(connection: Connection, collection: str) -> str:
    """Return the identity of the rules by which a collection stores placeholders; empty where it stores none."""
    return ingest_identity(redaction_settings(connection, collection))


def collection_redactor(connection: Connection, collection: str) -> "Redactor | None":
    """Return the redactor of what a collection stores; None where it stores texts as they are.

    Raises:
        ConfigurationError: the file of patterns cannot be read, or one of its patterns is none.
        MissingDependencyError: the packages of redaction are not installed.
    """
    return ingest_redactor(redaction_settings(connection, collection))


@dataclass(frozen=True, slots=True)
class ReportTexts:
    """Texts of a collection as a report, a log or a failure shows them: redacted where its content is."""

    redactor: "Redactor | None"
    is_ready: bool = True
    """Whether the rules of a collection that redacts could be read; otherwise no text is shown."""

    def text(self, text: str) -> str:
        """Return a text, such as the reason of a failure."""
        if not self.is_ready:
            return _WITHHELD
        return text if self.redactor is None else self.redactor.redact(text).text

    def title(self, title: str, text: str | None = None) -> str:
        """Return a title, or a note in its place where it may hold a value that only its document gives away.

        Args:
            title: the title.
            text: the whole text of its document; None where it is not at hand.
        """
        redacted = self.text(title)
        if self.redactor is None or not has_digit(redacted):
            return redacted
        if text is None:
            return _WITHHELD
        from sourcebook.redaction.documents import redact_document

        return redact_document(self.redactor, text).words(title)


def report_texts(connection: Connection, collection: str) -> ReportTexts:
    """Return how reports show the texts of a collection."""
    found = connection.execute(queries["collection_redactions"], {"collections": [collection]}).fetchone()
    if found is None:
        return ReportTexts(None)
    from sourcebook.redaction.documents import redactor_of

    try:
        return ReportTexts(redactor_of(found[1]))
    except (ConfigurationError, MissingDependencyError):
        return ReportTexts(None, is_ready=False)


def redact_stored_facts(connection: Connection, collection: str, redactor: "Redactor") -> None:
    """Redact titles and metadata of the pages and recordings of a collection that were stored by other rules."""
    from sourcebook.redaction.documents import redacted_facts

    for find, replace in (
        (queries["facts_of_pages"], queries["replace_facts_of_pages"]),
        (queries["facts_of_recordings"], queries["replace_facts_of_recordings"]),
    ):
        rows = connection.execute(find, {"collection": collection}).fetchall()
        for number, place, title, metadata in rows:
            facts = redacted_facts(redactor, title, metadata)
            if facts != (title, metadata):
                connection.execute(
                    replace, {"number": number, "place": place, "title": facts[0], "metadata": Jsonb(facts[1])}
                )


def forget_whole_contents(connection: Connection, collection: str, identity: str) -> None:
    """Delete parsed contents that a collection has replaced by redacted ones, where nothing else needs them."""
    scope = {"collection": collection, "redacted": f"%+redaction-{identity}"}
    connection.execute(queries["forget_whole_contents"], scope)


def forget_whole_transcripts(connection: Connection, collection: str, identity: str) -> None:
    """Delete transcripts that a collection has replaced by redacted ones, where nothing else needs them."""
    scope = {"collection": collection, "redacted": f"%+redaction-{identity}"}
    connection.execute(queries["forget_whole_transcripts"], scope)


def forget_unheld_lexemes(connection: Connection, generation: Generation) -> None:
    """Delete words of a generation that no entry holds any more, where its collection stores placeholders."""
    scope = {"generation": generation.id, "collection": generation.collection}
    connection.execute(queries["forget_unheld_lexemes"], scope)
