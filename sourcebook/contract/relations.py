"""Relations of documents."""

from dataclasses import dataclass

from sourcebook.model.plain_values import PlainValues


@dataclass(frozen=True, slots=True)
class RelatedDocument(PlainValues):
    """A document to which another one is related, or what is written of one that is not there."""

    kind: str
    """`references`, `requires`, `implements`, `supersedes`, `creates`, `part_of`, or `version` for another version."""
    direction: str
    """`out`: the document that was asked for requires (references, …) this one; `in`: this one requires it."""
    written: str
    """The target as it is written, such as `165` or `../adr/0004.md`."""
    origin: str
    """Where it is written: `field` of the metadata, `link`, `id` in the text, `attachment`, or `name` for a version."""
    document_id: int | None
    """None where no document of the collection is meant: the relation dangles."""
    collection: str | None
    uri: str | None
    title: str | None
