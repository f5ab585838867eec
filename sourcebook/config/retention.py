"""Settings of retention."""

from pydantic import Field

from sourcebook.config.field_types import Duration, Settings


class RetentionSettings(Settings):
    """How long removed rows and asked queries are kept."""

    removed: Duration | None = Field(default=None, description="a duration such as 12h, 30d or 8w")
    queries: Duration | None = Field(default=None, description="a duration such as 30d; unset, no query is logged")
