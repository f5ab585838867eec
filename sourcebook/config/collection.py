"""The settings of a collection: its sources, and how it is cut, embedded, parsed, transcribed and evaluated."""

import os
import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from pydantic import (
    BeforeValidator,
    Field,
    PrivateAttr,
    StringConstraints,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from sourcebook.config.answering import AnsweringSettings, UsageSettings
from sourcebook.config.document_types import DEFAULT_TYPES, DocumentType, TypeName
from sourcebook.config.evaluation import EvaluationSettings, GenerationSettings
from sourcebook.config.field_types import ByteCount, Duration, Pattern, Settings, Text, Words, expand_user
from sourcebook.config.membership import TakenDocuments, listed
from sourcebook.config.parsing import ParsingSettings
from sourcebook.config.passages import CONTEXT as CONTEXT
from sourcebook.config.passages import OF_THE_MACHINE as OF_THE_MACHINE
from sourcebook.config.passages import ChunkingSettings as ChunkingSettings
from sourcebook.config.passages import ContextPart as ContextPart
from sourcebook.config.passages import EmbeddingSettings as EmbeddingSettings
from sourcebook.config.permissions import ByPattern, Grantees, Permissions, Principals, SourcePermissions
from sourcebook.config.provider import AUTO_MODEL as AUTO_MODEL
from sourcebook.config.records import RecordSource
from sourcebook.config.redaction import RedactionSettings
from sourcebook.config.relations import RelationSettings
from sourcebook.config.repositories import RepositorySource
from sourcebook.config.searching import SearchSettings
from sourcebook.config.sites import SiteSource
from sourcebook.config.speech import SpeechSettings
from sourcebook.config.store_urls import has_password
from sourcebook.config.synonyms import SynonymSettings

MOST_ATTEMPTS = 15
"""Attempts in a row before an item is parked; with the pauses between them they take some four days."""


class RetrySettings(Settings):
    """How often an item that failed is tried again."""

    attempts: int = Field(
        default=MOST_ATTEMPTS, strict=True, ge=1, le=1000, description="a whole number from 1 to 1000"
    )
    """Attempts in a row before an item that fails for a reason outside of it is [parked](pipeline.md#failures)."""


class RemovalSettings(Settings):
    """The guard against emptying: how much a source may lose at once without being asked about it."""

    share: float = Field(
        default=0.3,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="a number from 0 to 1: a source that loses more than this share of its documents at once keeps "
        "them until they are back or somebody accepts it; 1 lets every loss pass",
    )
    """Share of its documents that a source may lose at once: where it loses more it [keeps
    them](source-empties.md)."""
    at_least: int = Field(
        default=5, strict=True, ge=1, le=1_000_000, description="a whole number from 1: fewer documents may always go"
    )
    """Lost documents from which `removals.share` counts."""

    def hold(self, lost: int, of: int) -> bool:
        """Return whether the loss of so many of so many documents of a source is held back."""
        return lost >= self.at_least and lost > self.share * of


class RetentionSettings(Settings):
    """How long removed rows, asked queries and the audit are kept."""

    removed: Duration | None = Field(default=None, description="a duration such as 12h, 30d or 8w")
    """Time for which removed documents, files and pages are kept; unset: `SOURCEBOOK_REMOVED_DAYS`. Seven nights are
    the least (fewer for a shorter time) that retention waits, by whatever the clock says."""
    queries: Duration | None = Field(default=None, description="a duration such as 30d; unset, no query is logged")
    """Time for which the [query log](query-log.md) keeps queries."""
    audit: Duration | None = Field(default=None, description="a duration such as 365d; unset, no reading is recorded")
    """Time for which the [audit](audit.md) keeps who asked what and saw which documents of the
    collection."""


POSIX: Final = "posix"
"""Value of `allowed` with which the file system says who sees a document."""
ACL: Final = "acl"
"""Value of `allowed` with which the ACL of an object says it."""
_STORES: Final = ("s3://", "s3a://", "gs://", "gcs://")
"""Beginnings of the roots whose objects have ACLs that can be asked for."""
MOST_SHARDS: Final = 64
"""Shards of one collection at most."""
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(://|::)")


class FilesSource(SourcePermissions):
    """A folder of files on this machine or at any fsspec URL."""

    allowed: Literal["posix", "acl"] | Principals | ByPattern | None = Field(  # type: ignore[assignment]  # one more
        default=None,
        description="a list of principals such as [group:board, user:anna@example.org]; a mapping from patterns to "
        'such lists, of which the first that fits a path decides, such as {"hr/**": [group:hr], "**": [everyone]}; '
        "posix: owner, group, mode and ACL of each file; acl: that of each object; unset: as the collection says",
    )
    """Principals who [see the documents](who-may-see-what.md#say-who-sees-a-document), or `posix`: [the permissions of
    each file](file-permissions.md)."""
    root: Text = Field(description="a folder, relative to this file, or a URL such as s3://bucket/folder")
    """Folder, or single file, that is read; or any [fsspec](https://filesystem-spec.readthedocs.io) URL: see [object
    stores](object-stores.md)."""
    include: tuple[Pattern, ...] = Field(
        default=("**/*",), min_length=1, description='a list of patterns such as ["**/*.md"], at least one'
    )
    """Globs of the paths to include: `*` within a folder, `**` across folders, `{a,b}` either. Names that begin with a
    dot are included only where a pattern spells the dot."""
    exclude: tuple[Pattern, ...] = Field(default=(), description='a list of patterns such as ["drafts/**"]')
    """Globs of the paths to exclude; the name of a folder excludes its whole content."""
    tags: Words = Field(default=(), description="a list of words such as [policy]; put numbers and yes or no in quotes")
    """Words attached to every document of the source, besides its own: see [tags](passages.md#tags)."""
    max_bytes: ByteCount = Field(
        default=100_000_000, description="a size from 1 to 1TiB, as a whole number of bytes or as 100MB or 1GiB"
    )
    """Largest file that is read; larger ones are listed as skipped. Recordings have `speech.max_bytes` instead."""
    follow_links: bool = Field(
        default=False, strict=True, description="true or false: whether links that lead out of the root are followed"
    )
    """Whether symbolic links that lead out of the root are followed; otherwise they are listed as skipped. See
    [symbolic links](#symbolic-links)."""
    grantees: Grantees = Field(
        default={}, description="a mapping such as {AllUsers: [everyone], 79a59df900b9…: [group:hr]}, for allowed: acl"
    )
    """Principals that the grantees of an ACL are, with `allowed: acl`: see [permissions of
    objects](object-permissions.md)."""
    acl_refresh: Duration = Field(
        default=timedelta(minutes=10),
        description="a duration such as 1m or 1h, after which ACLs are asked for again",
    )
    """Time after which all ACLs are asked for again."""
    _folder: Path = PrivateAttr(default_factory=Path.cwd)

    @field_validator("root")
    @classmethod
    def _no_password_in_clear(cls, root: str, info: ValidationInfo) -> str:
        """Refuse a password in a configuration file; settings in the ledger may have one of an earlier version."""
        if info.context and has_password(root):
            raise PydanticCustomError(
                "password", "the package of its file system reads credentials from the environment"
            )
        return root

    def model_post_init(self, context: Any, /) -> None:
        """Keep the folder of the configuration file: `root` is relative to it."""
        if isinstance(context, dict) and "folder" in context:
            self._folder = context["folder"]

    @model_validator(mode="after")
    def _says_what_can_be_asked(self) -> Self:
        if self.allowed == POSIX and (self.documents_decide or not self.is_local):
            raise PydanticCustomError("posix", "posix is for folders of this machine, without documents_decide")
        if self.allowed == ACL and (self.documents_decide or not self.root.startswith(_STORES)):
            raise PydanticCustomError("posix", "acl is for roots such as s3://bucket/folder, without documents_decide")
        if self.grantees and self.allowed != ACL:
            raise PydanticCustomError("posix", "grantees are for allowed: acl")
        return self

    def permissions(self, root: str, end: str = "") -> dict[str, Any] | None:
        """Return the permissions as the ledger keeps them; with posix and acl, it has those of each file."""
        if self.allowed in (POSIX, ACL):
            said = {"rules": [], "denied": list(self.denied), "by_document": False, "by_item": self.allowed}
            return said | ({"grantees": self.grantees} if self.grantees else {})
        return super().permissions(root, end)

    @property
    def is_local(self) -> bool:
        """Whether the root is a folder of this machine."""
        return _URL.match(self.root) is None or self.root.startswith("file://")

    @property
    def location(self) -> str:
        """The absolute path of the folder with symbolic links resolved, or the URL unchanged."""
        if not self.is_local:
            return self.root
        return os.path.realpath(self._folder / expand_user(self.root.removeprefix("file://")))


_IDENTITIES: Final = {
    "files": ("root", "this root already"),
    "sites": ("url", "this URL already"),
    "repositories": ("url", "this URL and path already; another revision is for another collection"),
    "records": ("name", "this name already"),
}
"""Key of each kind of source that names its place, and the words where another one has it."""


class CollectionSettings(Permissions):
    """One collection: its sources and the settings of every stage."""

    files: tuple[FilesSource, ...] = Field(default=(), description="a list of folders, each `- root: …`")
    sites: tuple[SiteSource, ...] = Field(default=(), description="a list of web sites, each `- url: …`")
    repositories: tuple[RepositorySource, ...] = Field(
        default=(), description="a list of Git repositories, each `- url: …`"
    )
    records: tuple[RecordSource, ...] = Field(
        default=(),
        description="a list of tables, programs and APIs, each `- name: …` with `table:`, `python:`, `dlt:`, `rest:` "
        "or `pushed:`",
    )
    taken: Annotated[tuple[TakenDocuments, ...], BeforeValidator(listed)] = Field(
        default=(),
        alias="from",
        description="a rule such as {collection: handbook, tags: [policy]}, or a list of rules",
    )
    chunking: ChunkingSettings = Field(
        default=ChunkingSettings(),
        description="a mapping such as {tokens: 256, overlap: 0, context: [title, headings]}",
    )
    embedding: EmbeddingSettings = Field(
        default=EmbeddingSettings(), description="a mapping such as {model: all-MiniLM-L6-v2, precision: auto}"
    )
    generations: GenerationSettings = Field(
        default=GenerationSettings(),
        description="a mapping such as {activate: automatic, gate: {ndcg@10: -0.01}, keep: 1}",
    )
    parsing: ParsingSettings = Field(
        default=ParsingSettings(), description="a mapping such as {ocr: true, timeout: 120s, memory: 4GB}"
    )
    speech: SpeechSettings = Field(
        default=SpeechSettings(), description="a mapping such as {engine: openai-whisper, model: base, language: auto}"
    )
    retention: RetentionSettings = Field(default=RetentionSettings(), description="a mapping such as {removed: 30d}")
    removals: RemovalSettings = Field(
        default=RemovalSettings(), description="a mapping such as {share: 0.3, at_least: 5}"
    )
    retries: RetrySettings = Field(default=RetrySettings(), description="a mapping such as {attempts: 15}")
    evaluation: EvaluationSettings = Field(
        default=EvaluationSettings(),
        description="a mapping such as {queries: queries.jsonl, qrels: qrels.tsv, floors: {ndcg@10: 0.6}}",
    )
    shards: int = Field(
        default=1,
        strict=True,
        ge=1,
        le=MOST_SHARDS,
        description=f"a whole number from 1 to {MOST_SHARDS}: the parts that several workers bring up to date at once",
    )
    """[Shards](scaling.md#shards) of the collection."""
    usage: UsageSettings = Field(
        default=UsageSettings(), description="a mapping such as {prices: {text-embedding-3-small: 0.02}}"
    )

    redaction: RedactionSettings | None = Field(
        default=None, description="a mapping such as {categories: [email, phone, token]}; unset, nothing is redacted"
    )
    answering: AnsweringSettings | None = Field(
        default=None, description="a mapping such as {model: gpt-4o-mini, max_cost: 0.05}; unset, no model is asked"
    )

    types: dict[TypeName, DocumentType] = Field(
        default=DEFAULT_TYPES,
        max_length=50,
        description="a mapping from names of types, of small letters, digits, - and _, to "
        "{paths: ['adr/**'], fields: [status, date]}, at most 50",
    )
    """[Types of documents](relations.md#types) by name."""
    relations: RelationSettings = Field(
        default=RelationSettings(),
        description="a mapping such as {patterns: [{match: 'RFC (\\d+)', target: 'rfc-{1}'}], fields: {…}}",
    )

    synonyms: SynonymSettings = Field(
        default=SynonymSettings(),
        description="a mapping such as {groups: [[car, automobile]], one_way: {laptop: [ThinkPad]}}",
    )

    search: SearchSettings = Field(
        default=SearchSettings(), description="a mapping such as {limit: 10, neighbours: 1, min_relevance: 0.2}"
    )

    description: Annotated[Text, StringConstraints(max_length=1_000)] | None = Field(
        default=None, description="a text of at most 1000 characters that says what is in it, by which agents choose"
    )
    """Content of the collection in words: lists in every face show it, and agents choose collections by it."""

    @field_validator("files", "sites", "repositories", "records")
    @classmethod
    def _each_source_once(cls, sources: tuple[Any, ...], info: ValidationInfo) -> tuple[Any, ...]:
        key, identity = _IDENTITIES[str(info.field_name)]
        first: dict[str, int] = {}
        for index, source in enumerate(sources):
            place = source.location.rstrip("/") if key == "root" else source.location
            if (same := first.setdefault(place, index)) != index:
                known = f"{info.field_name}[{same}] has {identity}"
                raise PydanticCustomError("same_source", "{known}", {"known": known, "inside": (index, key)})
        return sources

    @model_validator(mode="after")
    def _some_source(self) -> Self:
        if not (self.files or self.sites or self.repositories or self.records or self.taken):
            raise PydanticCustomError(
                "no_source", "it has neither files nor sites nor repositories nor records nor from"
            )
        return self

    @model_validator(mode="after")
    def _redacts_its_own(self) -> Self:
        if self.taken and self.redaction is not None and self.redaction.at == "ingest":
            raise PydanticCustomError(
                "redaction_of_taken",
                "redaction.at: ingest is for the collections that make the documents: set it for those named by from, "
                "or write at: output",
            )
        return self
