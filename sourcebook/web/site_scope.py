"""The scope of a site: its hosts, the globs on the path, and the file extensions that are never read."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import unquote

from wcmatch import glob

from sourcebook.config.sites import SiteSource
from sourcebook.model.media_types import CSV, DOCX, HTML, MARKDOWN, PDF, PLAIN_TEXT, PPTX, XLSX, media_type_of_name
from sourcebook.web.url import host_of, registered_domain

_FLAGS = glob.GLOBSTAR | glob.BRACE | glob.DOTGLOB | glob.FORCEUNIX
_ORIGIN_AND_PATH = re.compile(r"https?://([^/?#]+)([^?#]*)")
_ENDING = re.compile(r"\.([A-Za-z0-9]{1,12})\Z")

_READ = frozenset({HTML, MARKDOWN, PLAIN_TEXT, CSV, PDF, DOCX, PPTX, XLSX})
# Extensions of files that the table of media types does not list.
_NEVER_READ = frozenset(
    "3gp aac apk avif cab deb dmg eot flv iso lz mpeg mpg msi ogv psd rpm swf tbz2 torrent txz wma wmv woff".split()  # noqa: SIM905 - a name a line would fill a screen
)
# File extensions that also end the names of pages: scripts (index.php), products (/wiki/Node.js,
# /packages/DataFrames.jl), hosts (/wiki/docs.rs), members in reference documentation (/api/os.path.c, /ref/Foo.class).
# A needless request costs less than a missed page; the content of a response decides.
_ALSO_PAGES = frozenset(
    "a c class conf cs db dot env ex fs go h jl js msg o php pl properties r rs sh so".split()  # noqa: SIM905 - a name a line would fill a screen
)


@dataclass(frozen=True, slots=True)
class SiteScope:
    """The URLs that belong to a site."""

    hosts: frozenset[str]
    """Hosts as `host_of` returns them."""
    domain: str | None
    """Registered domain whose hosts all belong to the site; None where only `hosts` do."""
    include: tuple[str, ...] = ("/**",)
    exclude: tuple[str, ...] = ()

    @classmethod
    def of(cls, site: SiteSource, start: str) -> "SiteScope":
        """Return the scope of a site.

        Args:
            site: settings of the site.
            start: URL of the site in normal form.
        """
        host = host_of(start)
        domain = registered_domain(host) if site.scope == "same_domain" else None
        return cls(frozenset({host}), domain, site.include, site.exclude)

    def with_host(self, host: str) -> "SiteScope":
        """Return this scope with another host, such as the redirect target of the start."""
        return replace(self, hosts=self.hosts | {host})

    def takes(self, url: str) -> bool:
        """Return whether a URL in normal form belongs to the site and its path matches the patterns.

        Scheme and query are ignored. The path is matched decoded: `*` stays within one segment, `**` crosses segments,
        `{a,b}` is an alternative. A pattern for a whole folder includes the page of the folder, with or without its
        slash; an exclude pattern of a folder excludes the whole folder.
        """
        parts = _ORIGIN_AND_PATH.match(url)
        if parts is None:
            return False
        host = parts[1]
        if host not in self.hosts and (self.domain is None or registered_domain(host) != self.domain):
            return False
        return _path_filter(self.include, self.exclude)(_decoded(parts[2]))

    def follows(self, url: str) -> bool:
        """Return whether to request a link: it belongs to the site, and its extension may be a page or a document.

        Only extensions of known file types are excluded, so `/wiki/Foo.bar` and `/v1.2` are followed.
        """
        parts = _ORIGIN_AND_PATH.match(url)
        if parts is None:
            return False
        ending = _ENDING.search(_decoded(parts[2]))
        return (ending is None or _may_be_read(ending[1].lower())) and self.takes(url)


@lru_cache(maxsize=1024)
def _may_be_read(ending: str) -> bool:
    if ending in _ALSO_PAGES:
        return True
    media_type = media_type_of_name(f"name.{ending}")
    return ending not in _NEVER_READ if media_type is None else media_type in _READ


def _decoded(path: str) -> str:
    return unquote(path, errors="replace") if "%" in path else path or "/"


@lru_cache(maxsize=64)
def _path_filter(include: tuple[str, ...], exclude: tuple[str, ...]) -> Callable[[str], bool]:
    wanted = _compile([*include, *_folders(include)])
    unwanted = _compile([*exclude, *_folders(exclude), *(f"{pattern.rstrip('/')}/**" for pattern in exclude)])

    def takes(path: str) -> bool:
        return wanted(path) and not unwanted(path)

    return takes


def _folders(patterns: Sequence[str]) -> list[str]:
    """Return the folders of the patterns that end in `/**`."""
    return [folder for pattern in patterns if (folder := pattern.removesuffix("/**")) not in (pattern, "")]


def _compile(patterns: Sequence[str]) -> Callable[[str], bool]:
    if not patterns:
        return lambda path: False
    if "/**" in patterns:
        return lambda path: True
    return glob.compile(list(patterns), flags=_FLAGS).match
