"""Settings of retries."""

from pydantic import Field

from sourcebook.config.field_types import Settings

MOST_ATTEMPTS = 15
"""Attempts in a row before an item is parked; with the pauses between them they take some four days."""


class RetrySettings(Settings):
    """How often an item that failed is tried again."""

    attempts: int = Field(
        default=MOST_ATTEMPTS, strict=True, ge=1, le=1000, description="a whole number from 1 to 1000"
    )
