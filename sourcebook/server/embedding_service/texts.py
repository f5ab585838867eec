"""Requests of the embedding service in OpenAI's protocol: what is allowed, and which texts are questions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from sourcebook.embedding.description import prompts_of
from sourcebook.embedding.model import EmbeddingModel
from sourcebook.embedding.preparation import passage_prompt, query_prompt, well_formed

Kind = Literal["query", "passage", "document", "search_query", "search_document"]
_QUERIES: Final = frozenset({"query", "search_query"})
Text = Annotated[str, Field(min_length=1)]


class Wanted(BaseModel):
    """The body of a request."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    input: Text | Annotated[list[Text], Field(min_length=1)]
    model: str
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: Annotated[int, Field(ge=1)] | None = None
    user: str | None = None
    input_type: Kind | None = None

    @property
    def texts(self) -> list[str]:
        """The texts, one or many."""
        return [self.input] if isinstance(self.input, str) else self.input


@dataclass(frozen=True, slots=True)
class Prompts:
    """The texts that the model wants before a question and before a passage; empty for most models."""

    query: str = ""
    passage: str = ""

    @classmethod
    def of(cls, model: EmbeddingModel) -> "Prompts":
        """Return the prompts of a model on this machine."""
        found = {} if model.folder is None else prompts_of(model.folder)
        return cls(query_prompt(found), passage_prompt(found))

    def sorted(self, texts: Sequence[str], kind: Kind | None) -> tuple[list[str], list[bool]]:
        """Return texts without the model's own prompts, which it writes itself, and which of them are questions.

        Args:
            texts: texts of a request.
            kind: kind that the request names; without one a text with the prompt of questions is a question.
        """
        bare, are_queries = [], []
        for sent in texts:
            text, is_query = well_formed(sent), kind in _QUERIES
            if kind is None:
                is_query = bool(self.query) and text.startswith(self.query)
                prompt = self.query if is_query else self.passage
                text = text.removeprefix(prompt) or text
            bare.append(text)
            are_queries.append(is_query)
        return bare, are_queries


def most_read(texts: Sequence[str], max_tokens: int) -> int:
    """Return how many tokens the model reads of texts at most: no tokenizer makes more of a text than it has bytes."""
    return sum(min(len(text.encode("utf-8", "replace")) + 2, max_tokens) for text in texts)
