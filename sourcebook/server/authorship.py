"""Askers of work and senders of uploads, as a caller may know them: keys that open hidden collections have no names."""

from dataclasses import replace
from typing import TypeVar

from sourcebook.contract.uploads import Upload
from sourcebook.contract.work import WorkRequest
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.operations.access_keys import keys
from sourcebook.server.visibility import SOMEBODY

_Made = TypeVar("_Made", WorkRequest, Upload)


def shown_authors(knowledge: KnowledgeBase, grant: Grant, made: list[_Made]) -> list[_Made]:
    """Return requests or uploads without the names of keys and accounts beyond the caller's collections."""
    if grant.collections is None or not made:
        return made
    names = {grant.actor, *(key.grant.actor for key in keys(knowledge) if grant.sees_all(key.collections))}
    return [_shown(each, names) for each in made]


def _shown(made: _Made, names: set[str]) -> _Made:
    if isinstance(made, Upload):
        return made if made.uploaded_by in names else replace(made, uploaded_by=SOMEBODY)
    return made if made.asked_by in names else replace(made, asked_by=SOMEBODY)
