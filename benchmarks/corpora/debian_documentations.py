"""Five documentations as Debian 12 packages them: fetched with apt-get, unpacked with dpkg, no root needed."""

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


class NoDocumentationError(Exception):
    """A documentation is not to be had; the message says why, and what to do about it."""


@dataclass(frozen=True)
class Documentation:
    """A documentation, and the container of its pages' main content."""

    name: str
    packages: tuple[str, ...]
    folder: str
    """Folder of its `index.html` below /usr/share/doc."""
    inside: str
    """Selector of the reference container; see `reference_page`."""
    without: tuple[str, ...] = ()
    """Selectors of what its container holds besides its text: navigation and footers."""
    optional: tuple[str, ...] = ()
    """Selectors of tables of contents, which repeat headings, and of links to the page's source code."""
    notes: tuple[str, ...] = ()
    """Selectors of notes and warnings whose titles are written as headings."""


_SPHINX = ("div.genindex-jumpbox", "span.viewcode-link", "a.viewcode-back")
DOCUMENTATIONS = (
    Documentation(
        "python", ("python3-doc", "python3.11-doc"), "python3.11/html", "div.body", (), ("nav.contents", *_SPHINX)
    ),
    Documentation(
        "django", ("python-django-doc",), "python-django-doc/html", "div#yui-main", (), ("div.contents", *_SPHINX)
    ),
    Documentation(
        "postgresql",
        ("postgresql-doc-15",),
        "postgresql-doc-15/html",
        "body",
        ("div.navheader", "div.navfooter"),
        ("div.toc",),
        ("div.note", "div.tip", "div.important", "div.caution", "div.warning"),
    ),
    Documentation("git", ("git-doc",), "git-doc", "body", ("div#toc", "div#footer"), ("div.toc",)),
    Documentation(
        "sqlite",
        ("sqlite3-doc",),
        "sqlite3",
        "body",
        ("div.menu", "div.searchmenu", "div.tagline"),
        ("div.fancy_toc",),
    ),
)


def chosen(names: Sequence[str]) -> tuple[Documentation, ...]:
    """Return the documentations of these names; all of them without a name.

    Raises:
        NoDocumentationError: there is none of a name.
    """
    known = {each.name: each for each in DOCUMENTATIONS}
    if unknown := [name for name in names if name not in known]:
        raise NoDocumentationError(f"there is no documentation {', '.join(unknown)}; there is {', '.join(known)}")
    return tuple(known[name] for name in names) or DOCUMENTATIONS


def package_files(documentations: Sequence[Documentation], folder: Path, *, fetch: bool) -> dict[str, Path]:
    """Return the .deb file of each package.

    Args:
        documentations: whose packages are needed.
        folder: folder of the files.
        fetch: whether apt-get may download into it what is not there.

    Raises:
        NoDocumentationError: a file is missing, and cannot be fetched.
    """
    names = [name for each in documentations for name in each.packages]
    return dict(zip(names, download(names, folder, fetch=fetch), strict=True))


def download(names: Sequence[str], folder: Path, *, fetch: bool = True) -> list[Path]:
    """Return the .deb file of each package; parameters and errors are those of `package_files`."""
    missing = [name for name in names if _file_of(name, folder) is None]
    if missing and not fetch:
        raise NoDocumentationError(f"{folder} holds no .deb file of {', '.join(missing)}")
    if missing:
        _download(missing, folder)
    files = [file for name in names if (file := _file_of(name, folder)) is not None]
    if len(files) < len(names):
        raise NoDocumentationError(f"apt-get has left no file of some of {', '.join(names)} in {folder}")
    return files


def unpack(files: Sequence[Path], folder: Path) -> None:
    """Unpack packages into one tree, in which links from one package to another lead to their file.

    Raises:
        NoDocumentationError: dpkg is missing, or refuses a file.
    """
    for file in files:
        _run(["dpkg", "-x", str(file), str(folder)], folder.parent, f"{file.name} cannot be unpacked")


def _file_of(package: str, folder: Path) -> Path | None:
    return max(folder.glob(f"{package}_*.deb"), key=lambda file: file.stat().st_mtime, default=None)


def _download(packages: Sequence[str], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    remedy = "these are packages of Debian 12: put their .deb files into a folder and name it with --packages"
    _run(["apt-get", "download", *packages], folder, f"{', '.join(packages)} cannot be fetched; {remedy}")


def _run(command: Sequence[str], folder: Path, failure: str) -> None:
    if shutil.which(command[0]) is None:
        raise NoDocumentationError(f"{failure} (there is no {command[0]})")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if line.startswith("E:") or "error" in line] or [done.stderr]
        raise NoDocumentationError(f"{failure} ({' '.join(said[-1].split())})")
