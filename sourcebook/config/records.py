"""The settings of records as a source: `records:` of a collection, which makes a document of each row."""

import os
import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self
from urllib.parse import parse_qsl, quote, urlsplit

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from sourcebook.config.field_types import ByteCount, CollectionName, Duration, Settings, Text, Words
from sourcebook.config.paths import expand_user
from sourcebook.config.permissions import Principals, SourcePermissions
from sourcebook.config.record_apis import DltSettings, RestSettings
from sourcebook.config.record_code import CodeSettings, without_secrets
from sourcebook.config.record_files import AttachmentSettings, FilePlace
from sourcebook.config.site_types import REFERENCE

SCHEME: Final = "record://"
"""Beginning of the URIs of records."""
_LOCAL_DATABASE: Final = re.compile(r"((?:sqlite|duckdb)(?:\+\w+)?:///)(.+)")
_SAFE: Final = "~!$&'()*+,;=:@"
_PLAIN: Final = re.compile(r"[A-Za-z0-9._~-]*").fullmatch
_CODE: Final = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*|[A-Za-z][\w.-]*")


def _by_name(fields: Any) -> Any:
    """Return a list of fields as a mapping from each to itself."""
    return {name: name for name in fields} if isinstance(fields, list | tuple) else fields


class TableSettings(Settings):
    """A table, a view or a query of a database, or a Parquet file."""

    url: Text = Field(
        description="a database URL such as ${NOTES_DATABASE_URL} or sqlite:///notes.db, or the path or URL of a "
        ".parquet file"
    )
    """Database URL of SQLAlchemy, `duckdb:///file.db`, or a Parquet file; passwords as `${NAME}`."""
    name: Text | None = Field(default=None, description="the name of a table or view, such as notes")
    """Table or view whose rows are the records."""
    namespace: Text | None = Field(default=None, alias="schema", description="the schema of the table, such as public")
    """Schema of the table."""
    query: Text | None = Field(default=None, description="a query such as SELECT id, body FROM notes, in place of name")
    """Query whose rows are the records."""

    @field_validator("url")
    @classmethod
    def _found_from_the_file(cls, url: str, info: ValidationInfo) -> str:
        """Refuse a literal password, and make the path of a local file absolute."""
        if not info.context:
            return url
        parts = urlsplit(url if "://" in url else "")
        without_secrets({"password": parts.password, **dict(parse_qsl(parts.query))}, info)
        if REFERENCE.search(url):
            return url
        folder: Path = info.context["folder"]
        if database := _LOCAL_DATABASE.fullmatch(url):
            is_memory = database[2].startswith((":memory:", "file:"))
            return url if is_memory else database[1] + os.path.realpath(folder / expand_user(database[2]))
        return url if "://" in url else os.path.realpath(folder / expand_user(url))

    @property
    def is_parquet(self) -> bool:
        """Whether the table is a Parquet file."""
        return urlsplit(self.url).path.lower().endswith((".parquet", ".pq"))

    @model_validator(mode="after")
    def _one_table(self, info: ValidationInfo) -> Self:
        if info.context and self.name and "." in self.name and self.namespace is None:
            raise PydanticCustomError("record_table", "a schema stands beside the name: {schema: harbour, name: notes}")
        if (self.name is None) == (self.query is None) and not self.is_parquet:
            raise PydanticCustomError("record_table", "a table has either a name or a query")
        return self


class ProgramSettings(CodeSettings):
    """A class that yields records."""

    use: Annotated[Text, Field(pattern=f"^(?:{_CODE.pattern})$")] = Field(
        description="module:Class, or the name of an entry point in the group sourcebook.sources; of LlamaIndex and "
        "LangChain their readers and loaders, such as llama_index.readers.notion:NotionPageReader"
    )
    """[Program](record-programs.md#programs) that yields records; `python: module:Class` is short for it."""
    load: dict[str, Any] = Field(
        default={}, description="a mapping from arguments of a reader's method load_data to values"
    )
    """Arguments of `load_data` of a reader of LlamaIndex."""

    @field_validator("load")
    @classmethod
    def _no_secret_in_load(cls, load: Any, info: ValidationInfo) -> Any:
        return without_secrets(load, info)


class RecordSource(SourcePermissions):
    """Records, each of which is a document: rows of a table, or what a program or an API yields."""

    name: CollectionName = Field(description="a name of letters, digits, `_` and `-`, with which the URIs begin")
    """Name of the source of [records](records.md), with which their URIs begin: `record://NAME/KEY`."""
    table: TableSettings | None = Field(
        default=None, description="a mapping such as {url: ${NOTES_DATABASE_URL}, name: notes}"
    )
    python: ProgramSettings | None = Field(
        default=None, description="module:Class, or a mapping such as {use: my_notes:Notes, arguments: {space: HR}}"
    )
    dlt: DltSettings | None = Field(
        default=None, description="module:function of a source of dlt, or a mapping such as {use: my_crm:contacts}"
    )
    rest: RestSettings | None = Field(
        default=None, description="a mapping such as {client: {base_url: …, paginator: …}, resources: [issues]}"
    )
    pushed: bool = Field(
        default=False, strict=True, description="true where assets and programs of yours hand the records over"
    )
    """Whether [assets](record-programs.md#assets) and programs of yours hand the records over."""
    key: Text = Field(description="the field that identifies a record, such as id")
    """Field that identifies a record."""
    title: Text | None = Field(default=None, description="the field with the title")
    """Field with the title."""
    text: Text | None = Field(default=None, description="the field with the text, or with the bytes of a file")
    """Field with the text, or with the bytes of a file."""
    template: str | None = Field(
        default=None, max_length=100_000, description='a Jinja template such as "{{ body }}", in place of text'
    )
    """Jinja template over the fields."""
    format: Literal["markdown", "html", "plain"] = Field(default="markdown", description="markdown, html or plain")
    """Format of the text."""
    media_type: Text | None = Field(
        default=None, description="the field with the media type or the file name of bytes in text"
    )
    """Field with the media type or the file name of bytes in `text`."""
    file: Text | None = Field(
        default=None, description="the field with the path or URL of a file below files.root, in place of text"
    )
    """Field with the path or URL of a [file](records.md#files-and-attachments)."""
    files: FilePlace | None = Field(
        default=None, description="a mapping such as {root: ./attachments} or {root: https://wiki.example.com/}"
    )
    attachments: AttachmentSettings | None = Field(
        default=None, description="a mapping such as {field: attachments, name: filename, url: link}"
    )
    url: Text | None = Field(default=None, description="the field with the link that citations name")
    """Field with the link that citations name."""
    updated: Text | None = Field(
        default=None, description="the field with the time or number that rises with each change of a record"
    )
    """Field that rises with each change."""
    deleted: Text | None = Field(default=None, description="the field that is true, or not empty, of deleted records")
    """Field that is true, or not empty, of deleted records."""
    language: Text | None = Field(default=None, description="the field with the language as a code such as en")
    """Field with the language."""
    labels: Text | None = Field(default=None, description="the field with tags: a list, or words with commas")
    """Field with tags."""
    metadata: Annotated[dict[Text, Text], BeforeValidator(_by_name)] = Field(
        default={}, description="a list of fields, or a mapping from names of metadata to fields"
    )
    """Fields that filters compare."""
    allowed: Text | Principals | None = Field(  # type: ignore[assignment]  # no patterns: a record has no path
        default=None,
        description="the field with the principals who see a record, or a list of principals such as [group:board]; a "
        "name in the field that is no principal means that group; unset: everyone",
    )
    """Principals who [see the records](who-may-see-what.md#say-who-sees-a-document)."""
    tags: Words = Field(default=(), description="a list of words such as [notes]; put numbers and yes or no in quotes")
    """Words attached to every document of the source."""
    max_bytes: ByteCount = Field(
        default=10_000_000, description="a size such as 10MB: a record with a longer text is skipped"
    )
    """Largest record; larger ones are listed as skipped."""
    max_records: int = Field(
        default=1_000_000, strict=True, ge=1, description="a whole number: a source with more records is not believed"
    )
    """Most records of the source: one with more is not believed."""
    refresh: Duration = Field(
        default=timedelta(minutes=5), description="a duration such as 30s, 5m or 1d, after which it is looked at again"
    )
    """Interval after which the source is looked at while `up` runs."""
    depends_on: Words = Field(
        default=(), description="a list of Dagster asset keys such as [warehouse/notes], whose runs wake this source"
    )
    """Keys of Dagster assets whose materializations make the source due."""

    @model_validator(mode="after")
    def _one_origin_and_text(self) -> Self:
        origins = (self.table, self.python, self.dlt, self.rest)
        if sum(each is not None for each in origins) + self.pushed != 1:
            raise PydanticCustomError(
                "record_origin", "records come from one of table, python, dlt, rest and pushed: true"
            )
        written = sum(each is not None for each in (self.text, self.template, self.file))
        if written != 1 and (written or self.python is None):  # a reader has a field `text`
            raise PydanticCustomError("record_text", "a record has either text or template or file")
        named = self.file or (self.attachments and self.attachments.url)
        if named is not None and self.files is None:
            raise PydanticCustomError("record_files", "files are read below files.root alone, which is missing")
        return self

    @property
    def api(self) -> DltSettings | RestSettings | None:
        """The source that dlt reads; None for other origins."""
        return self.dlt or self.rest

    def permissions(self, root: str, end: str = "") -> dict[str, Any] | None:
        """Return the permissions as the ledger keeps them; with a field, each record says its own."""
        if isinstance(self.allowed, str):
            return {"rules": [], "denied": list(self.denied), "by_document": False, "by_record": True}
        return super().permissions(root, end)

    @property
    def location(self) -> str:
        """The URI with which those of its records begin."""
        return f"{SCHEME}{self.name}"

    def uri(self, key: str) -> str:
        """Return the URI of the record with a key."""
        return f"{self.location}/{key if _PLAIN(key) else quote(key, safe=_SAFE)}"
