"""Settings of relations: `relations:` of a collection."""

import re
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from sourcebook.config.field_types import Settings, Text
from sourcebook.config.relation_kinds import INVERSE_KINDS, RELATION_KINDS

_LONGEST_PATTERN: Final = 1_000
_MOST_PATTERNS: Final = 50
_MOST_FIELDS: Final = 100
_PLACE: Final = re.compile(r"\{(\d+)\}")
_ALLOWED: Final = (*RELATION_KINDS, *INVERSE_KINDS)


def _kind(name: str) -> str:
    if name not in _ALLOWED:
        raise PydanticCustomError("kind", "a kind is one of {known}", {"known": ", ".join(_ALLOWED)})
    return name


Kind = Annotated[Text, AfterValidator(_kind)]


class RelationPattern(Settings):
    """A pattern of ids in texts, such as `RFC 9110`."""

    kind: Kind = Field(
        default="references", description="references, requires, implements, supersedes, creates, part_of"
    )
    """Kind of the relation."""
    match: Text = Field(max_length=_LONGEST_PATTERN, description="a pattern of RE2 such as 'RFC (\\d+)'")
    """Regular expression of an id in texts."""
    target: Text = Field(default="{0}", description="the name of the document, such as rfc-{1}; {1} is the first group")
    """Id of the document that it means, with `{1}` for the first group."""

    @model_validator(mode="after")
    def _is_a_pattern(self) -> "RelationPattern":
        if self in DEFAULT_PATTERNS:
            return self
        pattern = _compiled(self.match)
        if pattern.match("") is not None:
            raise PydanticCustomError("match", "match matches the empty text; make it need a character")
        if any(int(place) > pattern.groups for place in _PLACE.findall(self.target)):
            raise PydanticCustomError("target", "target names a group that match does not have")
        return self


def _compiled(match: str) -> Any:
    """Return a pattern compiled by RE2; by Python, which knows nearly the same, where that is not installed."""
    try:
        import re2
    except ImportError:
        try:
            return re.compile(match)
        except re.error as error:
            raise PydanticCustomError("match", "match is no regular expression") from error
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(match, options)
    except re2.error as error:
        raise PydanticCustomError(
            "match", "match is no pattern of RE2, which has no look-around and no back-references"
        ) from error


DEFAULT_FIELDS: Final = {
    "references": "references",
    "related": "references",
    "relates-to": "references",
    "see-also": "references",
    "requires": "requires",
    "depends-on": "requires",
    "implements": "implements",
    "supersedes": "supersedes",
    "replaces": "supersedes",
    "obsoletes": "supersedes",
    "superseded-by": "superseded_by",
    "replaced-by": "superseded_by",
    "obsoleted-by": "superseded_by",
    "creates": "creates",
    "part-of": "part_of",
}
"""Kinds by metadata fields, where the settings name none of their own."""
DEFAULT_PATTERNS: Final = (
    RelationPattern.model_construct(kind="references", match=r"\bADR[- ]?(\d{1,5})\b", target="adr-{1}"),
    RelationPattern.model_construct(kind="references", match=r"\bRFC[- ]?(\d{1,5})\b", target="rfc-{1}"),
)
"""Patterns of ids, where the settings name none of their own; not checked, so that they load no RE2."""


class RelationSettings(Settings):
    """How documents say what they refer to. A change is applied by the next ingest, without parsing anything."""

    patterns: tuple[RelationPattern, ...] = Field(
        default=DEFAULT_PATTERNS,
        max_length=_MOST_PATTERNS,
        description="a list such as [{kind: references, match: 'RFC (\\d+)', target: 'rfc-{1}'}], at most 50",
    )
    """Patterns of ids in texts, which become [relations](relations.md)."""
    fields: dict[Text, Kind] = Field(
        default=DEFAULT_FIELDS,
        max_length=_MOST_FIELDS,
        description="a mapping from metadata fields to kinds, such as {requires: requires, Replaces: supersedes}",
    )
    """Kinds of [relation](relations.md) by the metadata field that holds them; unset: [the
    fields](relations.md#what-is-read) that are read."""
    links: bool = Field(default=True, strict=True, description="true or false: whether links are references")
    """Whether links are references."""
