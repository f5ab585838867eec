"""Readers of the objects of a bucket, as their ACLs say: a request for each that is asked for."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final

from sourcebook.files.posix_readers import FilePermission
from sourcebook.files.source import Source
from sourcebook.files.store_errors import MissingInStoreError, StoreError, store_calls

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_AT_ONCE: Final = 10
"""Requests at once: as many connections as botocore keeps."""
_SAID: Final = "acl"
"""State of an object whose ACL was read; that of the others is empty, as of files."""
_UNKNOWN: Final = FilePermission((), (), "")


class ObjectReaders(ABC):
    """Readers of objects during one look.

    Args:
        source: a source in a store whose objects have ACLs.
    """

    without_acls: ClassVar[str]
    """Name that the store has for a bucket without ACLs."""

    def __init__(self, source: Source) -> None:
        self._source, self._grantees = source, source.grantees or {}
        self._location = source.location
        self._unread: dict[str, str] = {}
        self._asked = 0

    @property
    def error(self) -> str | None:
        """Why nobody sees some of the objects that were asked for."""
        if not self._asked:
            return None
        if self._has_no_acls:
            return (
                f"the bucket of {self._location} has no ACLs ({self.without_acls}), so that nobody who asks for "
                "principals sees its documents: say in `allowed` who does"
            )
        if not self._unread:
            return None
        path, reason = next(iter(self._unread.items()))
        return (
            f"who reads {len(self._unread):,} of {self._asked:,} objects is not known, so that nobody who asks for "
            f"principals sees them, such as {path}: {reason}"
        )

    def permissions(self, paths: Sequence[str]) -> list[FilePermission]:
        """Ask for the ACL of each object, and return who may read it; nobody where the store does not say it."""
        self._asked += len(paths)
        if not paths or self._has_no_acls:
            return [_UNKNOWN] * len(paths)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return list(pool.map(self._read, paths))

    def _read(self, path: str) -> FilePermission:
        bucket, key, _ = self._system.split_path(path)
        try:
            with store_calls(self._location):
                allowed = {*self._readers(bucket, key)}
        except MissingInStoreError:
            return _UNKNOWN  # it is gone since it was listed
        except StoreError as error:
            self._unread[path] = error.strerror or str(error)
            return _UNKNOWN
        return FilePermission(tuple(sorted(allowed)), (), _SAID)

    @abstractmethod
    def _readers(self, bucket: str, key: str) -> Iterable[str]:
        """Yield the principals whom the ACL of an object lets read it."""

    @cached_property
    @abstractmethod
    def _has_no_acls(self) -> bool:
        """Whether objects of the bucket have no ACLs."""

    @cached_property
    def _system(self) -> "AbstractFileSystem":
        return self._source.file_system()[0]

    @cached_property
    def _bucket(self) -> str:
        bucket: str = self._system.split_path(self._location)[0]
        return bucket
