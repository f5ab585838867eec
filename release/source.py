"""The source of a release: a clean checkout, its changelog, its tag."""

import re
from datetime import date
from pathlib import Path

from release.running import ReleaseError, run

_PENDING = "unreleased"
"""In place of a date, in the heading of a version that is not released."""


def check_source(checkout: Path, version: str) -> None:
    """Refuse a checkout with changes that are not committed, and a version that has its tag.

    Raises:
        ReleaseError: it is such a one.
    """
    if changed := run("git", "status", "--porcelain", folder=checkout):
        raise ReleaseError(f"commit or remove first what git status shows:\n{changed}")
    if run("git", "tag", "--list", f"v{version}", folder=checkout):
        raise ReleaseError(f"v{version} is tagged already: raise the version in pyproject.toml")


def clone(checkout: Path, folder: Path) -> Path:
    """Clone the last commit of a checkout; return the folder."""
    run("git", "clone", "--quiet", checkout, folder)
    return folder


def dated(changelog: str, version: str, today: date) -> str:
    """Return a changelog with a date in the heading of a version.

    Raises:
        ReleaseError: the version has no heading or no line, or lines still stand under *Unreleased*.
    """
    sections = re.split(r"^## ", changelog, flags=re.MULTILINE)[1:]
    bodies = {heading: body.strip() for heading, _, body in (each.partition("\n") for each in sections)}
    if bodies.get("[Unreleased]"):
        raise ReleaseError(f"CHANGELOG.md has lines under [Unreleased]: move them under [{version}]")
    if not any(body for heading, body in bodies.items() if heading.startswith(f"[{version}] - ")):
        raise ReleaseError(f"CHANGELOG.md says nothing under  ## [{version}] - {_PENDING}")
    return changelog.replace(f"\n## [{version}] - {_PENDING}\n", f"\n## [{version}] - {today.isoformat()}\n")


def commit_date(checkout: Path, source: Path, version: str) -> None:
    """Commit the date that the changelog of a clone has got, in the name that the checkout has for its author."""
    for key in ("user.name", "user.email"):
        run("git", "config", key, run("git", "config", key, folder=checkout).strip(), folder=source)
    run("git", "commit", "--quiet", "--all", "--message", f"Release {version}", folder=source)


def tag(checkout: Path, source: Path, version: str) -> None:
    """Take the commit of a clone into the checkout, and tag it.

    Raises:
        ReleaseError: something was committed meanwhile, or git fails.
    """
    run("git", "fetch", "--quiet", source, "HEAD", folder=checkout)
    run("git", "merge", "--quiet", "--ff-only", "FETCH_HEAD", folder=checkout)
    run("git", "tag", "--annotate", f"v{version}", "--message", f"Sourcebook {version}", folder=checkout)
