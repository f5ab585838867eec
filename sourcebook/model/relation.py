"""Relations between documents: their kinds, and a relation as a document writes it."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

from sourcebook.config.relation_kinds import RelationKind

Direction = Literal["out", "in", "both"]
Origin = Literal["field", "link", "id", "attachment"]
DIRECTIONS: Final[tuple[Direction, ...]] = get_args(Direction)


@dataclass(frozen=True, slots=True)
class WrittenRelation:
    """A relation in a document, before anybody knows whether its target is there."""

    kind: RelationKind
    is_inverse: bool
    """Whether the target is what the relation starts from, as in `superseded_by`."""
    written: str
    """The target as it is written."""
    target: str
    """Its normal form: a document with this name is the target."""
    exact: str | None
    """The URI of a link with its file extension, where documents differ in that alone."""
    origin: Origin


@dataclass(frozen=True, slots=True)
class DocumentName:
    """A name by which other documents refer to a document."""

    name: str
    rank: int
    """0 for its URI, then ids, aliases, file name and title: the target of a relation is the document of least rank."""
    exact: str | None = None
    """Its URI with the file extension, for rank 0."""
