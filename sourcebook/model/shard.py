"""Shards: parts of one collection, cut by a hash of the items' URIs, that several workers bring up to date at once."""

import hashlib
import re
from dataclasses import dataclass
from typing import Final, Self

BUCKETS: Final = 4_096
"""Values of the hash of a URI; a shard takes a range of them. The database has the same hash in `item_bucket`."""
_WEB_HOST: Final = re.compile(r"https?://([^/?#]*)")
_KEY: Final = re.compile(r"(?P<collection>.+):(?P<number>[1-9]\d{0,2})of(?P<of>[1-9]\d{0,2})")


@dataclass(frozen=True, slots=True, order=True)
class Shard:
    """One shard of a collection that has several."""

    collection: str
    number: int
    """From 1 to `of`."""
    of: int
    """Number of the collection's shards; at least 2."""

    @property
    def key(self) -> str:
        """The key of its partition in Dagster: `handbook:2of4`."""
        return f"{self.collection}:{self.number}of{self.of}"

    @property
    def values(self) -> dict[str, int]:
        """The parameters `shard` and `shards` of a query."""
        return {"shard": self.number, "shards": self.of}

    def takes(self, uri: str) -> bool:
        """Return whether a file, a page or a site is in this shard; an attachment is where its message is."""
        return bucket_of(uri) * self.of // BUCKETS + 1 == self.number

    @classmethod
    def of_key(cls, key: str) -> tuple[str, "Self | None"]:
        """Return the collection of a partition's key, and its shard; None where the key is a whole collection's."""
        found = _KEY.fullmatch(key)
        if found is None:
            return key, None
        return found["collection"], cls(found["collection"], int(found["number"]), int(found["of"]))


def shards_of(collection: str, number: int) -> list[Shard]:
    """Return the shards of a collection; none where it is not cut."""
    return [] if number <= 1 else [Shard(collection, each, number) for each in range(1, number + 1)]


def is_first(shard: Shard | None) -> bool:
    """Return whether a run does what concerns a collection and its shards need not repeat: of shards, the first one."""
    return shard is None or shard.number == 1


def partition_keys(collection: str, number: int) -> list[str]:
    """Return the keys of the partitions of a collection: its name, or the keys of its shards."""
    return [shard.key for shard in shards_of(collection, number)] or [collection]


def bucket_of(uri: str) -> int:
    """Return the bucket of a URI, from 0 to 4,095; everything of a web host is in one, so that politeness is whole."""
    host = _WEB_HOST.match(uri)
    text = f"//{host[1].lower()}" if host else uri
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    return (digest[0] << 4) | (digest[1] >> 4)
