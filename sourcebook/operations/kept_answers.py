"""Answers to requests that callers named with a key of their own; see `admin.idempotent_answers`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sourcebook.admin.idempotent_answers import Claim, KeptAnswer
    from sourcebook.operations.opened import Opened


def claim_key(knowledge: Opened, caller: str, key: str, request: str, body_sha256: bytes) -> Claim | KeptAnswer:
    """Take an idempotency key for a request; or return the answer that the same request had."""
    from sourcebook.admin.idempotent_answers import claim_key

    with knowledge.database.connection() as connection:
        return claim_key(connection, caller, key, request, body_sha256)


def settle_key(knowledge: Opened, claim: Claim, answer: KeptAnswer | None) -> None:
    """Keep the answer to a request for a day; give its key back where there is none."""
    from sourcebook.admin.idempotent_answers import keep_answer, release_key

    with knowledge.database.connection() as connection:
        if answer is None:
            release_key(connection, claim)
        else:
            keep_answer(connection, claim, answer)
