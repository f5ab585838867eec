"""Settings of metering."""

from typing import Annotated

from pydantic import Field

from sourcebook.config.field_types import Settings, Text

Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""US dollars per million tokens."""


class UsageSettings(Settings):
    """Prices of models, by which usage is turned into costs."""

    prices: dict[Text, Price] = Field(
        default={},
        description="a mapping from models to US dollars per million tokens, such as {text-embedding-3-small: 0.02}",
    )
