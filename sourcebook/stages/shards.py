"""The changes of one shard: lists of its items and documents, where a whole collection needs none.

A shard's list is never left out, however long it is, so that the queries of the stages are the same with one shard
and with many.
"""

from collections.abc import Iterable
from itertools import accumulate

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.model.selection import Selection
from sourcebook.model.shard import Shard


def items_of_shard(
    connection: Connection, shard: Shard, parsers: str, selection: Selection
) -> tuple[list[str], list[int], str, bool]:
    """Return the URIs of the items that may differ, the marks that were read, the digest, and whether it is all items.

    Args:
        connection: to the knowledge base.
        shard: the shard.
        parsers: digest of the parsers to compare with.
        selection: `force` and `thorough` take every item.
    """
    scope = {"collection": shard.collection, **shard.values}
    marks = connection.execute(queries["marked_items_of_shard"], scope).fetchall()
    row = connection.execute(queries["compared_with_of_shard"], scope).fetchone()
    is_whole = row is None or parsers not in row or selection.thorough or selection.force
    uris = {uri for _, uri in marks}
    if is_whole:
        uris |= {uri for (uri,) in connection.execute(queries["items_of_shard"], scope)}
    else:
        due = connection.execute(
            queries["failed_documents"], {"collection": shard.collection, "retry_now": selection.only_failed}
        )
        uris |= among_shard(connection, shard, [uri for (uri,) in due])
        uris |= among_shard(connection, shard, holders_of(uris))
    return sorted(uris), [number for number, _ in marks], parsers, is_whole


def holders_of(uris: Iterable[str]) -> set[str]:
    """Return the URIs above some items: an attachment alone, of a PDF in a message, would seem to be in nothing."""
    files = (uri for uri in uris if not uri.startswith(("http://", "https://")))
    return {above for uri in files for above in accumulate(uri.split("/")[:-1], "{}/{}".format)}


def among_shard(connection: Connection, shard: Shard, uris: Iterable[str]) -> set[str]:
    """Return those of some items that are in a shard."""
    given = list(uris)
    if not given:
        return set()
    scope = {"collection": shard.collection, **shard.values, "uris": given}
    return {uri for (uri,) in connection.execute(queries["among_shard"], scope)}


def settle_shard(connection: Connection, shard: Shard, parsers: str) -> None:
    """Record the parsers that every item of a shard was compared with; the collection's, once all shards were."""
    scope = {"collection": shard.collection, **shard.values, "parsers": parsers}
    connection.execute(queries["record_parsers_of_shard"], scope)
    connection.execute(queries["record_parsers_of_all_shards"], scope)


def documents_of_shard(
    connection: Connection, shard: Shard, generation: int, config_hash: str, *, thorough: bool
) -> tuple[list[int], list[int], bool]:
    """Return the documents that may differ from what is published, the marks that were read, and whether it is all."""
    scope = {"collection": shard.collection, **shard.values, "generation": generation}
    marks = connection.execute(queries["marked_documents_of_shard"], scope).fetchall()
    row = connection.execute(queries["prepared_with_of_shard"], scope).fetchone()
    is_whole = thorough or row is None or config_hash not in row
    ids = {int(document) for _, document in marks}
    if is_whole:
        ids.update(documents_in(connection, shard))
    return sorted(ids), [number for number, _ in marks], is_whole


def documents_in(connection: Connection, shard: Shard) -> list[int]:
    """Return the ids of the documents of a shard."""
    scope = {"collection": shard.collection, **shard.values}
    return [int(number) for (number,) in connection.execute(queries["documents_of_shard"], scope)]


def settle_preparation(connection: Connection, shard: Shard, generation: int, config_hash: str) -> None:
    """Record the rules by which every document of a shard is published; the generation's, once all shards are."""
    scope = {**shard.values, "generation": generation, "config_hash": config_hash}
    connection.execute(queries["record_preparation_of_shard"], scope)
    connection.execute(queries["record_preparation_of_all_shards"], scope)
