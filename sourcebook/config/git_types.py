"""Types of the settings of a Git repository: its URL, a revision, a folder in it, and the links to its web view."""

import os
import re
from pathlib import Path
from typing import Annotated
from urllib.parse import quote, urlsplit

from pydantic import AfterValidator, ValidationInfo
from pydantic_core import PydanticCustomError

from sourcebook.config.field_types import Text, expand_user

SCHEMES = ("https", "http", "ssh", "git", "file")
"""Schemes of the URLs that are given to git."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_HELPER = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*::")
"""Beginning of an address for a remote helper, such as `ext::`, which may run any command."""
_SHORT_SSH = re.compile(r"(?:(?P<user>[^@/\s:]+)@)?(?P<host>\[[0-9A-Fa-f:]+\]|[^@/\s:\[\]]+):(?P<path>[^:\s].*)")
"""The short form of an address of ssh, `git@example.com:handbook.git`."""
_CONTROL = re.compile(r"[\x00-\x20\x7f]")
_LINE_BREAK = re.compile(r"[\x00-\x1f\x7f]")
_UNFIT = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(/|$)|^[-/.]|[/.]$")
"""Parts that no name of a branch or tag has, by the rules of git-check-ref-format."""
_PLACES = re.compile(r"\{(\w*)\}")
_SAFE = "/~!$&'()*+,;=:@%-._"


def _git_url(url: str, info: ValidationInfo) -> str:
    """Return an address as git takes it; a local path becomes absolute."""
    unfit = _CONTROL if "://" in url else _LINE_BREAK
    if url.startswith("-") or unfit.search(url):
        raise PydanticCustomError("git_url", "a repository's URL has no white space and does not begin with a hyphen")
    if _HELPER.match(url):
        raise PydanticCustomError("git_url", "remote helpers such as ext:: are not used")
    scheme = _SCHEME.match(url)
    if scheme is None:
        short = _short_ssh(url)
        if short is None:
            return _local(url, info)
        if short["host"].startswith("-"):
            raise PydanticCustomError("git_url", "its host cannot be one")
        return url
    if scheme[1].lower() not in SCHEMES:
        raise PydanticCustomError("git_url", "git is asked for {schemes} alone", {"schemes": ", ".join(SCHEMES)})
    try:
        parts = urlsplit(url)
        usable = (
            (parts.scheme.lower() == "file" or bool(parts.hostname)) and parts.port != 0 and parts.path.strip("/") != ""
        )
    except ValueError:
        usable = False
    if not usable or (parts.hostname or "").startswith("-") or parts.query or parts.fragment:
        raise PydanticCustomError("git_url", "its host, its port or its path cannot be one")
    return url


def _short_ssh(url: str) -> "re.Match[str] | None":
    return None if url.startswith((".", "/", "~")) else _SHORT_SSH.fullmatch(url)


def _local(path: str, info: ValidationInfo) -> str:
    if not info.context:
        return path
    folder: Path = info.context["folder"]
    return os.path.realpath(folder / expand_user(path))


def _revision(revision: str) -> str:
    if _UNFIT.search(revision) or revision == "@":
        raise PydanticCustomError("revision", "no branch, tag or commit has such a name")
    return revision


def _folder(path: str) -> str:
    parts = path.strip("/").split("/")
    if path.startswith("/") or not {"", ".", ".."}.isdisjoint(parts) or "\0" in path:
        raise PydanticCustomError("git_path", "a folder within the repository, without `/` in front or `..` in it")
    return "/".join(parts)


def _web(template: str) -> str:
    places = set(_PLACES.findall(template))
    address = template.partition("{")[0]
    if not re.match(r"https?://[^\s/@]+/", address) or _CONTROL.search(template):
        raise PydanticCustomError("web", "the link is a URL of http or https, and names no user")
    if "path" not in places or not places <= {"path", "commit"}:
        raise PydanticCustomError("web", "it has the place for the path, and may have one for the commit")
    return template


GitUrl = Annotated[Text, AfterValidator(_git_url)]
Revision = Annotated[Text, AfterValidator(_revision)]
FolderInRepository = Annotated[Text, AfterValidator(_folder)]
WebTemplate = Annotated[Text, AfterValidator(_web)]


def repository_uri(url: str) -> str:
    """Return the URI of a repository in the ledger: `git+` and its URL, without user, password and trailing slash."""
    scheme, host, path = _parts(url)
    return f"git+{scheme}://{host}/{quote(path.strip('/'), safe=_SAFE)}"


def shown_url(url: str) -> str:
    """Return the URL of a repository as messages show it: without user and password."""
    if _SCHEME.match(url) is None:
        return url
    scheme, host, path = _parts(url)
    return f"{scheme}://{host}{path}"


def web_template(url: str) -> str | None:
    """Return the link to a file in the web view of a known service, with places for commit and path; None elsewhere."""
    _, host, path = _parts(url)
    host = host.partition(":")[0]
    repository = path.strip("/").removesuffix(".git")
    if repository.count("/") < 1 or not host:
        return None
    page = f"https://{host}/{quote(repository, safe=_SAFE)}"
    service = host.partition(".")[0]
    if host == "github.com" or service == "github":
        return f"{page}/blob/{{commit}}/{{path}}"
    if host == "gitlab.com" or service == "gitlab":
        return f"{page}/-/blob/{{commit}}/{{path}}"
    if host in {"codeberg.org", "gitea.com"} or service in {"gitea", "forgejo", "codeberg"}:
        return f"{page}/src/commit/{{commit}}/{{path}}"
    if host == "bitbucket.org":
        return f"{page}/src/{{commit}}/{{path}}"
    if host == "git.sr.ht":
        return f"{page}/tree/{{commit}}/item/{{path}}"
    return None


def _parts(url: str) -> tuple[str, str, str]:
    """Return scheme, host with port and path of an address in any of its forms."""
    if _SCHEME.match(url) is not None:
        parts = urlsplit(url)
        return parts.scheme.lower(), parts.netloc.rpartition("@")[2].lower(), parts.path
    short = _short_ssh(url)
    if short is not None:
        return "ssh", short["host"].lower(), f"/{short['path'].lstrip('/')}"
    return "file", "", url
