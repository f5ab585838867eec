"""Kinds of relations between documents."""

from typing import Final, Literal, get_args

RelationKind = Literal["references", "requires", "implements", "supersedes", "creates", "part_of"]
RELATION_KINDS: Final[tuple[RelationKind, ...]] = get_args(RelationKind)
INVERSE_KINDS: Final[dict[str, RelationKind]] = {
    "referenced_by": "references",
    "required_by": "requires",
    "implemented_by": "implements",
    "superseded_by": "supersedes",
    "created_by": "creates",
    "has_part": "part_of",
}
"""Names of the kinds as the other document writes them: `Superseded-By: 566` says that 566 supersedes this one."""
