"""The component `sourcebook.Collection`: the settings of one collection in a `defs.yaml` of a Dagster project."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dagster as dg
from dagster.components import Scaffolder, ScaffoldRequest, scaffold_component, scaffold_with
from pydantic import BaseModel, ConfigDict, Field, create_model

from orchestration.embedding.definitions import given_configuration, sourcebook_definitions
from sourcebook.config.collection import CollectionSettings
from sourcebook.config.field_types import NAME_RULE, is_collection_name
from sourcebook.errors import ConfigurationError

_SETTINGS = CollectionSettings.model_fields
_NAME, _ZONE = "name", "time_zone"

_FIELDS: dict[str, Any] = {
    _NAME: (str | None, Field(None, description="name of the collection; by default that of the folder")),
    _ZONE: (
        str | None,
        Field(None, description="time zone of the schedules, such as Europe/Berlin; of all collections the same"),
    ),
    # As in `sourcebook.yaml`, where texts such as 30d and 100MB stand for numbers: loading checks them to the last key.
    **{field.alias or name: (Any, Field(None, description=field.description)) for name, field in _SETTINGS.items()},
}
Attributes: type[BaseModel] = create_model("CollectionAttributes", __config__=ConfigDict(extra="forbid"), **_FIELDS)
"""Attributes of the component: the settings of a collection, and its name."""


class _FirstFolder(Scaffolder):
    """Writes a `defs.yaml` with a folder of documents beside it."""

    def scaffold(self, request: ScaffoldRequest) -> None:
        """Write the file and an empty folder."""
        (request.target_path / "documents").mkdir(parents=True, exist_ok=True)
        scaffold_component(request, {"files": [{"root": "./documents"}]})


@scaffold_with(_FirstFolder)
class Collection(dg.Component):
    """One collection of Sourcebook: folders, sites, repositories and tables that become searchable, and stay true.

    The attributes are the settings of a collection in `sourcebook.yaml`; relative paths begin at the folder of the
    `defs.yaml`. All collections of a project are one knowledge base, with one set of assets under `sourcebook/`, whose
    partitions they are. Its state is in `.sourcebook/` beside the project's `pyproject.toml`, or where
    SOURCEBOOK_HOME and SOURCEBOOK_DATABASE_URL say.

    Args:
        name: name of the collection.
        settings: its settings, with absolute paths.
        time_zone: time zone of the schedules; None where the attributes name none.
    """

    def __init__(self, name: str, settings: CollectionSettings, time_zone: str | None) -> None:
        self.name = name
        self.settings = settings
        self.time_zone = time_zone

    @classmethod
    def get_model_cls(cls) -> type[BaseModel]:
        """Return the model of the attributes."""
        return Attributes

    @classmethod
    def load(cls, attributes: BaseModel | None, context: dg.ComponentLoadContext) -> "Collection":
        """Return the component of a `defs.yaml`.

        Raises:
            ConfigurationError: the settings have a mistake.
        """
        written = attributes.model_dump(exclude_unset=True) if attributes else {}
        content: Mapping[str, Any] = _resolved(context.resolution_context, written)
        folder = context.path if context.path.is_dir() else context.path.parent
        name = content.get(_NAME) or folder.name
        if not is_collection_name(str(name)):
            raise ConfigurationError(
                f"{folder / 'defs.yaml'}: the name of the collection is {name!r}; allowed: {NAME_RULE}"
            )
        settings = {key: value for key, value in content.items() if key not in (_NAME, _ZONE)}
        zone = {_ZONE: content[_ZONE]} if content.get(_ZONE) else {}
        try:
            found = given_configuration({"collections": {name: settings}, **zone}, folder / "defs.yaml")
        except ConfigurationError as error:
            raise ConfigurationError(f"{folder / 'defs.yaml'}: {error}") from None
        return cls(name, found.collections[name], found.time_zone if zone else None)

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """Return the definitions of the knowledge base from one of its collections, and none from the others.

        Raises:
            ConfigurationError: two collections have one name, or differ in their time zone.
        """
        together = sorted(context.component_tree.get_all_components(Collection), key=lambda each: each.name) or [self]
        names = [each.name for each in together]
        if doubled := {name for name in names if names.count(name) > 1}:
            raise ConfigurationError(f"two components are collections of one name: {', '.join(sorted(doubled))}")
        zones = {each.time_zone for each in together if each.time_zone}
        if len(zones) > 1:
            raise ConfigurationError(f"time_zone differs: {', '.join(sorted(zones))}; the schedules have one")
        if together[0] is not self:
            return dg.Definitions()
        content: dict[str, Any] = {"collections": {each.name: each.settings for each in together}}
        if zones:
            content[_ZONE] = zones.pop()
        path = Path(context.project_root) / "sourcebook.yaml"
        return sourcebook_definitions(given_configuration(content, path))


def _resolved(context: dg.ResolutionContext, value: Any) -> Any:
    """Return attributes with the values of `{{ env.NAME }}`, and templates of records as they are: fields fill them."""
    if isinstance(value, dict):
        return {
            key: held if key == "template" else _resolved(context.at_path(key), held) for key, held in value.items()
        }
    if isinstance(value, list):
        return [_resolved(context.at_path(number), held) for number, held in enumerate(value)]
    return context.resolve_value(value)
