"""Redaction of titles that are listed without their documents."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.redaction.for_models import SECRETS_ALONE

_PLACEHOLDER: Final = re.compile(r"\[[A-Z][A-Z0-9_]*_\d+\]")
_SHORTEST_SECRET: Final = 6
"""Letters of the shortest value that is looked for elsewhere in its document."""
_AT_ONCE: Final = 64
"""Documents whose texts are read together."""


def redacted_titles(
    connection: Connection,
    titles: Sequence[tuple[str, int | None, str | None]],
    redactions: Mapping[str, Mapping[str, Any]],
) -> list[str | None]:
    """Return titles as their collections show them.

    A title with a digit may hold a value that only its document gives away, as what stands behind `password:`: the text
    of its document is read. So is that of a title with placeholders, whose numbers are those of the document.

    Args:
        connection: to the knowledge base.
        titles: (collection, id of the document, title) of each.
        redactions: settings of redaction by the name of the collection; titles of others stay.

    Raises:
        ConfigurationError: a file of patterns cannot be read.
        MissingDependencyError: the packages of the extra `server` are not installed.
    """
    if not any(collection in redactions for collection, _, _ in titles):
        return [title for _, _, title in titles]
    from sourcebook.redaction.documents import redact_document, redactor_of

    redactors = {name: redactor_of(settings) for name, settings in redactions.items()}
    shown = [
        redactors[collection].redact(title).text if title and collection in redactors else title
        for collection, _, title in titles
    ]
    unsure = [
        place
        for place, ((collection, document, _), title) in enumerate(zip(titles, shown, strict=True))
        if document is not None
        and title
        and collection in redactors
        and (title != titles[place][2] or may_hold(title, redactions[collection]))  # its document numbers the finds
    ]
    for start in range(0, len(unsure), _AT_ONCE):
        places = unsure[start : start + _AT_ONCE]
        wanted = {"documents": [titles[place][1] for place in places]}
        texts: dict[int, str] = dict(connection.execute(queries["document_texts"], wanted).fetchall())
        for place in places:
            collection, document, title = titles[place]
            text = texts.get(document or 0)
            if text is not None and title:
                shown[place] = redact_document(redactors[collection], text).words(title)
    return shown


def may_hold(title: str, settings: Mapping[str, Any]) -> bool:
    """Return whether a title may hold a value of its document; without a setting only a long word is taken for one."""
    if settings is SECRETS_ALONE:
        return any(len(word) >= _SHORTEST_SECRET and has_digit(word) for word in title.split())
    return has_digit(title)


def has_digit(title: str) -> bool:
    """Return whether a title may hold a value that its document gives away: none is looked for without a digit."""
    return any(map(str.isdigit, _PLACEHOLDER.sub("", title)))
