"""The version and the source of this installation, and the command that installs further extras."""

import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from sourcebook.errors import MissingDependencyError

VERSION_HEADER: Final = "Sourcebook-Version"
"""Header of every answer of a server, with its version."""
_ROOT = Path(__file__).resolve().parent


def installed_version() -> str:
    """Return the version of the installed distribution; empty where there is none."""
    try:
        return version("sourcebook")
    except PackageNotFoundError:
        return ""


@cache
def package_version(package: str) -> str:
    """Return the version of an installed distribution, "absent" where it is not installed.

    It reads one header of the metadata: `importlib.metadata.version` parses them whole, with the readme in them.
    """
    try:
        found = distribution(package)
    except PackageNotFoundError:
        return "absent"
    header = (found.read_text("METADATA") or "").partition("\nVersion: ")[2]
    return header.partition("\n")[0].strip() or found.version


def code_location() -> Path | None:
    """Return the folder with `orchestration`, `assets`, `sensors` and `resources`, None where the pipeline is missing.

    A wheel carries the four packages in a folder of the library; in a checkout they stand beside it. They are on no
    import path until a command of the pipeline puts this folder there.
    """
    folders = (_ROOT / "code_location", _ROOT.parent)
    return next((folder for folder in folders if (folder / "orchestration" / "commands.py").is_file()), None)


def is_checkout() -> bool:
    """Return whether the library is part of a checkout, which has the pipeline beside it."""
    return code_location() == _ROOT.parent


def install_command(extra: str, *, again: bool = False) -> str:
    """Return the command that installs the packages of an extra from where this Sourcebook came from.

    Sourcebook is on no package index: a checkout or a wheel is the source, as pip recorded it (PEP 610).

    Args:
        extra: an extra of the distribution, such as `speech`.
        again: replace the packages that are installed already.
    """
    pip = [sys.executable, "-m", "pip", "install", *(["--force-reinstall"] if again else [])]
    url, editable = _origin()
    folder = unquote(urlsplit(url).path)
    target = ["-e", f"{folder}[{extra}]"] if editable else [f"sourcebook[{extra}] @ {url}"]
    return shlex.join([*pip, *target])


def _origin() -> tuple[str, bool]:
    """Return where pip took Sourcebook from.

    Returns:
        The URL of a checkout, a wheel or a repository, and whether the library runs from that checkout.
    """
    try:
        text = distribution("sourcebook").read_text("direct_url.json")
    except PackageNotFoundError:
        text = None
    if text is None:
        return _ROOT.parent.as_uri(), True
    origin = json.loads(text)
    url = str(origin["url"])
    if "vcs_info" in origin:
        url = f"{origin['vcs_info']['vcs']}+{url}@{origin['vcs_info']['commit_id']}"
    return url, bool(origin.get("dir_info", {}).get("editable"))


@contextmanager
def needing_extra(extra: str) -> Iterator[None]:
    """Name the command that installs an extra where a package of it is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        message = f"this needs {error.name}, which is not installed: {install_command(extra)}"
        raise MissingDependencyError(message) from error
