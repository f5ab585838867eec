"""Readers of the objects of a bucket of S3, as their ACLs say: a request for each that is asked for."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from sourcebook.config.permissions import grantee
from sourcebook.config.principals import GROUP, USER, parse_principal
from sourcebook.files.posix_readers import FilePermission
from sourcebook.files.source import Source
from sourcebook.files.store_errors import MissingInStoreError, StoreError, store_calls

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_AT_ONCE: Final = 10
"""Requests at once: as many connections as botocore keeps."""
_READING: Final = frozenset({"READ", "FULL_CONTROL"})
_SAID: Final = "acl"
"""State of an object whose ACL was read; that of the others is empty, as of files."""
_UNKNOWN: Final = FilePermission((), (), "")
_WITHOUT: Final = frozenset({"NoSuchPublicAccessBlockConfiguration", "NotImplemented", "MethodNotAllowed"})
"""Errors of buckets, and of stores, that ignore no grants."""


class ObjectReaders:
    """Readers of objects during one look.

    Args:
        source: a source in S3.
    """

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
                f"the bucket of {self._location} has no ACLs (BucketOwnerEnforced), so that nobody who asks for "
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
                grants = self._system.call_s3("get_object_acl", Bucket=bucket, Key=key)["Grants"]
                allowed = {each for grant in grants if grant["Permission"] in _READING for each in self._named(grant)}
        except MissingInStoreError:
            return _UNKNOWN  # it is gone since it was listed
        except StoreError as error:
            self._unread[path] = error.strerror or str(error)
            return _UNKNOWN
        return FilePermission(tuple(sorted(allowed)), (), _SAID)

    def _named(self, grant: Mapping[str, Any]) -> Iterable[str]:
        """Return the principals of a grant, by the settings or else by its own name."""
        given = grant["Grantee"]
        if uri := given.get("URI"):
            return () if self._ignores_groups else self._grantees.get(grantee(uri), (f"{GROUP}:s3:{grantee(uri)}",))
        names = [each for each in (given.get("ID"), given.get("EmailAddress")) if each]
        known = next((self._grantees[each] for each in names if each in self._grantees), None)
        return known if known is not None else [parse_principal(f"{USER}:s3:{each}") for each in names[:1]]

    @cached_property
    def _system(self) -> "AbstractFileSystem":
        return self._source.file_system()[0]

    @cached_property
    def _bucket(self) -> str:
        bucket: str = self._system.split_path(self._location)[0]
        return bucket

    @cached_property
    def _has_no_acls(self) -> bool:
        try:
            with store_calls(self._location):
                found = self._system.call_s3("get_bucket_ownership_controls", Bucket=self._bucket)
        except StoreError:  # without controls, or without the right to ask: the ACLs themselves are asked
            return False
        return any(each["ObjectOwnership"] == "BucketOwnerEnforced" for each in found["OwnershipControls"]["Rules"])

    @cached_property
    def _ignores_groups(self) -> bool:
        """Whether the bucket ignores what ACLs grant to all.

        Raises:
            StoreError: the store does not say.
        """
        try:
            with store_calls(self._location):
                found = self._system.call_s3("get_public_access_block", Bucket=self._bucket)
        except StoreError as error:
            if _codes(error) & _WITHOUT:
                return False
            raise
        return bool(found["PublicAccessBlockConfiguration"].get("IgnorePublicAcls"))


def _codes(error: BaseException | None) -> set[str]:
    """Return the codes of S3 of an error, and of those that led to it."""
    found = set()
    while error is not None:
        found.add(getattr(error, "response", {}).get("Error", {}).get("Code", ""))
        error = error.__cause__
    return found
