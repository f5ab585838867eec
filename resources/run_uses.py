"""Tags of runs: what a run is to do, and the scarce parts that it uses, by which queues limit and size them."""

import json
import os
from collections.abc import Collection
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import dagster as dg
from psycopg import Connection

from resources.pipeline import PIPELINE
from sourcebook.admin.pending import Pending, find_pending
from sourcebook.config.paths import expand_user
from sourcebook.config.yaml_file import read_configuration_text, refuse
from sourcebook.database.queries import queries
from sourcebook.errors import ConfigurationError
from sourcebook.indexing.generations import wanted_embedding
from sourcebook.model.selection import Selection
from sourcebook.stages.transcripts.presence import has_recordings

PLAN: Final = "sourcebook/plan"
"""Tag of a run with its planned items by reason, texts and seconds in one line; also metadata of its first asset."""
PREFIX: Final = "sourcebook/uses-"
"""Beginning of the tags of a run that say what it uses; the value is `true`."""
VARIABLE: Final = "SOURCEBOOK_RUN_TAGS"
"""Environment variable with the path of a file with further tags for runs, by what they use."""
_OWN: Final = ("sourcebook/", "dagster/partition")
"""Beginnings of the tags that the file may not set: locks and limits rely on them."""


class Use(StrEnum):
    """Scarce part of a machine or of the outside, whose users can be limited and sized."""

    SPEECH = "speech"
    """Transcribing: all cores."""
    CRAWL = "crawl"
    """Requests to sites, and Chromium for their pages."""
    PARSERS = "parsers"
    """Processes that read documents."""
    MODEL = "model"
    """The embedding model in the memory of the run; a provider's is not meant."""


def uses_of(connection: Connection, collection: str, pending: Pending) -> frozenset[Use]:
    """Return what a run for some pending work uses.

    Args:
        connection: to the knowledge base.
        collection: name of the collection.
        pending: the work.
    """
    found = {
        Use.SPEECH: pending.uses_speech,
        Use.CRAWL: bool(pending.pages),
        Use.PARSERS: bool(pending.pages or pending.readable_files or pending.unmade_documents),
        Use.MODEL: bool(pending.pages or pending.needs_model) and _has_local_model(connection, collection),
    }
    return frozenset(use for use, is_used in found.items() if is_used)


def uses_of_sources(connection: Connection, collection: str, *, sites: bool) -> frozenset[Use]:
    """Return what a run uses that reads what sources outside have; recordings among it are found by the next look.

    Args:
        connection: to the knowledge base.
        collection: name of the collection.
        sites: whether pages of sites are requested.
    """
    local = {Use.MODEL} if _has_local_model(connection, collection) else set()
    return frozenset({Use.PARSERS, *local, *({Use.CRAWL} if sites else ())})


def uses_of_request(connection: Connection, collection: str, selection: Selection) -> frozenset[Use]:
    """Return what a run uses that was asked for: whatever may be a recording is transcribed by the same run.

    Args:
        connection: to the knowledge base.
        collection: name of the collection.
        selection: the part of it.
    """
    pending = find_pending(connection, collection, selection)
    uses = uses_of_everything(connection, collection) if selection.force else uses_of(connection, collection, pending)
    return uses | {Use.SPEECH} if pending.has_sound else uses


def uses_of_everything(connection: Connection, collection: str) -> frozenset[Use]:
    """Return what a run that compares everything of a collection may use, by the ledger alone."""
    found = {
        Use.SPEECH: has_recordings(connection, collection),
        Use.CRAWL: connection.execute(queries["has_sites"], {"collection": collection}).fetchone() == (True,),
        Use.PARSERS: True,
        Use.MODEL: _has_local_model(connection, collection),
    }
    return frozenset(use for use, is_used in found.items() if is_used)


def assets_of(uses: Collection[Use]) -> list[dg.AssetKey]:
    """Return the assets of a run: one that transcribes nothing must not wait for a place in the pool `speech`."""
    return [dg.AssetKey(name) for name in PIPELINE if name != "transcripts" or Use.SPEECH in uses]


def use_tags(uses: Collection[Use]) -> dict[str, str]:
    """Return the tags that say what a run uses."""
    return {f"{PREFIX}{use}": "true" for use in Use if use in uses}


def queued_run_tags(uses: Collection[Use]) -> dict[str, str]:
    """Return the tags of a run for Dagster's queue and launcher: what it uses, and the further tags for that.

    Raises:
        ConfigurationError: the file that SOURCEBOOK_RUN_TAGS names is missing or malformed.
    """
    tags: dict[str, str] = {}
    for use, further in configured_tags().items():
        if use in uses:
            tags = {**further, **tags}  # the first in the file decides
    return {**tags, **use_tags(uses)}


def configured_tags() -> dict[Use, dict[str, str]]:
    """Return the further tags by use, in the order of the file that SOURCEBOOK_RUN_TAGS names; none without it.

    Raises:
        ConfigurationError: with the file, line, column and what is allowed there.
    """
    named = os.environ.get(VARIABLE)
    if not named:
        return {}
    path = Path.cwd() / expand_user(named)
    if not path.is_file():
        raise ConfigurationError(f"{VARIABLE} names {path}, and there is no such file: correct the path, or unset it")
    text = read_configuration_text(path)
    known = ", ".join(Use)
    if text.content is not None and not isinstance(text.content, dict):
        refuse(path, text.position(()), f"the file must be a mapping whose keys are of {known}")
    tags: dict[Use, dict[str, str]] = {}
    for use, further in (text.content or {}).items():
        if use not in set(Use):
            refuse(path, text.position((use,), of_key=True), f"{use}: there is no such key; allowed are {known}")
        if not isinstance(further, dict):
            refuse(path, text.position((use,)), f"{use}: must be a mapping from tags of runs to their values")
        for key in further:
            if key.startswith(_OWN):
                refuse(path, text.position((use, key), of_key=True), f"{use}.{key}: Sourcebook sets this tag itself")
        tags[Use(use)] = {key: _text(value) for key, value in further.items()}
    return tags


def _text(value: Any) -> str:
    """Return the value of a tag: text as it is, anything else as JSON, as Dagster's launchers read it."""
    return value if isinstance(value, str) else json.dumps(value)


def _has_local_model(connection: Connection, collection: str) -> bool:
    return wanted_embedding(connection, collection).provider is None
