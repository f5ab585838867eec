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
    """Maximum tokens of an embedded passage, with heading path and special tokens; limited by the model."""
    overlap: int = Field(
        default=0, strict=True, ge=0, description="a whole number from 0 to less than half of chunking.tokens"
    )
    """Tokens that a passage repeats of the previous one; at most a quarter of `chunking.tokens` is used."""
    context: tuple[ContextPart, ...] = Field(
        default=CONTEXT, description="a list of some of title, headings and previous, such as [title, headings]"
    )
    """Text that is embedded before each passage: `title` of the document, `headings` above the passage, `previous` for
    the end of the text before it (an eighth of `chunking.tokens`), `[]` for nothing. `previous` [gained
    nothing](decisions/0038-usage-and-context.md#the-context-of-passages) on the sets measured: measure on your own
    questions. Results show the passage without it, and keyword search has title and headings in any case."""

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
    """[Embedding model](models.md): `auto` lets the languages of the first documents choose between `all-MiniLM-L6-v2`
    for English and `multilingual-e5-small` for some 90 languages, which come with the installation; or one of the
    two names, a folder, a name on the Hugging Face hub, or with `provider` its name of a model."""
    dimensions: int | None = Field(
        default=None,
        strict=True,
        ge=1,
        le=MOST_DIMENSIONS,
        description=f"a whole number from 1 to {MOST_DIMENSIONS}: the first so many numbers of each vector, which "
        "Matryoshka models such as text-embedding-3-large are trained for",
    )
    """Length to which vectors of [Matryoshka models](models.md#dimensions) are cut; unset: all of them."""
    precision: Literal["auto", "float32", "bfloat16"] = Field(default="auto", description="auto, float32 or bfloat16")
    """Number format of the model: `auto` is `bfloat16` where the processor supports it natively, otherwise
    `float32`."""
    device: Literal["auto", "cpu", "cuda", "mps"] = Field(default="auto", description="auto, cpu, cuda or mps")
    """[Device](models.md#engine-and-device) of the model: `auto` is a GPU where torch can use one, otherwise the
    processor. A change builds no generation."""
    generated_indexes: bool = Field(
        default=False, strict=True, description="true or false: whether documents that are lists of links have vectors"
    )
    """Whether [generated indexes](passages.md#generated-indexes), documents that are lists of links, have vectors;
    otherwise keyword search alone finds them."""

    @model_validator(mode="after")
    def _names_the_model(self) -> Self:
        if self.provider is not None and self.model == AUTO_MODEL:
            raise PydanticCustomError("provider", "a provider needs the name of a model")
        return self
