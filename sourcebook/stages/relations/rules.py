"""The settings by which the relations and types of documents are read, and whether all documents were read by them."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from psycopg import Connection

from sourcebook.config.document_types import DEFAULT_TYPES, DocumentType
from sourcebook.config.relations import RelationSettings
from sourcebook.database.queries import queries

REVISION: Final = 4
"""Number to be counted up when a change of the stage's code changes what is read from a document."""


@dataclass(frozen=True, slots=True)
class RelationRules:
    """Settings of a collection by which its documents are read."""

    relations: RelationSettings
    types: Mapping[str, DocumentType]
    digest: str
    is_settled: bool
    """Whether all unmarked documents were read by them."""


def relation_rules(connection: Connection, collection: str) -> RelationRules:
    """Return the rules of a collection, those of the defaults where it has none."""
    row = connection.execute(queries["relation_settings"], {"collection": collection}).fetchone() or (None, None, None)
    relations = RelationSettings.model_validate(row[0]) if row[0] else RelationSettings()
    types = (
        {name: DocumentType.model_validate(each) for name, each in row[1].items()}
        if row[1] is not None
        else DEFAULT_TYPES
    )
    described = json.dumps({name: each.model_dump(mode="json") for name, each in types.items()})
    digest = hashlib.sha256(f"{REVISION} {relations.model_dump_json()} {described}".encode()).hexdigest()
    return RelationRules(relations, types, digest, row[2] == digest)


def count_unrelated_documents(connection: Connection, collection: str) -> int:
    """Return the number of documents whose relations were read by other rules than those of the settings."""
    if relation_rules(connection, collection).is_settled:
        return 0
    row = connection.execute(queries["unrelated_documents"], {"collection": collection}).fetchone()
    return int(row[0]) if row else 0
