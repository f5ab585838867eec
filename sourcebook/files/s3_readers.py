"""Readers of the objects of a bucket of S3, as their ACLs say."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Final

from sourcebook.config.permissions import grantee
from sourcebook.config.principals import GROUP, USER, parse_principal
from sourcebook.files.object_readers import ObjectReaders
from sourcebook.files.store_errors import StoreError, store_calls

_READING: Final = frozenset({"READ", "FULL_CONTROL"})
_WITHOUT: Final = frozenset({"NoSuchPublicAccessBlockConfiguration", "NotImplemented", "MethodNotAllowed"})
"""Errors of buckets, and of stores, that ignore no grants."""


class S3Readers(ObjectReaders):
    """Readers of objects in S3 during one look."""

    without_acls = "BucketOwnerEnforced"

    def _readers(self, bucket: str, key: str) -> Iterable[str]:
        grants = self._system.call_s3("get_object_acl", Bucket=bucket, Key=key)["Grants"]
        return (each for grant in grants if grant["Permission"] in _READING for each in self._named(grant))

    def _named(self, grant: Mapping[str, Any]) -> Iterable[str]:
        """Return the principals of a grant, by the settings or else by its own name."""
        given = grant["Grantee"]
        if uri := given.get("URI"):
            return () if self._ignores_groups else self._grantees.get(grantee(uri), (f"{GROUP}:s3:{grantee(uri)}",))
        names = [each for each in (given.get("ID"), given.get("EmailAddress")) if each]
        known = next((self._grantees[each] for each in names if each in self._grantees), None)
        return known if known is not None else [parse_principal(f"{USER}:s3:{each}") for each in names[:1]]

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
