"""Settings of answering (the language model that answers, and its limits), and the prices of all models."""

from datetime import timedelta
from typing import Annotated, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from sourcebook.config.field_types import Duration, Settings, Text
from sourcebook.config.provider import (
    API_VERSION,
    OPENAI_URL,
    ApiVersion,
    Provider,
    ServerUrl,
    VariableName,
    check_azure,
    key_of,
)

Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]
"""US dollars per million tokens."""


class UsageSettings(Settings):
    """Prices of models, by which usage is turned into costs."""

    prices: dict[Text, Price] = Field(
        default={},
        description="a mapping from models to US dollars per million tokens, such as {text-embedding-3-small: 0.02}",
    )
    """US dollars per million tokens by model, or by `provider/model`; they stand before the [list of
    prices](usage.md#cost)."""


_Money = Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)]


class ModelPrices(Settings):
    """Prices of a language model in US dollars per million tokens."""

    input: Price = Field(description="a number of US dollars per million tokens that the model reads, such as 0.15")
    """US dollars for a million tokens that the model reads."""
    output: Price = Field(description="a number of US dollars per million tokens that the model writes, such as 0.6")
    """US dollars for a million tokens that the model writes."""


class AnsweringSettings(Settings):
    """The language model that answers questions from a collection, and the limits of one question."""

    model: Text = Field(description="the server's name of a model, such as gpt-4o-mini")
    """Language model that [answers](answers.md) from the collection; without `answering`, no model is asked."""
    provider: Provider = Field(
        default="openai", description="openai, for any server with OpenAI's protocol of chat completions; or azure"
    )
    """Protocol of the server: chat completions of OpenAI, or [Azure](providers.md#azure)."""
    base_url: ServerUrl | None = Field(default=None, description="a URL such as https://api.openai.com/v1")
    """Server with OpenAI's protocol of chat completions; unset: OpenAI's own."""
    api_version: ApiVersion = Field(default=None, description=API_VERSION)
    """Version of Azure's API."""
    api_key_env: VariableName | None = Field(
        default=None, description="the name of the environment's variable with the key, such as OPENAI_API_KEY"
    )
    """Variable of the environment with the key; unset: `OPENAI_API_KEY` for OpenAI's own server, `AZURE_OPENAI_API_KEY`
    for Azure."""
    tools: bool = Field(
        default=True, strict=True, description="true or false: whether the model may search and fetch by itself"
    )
    """Whether the model may search and fetch by itself."""
    passages: int = Field(default=8, strict=True, ge=1, le=50, description="a whole number from 1 to 50")
    """Passages of the first search that the model reads, at most."""
    max_turns: int = Field(default=4, strict=True, ge=1, le=20, description="a whole number from 1 to 20")
    """Requests to the model for one question, at most."""
    max_tokens: int = Field(
        default=30_000, strict=True, ge=500, le=10_000_000, description="a whole number from 500 to 10000000"
    )
    """Tokens that all requests of a question read and write, at most."""
    answer_tokens: int = Field(default=1_000, strict=True, ge=16, le=100_000, description="a whole number from 16")
    """Tokens that one request writes, at most."""
    max_cost: _Money | None = Field(default=None, description="a number of US dollars above 0, such as 0.05")
    """US dollars of one question, at most; needs a known price."""
    prices: ModelPrices | None = Field(default=None, description="a mapping such as {input: 0.15, output: 0.6}")
    """US dollars per million tokens; they stand before the list of genai-prices."""
    timeout: Duration = Field(default=timedelta(seconds=120), description="a duration such as 120s")
    """Time for one request with its retries."""
    log: bool = Field(default=False, strict=True, description="true or false: whether calls of the model are logged")
    """Whether requests to the model are kept, redacted, in the [log](llm-log.md#the-log)."""
    retention: Duration = Field(default=timedelta(days=30), description="a duration such as 30d")
    """Time for which the log keeps requests."""
    sessions: Duration | None = Field(default=None, description="a duration such as 7d")
    """Time for which turns of [conversations](ask-more.md#conversations) with a `session` are kept; unset: none is
    kept."""

    @property
    def url(self) -> str:
        """URL of the server."""
        return self.base_url or OPENAI_URL

    @property
    def key_variable(self) -> str | None:
        """Variable of the environment with the key; see `key_of`."""
        return key_of(self.provider, self.base_url, self.api_key_env)

    @model_validator(mode="after")
    def _an_answer_fits(self) -> Self:
        check_azure(self.provider, self.base_url, self.api_version)
        if self.answer_tokens > self.max_tokens:
            raise PydanticCustomError("provider", "this is more than max_tokens", {"inside": ("answer_tokens",)})
        return self
