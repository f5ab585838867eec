"""The settings of files that belong to records: where they may lie, and the lists of attachments."""

import os
from pathlib import Path
from typing import Self

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from sourcebook.config.field_types import Settings, Text
from sourcebook.config.paths import expand_user
from sourcebook.config.sites import RequestSettings


class FilePlace(Settings):
    """The place below which the files of records lie: nothing else is read, whatever a record says."""

    root: Text = Field(
        description="a folder, an fsspec URL such as s3://bucket/files, or a URL such as https://wiki.example.com/"
    )
    """Folder, fsspec URL or web address below which files lie."""
    request: RequestSettings = Field(
        default=RequestSettings(), description="a mapping such as {headers: {Authorization: Bearer ${TOKEN}}}"
    )
    """Headers, proxy and limits of requests to a web address."""

    @property
    def is_web(self) -> bool:
        """Whether files are fetched by HTTP."""
        return self.root.startswith(("http://", "https://"))

    @field_validator("root")
    @classmethod
    def _found_from_the_file(cls, root: str, info: ValidationInfo) -> str:
        if not info.context or "://" in root:
            return root
        folder: Path = info.context["folder"]
        return os.path.realpath(folder / expand_user(root))


class AttachmentSettings(Settings):
    """Files that lie in a list of their record; each becomes a document of its own, which goes with it."""

    field: Text = Field(description="the field with a list of mappings, such as attachments")
    """Field with a list of [attachments](records.md#files-and-attachments)."""
    name: Text = Field(default="name", description="their field with the file name")
    """Field of an attachment with its file name."""
    media_type: Text | None = Field(default=None, description="their field with the media type; unset: by the name")
    """Field of an attachment with its media type; unset: by name and content."""
    content: Text | None = Field(default=None, description="their field with the bytes")
    """Field of an attachment with its bytes, or their base64."""
    url: Text | None = Field(default=None, description="their field with a path or URL below files.root")
    """Field of an attachment with a path or URL below `files.root`, in place of `content`."""

    @model_validator(mode="after")
    def _one_origin(self) -> Self:
        if (self.content is None) == (self.url is None):
            raise PydanticCustomError("attachment", "attachments have either content or url")
        return self
