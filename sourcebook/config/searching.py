"""Settings of searches: `search:` of a collection."""

from pydantic import Field

from sourcebook.config.field_types import Settings


class SearchSettings(Settings):
    """Options of a search for requests that do not say them, where all collections that are searched agree on them."""

    limit: int | None = Field(
        default=None, strict=True, ge=1, le=1_000, description="a whole number from 1 to 1000; unset, 5"
    )
    """Number of passages, or of documents with `group_by`."""
    neighbours: int | None = Field(
        default=None, strict=True, ge=0, le=20, description="a whole number from 0 to 20; unset, 0"
    )
    """Passages before and after each result."""
    min_relevance: float | None = Field(
        default=None,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="a number from 0 to 1; unset, nothing is shown where no passage is relevant",
    )
    """Least relevance of a passage; a note says how many are below it."""
