"""A real Git repository for tests: made with the git command, without the settings of whoever runs the tests."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

_WHO = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.com",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
}


@dataclass(frozen=True)
class GitRepository:
    """A repository with a checkout to write in."""

    folder: Path

    @classmethod
    def create(cls, folder: Path) -> "GitRepository":
        folder.mkdir(parents=True)
        made = cls(folder)
        made.git("init", "--quiet", "--initial-branch=main")
        return made

    @property
    def url(self) -> str:
        return f"file://{self.folder}"

    def git(self, *arguments: str | bytes) -> str:
        """Run git in the checkout and return what it printed."""
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, env={**os.environ, **_WHO}, check=True, capture_output=True
        )
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def write(self, name: str | bytes, content: str | bytes) -> Path:
        path = self.folder / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def commit(self, **files: str) -> str:
        """Commit everything, with these Markdown files in `docs` written before, and return the commit."""
        for name, text in files.items():
            self.write(f"docs/{name}.md", text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "A change")
        return self.git("rev-parse", "HEAD")
