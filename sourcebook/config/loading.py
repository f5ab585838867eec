"""Loading of `sourcebook.yaml`: where the file and the state folder are, and reading it into typed settings."""

from pathlib import Path
from typing import Final, Self

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from sourcebook.config.collection import CollectionSettings
from sourcebook.config.field_types import CollectionName, Settings
from sourcebook.config.membership import check_rules
from sourcebook.config.paths import configuration_path as configuration_path
from sourcebook.config.paths import sourcebook_home as sourcebook_home
from sourcebook.config.permissions import Groups
from sourcebook.config.time_zones import TimeZone
from sourcebook.errors import ConfigurationError

EXAMPLE = """\
collections:
  handbook:
    files:
      - root: ./docs
"""
"""The smallest configuration, quoted in error messages."""
UTC: Final = "UTC"
"""The time zone of schedules where the configuration names none."""


class ConfigurationFile(Settings):
    """The top-level keys of a `sourcebook.yaml`."""

    collections: dict[CollectionName, CollectionSettings] = Field(
        min_length=1, description="a mapping from each collection's name to its settings, at least one"
    )
    time_zone: TimeZone = Field(
        default=UTC, description="a name of the IANA database such as Europe/Berlin, Asia/Tokyo or UTC"
    )
    """Zone of the [schedules](#time-zone): "02:00" is two o'clock there, in summer and in winter."""
    groups: Groups = Field(
        default={},
        description="a mapping from names of groups to their members, such as "
        "{board: [user:anna@example.org, group:chairs]}; names without a kind are groups",
    )
    """Members of [groups](#groups): persons (`user:…`), other groups, or `everyone`."""

    @property
    def givers(self) -> dict[str, list[str]]:
        """Names of the collections that each collection takes documents of; empty where none does."""
        if not any(settings.taken for settings in self.collections.values()):
            return {}
        return {name: [rule.collection for rule in each.taken] for name, each in self.collections.items()}

    @model_validator(mode="after")
    def _takes_documents_of_others(self) -> Self:
        check_rules(self.givers)
        return self


class Configuration(ConfigurationFile):
    """The content of a `sourcebook.yaml` with its absolute path."""

    path: Path
    is_written: bool = True
    """Whether there is a file; without one, what was applied last stays in force."""


def without_file(path: Path) -> Configuration:
    """Return the configuration of a knowledge base without a file, whose collections the API has made.

    Args:
        path: absolute path of the file that there could be.
    """
    return Configuration.model_construct(path=path, collections={}, is_written=False)


def load_configuration(path: Path | None = None, *, folder: Path | None = None) -> Configuration:
    """Read the file at `configuration_path(path)`.

    Args:
        path: the path that was named.
        folder: folder that relative paths in the file begin at; its own where None.

    Raises:
        ConfigurationError: with file, line, column and key, the value found there and the values allowed.
    """
    from sourcebook.config.explain import explain
    from sourcebook.config.yaml_file import read_configuration_text, refuse

    path = configuration_path(path)
    if not path.exists():
        raise ConfigurationError(
            f"There is no configuration at {path}. Begin with  sourcebook ingest FOLDER  or  sourcebook init, "
            "name another one with --config or SOURCEBOOK_CONFIG, "
            f"or write this one, for example:\n\n{EXAMPLE}"
        )
    text = read_configuration_text(path)
    if not isinstance(text.content, dict):
        found = "the file is empty" if text.content is None else "the file does not hold a mapping"
        refuse(path, text.position(()), f"{found}; it should look like this:\n\n{EXAMPLE}")
    try:
        file = ConfigurationFile.model_validate(text.content, context={"folder": folder or path.parent})
    except ValidationError as error:
        raise ConfigurationError(explain(error, text, ConfigurationFile)) from None
    return Configuration(path=path, collections=file.collections, time_zone=file.time_zone, groups=file.groups)


def configured_time_zone(path: Path | None = None) -> str:
    """Return the time zone of schedules by the file at `configuration_path(path)`, whatever else is wrong with it.

    It is UTC where the file is missing or names no zone that there is; `load_configuration` tells of the mistake.
    """
    from sourcebook.config.yaml_file import read_configuration_text

    path = configuration_path(path)
    try:
        content = read_configuration_text(path).content if path.exists() else None
        return _ZONE.validate_python(content.get("time_zone", UTC) if isinstance(content, dict) else UTC)
    except (ConfigurationError, ValidationError):
        return UTC


_ZONE: Final = TypeAdapter(TimeZone)
