"""Arguments of the tools that add and remove sources and documents."""

from typing import Any, Final, Self

from pydantic import AliasChoices, Field, StrictBool, StrictInt, model_validator

from sourcebook.server.mcp.arguments import Waiting
from sourcebook.server.request_models import Sent

_MOST_DOCUMENTS: Final = 100
_MOST_PATHS: Final = 100
_LONGEST_PATH: Final = 4_096
_LONGEST_TEXT: Final = 1_000_000
"""Characters of a document that an agent sends."""
_COLLECTION: Final = "Made where it is missing; `default` by default."


class NewDocument(Sent):
    """A document that an agent sends."""

    name: str = Field(
        min_length=1, max_length=255, description="Such as notes/gauges.md; the same name is its next version."
    )
    text: str = Field(min_length=1, max_length=_LONGEST_TEXT, description="Markdown, or what the name's ending says.")
    tags: list[str] = Field(default=[], description="Words to filter searches by.")
    title: str | None = Field(default=None, min_length=1, max_length=1_000)


class IngestArguments(Waiting):
    """Arguments of `ingest_documents`."""

    path: str | None = Field(
        default=None,
        min_length=1,
        max_length=_LONGEST_PATH,
        validation_alias=AliasChoices("path", "folder"),
        description="A folder, a file, or a URL of one page or Git repository.",
    )
    paths: list[str] = Field(default=[], max_length=_MOST_PATHS, description="Several of them.")
    documents: list[NewDocument] | None = Field(
        default=None, min_length=1, max_length=_MOST_DOCUMENTS, description="Or documents as text."
    )
    collection: str | None = Field(default=None, description=_COLLECTION)
    recursive: StrictBool = Field(default=True, description="Folders in the folder, too.")
    file_patterns: list[str] = Field(default=[], max_length=100, description="Only such files: *.md.")
    tags: list[str] = Field(default=[], max_length=100, description="Tags of all of them.")
    title: str | None = Field(
        default=None, min_length=1, max_length=1_000, description="Title of the one document or file."
    )
    allowed: list[str] | None = Field(
        default=None, min_length=1, description="Who sees the documents: group:board, user:anna@example.org."
    )
    transcription_language: str | None = Field(default=None, description="Language of recordings, such as de.")

    @model_validator(mode="after")
    def _check_one(self) -> Self:
        if self.documents is not None and self.places:
            raise ValueError("give documents or paths, not both")
        if self.allowed is not None and self.documents is None:
            raise ValueError("allowed is for documents that are sent")
        if self.title is not None and len(self.documents or self.places) != 1:
            raise ValueError("a title is for one document: a text that is sent, or the path of a file")
        return self

    @property
    def places(self) -> list[str]:
        """The folders, files and URLs."""
        return list(dict.fromkeys([*([] if self.path is None else [self.path]), *self.paths]))


class CrawlArguments(Waiting):
    """Arguments of `crawl_website`; of a known site those that are given are its new settings."""

    url: str = Field(min_length=1, max_length=_LONGEST_PATH, description="Page, sitemap or llms.txt to begin with.")
    collection: str | None = Field(default=None, description=_COLLECTION)
    max_pages: StrictInt | None = Field(default=None, ge=1, le=10_000, description="100 by default.")
    max_depth: StrictInt | None = Field(default=None, ge=0, le=1_000, description="Links from the first page; 10.")
    follow_links: StrictBool | None = Field(default=None, description="False: only the listed pages.")
    include_patterns: list[str] | None = Field(default=None, min_length=1, description="Globs of paths: /docs/**.")
    exclude_patterns: list[str] | None = Field(default=None, description="Globs of paths.")
    js_enabled: StrictBool | None = Field(
        default=None, description="Open pages in a browser: always, never, or where one has no text (default)."
    )
    rate: float | None = Field(default=None, gt=0, le=1_000, description="Requests a second; 1.")
    batch_size: StrictInt | None = Field(default=None, ge=1, le=64, description="Requests at once; 4.")
    scope: str | None = Field(default=None, description="same_host or same_domain.")
    refresh: str | None = Field(default=None, description="Time between crawls, such as 12h.")
    tags: list[str] | None = Field(default=None, description="Tags of its pages.")
    private_networks: list[str] | None = Field(default=None, description="Networks that its names may lead to.")
    respect_robots_txt: StrictBool = Field(default=True, description="True.")

    @model_validator(mode="after")
    def _check_robots(self) -> Self:
        if not self.respect_robots_txt:
            raise ValueError(
                "respect_robots_txt: an agent's crawl keeps the rules of the site; who runs it may set "
                "politeness.respect_robots in sourcebook.yaml"
            )
        return self

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the site that are given, as `sites` has them."""
        politeness = {"requests_per_second": self.rate, "concurrency": self.batch_size}
        given = {
            "max_pages": self.max_pages,
            "max_depth": self.max_depth,
            "follow_links": self.follow_links,
            "include": self.include_patterns,
            "exclude": self.exclude_patterns,
            "render": None if self.js_enabled is None else "always" if self.js_enabled else "never",
            "scope": self.scope,
            "refresh": self.refresh,
            "tags": self.tags,
            "request": None if self.private_networks is None else {"private_networks": self.private_networks},
            "politeness": {name: value for name, value in politeness.items() if value is not None} or None,
        }
        return {name: value for name, value in given.items() if value is not None}


class RemoveSourceArguments(Waiting):
    """Arguments of `remove_source`."""

    location: str = Field(
        min_length=1,
        max_length=_LONGEST_PATH,
        validation_alias=AliasChoices("location", "path", "url"),
        description="Its path or URL, from list_sources.",
    )
    collection: str | None = Field(default=None, description="Its collection, where several have it.")
