"""Make a Git repository of `files/` with one commit."""

import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
REPOSITORY = HERE / "repository"


def git(*arguments: str) -> None:
    """Run git in the repository."""
    name = ["-c", "user.name=Billing", "-c", "user.email=billing@localhost"]
    subprocess.run(["git", *name, "-C", str(REPOSITORY), *arguments], check=True)


shutil.copytree(HERE / "files", REPOSITORY)
git("init", "--quiet", "--initial-branch", "main")
git("add", ".")
git("commit", "--quiet", "--message", "Bill whole cents")
