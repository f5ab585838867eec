"""The settings of a Git repository as a source: `repositories:` of a collection."""

import re
from datetime import timedelta
from urllib.parse import quote, urlsplit

from pydantic import Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from sourcebook.config.field_types import ByteCount, Duration, Pattern, Words
from sourcebook.config.git_types import (
    FolderInRepository,
    GitUrl,
    Revision,
    WebTemplate,
    repository_uri,
    shown_url,
    web_template,
)
from sourcebook.config.permissions import SourcePermissions
from sourcebook.config.site_types import REFERENCE

_TOKEN = re.compile(r"gh[a-z]_\w+|github_pat_\w+|gl[a-z]+-[\w-]+|\w{32,}")
"""User names that are access tokens."""


class RepositorySource(SourcePermissions):
    """The files of a Git repository at a revision."""

    url: GitUrl = Field(
        description="a URL that git reads, such as https://github.com/org/handbook.git, git@example.com:handbook.git "
        'or a local path; a password in it as "https://user:${TOKEN}@example.com/handbook.git"'
    )
    """[Git repository](git.md) that is read. A password in the URL must be a variable of the environment."""
    revision: Revision | None = Field(
        default=None, description="a branch, a tag or a whole commit; unset: the default branch of the repository"
    )
    """Branch, tag, or commit with all of its digits."""
    path: FolderInRepository | None = Field(default=None, description="a folder of the repository, such as docs")
    """Folder of the repository; patterns are relative to it."""
    include: tuple[Pattern, ...] = Field(
        default=("**/*",), min_length=1, description='a list of patterns such as ["**/*.md"], at least one'
    )
    exclude: tuple[Pattern, ...] = Field(default=(), description='a list of patterns such as ["drafts/**"]')
    tags: Words = Field(default=(), description="a list of words such as [policy]; put numbers and yes or no in quotes")
    max_bytes: ByteCount = Field(
        default=100_000_000, description="a size from 1 to 1TiB, as a whole number of bytes or as 100MB or 1GiB"
    )
    web: WebTemplate | None = Field(
        default=None,
        description='a link such as "https://git.example.com/handbook/blob/{commit}/{path}"; unset: that of a known '
        "service",
    )
    """Link to a file in a web view, with the places `{commit}` and `{path}`; [known services](git.md#links) have
    theirs."""
    refresh: Duration = Field(
        default=timedelta(minutes=5), description="a duration such as 5m, 1h or 1d, after which the branch is looked at"
    )
    """Interval after which the repository is asked for its commit while `up` runs."""
    timeout: Duration = Field(
        default=timedelta(minutes=2), description="a duration such as 2m, for which git may make no progress"
    )
    """Maximum time for which git makes no progress."""

    @field_validator("url")
    @classmethod
    def _no_secret_in_clear(cls, url: str, info: ValidationInfo) -> str:
        """Refuse a literal password or token in a configuration file, which the database would contain in clear."""
        if not info.context or "://" not in url:
            return url
        login, at, _ = urlsplit(url).netloc.rpartition("@")
        user, colon, password = login.partition(":")
        if at and ((colon and not REFERENCE.fullmatch(password)) or _TOKEN.fullmatch(user)):
            raise PydanticCustomError("secret", "a secret is kept in the environment")
        return url

    @property
    def root(self) -> str:
        """The URI of the repository: `git+` and its URL without a user."""
        return repository_uri(self.url)

    @property
    def location(self) -> str:
        """The URI of the folder that is read; the URIs of its files begin with it."""
        return f"{self.root}/{quote(self.path, safe='/~!$&()*+,;=:@')}" if self.path else self.root

    @property
    def shown(self) -> str:
        """The URL as messages show it, without a user."""
        return shown_url(self.url)

    @property
    def link(self) -> str | None:
        """The link to a file in a web view, with the places `{commit}` and `{path}`; None where there is none."""
        return self.web or web_template(self.url)
