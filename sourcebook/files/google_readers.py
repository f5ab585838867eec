"""Readers of the objects of a bucket of Google Cloud Storage, as their ACLs say."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Final

from sourcebook.config.principals import GROUP, parse_principal
from sourcebook.files.object_readers import ObjectReaders
from sourcebook.files.store_errors import StoreError, store_calls

_ALL: Final = frozenset({"allUsers", "allAuthenticatedUsers"})
_BY_ADDRESS: Final = frozenset({"user", "group"})
"""Kinds of entities that are principals by their address."""


class GoogleReaders(ObjectReaders):
    """Readers of objects in Google Cloud Storage during one look."""

    without_acls = "uniform bucket-level access"

    def _readers(self, bucket: str, key: str) -> Iterable[str]:
        found = self._system.call("GET", "b/{}/o/{}/acl", bucket, key, json_out=True)
        return (each for grant in found.get("items", ()) for each in self._named(grant))

    def _named(self, grant: Mapping[str, str]) -> Iterable[str]:
        """Return the principals of a grant, by the settings or else by the address or the name that it has.

        Each role of an ACL of an object, READER or OWNER, reads.
        """
        entity, address = grant["entity"], grant.get("email", "")
        if entity in _ALL and self._ignores_all:
            return ()
        known = next((self._grantees[each] for each in (entity, address) if each in self._grantees), None)
        if known is not None:
            return known
        kind = entity.partition("-")[0]
        return [parse_principal(f"{kind}:{address}" if address and kind in _BY_ADDRESS else f"{GROUP}:gs:{entity}")]

    @cached_property
    def _has_no_acls(self) -> bool:
        try:
            return bool(self._settings.get("uniformBucketLevelAccess", {}).get("enabled"))
        except StoreError:  # without the right to ask: the ACLs themselves are asked
            return False

    @cached_property
    def _ignores_all(self) -> bool:
        return self._settings.get("publicAccessPrevention") == "enforced"

    @cached_property
    def _settings(self) -> Mapping[str, Any]:
        """Settings of the bucket about access.

        Raises:
            StoreError: the store does not say.
        """
        with store_calls(self._location):
            found = self._system.call("GET", "b/{}", self._bucket, fields="iamConfiguration", json_out=True)
        return dict(found.get("iamConfiguration", {}))
