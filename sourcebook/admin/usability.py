"""Checks of a configuration before its first ingest: settings that no ingest can use, and missing sources."""

import os
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from sourcebook.admin.unmatched_roots import root_problem
from sourcebook.config.collection import CollectionSettings, EmbeddingSettings, FilesSource
from sourcebook.config.loading import Configuration
from sourcebook.config.speech import SpeechSettings
from sourcebook.config.yaml_file import KeyPath, describe, read_configuration_text
from sourcebook.errors import ConfigurationError, ListingError, SourcebookError
from sourcebook.git.command import find_git
from sourcebook.installation import install_command

_VARIABLE = re.compile(r"\$\{(\w+)\}")
"""A reference to a variable of the environment in the value of a header."""


def check_usable(configuration: Configuration) -> list[str]:
    """Check that an ingest can use the settings, without reading any document.

    Args:
        configuration: a valid configuration.

    Returns:
        Warnings about what may still come: missing folders, files of evaluations and variables of the environment.

    Raises:
        ConfigurationError: a model does not exist, or a package is missing; with line and column.
    """
    refused: list[tuple[KeyPath, str]] = []
    warnings: list[tuple[KeyPath, str]] = []
    for name, settings in configuration.collections.items():
        at = ("collections", name)
        refused += [((*at, *key), reason) for key, reason in _unusable(settings)]
        warnings += [((*at, *key), reason) for key, reason in _missing(settings)]
    text = read_configuration_text(configuration.path) if refused or warnings else None

    def line(key: KeyPath, reason: str) -> str:
        position = text.position(key) if text is not None else None
        place = f", line {position.line}, column {position.column}" if position is not None else ""
        return f"{configuration.path}{place}: {describe(key)}: {reason}"

    if refused:
        raise ConfigurationError("\n".join(line(key, reason) for key, reason in refused))
    return [line(key, reason) for key, reason in warnings]


def _unusable(settings: CollectionSettings) -> Iterator[tuple[KeyPath, str]]:
    """Yield the settings that every ingest refuses."""
    embedding = settings.embedding
    if embedding.provider is not None:
        if reason := _provider_problem(embedding):
            yield ("embedding", "provider"), reason
    elif embedding.model != EmbeddingSettings().model and (reason := _model_problem(embedding)):
        yield ("embedding", "model"), reason
    if settings.speech != SpeechSettings() and (reason := _speech_problem(settings.speech)):
        yield ("speech",), reason
    if settings.parsing.parser == "docling" and find_spec("docling") is None:
        yield ("parsing", "parser"), f"docling is not installed: {install_command('pipeline')}"
    if settings.parsing.models is not None and not Path(settings.parsing.models).is_dir():
        yield ("parsing", "models"), f"there is no folder {settings.parsing.models}"
    if settings.repositories and (reason := _git_problem()):
        yield ("repositories",), reason
    for index, records in enumerate(settings.records):
        if records.template is not None and (reason := _template_problem(records.template)):
            yield ("records", index, "template"), reason
    for index, source in enumerate(settings.files):
        if not source.is_local and (reason := _store_problem(source)):
            yield ("files", index, "root"), reason


def _missing(settings: CollectionSettings) -> Iterator[tuple[KeyPath, str]]:
    """Yield what is not there yet: an ingest reports it and goes on."""
    for index, source in enumerate(settings.files):
        if problem := root_problem(source):
            yield ("files", index, "root" if "exist" in problem else "include"), problem
    for index, site in enumerate(settings.sites):
        for header, value in site.request.headers.items():
            for variable in _VARIABLE.findall(value):
                if variable not in os.environ:
                    yield ("sites", index, "request", "headers", header), f"the environment has no variable {variable}"
    for index, repository in enumerate(settings.repositories):
        for variable in _VARIABLE.findall(repository.url):
            if variable not in os.environ:
                yield ("repositories", index, "url"), f"the environment has no variable {variable}"
    for index, records in enumerate(settings.records):
        for origin in ("table", "python", "dlt", "rest", "files"):
            written = getattr(records, origin)
            for variable in _VARIABLE.findall("" if written is None else written.model_dump_json()):
                if variable not in os.environ:
                    yield ("records", index, origin), f"the environment has no variable {variable}"
    for key in ("queries", "qrels"):
        path: str | None = getattr(settings.evaluation, key)
        if path is not None and not Path(path).is_file():
            yield ("evaluation", key), f"there is no file {path}"


def _provider_problem(settings: EmbeddingSettings) -> str | None:
    """Return why a provider gives no vector for a fixed text; None where it gives one."""
    from sourcebook.embedding.settled import check_provider

    try:
        check_provider(settings)
    except SourcebookError as error:
        return str(error)
    return None


def _model_problem(settings: EmbeddingSettings) -> str | None:
    from sourcebook.embedding.model import find_model
    from sourcebook.embedding.settled import local_model

    try:
        local_model(settings, find_model(settings.model))
    except SourcebookError as error:
        return str(error)
    return None


def _speech_problem(speech: SpeechSettings) -> str | None:
    from sourcebook.speech.weights import find_weights

    package = speech.engine.replace("openai-", "").replace("-", "_")
    if find_spec(package) is None:
        return f"{speech.engine} is not installed: {install_command('pipeline')}"
    try:
        find_weights(speech.model)
    except SourcebookError as error:
        return str(error)
    return None


def _template_problem(template: str) -> str | None:
    from sourcebook.records.template import RecordTemplate

    try:
        RecordTemplate(template)
    except ConfigurationError as error:
        return str(error)
    return None


def _git_problem() -> str | None:
    try:
        find_git()
    except ListingError as error:
        return str(error)
    return None


def _store_problem(source: FilesSource) -> str | None:
    """Return the reason why no file system is known for a URL."""
    import fsspec

    protocol = re.split(r"::|://", source.root, maxsplit=1)[0]
    try:
        fsspec.get_filesystem_class(protocol)
    except (ImportError, ValueError) as error:
        return f"{protocol}:// cannot be read ({' '.join(str(error).split())})"
    return None
