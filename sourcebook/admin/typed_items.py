"""The items of some types of documents: those that are there, and those that the next ingest would find."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote

from psycopg import Connection

from sourcebook.admin.collections import check_collections
from sourcebook.admin.planning.plan import make_plans
from sourcebook.config.loading import Configuration
from sourcebook.contract.plans import Reason
from sourcebook.database.queries import queries
from sourcebook.stages.relations.rules import relation_rules
from sourcebook.stages.relations.types import type_of

_COMING: Final = frozenset({Reason.NEW, Reason.RETURNED})


def items_of_types(
    connection: Connection, collection: str, types: Sequence[str], configuration: Configuration | None = None
) -> list[str]:
    """Return the URIs of the documents of some types, and of the new and renamed files whose path says so.

    The sources are compared with the ledger as for a plan; nothing is changed. A new file whose front matter alone
    names its type is not among them.

    Args:
        connection: to the knowledge base.
        collection: name of the collection.
        types: names of types, such as `adr`.
        configuration: to be applied before the ingest; the settings as applied last where None.

    Raises:
        UnknownCollectionError: there is no such collection.
    """
    check_collections(connection, [collection])
    scope = {"collection": collection, "types": list(types)}
    found = [uri for (uri,) in connection.execute(queries["documents_of_types"], scope)]
    rules = relation_rules(connection, collection).types
    kept = connection.execute(queries["kept_sources"], {"names": [collection]})
    roots = [_as_uri(location) for _, _, location, *_ in kept]
    for plan in make_plans(connection, configuration, [collection]):
        for item in plan.items:
            root = max((each for each in roots if item.uri.startswith(each)), key=len, default="")
            if item.reason in _COMING and type_of(item.uri, root, {}, rules)[0] in types:
                found.append(item.uri)
    return list(dict.fromkeys(found))


def _as_uri(location: str) -> str:
    return location if "://" in location else "file://" + quote(location, safe="/~!$&'()*+,;=:@")
