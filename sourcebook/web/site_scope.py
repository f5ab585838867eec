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
    "a c class conf cs db dot env ex fs go h jl js msg o org php pl properties r rs sh so".split()  # noqa: SIM905 - a name a line would fill a screen
)


@dataclass(frozen=True, slots=True)
class SiteScope:
    """The URLs that belong to a site."""

    hosts: frozenset[str]
    """Hosts as `host_of` returns them."""
    domain: str | None
    """Registered domain whose hosts all belong to the site; None where only `hosts` do."""
    follow: tuple[str, ...] = ("/**",)
    """Patterns of the pages whose links are followed."""
    keep: tuple[str, ...] = ("/**",)
    """Patterns of the pages that become documents."""
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
        return cls(frozenset({host}), domain, site.followed, site.kept, site.exclude)

    def with_host(self, host: str) -> "SiteScope":
        """Return this scope with another host, such as the redirect target of the start."""
        return replace(self, hosts=self.hosts | {host})

    def keeps(self, url: str) -> bool:
        """Return whether a page becomes a document: its URL belongs to the site and its path matches the patterns.

        The URL is in normal form; its scheme and query are ignored. The path is matched decoded: `*` stays within one
        segment, `**` crosses segments, `{a,b}` is an alternative. A pattern for a whole folder includes the page of the
        folder, with or without its slash; an exclude pattern of a folder excludes the whole folder.
        """
        path = self._path(url)
        return path is not None and _path_filter(self.keep, self.exclude)(path)

    def leads_on(self, url: str) -> bool:
        """Return whether the links of a page are followed."""
        path = self._path(url)
        return path is not None and _path_filter(self.follow, self.exclude)(path)

    def takes(self, url: str) -> bool:
        """Return whether a page is of use: as a document, or for its links."""
        return self.keeps(url) or self.leads_on(url)

    def follows(self, url: str) -> bool:
        """Return whether to request a link: it belongs to the site, and its extension may be a page or a document.

        Only extensions of known file types are excluded, so `/wiki/Foo.bar` and `/v1.2` are followed.
        """
        return self._may_be_page(url) and self.takes(url)

    def refusal(self, url: str) -> tuple[str, str | None] | None:
        """Return why the patterns leave a URL out; None where they do not, or where it is not the patterns.

        Returns:
            The setting: `exclude` with the pattern that matches, or `include` (`keep` where it is set) and None.
        """
        path = self._path(url)
        if path is None or not self._may_be_page(url) or self.takes(url):
            return None
        excluding = next((pattern for pattern in self.exclude if not _path_filter(("/**",), (pattern,))(path)), None)
        if excluding is not None:
            return "exclude", excluding
        return "include" if self.follow == self.keep else "keep", None

    @property
    def has_patterns(self) -> bool:
        """Whether patterns can leave out a URL of the site's hosts."""
        return bool(self.exclude) or not {"/**", "**"} & {*self.keep, *self.follow}

    def _path(self, url: str) -> str | None:
        """Return the decoded path of a URL on the site's hosts, None for any other URL."""
        parts = _ORIGIN_AND_PATH.match(url)
        if parts is None:
            return None
        host = parts[1]
        if host not in self.hosts and (self.domain is None or registered_domain(host) != self.domain):
            return None
        return _decoded(parts[2])

    def _may_be_page(self, url: str) -> bool:
        parts = _ORIGIN_AND_PATH.match(url)
        ending = None if parts is None else _ENDING.search(_decoded(parts[2]))
        return parts is not None and (ending is None or _may_be_read(ending[1].lower()))


def path_matches(url: str, pattern: str) -> bool:
    """Return whether a pattern takes the path of a URL in normal form, as the patterns of a site's scope do."""
    parts = _ORIGIN_AND_PATH.match(url)
    return parts is not None and _path_filter((pattern,), ())(_decoded(parts[2]))


@lru_cache(maxsize=1024)
def _may_be_read(ending: str) -> bool:
    if ending in _ALSO_PAGES:
        return True
    media_type = media_type_of_name(f"name.{ending}")
    return ending not in _NEVER_READ if media_type is None else media_type in _READ


def _decoded(path: str) -> str:
    return unquote(path, errors="replace") if "%" in path else path or "/"


@lru_cache(maxsize=256)
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
