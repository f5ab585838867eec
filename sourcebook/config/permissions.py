"""The settings of permissions: who may see the documents of a source."""

import re
from typing import Annotated, Any, Final, Self
from urllib.parse import quote

from pydantic import AfterValidator, Field, PlainSerializer, field_validator
from pydantic_core import PydanticCustomError

from sourcebook.config.field_types import Pattern, Settings, Text
from sourcebook.config.principals import EVERYONE, GROUP, parse_principal

_GLOB: Final = re.compile(r"(\*\*/|\*\*|\*|\?|\{[^{}]*\})")
_SAFE: Final = "/~!$&'()*+,;=:@"
_MEANINGS: Final = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def _principal(text: str) -> str:
    try:
        return parse_principal(text)
    except ValueError as error:
        raise PydanticCustomError("principal", "{reason}", {"reason": str(error)}) from None


Principal = Annotated[Text, AfterValidator(_principal)]
Principals = tuple[Principal, ...]


def _in_order(patterns: dict[str, Principals]) -> Any:
    """Return several patterns as a list, which keeps their order in the database."""
    pairs = [{pattern: list(principals)} for pattern, principals in patterns.items()]
    return pairs if len(pairs) > 1 else {**patterns}


ByPattern = Annotated[dict[Pattern, Principals], PlainSerializer(_in_order, when_used="json")]


def _member(text: str) -> str:
    return _principal(text if ":" in text or text.lower() == EVERYONE else f"{GROUP}:{text}")


def _group(text: str) -> str:
    if not _member(text).startswith(f"{GROUP}:"):
        raise PydanticCustomError("principal", "this is no group")
    return text  # two spellings of a group both count


Groups = dict[Annotated[Text, AfterValidator(_group)], tuple[Annotated[Text, AfterValidator(_member)], ...]]
"""Members by group; a name without a kind is that of a group."""


def grantee(name: str) -> str:
    """Return the name of a grantee of a store: of a group of S3 the last part of its URI, otherwise what is given."""
    return name.rsplit("/", 1)[-1] if name.startswith(("http://", "https://")) else name


Grantees = dict[Annotated[Text, AfterValidator(grantee)], Principals]
"""Principals by the grantee of an ACL: canonical user id, e-mail address, group or entity."""


def memberships(groups: Groups) -> list[tuple[str, str]]:
    """Return each member with its group, as principals, once each and sorted."""
    return sorted({(member, _member(group)) for group, members in groups.items() for member in members})


class Permissions(Settings):
    """Permissions of a source, or of a collection: who may see its documents."""

    allowed: Principals | ByPattern | None = Field(
        default=None,
        description="a list of principals such as [group:board, user:anna@example.org], or a mapping from patterns to "
        'such lists, of which the first that fits a path decides, such as {"hr/**": [group:hr], "**": [everyone]}; '
        "unset: everyone",
    )
    """Principals who [see the documents](who-may-see-what.md#say-who-sees-a-document) of the source; of a collection
    those of [uploads](uploads.md#who-sees-them) and of sources that name none."""
    denied: Principals = Field(
        default=(), description="a list of principals such as [user:eve@example.org], who see none of the documents"
    )
    """Principals who see none of the documents, whatever allows it; those of a collection count for each of its
    sources."""

    @field_validator("allowed", mode="before")
    @classmethod
    def _patterns_in_a_list(cls, allowed: Any) -> Any:
        """Take patterns as a list of mappings, too, with one each: JSON and the database keep no order in a mapping."""
        if not isinstance(allowed, list | tuple) or not all(isinstance(each, dict) for each in allowed):
            return allowed
        pairs = [pair for each in allowed for pair in each.items()]
        return dict(pairs) if pairs and len({name for name, _ in pairs}) == len(pairs) else allowed

    @property
    def by_document(self) -> bool:
        """Whether documents may say it themselves."""
        return False

    def permissions(self, root: str, end: str = "") -> dict[str, Any] | None:
        """Return the permissions as the ledger keeps them; None where everyone sees everything.

        Args:
            root: regular expression for the URI of the root of the source.
            end: regular expression for what may follow a path.
        """
        if self.allowed is None and not self.denied and not self.by_document:
            return None
        allowed: Any = (EVERYONE,) if self.allowed is None else self.allowed
        by_pattern = allowed.items() if isinstance(allowed, dict) else [(None, allowed)]
        rules = [
            {
                "pattern": pattern,
                "path": pattern and f"^{root}/{_expression(pattern)}{end}$",
                "allowed": list(principals),
            }
            for pattern, principals in by_pattern
        ]
        return {"rules": rules, "denied": list(self.denied), "by_document": self.by_document}


class SourcePermissions(Permissions):
    """Permissions of a source: who may see its documents."""

    documents_decide: bool = Field(
        default=False,
        strict=True,
        description="true or false: whether `allowed` in a document's front matter or metadata comes before",
    )
    """Whether a document may say by itself who sees it, before `allowed` of its source."""

    @property
    def by_document(self) -> bool:
        """Whether documents may say it themselves."""
        return self.documents_decide

    def within(self, collection: Permissions) -> Self:
        """Return the permissions with the collection's `allowed`, where these have none, and its `denied`."""
        allowed = collection.allowed if self.allowed is None else self.allowed
        return self.model_copy(update={"allowed": allowed, "denied": (*self.denied, *collection.denied)})


PERMISSION_FIELDS: Final = set(SourcePermissions.model_fields)
"""Settings that change no document, and are kept apart from the others."""


def _expression(pattern: str) -> str:
    """Return a regular expression of PostgreSQL for the percent-encoded path below the root that a glob means."""
    pattern = pattern.lstrip("/")
    pattern = f"{pattern}**" if pattern.endswith("/") else pattern
    return "".join(_MEANINGS.get(part) or _choice(part) for part in _GLOB.split(pattern))


def _choice(part: str) -> str:
    if part.startswith("{") and part.endswith("}") and "," in part:
        return f"(?:{'|'.join(_expression(each) for each in part[1:-1].split(','))})"
    return re.escape(quote(part, safe=_SAFE))
