"""The difference between a source and the ledger."""

from dataclasses import dataclass

from sourcebook.errors import FailureClass
from sourcebook.files.listing import FileEntry, ListedFolder
from sourcebook.files.source import Source
from sourcebook.stages.raw_files.rules import KnownFile


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference between a source and the ledger."""

    source: Source
    error: str | None
    """Reason why the listing is incomplete; None where it is complete."""
    failure_class: FailureClass | None
    """Class of the error; None where the listing is complete."""
    files: int
    """Number of files in the listing."""
    to_read: list[FileEntry]
    """Files that are new, changed, returned or due for a retry."""
    known: dict[str, KnownFile]
    """The ledger's rows of the files to read, by URI; new files have none."""
    gone: list[str]
    """URIs of files that are gone; empty where the listing is incomplete."""
    new_folders: list[ListedFolder]
    """Folders of which every file is to be read."""
