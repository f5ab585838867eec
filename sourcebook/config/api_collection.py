"""Settings of a collection that is made over the API: those of the file, less what would reach into the server.

A caller that may write over the API does not run the server. Settings that read its environment, its files, its
private network or its logins are left to `sourcebook.yaml`. A setting that is not named here is refused unless it has
its default, so that a later one is thought about before the API takes it.
"""

import dataclasses
import math
import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import urlsplit

from pydantic import ValidationError, model_validator

from sourcebook.config.answering import AnsweringSettings, UsageSettings
from sourcebook.config.api_databases import is_database, without_databases
from sourcebook.config.browser import BrowserSettings, ClickSettings
from sourcebook.config.collection import (
    ChunkingSettings,
    CollectionSettings,
    EmbeddingSettings,
    FilesSource,
    RemovalSettings,
    RetentionSettings,
    RetrySettings,
)
from sourcebook.config.document_types import DocumentType
from sourcebook.config.evaluation import GenerationSettings
from sourcebook.config.explain import problems_without_values
from sourcebook.config.field_types import Settings
from sourcebook.config.membership import TakenDocuments
from sourcebook.config.parsing import ParsingSettings
from sourcebook.config.permissions import PERMISSION_FIELDS
from sourcebook.config.records import RecordSource, TableSettings
from sourcebook.config.redaction import RedactionSettings
from sourcebook.config.relations import RelationPattern, RelationSettings
from sourcebook.config.repositories import RepositorySource
from sourcebook.config.searching import SearchSettings
from sourcebook.config.site_types import REFERENCE
from sourcebook.config.sites import PolitenessSettings, RequestSettings, SiteSource
from sourcebook.config.speech import SpeechSettings
from sourcebook.config.synonyms import SynonymSettings
from sourcebook.config.yaml_file import DEEPEST_NESTING, MOST_VALUES
from sourcebook.errors import SettingsError

DEFAULT_GIT_HOSTS: Final = frozenset({"bitbucket.org", "codeberg.org", "git.sr.ht", "github.com", "gitlab.com"})
"""Public services whose repositories a collection of the API may read where no setting names others."""
MOST_REQUESTS: Final = 10.0
"""Requests a second of a crawl for each host, at most."""
_SPEECH_MODELS: Final = frozenset(
    [f"{size}{language}" for size in ("tiny", "base", "small", "medium") for language in ("", ".en")]
    + ["large", "large-v1", "large-v2", "large-v3", "large-v3-turbo", "turbo"]
)
"""Names of Whisper's own models; any other name might be a path."""
_HEADERS: Final = frozenset({"accept", "accept-language", "referer"})
_LABEL: Final = r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?"
_HOST: Final = re.compile(rf"({_LABEL}\.)+{_LABEL}\.?", re.IGNORECASE)
_COMMIT: Final = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?", re.IGNORECASE)
_NETWORKS: Final = frozenset({"private_networks"})
_SYSTEM: Final = ("/proc", "/sys", "/dev", "/etc", "/run", "/boot")
"""Folders of the system, which hold no documents of a person."""
_IN_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a folder that is asked for, not one to write to
"""Folder among them that anybody keeps files in."""
_IN_FILE: Final = "is left to sourcebook.yaml on the server"
_ALLOWED: Final[dict[type[Settings], frozenset[str]]] = {
    FilesSource: frozenset({"root", "include", "exclude", "tags", "max_bytes"}) | PERMISSION_FIELDS,
    SiteSource: frozenset(SiteSource.model_fields) - {"login"},
    RequestSettings: frozenset(RequestSettings.model_fields) - {"proxy", "private_networks"},
    PolitenessSettings: frozenset(PolitenessSettings.model_fields) - {"respect_robots"},
    BrowserSettings: frozenset({"clicks", "wait_for", "scroll", "page_timeout", "viewport", "locale"}),
    ClickSettings: frozenset({"selector", "times"}),
    RepositorySource: frozenset(
        {"url", "revision", "path", "include", "exclude", "tags", "max_bytes", "web", "refresh", "timeout"}
    )
    | PERMISSION_FIELDS,
    RecordSource: frozenset(RecordSource.model_fields)
    - {"python", "dlt", "rest", "file", "files", "attachments", "depends_on"},
    TableSettings: frozenset(TableSettings.model_fields),
    TakenDocuments: frozenset({"collection", "tags", "tags_all"}),
    ChunkingSettings: frozenset({"tokens", "overlap", "context"}),
    EmbeddingSettings: frozenset({"model", "dimensions", "precision", "device", "generated_indexes"}),
    GenerationSettings: frozenset({"activate", "gate", "keep", "quantization"}),
    ParsingSettings: frozenset({"parser", "ocr", "ocr_languages", "html", "timeout", "longest"}),
    SearchSettings: frozenset(SearchSettings.model_fields),
    SpeechSettings: frozenset({"engine", "model", "language", "max_hours", "max_bytes"}),
    RedactionSettings: frozenset({"at", "categories", "region"}),
    DocumentType: frozenset({"paths", "fields"}),
    RelationPattern: frozenset({"kind", "match", "target"}),
    RelationSettings: frozenset({"patterns", "fields", "links"}),
    RemovalSettings: frozenset({"share", "at_least"}),
    RetentionSettings: frozenset({"removed", "queries"}),
    RetrySettings: frozenset({"attempts"}),
    SynonymSettings: frozenset({"documents", "groups", "one_way"}),
    UsageSettings: frozenset({"prices"}),
}
"""Settings that the API takes, by the section they are in."""


class ApiCollectionSettings(CollectionSettings):
    """Settings of a collection of the API, which may be without sources: uploads need none."""

    @model_validator(mode="after")
    def _some_source(self) -> Self:
        return self


_ALLOWED[ApiCollectionSettings] = frozenset(CollectionSettings.model_fields) - {"evaluation"}


@dataclass(frozen=True, slots=True)
class ApiLimits:
    """Reach of collections that are made over the API."""

    folders: tuple[Path, ...] = ()
    """Folders of this machine whose content they may read, with that of the folders in them."""
    own: tuple[Path, ...] = ()
    """Folders of Sourcebook's own, which are never documents."""
    git_hosts: frozenset[str] = DEFAULT_GIT_HOSTS
    """Hosts whose repositories they may read, without a login."""
    databases: frozenset[str] = frozenset()
    """Variables of the environment with the URLs of databases whose tables they may read."""
    models: frozenset[str] = frozenset()
    """Names of embedding models, beside `auto`."""
    answering: Mapping[str, AnsweringSettings] = dataclasses.field(default_factory=dict)
    """Settings of answering of the file's collections by their models: a collection of the API names one of these."""
    is_owners: bool = False
    """Whether the caller is who runs the server: without `folders` every folder of theirs is allowed."""
    private_hosts: bool = False
    """Whether sites of this machine and of its network may be crawled."""
    known: tuple[Settings, ...] = ()
    """Sources that the collection has already: they stay as they are."""


def read_settings(written: Mapping[str, Any], limits: ApiLimits) -> ApiCollectionSettings:
    """Return the settings of a collection of the API.

    Args:
        written: the settings, as JSON has them.
        limits: reach of the collection.

    Raises:
        SettingsError: a setting is not allowed; the sentences name the fields, and no value.
    """
    _check_plain(without_databases(written, limits.databases))
    _check_order(written)
    try:
        settings = ApiCollectionSettings.model_validate(written, context={"folder": Path("/")})
    except ValidationError as error:
        raise SettingsError(*problems_without_values(error, ApiCollectionSettings)) from None
    refused = list(_refusals(settings, "", limits))
    if refused:
        raise SettingsError(*refused[:20])
    if settings.answering is None:
        return settings
    return settings.model_copy(update={"answering": limits.answering[settings.answering.model]})


def _check_plain(written: Mapping[str, Any]) -> None:
    """Refuse what JSON or the database does not hold, and references to the environment.

    Raises:
        SettingsError: a value is nested too deeply, is no text, or is none of JSON's.
    """
    waiting: list[tuple[Any, int]] = [(written, 0)]
    count = 0
    while waiting:
        value, depth = waiting.pop()
        count += 1
        if count > MOST_VALUES:
            raise SettingsError(f"there are more than {MOST_VALUES:,} values")
        if depth > DEEPEST_NESTING:
            raise SettingsError(f"values are nested too deeply; allowed are {DEEPEST_NESTING} levels")
        match value:
            case str():
                if any(letter == "\0" or "\ud800" <= letter <= "\udfff" for letter in value):
                    raise SettingsError("a value or a key has a character that is not text")
                if REFERENCE.search(value):
                    raise SettingsError(
                        f"a value refers to a variable of the server's environment as ${{NAME}}, which {_IN_FILE}"
                    )
            case float() if not math.isfinite(value):
                raise SettingsError("a value is no finite number")
            case int() if abs(value) > 1 << 62:
                raise SettingsError("a number is too large")
            case Mapping():
                waiting += [(each, depth + 1) for pair in value.items() for each in pair]
            case list() | tuple():
                waiting += [(each, depth + 1) for each in value]
            case None | bool() | int() | float():
                pass
            case _:
                raise SettingsError("a value is none that JSON has")


def _check_order(written: Mapping[str, Any]) -> None:
    """Refuse several patterns in one mapping: neither JSON nor the database keeps their order, by which they decide.

    Raises:
        SettingsError: there are several.
    """
    places: list[tuple[str, Any]] = [("", written)]
    for kind in ("files", "sites", "repositories"):
        sources = written.get(kind)
        places += [(f"{kind}[{at}].", each) for at, each in enumerate(sources if isinstance(sources, list) else ())]
    problems = [
        f"{at}allowed: over the API patterns are a list of mappings with one each, which keeps their order"
        for at, held in places
        if isinstance(held, Mapping) and isinstance(held.get("allowed"), Mapping) and len(held["allowed"]) > 1
    ]
    if problems:
        raise SettingsError(*problems[:20])


def _refusals(settings: Settings, at: str, limits: ApiLimits) -> Iterator[str]:
    """Yield a sentence for each setting that the API does not take."""
    if settings in limits.known:
        return
    allowed = _ALLOWED[type(settings)] | (_NETWORKS if limits.private_hosts else frozenset())
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        place = f"{at}{field.alias or name}"
        if name not in allowed:
            if value != field.get_default(call_default_factory=True):
                yield f"{place}: the API does not take this setting, which {_IN_FILE}"
        elif isinstance(value, AnsweringSettings):
            if value.model not in limits.answering or value.model_fields_set != {"model"}:
                yield (
                    f"{place}: allowed is {{model: …}} with a model that answers for a collection of sourcebook.yaml, "
                    "whose server, key and limits it has then"
                )
        elif isinstance(value, Settings):
            yield from _refusals(value, f"{place}.", limits)
        elif isinstance(value, tuple):
            for index, each in enumerate(value):
                if isinstance(each, Settings):
                    yield from _refusals(each, f"{place}[{index}].", limits)
    match settings:
        case FilesSource():
            yield from _folder_refusals(settings, at, limits)
        case SiteSource():
            yield from _site_refusals(settings, at, limits)
        case TableSettings():
            if not is_database(settings.url, limits.databases):
                yield (
                    f"{at}url: allowed over the API is ${{NAME}} with a variable that the server names in "
                    "SOURCEBOOK_RECORD_DATABASES; any other database " + _IN_FILE
                )
        case RepositorySource():
            yield from _repository_refusals(settings, at, limits.git_hosts)
        case EmbeddingSettings():
            if settings.model != "auto" and settings.model not in limits.models:
                yield (
                    f"{at}model: allowed are auto, the models that come with the installation, and those that "
                    "collections of sourcebook.yaml have"
                )
        case SpeechSettings():
            if settings.model not in _SPEECH_MODELS:
                yield f"{at}model: allowed are the names of Whisper's own models, such as base or large-v3"


def _folder_refusals(source: FilesSource, at: str, limits: ApiLimits) -> Iterator[str]:
    if not source.root.startswith("/"):
        yield f"{at}root: allowed is the absolute path of a folder on the server; {_remote_folders()}"
        return
    place = Path(source.location)
    if limits.is_owners and not limits.folders:
        if _is_of_the_system(place) or any(re.search(r"(^|[/{,])\.", pattern) for pattern in source.include):
            yield (
                f"{at}root: hidden files, and folders of the system, are no documents: name another folder, or start "
                "the server with --folder for this one"
            )
            return
    elif not any(_is_in(place, folder) for folder in limits.folders):
        yield (
            f"{at}root: the folder is in none that the server allows: start it with --folder, or name folders in "
            "SOURCEBOOK_FOLDERS"
        )
        return
    if any(_is_in(place, own) or _is_in(own, place) for own in limits.own):
        yield f"{at}root: the folder has Sourcebook's own state in it, or is part of that: name another one"


def _is_of_the_system(place: Path) -> bool:
    """Return whether a folder is hidden, or one of the system, or holds such a one of the system."""
    hidden = any(part.startswith(".") for part in place.parts)
    system = any(_is_in(place, Path(each)) or _is_in(Path(each), place) for each in _SYSTEM)
    return hidden or (system and not _is_in(place, _IN_MEMORY))


def _remote_folders() -> str:
    return "stores such as s3://, which are read with the server's own credentials, are left to sourcebook.yaml"


def _site_refusals(site: SiteSource, at: str, limits: ApiLimits) -> Iterator[str]:
    host = urlsplit(site.url).hostname or ""
    if not limits.private_hosts and not is_public_name(host):
        yield (
            f"{at}url: its host is no public name, such as docs.example.com: addresses, and names of this machine or "
            "its network, are left to sourcebook.yaml on the server, and to  sourcebook mcp --private-hosts"
        )
    if (site.politeness.requests_per_second or math.inf) > MOST_REQUESTS:
        yield f"{at}politeness.requests_per_second: allowed over the API are at most {MOST_REQUESTS:.0f}"
    if any(name.lower() not in _HEADERS for name in site.request.headers):
        yield f"{at}request.headers: allowed over the API are {', '.join(sorted(_HEADERS))}; any other {_IN_FILE}"


def _repository_refusals(repository: RepositorySource, at: str, hosts: Collection[str]) -> Iterator[str]:
    parts = urlsplit(repository.url) if "://" in repository.url else None
    if parts is None or parts.scheme.lower() != "https" or "@" in parts.netloc:
        yield f"{at}url: allowed over the API is a URL of https without a user; any other {_IN_FILE}"
    elif parts.netloc.lower() not in hosts:
        yield (
            f"{at}url: allowed over the API are repositories of {', '.join(sorted(hosts)) or 'no host'}; the server's "
            "SOURCEBOOK_GIT_HOSTS names others"
        )
    if repository.revision is not None and _COMMIT.fullmatch(repository.revision):
        yield f"{at}revision: allowed over the API is a branch or a tag, which the repository is asked for"


def is_public_name(host: str) -> bool:
    """Return whether a host is written as a name of the domain name system, with a dot in it."""
    name = host.rstrip(".").lower()
    if not _HOST.fullmatch(host) or name.rpartition(".")[2] in {"localhost", "local", "internal", "localdomain"}:
        return False
    try:
        ip_address(name)
    except ValueError:
        return not re.fullmatch(r"\d+|0x[0-9a-f]*", name.rpartition(".")[2])
    return False


def _is_in(path: Path, folder: Path) -> bool:
    inside = os.path.realpath(folder)
    return os.path.commonpath([os.path.realpath(path), inside]) == inside
