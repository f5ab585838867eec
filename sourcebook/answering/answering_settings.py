"""Settings of a question: the model that the asked collections name. A collection without one is sent to none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from psycopg import Connection
from pydantic import ValidationError

from sourcebook.admin.collections import check_collections
from sourcebook.admin.redacted_documents import collection_redactions
from sourcebook.config.answering import AnsweringSettings
from sourcebook.database.queries import queries
from sourcebook.errors import QueryError
from sourcebook.redaction.documents import redactor_of
from sourcebook.redaction.redactor import Redactor

_SET: Final = "set answering: {model: …} of the collection in sourcebook.yaml"


@dataclass(frozen=True, slots=True)
class AskedCollections:
    """The collections that a question is about, with the model that answers."""

    names: tuple[str, ...]
    settings: AnsweringSettings
    redactors: tuple[Redactor, ...]
    """Redactors of the collections that redact what leaves them."""


def asked_collections(
    connection: Connection,
    collections: Sequence[str] | None,
    given: AnsweringSettings | Mapping[str, Any] | None = None,
) -> AskedCollections:
    """Return the collections that a question is about, with their model."""
    check_collections(connection, collections or ())
    if given is not None:
        names = collections or [row[0] for row in connection.execute(queries["collections"])]
        return _asked(connection, names, checked_settings(given))
    scope = {"collections": None if collections is None else list(collections)}
    found = connection.execute(queries["answering_settings"], scope).fetchall()
    missing = [name for name, settings in found if settings is None]
    if missing:
        raise QueryError(f"the collection {missing[0]} is sent to no language model: {_SET}")
    if not found:
        raise QueryError(f"no collection names a language model that may answer from it: {_SET}")
    settings_of = {name: AnsweringSettings.model_validate(settings) for name, settings in found}
    first, settings = next(iter(settings_of.items()))
    for name, other in settings_of.items():
        if other != settings:
            raise QueryError(
                f"the collections {first} and {name} have different settings of answering: name those to ask"
            )
    return _asked(connection, list(settings_of), settings)


def answering_names(connection: Connection) -> dict[str, bool]:
    """Return the names of the collections with settings of answering, and whether each keeps conversations."""
    found = connection.execute(queries["answering_settings"], {"collections": None})
    return {name: settings.get("sessions") is not None for name, settings in found}


def checked_settings(given: AnsweringSettings | Mapping[str, Any]) -> AnsweringSettings:
    """Return settings of answering.

    Raises:
        QueryError: a setting is not allowed.
    """
    if isinstance(given, AnsweringSettings):
        return given
    from sourcebook.config.explain import problems_without_values

    try:
        return AnsweringSettings.model_validate(dict(given), context={"folder": Path.cwd()})
    except ValidationError as error:
        raise QueryError(f"answering: {'; '.join(problems_without_values(error, AnsweringSettings))}") from None


def _asked(connection: Connection, names: Sequence[str], settings: AnsweringSettings) -> AskedCollections:
    redactions = collection_redactions(connection, names) if names else {}
    distinct = {id(each): each for each in map(redactor_of, redactions.values())}
    return AskedCollections(tuple(names), settings, tuple(distinct.values()))
