"""The settings of passages, which a search needs without the others: how they are cut, and by which model embedded."""

from typing import Final, Literal, Self, get_args

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from sourcebook.config.field_types import Settings, Text
from sourcebook.config.provider import AUTO_MODEL, MOST_DIMENSIONS, ProviderSettings

ContextPart = Literal["title", "headings", "previous"]
"""Text that is embedded before a passage: title of the document, headings above it, end of the text before it."""
CONTEXT: Final[tuple[ContextPart, ...]] = ("title", "headings")
"""Context of passages where the settings name none."""


class ChunkingSettings(Settings):
    """The size of passages, their overlap in tokens, and their context. A change builds a new generation."""

    tokens: int = Field(default=256, strict=True, ge=16, le=8192, description="a whole number from 16 to 8192")
    overlap: int = Field(
        default=0, strict=True, ge=0, description="a whole number from 0 to less than half of chunking.tokens"
    )
    context: tuple[ContextPart, ...] = Field(
        default=CONTEXT, description="a list of some of title, headings and previous, such as [title, headings]"
    )

    @field_validator("overlap")
    @classmethod
    def _less_than_half(cls, overlap: int, info: ValidationInfo) -> int:
        if overlap * 2 >= info.data.get("tokens", 2 * overlap + 1):
            raise PydanticCustomError("overlap", "the overlap is not less than half of the tokens")
        return overlap

    @field_validator("context")
    @classmethod
    def _in_one_order(cls, context: tuple[ContextPart, ...]) -> tuple[ContextPart, ...]:
        """Return each part once, in the order of the embedding text: another order is no other generation."""
        return tuple(part for part in get_args(ContextPart) if part in context)


OF_THE_MACHINE: Final = ("device",)
"""Embedding settings that say how vectors are computed here: a change of them builds no generation."""


class EmbeddingSettings(ProviderSettings):
    """The embedding model, and whether generated indexes have vectors. A change builds a new generation."""

    model: Text = Field(
        default=AUTO_MODEL,
        description="auto, or the name or the folder of a sentence-transformers model, or a provider's name of a model",
    )
    dimensions: int | None = Field(
        default=None,
        strict=True,
        ge=1,
        le=MOST_DIMENSIONS,
        description=f"a whole number from 1 to {MOST_DIMENSIONS}: the first so many numbers of each vector, which "
        "Matryoshka models such as text-embedding-3-large are trained for",
    )
    precision: Literal["auto", "float32", "bfloat16"] = Field(default="auto", description="auto, float32 or bfloat16")
    device: Literal["auto", "cpu", "cuda", "mps"] = Field(default="auto", description="auto, cpu, cuda or mps")
    generated_indexes: bool = Field(
        default=False, strict=True, description="true or false: whether documents that are lists of links have vectors"
    )

    @model_validator(mode="after")
    def _names_the_model(self) -> Self:
        if self.provider is not None and self.model == AUTO_MODEL:
            raise PydanticCustomError("provider", "a provider needs the name of a model")
        return self
