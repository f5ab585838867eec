"""docs/configuration.md: every setting with its meaning, default, allowed values and an example."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from io import StringIO
from typing import Any, Final

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from ruamel.yaml import YAML

from sourcebook.config.collection import CollectionSettings
from sourcebook.config.loading import ConfigurationFile
from sourcebook.config.permissions import Permissions
from tests.checkout import DOCS
from tests.references.attribute_docstrings import docstrings_of
from tests.references.parts import page, sections
from tests.settings_count import models_in

_UNITS: Final = ((7 * 86_400, "w"), (86_400, "d"), (3_600, "h"), (60, "m"), (1, "s"))
_SIZES: Final = ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"))


@dataclass(frozen=True)
class Setting:
    """A setting with its place, such as `files[].root`."""

    place: str
    home: type[BaseModel]
    """Class that declares it."""
    name: str
    field: FieldInfo
    inside: tuple[type[BaseModel], ...]
    """Models of its value, whose settings follow."""


def settings(model: type[BaseModel] = CollectionSettings, at: str = "") -> Iterator[Setting]:
    """Yield the settings of a model and of those within, in the order of their declaration, inherited ones last."""
    homes = {name: base for base in reversed(model.__mro__) for name in inspect.get_annotations(base)}
    for name, field in sorted(model.model_fields.items(), key=lambda held: homes[held[0]] is not model):
        home = homes[name]
        inside = tuple(models_in(field.annotation))
        text = str(field.annotation)
        many = "" if not inside else "[]" if "tuple[" in text else "{}" if "dict[" in text else ""
        place = f"{at}{field.alias or name}"
        yield Setting(place, home, name, field, inside)
        for each in inside:
            yield from settings(each, f"{place}{many}.")


def make() -> str:
    """Return the page."""
    written = sections("configuration.md")
    examples = YAML(typ="safe", pure=True).load((DOCS / "every-setting.yaml").read_text(encoding="utf-8"))
    whole = [each for each in settings(ConfigurationFile) if each.place in {"time_zone", "groups"}]
    mine = list(settings())
    plain = [each for each in mine if "." not in each.place and not each.inside]
    blocks = ["## The whole file", *(_entry(each, [examples]) for each in whole)]
    collections = list(examples["collections"].values())
    blocks += ["## A collection", written.pop("A collection"), *(_entry(each, collections) for each in plain)]
    known = {_identity(each): each.place for each in plain}
    for each in mine:
        if each in plain:
            continue
        first = known.setdefault(_identity(each), each.place)
        if "." not in each.place:
            blocks += [f"## `{each.place}`", _about(each)]
        elif first == each.place:
            blocks.append(_entry(each, collections))
        elif not each.place.startswith("records[].files.request."):
            blocks.append(f"{'#' * _level(each)} `{each.place}`\n\nAs [`{first}`](#{anchor(first)}).")
    rest = [f"## {title}\n\n{body}" for title, body in written.items() if title]
    return page("configuration.md", "Configuration", written[""], *blocks, *rest)


def _identity(setting: Setting) -> tuple[object, ...]:
    """Return what two settings that mean the same have in common: those of sources, where they take the same."""
    is_of_sources = "[]" in setting.place or setting.home is Permissions
    return (setting.name, setting.field.description if is_of_sources else setting.home)


def anchor(text: str) -> str:
    """Return the anchor of a heading, as GitHub and the site make it."""
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def _level(setting: Setting) -> int:
    return 3 if setting.place.count(".") < 2 else 4


def _about(setting: Setting) -> str:
    """Return what a mapping of settings is for."""
    kinds = [(each.__doc__ or "").partition("\n")[0] for each in setting.inside]
    return "\n\n".join([*kinds, f"Takes {_plain(setting.field.description)}."])


def _entry(setting: Setting, examples: list[Any]) -> str:
    meaning = docstrings_of(setting.home).get(setting.name) or (setting.inside[0].__doc__ or "").partition("\n")[0]
    assert meaning, f"{setting.home.__name__}.{setting.name} has no docstring"
    keys = re.findall(r"\w+", setting.place)
    found = list(_found(examples, keys))
    assert found, f"docs/every-setting.yaml has no example of {setting.place}"
    default = "Required." if setting.field.is_required() else f"Default: {_default(setting)}."
    facts = f"{default} Takes {_plain(setting.field.description)}. Example: `{_yaml({keys[-1]: found[0]})}`"
    return f"{'#' * _level(setting)} `{setting.place}`\n\n{meaning}\n\n{facts}"


def _found(values: list[Any], keys: list[str]) -> Iterator[Any]:
    """Yield the values of a key path in the example, those within lists and mappings of any key included."""
    if not keys:
        yield from values
        return
    for value in values:
        inner = value if isinstance(value, list) else [value]
        if isinstance(value, dict) and keys[0] not in value:
            inner = [each for each in value.values() if isinstance(each, dict) and keys[0] in each]
        held = [each[keys[0]] for each in inner if isinstance(each, dict) and keys[0] in each]
        yield from _found(held, keys[1:])


def _plain(description: str | None) -> str:
    """Return a description as Markdown, in which no sign begins emphasis or HTML."""
    assert description is not None
    return re.sub(r"([*<])", r"\\\1", description)


def _default(setting: Setting) -> str:
    value = setting.field.get_default(call_default_factory=True)
    if value is None or value == "":
        return "unset" if value is None else "empty"
    if isinstance(value, timedelta):
        seconds = int(value.total_seconds())
        return "`" + next(f"{seconds // unit}{sign}" for unit, sign in _UNITS if seconds % unit == 0) + "`"
    if isinstance(value, BaseModel):
        return "its own defaults"
    if isinstance(value, int) and not isinstance(value, bool) and "byte_count" in str(setting.field.metadata):
        return "`" + next(f"{value // unit}{sign}" for unit, sign in _SIZES if value % unit == 0) + "`"
    if isinstance(value, dict) and any(isinstance(each, BaseModel) for each in value.values()):
        return ", ".join(f"`{name}`" for name in value)
    if setting.name == "viewport":
        return "`{}x{}`".format(*value)
    if isinstance(value, tuple):
        value = [each.model_dump() if isinstance(each, BaseModel) else each for each in value]
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"`{_yaml(value)}`"


def _yaml(value: Any) -> str:
    """Return a value as YAML in one line."""
    yaml = YAML(pure=True)
    yaml.default_flow_style = True
    yaml.width = 10_000
    if isinstance(value, dict) and len(value) == 1:
        [(name, held)] = value.items()
        return f"{name}: {_yaml(held)}"
    stream = StringIO()
    yaml.dump(value, stream)
    return stream.getvalue().removesuffix("\n").removesuffix("\n...").strip()
