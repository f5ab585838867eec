"""The check of the git command, which collections with Git repositories need."""

import re
import subprocess
from typing import TYPE_CHECKING, Final

from sourcebook.admin.doctor.check import Check, fail, ok
from sourcebook.errors import ListingError
from sourcebook.git.command import INSTALL, find_git

if TYPE_CHECKING:
    from sourcebook.config.loading import Configuration

OLDEST_GIT: Final = (2, 29)


def check_git(configuration: "Configuration | None") -> list[Check]:
    """Check the git command where a collection has a repository; no check otherwise."""
    if configuration is None or not any(each.repositories for each in configuration.collections.values()):
        return []
    try:
        git = find_git()
        said = subprocess.run([git, "--version"], capture_output=True, text=True, timeout=30, check=True).stdout.strip()
    except ListingError as error:
        return [fail("git", str(error), INSTALL)]
    except (OSError, subprocess.SubprocessError) as error:
        return [fail("git", f"it does not start: {error}", INSTALL)]
    version = re.search(r"(\d+)\.(\d+)", said)
    if version is None or (int(version[1]), int(version[2])) < OLDEST_GIT:
        return [fail("git", said, f"install git {'.'.join(map(str, OLDEST_GIT))} or newer")]
    return [ok("git", f"{said.removeprefix('git version ')} at {git}")]
