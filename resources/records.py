"""The resource `sourcebook` of a team's own assets: records that they hand over to a collection."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import dagster as dg
from psycopg import Connection
from pydantic import Field

from resources.knowledge import Knowledge
from sourcebook.stages.raw_files.pushed_records import push_records


class SourcebookRecords(dg.ConfigurableResource["SourcebookRecords"]):
    """Records of an asset as documents. Handing the same ones over again changes nothing."""

    config_path: str = Field(
        default="", description="Path of sourcebook.yaml; empty: SOURCEBOOK_CONFIG, else the current folder."
    )

    def upsert(self, collection: str, records: Iterable[Mapping[str, object]], source: str | None = None) -> int:
        """Insert or replace records; return their number. They are published by the next run of the collection.

        Args:
            collection: name of the collection.
            records: mappings from fields to values, read once.
            source: name of the source with `pushed: true`; None where there is one.
        """
        with self._connection() as connection:
            return push_records(connection, collection, source, records=records)

    def delete(self, collection: str, keys: Sequence[object], source: str | None = None) -> None:
        """Delete the records with some keys; unknown ones are passed over.

        Args:
            collection: name of the collection.
            keys: values of the field that identifies a record.
            source: name of the source with `pushed: true`; None where there is one.
        """
        with self._connection() as connection:
            push_records(connection, collection, source, deleted=keys)

    @contextmanager
    def _connection(self) -> Iterator[Connection]:
        knowledge = Knowledge(config_path=self.config_path)
        with knowledge.opened() as database, database.connection() as connection:
            knowledge.apply_configuration(connection)
            yield connection
