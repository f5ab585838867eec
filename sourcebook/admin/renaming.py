"""Another name for a collection of the API: all that refers to it by its name follows in one transaction."""

from sourcebook.admin.api_collections import check_not_given, find_declaration, lock_declaration
from sourcebook.admin.audit import record_event
from sourcebook.admin.work_requests import list_work
from sourcebook.config.field_types import NAME_RULE, is_collection_name
from sourcebook.contract.collections import CollectionDeclaration
from sourcebook.database.database import Database
from sourcebook.database.lock import collection_lock, is_locked
from sourcebook.database.queries import queries
from sourcebook.errors import ConflictError, SettingsError


def rename_collection(database: Database, name: str, new_name: str, *, actor: str) -> CollectionDeclaration:
    """Give a collection another name; see `KnowledgeBase.rename_collection`."""
    if not is_collection_name(new_name):
        raise SettingsError(f"a collection's name is {NAME_RULE}")
    with database.connection() as connection:
        lock_declaration(connection, name)
        if is_locked(connection, name) or list_work(connection, [name], states=["running"], limit=1):
            raise ConflictError("an ingest works on the collection: try again when it has ended")
        with collection_lock(database, name), connection.transaction():
            connection.execute(queries["lock_rules"])
            lock_declaration(connection, name)
            check_not_given(connection, name)
            names = {"name": name, "new_name": new_name}
            if connection.execute(queries["rename_collection"], names).fetchone() != (True,):
                raise ConflictError(
                    "the name is taken: a collection, a key, a log or the costs of one that was deleted have it. "
                    "Choose another one"
                )
            record_event(connection, actor, "collection.rename", f"collection {new_name}", {"former": name})
        return find_declaration(connection, new_name)
