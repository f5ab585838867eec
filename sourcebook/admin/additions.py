"""Folders, files and URLs of a command line as sources of collections in `sourcebook.yaml`."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from sourcebook.config.collection import CollectionSettings, FilesSource
from sourcebook.config.edit import NewSource, add_sources
from sourcebook.config.field_types import expand_user
from sourcebook.config.loading import load_configuration
from sourcebook.config.names import collection_name, unknown_collections
from sourcebook.config.repositories import RepositorySource
from sourcebook.config.sites import site_location
from sourcebook.errors import ConfigurationError
from sourcebook.files.source import PathFilter

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_REPOSITORY = re.compile(
    r"git\+[a-z]+://|(?:https?|ssh|git|file)://[^?#]+\.git/?\Z|(?:git|ssh)://|[\w.-]+@[\w.-]+:(?!//)\S+", re.IGNORECASE
)
_MOST_NUMBERS = 1000


@dataclass(frozen=True, slots=True)
class Named:
    """The collection that an argument names, and the source that has to be added for it."""

    collection: str
    source: NewSource | None = None
    """None where the collection has the source already, or is named itself."""


def add_named(path: Path, arguments: Sequence[str], *, home: Path, collection: str | None = None) -> list[Named]:
    """Return the collections that arguments name; add the folders, files and URLs that no collection has to the file.

    The name of an existing collection wins over a folder of that name; a slash, `.` or `~` in front says path.

    Args:
        path: the configuration file, which may be missing.
        arguments: names of collections, paths and URLs.
        home: the state folder, which is never a document.
        collection: the collection of new sources; None: named after the folder or the host.

    Raises:
        ConfigurationError: the file is invalid, or an argument names nothing; the file is unchanged.
    """
    known = dict(load_configuration(path).collections) if path.exists() else {}
    added: list[NewSource] = []
    named: list[Named] = []
    for argument in arguments:
        found = _named(argument, known, added, (path, home), collection)
        named.append(found)
        if found.source is not None:
            added.append(found.source)
    if added:
        add_sources(path, added)
    return named


def host_collection(path: Path, url: str) -> str:
    """Return the collection of a site: the first one that has it, or one with the name of its host.

    Raises:
        ConfigurationError: the file is invalid.
    """
    known = load_configuration(path).collections if path.exists() else {}
    return _with_site(known, url) or _host_name(url)


def local_source(collection: str, path: Path, own: tuple[Path, Path]) -> NewSource:
    """Return the source of a folder or a file of this machine.

    Args:
        collection: the name of its collection.
        path: the absolute path.
        own: the configuration file and the state folder, which are never documents.
    """
    place = os.path.realpath(path)
    inside = (os.path.realpath(each) for each in own)
    exclude = tuple(os.path.relpath(each, place) for each in inside if _is_in(each, place))
    return NewSource(collection, "files", _written(path, own[0].parent), place, exclude)


def is_repository(argument: str) -> bool:
    """Return whether an argument is the URL of a Git repository: `git+…`, `….git`, `git@host:path`."""
    return _REPOSITORY.match(argument) is not None


def is_site(argument: str) -> bool:
    """Return whether an argument is the URL of a web site."""
    return argument.lower().startswith(("http://", "https://")) and not is_repository(argument)


def name_of_place(place: str) -> str:
    """Return the name of a collection for a folder, a file or a URL."""
    if is_site(place):
        return _host_name(place)
    if is_repository(place):
        return collection_name(re.split(r"[/:]", place.rstrip("/"))[-1].removesuffix(".git"))
    if _URL.match(place) and not place.startswith("file://"):
        return collection_name(urlsplit(place).path.rstrip("/").rpartition("/")[2] or urlsplit(place).netloc)
    path = Path(os.path.realpath(local_path(place)))
    return collection_name((path if path.is_dir() else path.parent).name)


def local_path(place: str) -> Path:
    """Return the absolute path of a folder or a file."""
    return Path.cwd() / expand_user(place.removeprefix("file://"))


def is_place(argument: str) -> bool:
    """Return whether an argument is written as a path or a URL, which no name of a collection is."""
    return (
        bool(_URL.match(argument))
        or is_repository(argument)
        or "/" in argument
        or os.sep in argument
        or argument[:1] in {"~", "."}
    )


def _named(
    argument: str,
    known: Mapping[str, CollectionSettings],
    added: Sequence[NewSource],
    own: tuple[Path, Path],
    collection: str | None,
) -> Named:
    if argument in known:
        return Named(argument)
    if is_repository(argument) or (_URL.match(argument) and not argument.startswith("file://")):
        return _url(argument, known, collection)
    path = local_path(argument)
    if not path.exists():
        if is_place(argument):
            raise ConfigurationError(f"there is no file or folder {argument}")
        raise ConfigurationError(
            f"{unknown_collections([argument], list(known))}, and no file or folder {argument} here"
            if known
            else f"there is no file or folder {argument}"
        )
    place = os.path.realpath(path)
    for name, settings in known.items():
        if collection in {None, name} and any(_includes(source, place) for source in settings.files):
            return Named(name)
    taken = {name: list(_roots(each)) for name, each in known.items()}
    for new in added:
        taken.setdefault(new.collection, []).append(new.location)
        if new.kind == "files" and _is_in(place, new.location):
            return Named(new.collection)
    name = collection or _free_name(path if path.is_dir() else path.parent, taken)
    return Named(name, local_source(name, path, own))


def _url(url: str, known: Mapping[str, CollectionSettings], collection: str | None) -> Named:
    """Return the collection of a URL: a site of http or https, or a folder that fsspec reads."""
    if is_repository(url):
        repository = RepositorySource(url=url.removeprefix("git+"))
        having = (
            name for name, each in known.items() if repository.location in {one.location for one in each.repositories}
        )
        found = next(having, None)
        if found is not None and collection in {None, found}:
            return Named(found)
        name = collection or name_of_place(url)
        return Named(name, NewSource(name, "repositories", repository.url, repository.location))
    if is_site(url):
        name = collection or _with_site(known, url) or _host_name(url)
        has = name in known and any(site.location == site_location(url) for site in known[name].sites)
        return Named(name, None if has else NewSource(name, "sites", url, site_location(url)))
    having = (name for name, each in known.items() if any(url == source.location for source in each.files))
    known_as = next(having, None)
    if known_as is not None and collection in {None, known_as}:
        return Named(known_as)
    name = collection or name_of_place(url)
    return Named(name, NewSource(name, "files", url, url))


def _free_name(folder: Path, taken: Mapping[str, Sequence[str]]) -> str:
    """Return the name of a folder's collection: its own, or with its parent's in front where that is taken.

    A collection whose sources are all in the folder is the folder's own.
    """
    place = os.path.realpath(folder)
    for name in _names(Path(place)):
        if name not in taken or (taken[name] and all(_is_in(each, place) for each in taken[name])):
            return name
    raise ConfigurationError(f"no name is free for the folder {folder}: name one with -c")


def _names(folder: Path) -> Iterator[str]:
    name = collection_name(folder.name)
    yield name
    yield collection_name(f"{folder.parent.name}-{name}")
    for number in range(2, _MOST_NUMBERS):
        yield f"{name[:59]}-{number}"


def _roots(settings: CollectionSettings) -> Iterator[str]:
    yield from (source.location for source in settings.files)
    yield from (site.location for site in settings.sites)
    yield from (repository.location for repository in settings.repositories)
    yield from (rule.location for rule in settings.taken)


def _includes(source: FilesSource, place: str) -> bool:
    """Return whether a source has a folder or a file already: it is in the root, and no pattern leaves it out."""
    if not (source.is_local and _is_in(place, source.location)):
        return False
    if place == source.location or Path(place).is_dir():
        return True
    return PathFilter(source.include, source.exclude).takes(os.path.relpath(place, source.location))


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _written(path: Path, folder: Path) -> str:
    """Return a path as the configuration has it: relative to the folder of the file where it is in it."""
    absolute, base = os.path.abspath(path), os.path.abspath(folder)  # noqa: PTH100 - links stay as they are written
    if not _is_in(absolute, base):
        return absolute
    inside = os.path.relpath(absolute, base)
    return "." if inside == "." else f"./{inside}"


def _with_site(known: Mapping[str, CollectionSettings], url: str) -> str | None:
    """Return the first collection that has a site."""
    return next(
        (name for name, each in known.items() if any(s.location == site_location(url) for s in each.sites)), None
    )


def _host_name(url: str) -> str:
    return collection_name(urlsplit(url).hostname or "")
