"""The choice of an embedding model: by the languages of the documents where none is named."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Self

from psycopg import Connection
from psycopg.types.json import Jsonb

from sourcebook.database.queries import queries
from sourcebook.embedding.weights import BUNDLED_NAME, MULTILINGUAL_NAME, known_languages

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
    is_provisional: bool = False
    """Whether only the first documents have chosen; all of them choose again before any vector is computed."""

    @classmethod
    def by_languages(cls, languages: Mapping[str, int], *, has_multilingual: bool) -> Self:
        """Choose a model by the numbers of documents by language."""
        known = known_languages(BUNDLED_NAME) or frozenset()
        others = sum(number for language, number in languages.items() if language not in known)
        is_mixed = others > 0 and others >= LEAST_SHARE * sum(languages.values())
        model = MULTILINGUAL_NAME if is_mixed and has_multilingual else BUNDLED_NAME
        return cls(model, dict(languages), is_mixed and not has_multilingual)

    def __str__(self) -> str:
        """Return the sentence on the choice."""
        total = sum(self.languages.values())
        shares = ", ".join(f"{code} {100 * number / total:.0f} %" for code, number in list(self.languages.items())[:3])
        reason = f"by the languages of the documents ({shares})" if total else "as no document has a known language"
        advice = ""
        if self.is_missing:
            from sourcebook.embedding.multilingual_e5 import missing_package

            advice = f"; {MULTILINGUAL_NAME} knows them: {missing_package()}"
        return f"embedding model {self.model}, {reason}; embedding.model sets another{advice}"


def choose_model(connection: Connection, collection: str, *, is_provisional: bool = False) -> ModelChoice:
    """Choose the model of a collection by its documents as they are now, and record the choice."""
    choice = replace(_by_languages(connection, collection), is_provisional=is_provisional)
    connection.execute(queries["record_model_choice"], {"collection": collection, "choice": Jsonb(asdict(choice))})
    return choice


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
