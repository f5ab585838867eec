"""Answers to requests that callers named with a key of their own, so that a repetition changes nothing twice."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID, uuid4

from psycopg import Connection
from psycopg.types.json import Jsonb

from sourcebook.database.queries import queries
from sourcebook.errors import SourcebookError

_DELETED_AT_ONCE: Final = 1_000


class KeyInUseError(SourcebookError):
    """A request with this idempotency key is still running: ask again in a moment."""


class KeyReusedError(SourcebookError):
    """Another request had this idempotency key: a new request has a new key."""


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """The answer to an earlier request."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Claim:
    """An idempotency key that one attempt of a request has."""

    caller: str
    key: str
    claim: UUID

    @property
    def row(self) -> dict[str, object]:
        """Parameters of the queries."""
        return {"caller": self.caller, "key": self.key, "claim": self.claim}


def claim_key(connection: Connection, caller: str, key: str, request: str, body_sha256: bytes) -> Claim | KeptAnswer:
    """Take an idempotency key for a request; or return the answer that the same request had.

    Args:
        connection: in autocommit mode.
        caller: whose key it is.
        key: the idempotency key.
        request: method, path and query.
        body_sha256: SHA-256 of the body.

    Raises:
        KeyInUseError: the request runs.
        KeyReusedError: another request has the key.
    """
    delete_old_answers(connection, 100)
    wanted = Claim(caller, key, uuid4())
    row = {**wanted.row, "request": request, "body_sha256": body_sha256}
    if connection.execute(queries["claim_idempotency_key"], row).fetchone() is not None:
        return wanted
    found = connection.execute(queries["idempotent_answer"], wanted.row).fetchone()
    if found is None:  # it was given back just now
        raise KeyInUseError(KeyInUseError.__doc__)
    earlier, earlier_sha256, status, headers, body = found
    if (earlier, bytes(earlier_sha256)) != (request, body_sha256):
        raise KeyReusedError(KeyReusedError.__doc__)
    if status is None:
        raise KeyInUseError(KeyInUseError.__doc__)
    return KeptAnswer(status, headers, bytes(body))


def keep_answer(connection: Connection, claim: Claim, answer: KeptAnswer) -> None:
    """Keep the answer to a request for a day."""
    row = {**claim.row, "status": answer.status, "headers": Jsonb(dict(answer.headers)), "body": answer.body}
    connection.execute(queries["keep_idempotent_answer"], row)


def release_key(connection: Connection, claim: Claim) -> None:
    """Give the key of a request back that has changed nothing."""
    connection.execute(queries["release_idempotency_key"], claim.row)


def delete_old_answers(connection: Connection, most: int = _DELETED_AT_ONCE) -> int:
    """Delete answers that are older than a day, at most a number of them; return how many there were."""
    return connection.execute(queries["delete_old_answers"], {"most": most}).rowcount
