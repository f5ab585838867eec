"""Settings of document types: `types:` of a collection."""

from typing import Annotated, Final

from pydantic import Field, StringConstraints

from sourcebook.config.field_types import Pattern, Settings, Words

TypeName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]


class DocumentType(Settings):
    """Documents of one type, and what they promise."""

    paths: tuple[Pattern, ...] = Field(
        default=(), description='a list of patterns below the root of a source, such as ["adr/**"]'
    )
    """Patterns of the paths of the type's documents."""
    fields: Words = Field(
        default=(), description="a list of metadata fields that each document of the type has, such as [status, date]"
    )
    """Metadata fields that each document of the type has."""


DEFAULT_TYPES: Final = {
    "session": DocumentType(paths=("**/sessions/**",)),
    "plan": DocumentType(paths=("**/plans/**",)),
    "discussion": DocumentType(paths=("**/discussions/**",)),
    "adr": DocumentType(paths=("**/adr/**", "**/adrs/**", "**/decisions/**")),
    "spec": DocumentType(paths=("**/specs/**",)),
    "contract": DocumentType(paths=("**/contracts/**",)),
}
"""Types of documents, where the settings name none; they promise nothing."""
