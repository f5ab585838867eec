"""The type of a request for a context; the answer is `ContextResult` of the library."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, StrictBool

from sourcebook.config.relation_kinds import RelationKind
from sourcebook.context.request import MOST_TOKENS, USUAL_TOKENS
from sourcebook.contract.context_results import ContextFormat
from sourcebook.contract.windows import MOST_NEIGHBOURS
from sourcebook.search.request import MOST_CHARACTERS, MOST_RESULTS
from sourcebook.server.types import FusionSettings, Number, RerankingSettings, Share, Whole, as_whole

_EXAMPLE: dict[str, JsonValue] = {"question": "How long do the batteries last?", "max_tokens": 2_000}


class ContextQuery(BaseModel):
    """A context for a language model; every option of `KnowledgeBase.context`."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra={"examples": [_EXAMPLE]})

    question: str = Field(min_length=1, max_length=MOST_CHARACTERS, pattern=r"\S", description="A question, or words.")
    collections: list[str] | str | None = Field(
        default=None, description="Names, or one name; every collection by default."
    )
    max_tokens: Whole = Field(default=USUAL_TOKENS, ge=1, le=MOST_TOKENS, description="Tokens of the context, at most.")
    format: ContextFormat = Field(
        default="markdown",
        description="A text (markdown, xml), messages of a chat, content blocks of Anthropic, input items of OpenAI.",
    )
    tokenizer: str | None = Field(
        default=None, max_length=100, description="bound, an encoding such as o200k_base, or a model of OpenAI."
    )
    passages: Annotated[int, Field(strict=True, ge=1, le=MOST_RESULTS), BeforeValidator(as_whole)] | None = Field(
        default=None, description="Passages to search at a time; by default by the budget."
    )
    mode: Literal["hybrid", "vector", "keyword"] = "hybrid"
    filters: dict[str, Any] | None = Field(
        default=None, description="Conditions on the documents.", examples=[{"tags": ["policy"], "language": "en"}]
    )
    fusion: FusionSettings | Literal["weighted", "rrf"] | None = None
    strategy: Literal["fixed", "auto"] = "fixed"
    neighbours: Whole = Field(
        default=0, ge=0, le=MOST_NEIGHBOURS, description="Passages before and after each one that come with it."
    )
    diversity: Number = Field(default=0.0, ge=0, le=1, description="Weight of the difference between passages.")
    rerank: RerankingSettings | str | None = None
    literal: StrictBool | None = None
    typos: StrictBool = False
    generation: Whole | list[Whole] | None = None
    min_relevance: Share | None = Field(default=None, description="Relevance of a passage, at least.")
    log: StrictBool = True
    unredacted: StrictBool = Field(
        default=False, description="What collections redact as it is stored; needs the scope `unredacted`."
    )
    superseded: Literal["shown", "behind"] = "shown"
    expand: tuple[RelationKind, ...] | RelationKind = Field(
        default=(), description="Kinds of relations: passages of the documents that they lead to come along."
    )
