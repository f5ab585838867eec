"""The candidates of a bakeoff: ways of cutting and embedding a collection, and of ordering what a search finds."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final, Literal, get_args

from pydantic import ValidationError

from sourcebook.config.field_types import Settings
from sourcebook.config.passages import CONTEXT, ChunkingSettings, ContextPart, EmbeddingSettings
from sourcebook.contract.fusion import Method
from sourcebook.contract.search import Mode
from sourcebook.embedding.weights import BUNDLED_NAME, MULTILINGUAL_NAME
from sourcebook.evaluation.errors import EvaluationError
from sourcebook.model.generation import plain_settings

Ranking = Literal["hybrid", "rrf", "vector", "keyword"]
"""Order of what is found: of both legs as by default, or by reciprocal rank fusion, or of one leg alone."""
RANKINGS: Final[tuple[Ranking, ...]] = get_args(Ranking)
NO_CONTEXT: Final = "none"
_PLAIN = re.compile(r"[A-Za-z./][\w./-]*")
"""Text that YAML reads as it stands, but for the words of its own that no setting here has."""


@dataclass(frozen=True, slots=True)
class Indexing:
    """Settings that make one generation."""

    chunking: ChunkingSettings
    embedding: EmbeddingSettings

    @property
    def identity(self) -> str:
        """Text that equal generations share."""
        return repr(self.as_dict())

    def describe(self) -> str:
        """Return `256 tokens +32, title and headings, all-MiniLM-L6-v2`."""
        overlap = f" +{self.chunking.overlap}" if self.chunking.overlap else ""
        context = " and ".join(self.chunking.context) or "no context"
        return f"{self.chunking.tokens} tokens{overlap}, {context}, {self.embedding.model}"

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return plain_settings(self.chunking.model_dump(), self.embedding.model_dump())

    def yaml(self, collection: str, present: "Indexing") -> str:
        """Return the sections of sourcebook.yaml that differ from the present settings; empty where none does."""
        pairs = {"chunking": (self.chunking, present.chunking), "embedding": (self.embedding, present.embedding)}
        always = {"chunking": "tokens", "embedding": "model"}
        lines = [
            f"    {name}: {{{_flow({always[name]: getattr(own, always[name]), **_set(own)})}}}"
            for name, (own, before) in pairs.items()
            if own != before
        ]
        return "\n".join(["collections:", f"  {collection}:", *lines]) if lines else ""


@dataclass(frozen=True, slots=True)
class Choices:
    """Choices of a bakeoff: every combination of them is tried, or one change of the present settings at a time."""

    tokens: tuple[str, ...] = ()
    """Sizes of passages, such as `256`, or `256+32` with an overlap."""
    models: tuple[str | Mapping[str, Any], ...] = ()
    """Names or folders of models, or mappings such as those of `embedding:` in sourcebook.yaml."""
    contexts: tuple[str, ...] = ()
    """Parts of the context with commas between, such as `title,headings`; `none` for none."""
    rankings: tuple[Ranking, ...] = ("hybrid", "rrf")


def indexings(present: Indexing, choices: Choices, *, largest: int) -> list[Indexing]:
    """Return the generations to compare, each once, the present settings first.

    Args:
        present: the settings of the active generation.
        choices: what is tried.
        largest: tokens that the present model reads of a text: longer passages are no other candidate of it.

    Raises:
        EvaluationError: a choice is none.
    """
    chunkings = [_size(present.chunking, text) for text in choices.tokens]
    embeddings = [_embedding(model) for model in choices.models]
    contexts = [_context(text) for text in choices.contexts]
    if chunkings or embeddings or contexts:
        found = product(chunkings or [present.chunking], embeddings or [present.embedding])
        given: Iterable[Indexing] = (
            Indexing(chunking.model_copy(update={"context": context}), embedding)
            for chunking, embedding in found
            for context in contexts or [chunking.context]
        )
    else:
        given = _one_at_a_time(present, largest)
    return list({each.identity: each for each in (present, *given)}.values())


def search_options(ranking: Ranking) -> tuple[Mode, Method | None]:
    """Return the mode and the fusion of a search that orders by a ranking."""
    return ("hybrid", "rrf") if ranking == "rrf" else (ranking, None)


def _one_at_a_time(present: Indexing, largest: int) -> Iterator[Indexing]:
    chunking = present.chunking
    for tokens in (chunking.tokens // 2, chunking.tokens * 2):
        if tokens >= 32 and min(tokens, largest) != min(chunking.tokens, largest):
            yield replace(present, chunking=chunking.model_copy(update={"tokens": tokens, "overlap": 0}))
    for context in ((), CONTEXT, (*CONTEXT, "previous")):
        yield replace(present, chunking=chunking.model_copy(update={"context": context}))
    from sourcebook.embedding import multilingual_e5  # imports what unpacks it

    for name in (BUNDLED_NAME, MULTILINGUAL_NAME):
        if name == BUNDLED_NAME or multilingual_e5.packed_file() is not None:
            yield replace(present, embedding=EmbeddingSettings(model=name))


def _size(chunking: ChunkingSettings, text: str) -> ChunkingSettings:
    tokens, _, overlap = text.strip().partition("+")
    try:
        sizes = {"tokens": int(tokens), "overlap": int(overlap or 0)}
        return ChunkingSettings.model_validate({**chunking.model_dump(), **sizes})
    except ValueError as error:  # of pydantic, too
        reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else "no whole number"
        raise EvaluationError(
            f"{text!r} is no size of passages ({reason}): write 256, or 256+32 with an overlap"
        ) from None


def _embedding(model: str | Mapping[str, Any]) -> EmbeddingSettings:
    try:
        return EmbeddingSettings.model_validate({"model": model} if isinstance(model, str) else model)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise EvaluationError(f"{model!r} is no model: {place}: {first['msg']}") from None


def _context(text: str) -> tuple[ContextPart, ...]:
    named = [name.strip() for name in text.split(",") if name.strip()]
    if named == [NO_CONTEXT]:
        return ()
    try:
        return ChunkingSettings.model_validate({"context": named}).context
    except ValidationError:
        known = ", ".join(get_args(ContextPart))
        raise EvaluationError(f"{text!r} is no context: write some of {known} with commas, or {NO_CONTEXT}") from None


def _set(settings: Settings) -> dict[str, Any]:
    """Return the settings that are not those of an empty section."""
    return settings.model_dump(mode="json", exclude_defaults=True)


def _flow(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}: {_yaml(value)}" for name, value in settings.items())


def _yaml(value: Any) -> str:
    """Return a value as YAML, which JSON is; plain words stand without quotes."""
    if isinstance(value, list):
        return f"[{', '.join(map(_yaml, value))}]"
    return value if isinstance(value, str) and _PLAIN.fullmatch(value) else json.dumps(value)
