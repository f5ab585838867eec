"""Backup of a knowledge base into one file of pg_dump's custom format, and its restoration.

Both take the schema `sourcebook` alone: Dagster's runs are elsewhere on the same server, and stay as they are. A
restoration is one transaction, in which the former schema keeps its name for everybody else until the end.
"""

import errno
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from psycopg import Connection

from sourcebook.database.database import Database
from sourcebook.database.lock import collection_locks
from sourcebook.database.queries import queries
from sourcebook.database.schema import check_version, ensure_schema, version_of
from sourcebook.errors import DatabaseError, TransferError
from sourcebook.model.plain_values import PlainValues
from sourcebook.transfer.client_programs import check_readable, connection_arguments, end, last_error, start
from sourcebook.transfer.partial_file import partial_file, remove_abandoned

_SCHEMA: Final = "sourcebook"
_FORMER: Final = "sourcebook_replaced"
_NO_SPACE: Final = re.compile(r"No space left|Disk quota exceeded|File too large")
# SQL here: a script that psql runs around the one of pg_restore.
_BEGIN: Final = f"""\
SET statement_timeout = 0;
SET lock_timeout = '30s';
BEGIN;
DROP SCHEMA IF EXISTS {_FORMER} CASCADE;
ALTER SCHEMA {_SCHEMA} RENAME TO {_FORMER};
CREATE SCHEMA {_SCHEMA};
"""
# SQL here: the end of that script. A search may wait for a table that is locked here, and hold one to be locked. So all
# locks are given back soon, before the database ends one of both because of a deadlock (after 1 s by default), and are
# then waited for longer, against searches that overlap without end, yet less than searches wait for a lock (2 s).
_COMMIT: Final = f"""
DO $$
DECLARE
    tables text := (
        SELECT string_agg(format('%I.%I', schemaname, tablename), ', ')
        FROM pg_catalog.pg_tables WHERE schemaname = '{_FORMER}'
    );
    deadline timestamptz := clock_timestamp() + interval '30 seconds';
    milliseconds integer := 300;
BEGIN
    LOOP
        BEGIN
            PERFORM set_config('lock_timeout', milliseconds::text, true);
            EXECUTE 'LOCK TABLE ' || tables || ' IN ACCESS EXCLUSIVE MODE';
            EXIT;
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            IF clock_timestamp() > deadline THEN
                RAISE;
            END IF;
            milliseconds := least(2 * milliseconds, 1200);
            PERFORM pg_sleep(0.05);
        END;
    END LOOP;
END $$;
SET lock_timeout = '30s';
DROP SCHEMA {_FORMER} CASCADE;
COMMIT;
"""  # noqa: S608 - the name is a constant
_PIECE: Final = 1 << 20
"""Bytes that are handed on at once."""


@dataclass(frozen=True, slots=True)
class BackedUp(PlainValues):
    """A backup."""

    file: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Restored(PlainValues):
    """Numbers of a restored knowledge base."""

    collections: tuple[str, ...]
    documents: int


def backup(database: Database, file: Path) -> BackedUp:
    """Write one moment of the knowledge base into a file, while ingests and searches go on.

    A file of that name is replaced when the new one is complete, and stays where the backup fails. Files that killed
    backups of that name have left beside it are deleted.

    Raises:
        TransferError: the file cannot be written, or pg_dump failed.
        MissingDependencyError: pg_dump is not installed.
    """
    target = Path(os.path.abspath(file))  # noqa: PTH100 - `resolve` would follow a link in the name itself
    if not target.parent.is_dir():
        raise TransferError(f"there is no folder {target.parent} to write {target.name} in: create it")
    if target.exists() and not target.is_file():
        raise TransferError(f"{target} is no file: name one for the backup")
    name, environment = connection_arguments(database.url)
    arguments = [f"--schema={_SCHEMA}", "--format=custom", "--no-owner", "--no-privileges", "--lock-wait-timeout=60s"]
    try:
        remove_abandoned(target)
        with partial_file(target) as new, tempfile.TemporaryFile() as errors:
            arguments += [f"--file={new.path}", f"--dbname={name}"]
            dump = start("pg_dump", arguments, environment, errors=errors, keeps=[new.descriptor])
            try:
                dump.wait()
            finally:
                end(dump)
            if dump.returncode:
                raise _unwritten(target, last_error(errors))
            os.fsync(new.descriptor)
            size = os.fstat(new.descriptor).st_size
            new.path.replace(target)
    except OSError as error:
        raise _unwritten(target, error.strerror or str(error)) from error
    return BackedUp(str(target), size)


def restore(
    database: Database,
    file: Path,
    *,
    replace: bool = False,
    waiting: Callable[[str], None] = lambda collection: None,
) -> Restored:
    """Make the knowledge base what a backup holds; it changes at one moment, or not at all.

    Args:
        database: the knowledge base.
        file: the file that `backup` wrote.
        replace: whether to give up the collections of a knowledge base that has any.
        waiting: called with a collection that another process is ingesting.

    Raises:
        TransferError: the file is damaged or foreign, or the knowledge base has collections and `replace` is not set.
        MissingDependencyError: pg_restore or psql is not installed.
    """
    check_readable(file)
    try:
        check_version(_schema_version(file), str(file))
    except DatabaseError as error:
        raise TransferError(str(error)) from error
    with database.connection() as connection:
        collections = [name for (name,) in connection.execute(queries["every_collection"])]
    if collections and not replace:
        raise TransferError(
            f"the knowledge base has {', '.join(collections)} already: restore into another one (SOURCEBOOK_HOME), or "
            "replace it with  --replace"
        )
    with collection_locks(database, collections, waiting=waiting):
        _replay(database, file)
    with database.connection() as connection:
        ensure_schema(connection)
        connection.execute(queries["analyze_everything"])
        return _restored(connection)


def _schema_version(file: Path) -> int:
    """Return the version of the schema in a backup.

    Raises:
        TransferError: the backup is damaged, or is not of a knowledge base.
    """
    arguments = ["--data-only", f"--schema={_SCHEMA}", "--table=schema_migration", "--file=-", str(file)]
    with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as output:
        listing = start("pg_restore", arguments, dict(os.environ), writes=output, errors=errors)
        try:
            listing.wait()
        finally:
            end(listing)
        if listing.returncode:
            raise TransferError(f"{file} is damaged: {last_error(errors)}; nothing was restored")
        output.seek(0)
        applied = re.findall(r"^(\d+)\t(\S+)\t", output.read().decode(), flags=re.MULTILINE)
    if not applied:
        raise TransferError(f"{file} is no backup of a knowledge base: it has no schema {_SCHEMA}")
    return version_of({int(version): name for version, name in applied})


def _replay(database: Database, file: Path) -> None:
    """Run the statements of a backup in one transaction, which is committed only after all of them were read."""
    name, environment = connection_arguments(database.url)
    script = ["--no-owner", "--no-privileges", "--exit-on-error", f"--schema={_SCHEMA}", "--file=-", str(file)]
    psql = ["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--file=-", f"--dbname={name}"]
    with tempfile.TemporaryFile() as reading_errors, tempfile.TemporaryFile() as errors, ExitStack() as processes:
        reader = start("pg_restore", script, environment, writes=subprocess.PIPE, errors=reading_errors)
        processes.callback(end, reader)
        writer = start("psql", psql, environment, reads=subprocess.PIPE, errors=errors)
        processes.callback(end, writer)
        is_handed_on = _hand_on(reader, writer)
        if reader.wait() and is_handed_on:
            end(writer)
            raise TransferError(f"{file} is damaged: {last_error(reading_errors)}; nothing was restored")
        with suppress(BrokenPipeError):
            if is_handed_on and writer.stdin is not None:
                writer.stdin.write(_COMMIT.encode())
            if writer.stdin is not None:
                writer.stdin.close()
        if writer.wait():
            raise _unrestored(file, last_error(errors))


def _hand_on(reader: "subprocess.Popen[bytes]", writer: "subprocess.Popen[bytes]") -> bool:
    """Hand statements from one program to another; return False where the other one has ended."""
    source: IO[bytes] | None = reader.stdout
    target: IO[bytes] | None = writer.stdin
    if source is None or target is None:
        return False
    try:
        target.write(_BEGIN.encode())
        shutil.copyfileobj(source, target, _PIECE)
        target.flush()
    except BrokenPipeError:
        return False
    finally:
        source.close()
    return True


def _restored(connection: Connection) -> Restored:
    names = tuple(name for (name,) in connection.execute(queries["every_collection"]))
    row = connection.execute(queries["count_live_documents"]).fetchone()
    return Restored(names, int(row[0]) if row else 0)


def _unwritten(target: Path, reason: str) -> TransferError:
    if _NO_SPACE.search(reason) or reason == os.strerror(errno.ENOSPC):
        return TransferError(
            f"{target} was not written, its disk is full ({reason}): free some space, or name a file on another disk"
        )
    return TransferError(f"{target} was not written: {reason}")


def _unrestored(file: Path, reason: str) -> TransferError:
    if "lock timeout" in reason:
        return TransferError(
            f"{file} was not restored, something uses the knowledge base ({reason}): stop what does, and retry; "
            "nothing has changed"
        )
    return TransferError(f"{file} was not restored: {reason}; nothing has changed")
