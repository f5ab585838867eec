"""Settings of a provider of embeddings: a server that is asked over HTTP in place of a model of this machine."""

import re
from datetime import timedelta
from typing import Annotated, Any, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from sourcebook.config.field_types import Duration, Settings, Text

AUTO_MODEL: Final = "auto"
"""Name for the model that the languages of the first documents decide."""
OPENAI_URL: Final = "https://api.openai.com/v1"
OPENAI_KEY: Final = "OPENAI_API_KEY"
"""Variable of the environment with the key of OpenAI's own server."""
AZURE: Final = "azure"
AZURE_KEY: Final = "AZURE_OPENAI_API_KEY"
Provider = Literal["openai", "azure"]
API_VERSION: Final = "the version of Azure's API, such as 2024-10-21; its API v1 where unset"
MOST_DIMENSIONS: Final = 4_000
"""Dimensions of a vector, at most: an HNSW index over pgvector's halfvec takes no more."""
DEFAULT_MAX_TOKENS: Final = 8_192
_VARIABLE: Final = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
_RATE: Final = "a whole number of 1 or more"


def server_url(url: str) -> str:
    """Return a server's URL without a slash at its end.

    Raises:
        PydanticCustomError: it is no http or https URL, or holds an account or a query, which may be secrets.
    """
    try:
        parts = urlsplit(url)
        is_url = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_url = False
    if not is_url:
        raise PydanticCustomError("server_url", "it is no http or https URL")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise PydanticCustomError("server_url", "an account, a key or a query does not belong in it")
    return url.rstrip("/")


def variable_name(name: str) -> str:
    """Return the name of a variable of the environment.

    Raises:
        PydanticCustomError: it is no name in capital letters; a key itself, for example.
    """
    if not _VARIABLE.fullmatch(name):
        raise PydanticCustomError("variable", "this is no variable's name in capital letters")
    return name


def key_of(provider: str | None, base_url: str | None, named: str | None) -> str | None:
    """Return the variable of the environment with a key: the named one, or that of OpenAI's own server or of Azure."""
    return named or (AZURE_KEY if provider == AZURE else OPENAI_KEY if base_url is None else None)


def check_azure(provider: str, base_url: str | None, version: str | None) -> None:
    """Refuse an address or a version that do not fit the provider.

    Raises:
        PydanticCustomError: the address of Azure's resource is missing or names more, or a version is not of Azure.
    """
    if provider != AZURE:
        if version is not None:
            raise PydanticCustomError("provider", "it needs provider: azure beside it", {"inside": ("api_version",)})
    elif base_url is None or "/openai" in urlsplit(base_url).path:
        raise PydanticCustomError(
            "provider",
            "azure needs the address of the resource alone, such as https://NAME.openai.azure.com",
            {"inside": ("provider" if base_url is None else "base_url",)},
        )


ServerUrl = Annotated[Text, AfterValidator(server_url)]
VariableName = Annotated[Text, AfterValidator(variable_name)]
ApiVersion = Annotated[Text, StringConstraints(pattern=r"^[0-9A-Za-z.-]{1,40}$")] | None
Prefix = Annotated[str, StringConstraints(max_length=1000)]
"""Text before another one, whose spaces count."""
_Rate = Annotated[int, Field(strict=True, ge=1)]


class ProviderSettings(Settings):
    """The part of a collection's embedding settings that a provider needs."""

    provider: Provider | None = Field(
        default=None, description="openai, for any server with OpenAI's protocol of embeddings; or azure"
    )
    """Service, such as OpenAI or Azure, that makes the embeddings instead of a local model: see
    [providers](providers.md) and [Azure](providers.md#azure). The settings from `base_url` to `timeout` need it."""
    base_url: ServerUrl | None = Field(default=None, description="a URL such as https://api.openai.com/v1")
    """URL of the server, most often with `/v1` at its end; unset: OpenAI's own."""
    api_version: ApiVersion = Field(default=None, description=API_VERSION)
    """Version of Azure's API."""
    api_key_env: VariableName | None = Field(
        default=None,
        description="the name of the environment's variable with the key, such as OPENAI_API_KEY",
    )
    """Variable of the environment with the key, in capital letters; unset: `OPENAI_API_KEY` without `base_url`, else no
    key is sent."""
    query_prefix: Prefix = Field(default="", description='a text before each question, such as "query: "')
    """Text before each question."""
    passage_prefix: Prefix = Field(default="", description='a text before each passage, such as "passage: "')
    """Text before each passage."""
    query_input_type: Text | None = Field(default=None, description="the input_type of questions, such as query")
    """Field `input_type` of requests for questions."""
    passage_input_type: Text | None = Field(default=None, description="the input_type of passages, such as passage")
    """Field `input_type` of requests for passages."""
    revision: Text | None = Field(
        default=None, description="any word; another one indexes again after the provider has changed its model"
    )
    """Word that you change after the provider has changed its model: another one indexes again."""
    max_tokens: int | None = Field(
        default=None, strict=True, ge=16, le=1_000_000, description="tokens of a passage that the model reads, from 16"
    )
    """Tokens of a passage that the model reads, special ones included; unset: 8,192."""
    requests_per_minute: _Rate | None = Field(default=None, description=_RATE)
    """Requests of all collections to the provider within a minute, at most."""
    tokens_per_minute: _Rate | None = Field(default=None, description=_RATE)
    """Tokens of all requests to the provider within a minute, at most."""
    batch_size: int = Field(default=64, strict=True, ge=1, le=2048, description="a whole number from 1 to 2048")
    """Texts of a request."""
    parallel: int = Field(default=4, strict=True, ge=1, le=64, description="a whole number from 1 to 64")
    """Requests at once of an ingest."""
    timeout: Duration = Field(default=timedelta(seconds=60), description="a duration such as 60s")
    """Time without a byte after which a request is given up; 10 s at most for questions."""

    @property
    def url(self) -> str:
        """URL of the server."""
        return self.base_url or OPENAI_URL

    @property
    def key_variable(self) -> str | None:
        """Variable of the environment with the key; see `key_of`."""
        return key_of(self.provider, self.base_url, self.api_key_env)

    @property
    def connection(self) -> dict[str, Any]:
        """Settings that decide how the provider is reached, as plain values; a change of them builds no generation."""
        return self.model_dump(mode="json", include=set(CONNECTION))

    @model_serializer(mode="wrap")
    def _without_what_is_not_used(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave the settings of providers out where there is none: a new version is no change of settings."""
        written: dict[str, Any] = write(self)
        if self.provider is not None:
            return written
        return {name: value for name, value in written.items() if name not in ProviderSettings.model_fields}

    @model_validator(mode="after")
    def _with_a_provider(self) -> Self:
        if self.provider is not None:
            check_azure(self.provider, self.base_url, self.api_version)
            return self
        for name, field in ProviderSettings.model_fields.items():
            if getattr(self, name) != field.default:
                raise PydanticCustomError(
                    "provider", "it needs the setting embedding.provider beside it", {"inside": (name,)}
                )
        return self


CONNECTION: Final = (
    "base_url",
    "api_version",
    "api_key_env",
    "requests_per_minute",
    "tokens_per_minute",
    "batch_size",
    "parallel",
    "timeout",
)
"""Settings that decide how a provider is reached, and not what its vectors are."""
