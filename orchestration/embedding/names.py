"""The names that Sourcebook has in a code location of others: each begins with a prefix."""

import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import dagster as dg

from sourcebook.errors import ConfigurationError

_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Names:
    """The names of definitions under a prefix.

    Args:
        prefix: beginning of every name: `kb_ingest`, and the asset `kb/documents`.
        group: group of all assets; None for their own groups, under the prefix.
        own: the keys of the assets without the prefix.

    Raises:
        ConfigurationError: Dagster takes no such name.
    """

    prefix: str
    group: str | None
    own: frozenset[dg.AssetKey]

    def __post_init__(self) -> None:
        """Refuse what Dagster would refuse in the first of many names."""
        for word, name in (("prefix", self.prefix), ("group", self.group)):
            if name is not None and not _PREFIX.fullmatch(name):
                raise ConfigurationError(f"{word} is {name!r}: write letters, digits and _, beginning with a letter")

    def name(self, plain: str) -> str:
        """Return the name of a job, sensor, schedule, check, pool, resource or kind of partition."""
        return f"{self.prefix}_{plain}"

    def key(self, plain: dg.AssetKey) -> dg.AssetKey:
        """Return the key of an asset; those of others stay as they are."""
        return plain.with_prefix(self.prefix) if plain in self.own else plain

    def partitions(self, plain: dg.PartitionsDefinition | None) -> dg.PartitionsDefinition | None:
        """Return partitions with a name of their own: dynamic ones have one name for all code locations."""
        if isinstance(plain, dg.DynamicPartitionsDefinition) and plain.name is not None:
            return dg.DynamicPartitionsDefinition(name=self.name(plain.name))
        return plain

    def spec(self, plain: dg.AssetSpec) -> dg.AssetSpec:
        """Return the properties of an asset with its key, upstream assets, group and partitions."""
        return plain.replace_attributes(
            key=self.key(plain.key),
            deps=[dg.AssetDep(self.key(dep.asset_key), partition_mapping=dep.partition_mapping) for dep in plain.deps],
            group_name=self.group or (plain.group_name and self.name(plain.group_name)),
            partitions_def=self.partitions(plain.partitions_def),
        )

    def check(self, plain: dg.AssetCheckSpec) -> dg.AssetCheckSpec:
        """Return the properties of a check with the key of its asset."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dg.PreviewWarning)  # checks by partition, as in `assets/checks.py`
            return dg.AssetCheckSpec(
                plain.name,
                asset=self.key(plain.asset_key),
                description=plain.description,
                blocking=plain.blocking,
                partitions_def=self.partitions(plain.partitions_def),
            )

    def resources(self, plain: Mapping[str, Any]) -> dict[str, Any]:
        """Return resources, or their run configuration, by their names."""
        return {self.name(key): value for key, value in plain.items()}

    def keys(self, plain: Iterable[dg.AssetKey] | None) -> list[dg.AssetKey] | None:
        """Return the keys of assets; None stays None."""
        return None if plain is None else [self.key(key) for key in plain]
