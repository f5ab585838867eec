"""YAML between `---` lines at the top of a Markdown file."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from sourcebook.parsing.json_values import MetadataTooLargeError, json_mapping
from sourcebook.parsing.types import JsonValue

if TYPE_CHECKING:
    from ruamel.yaml import YAML

_LONGEST = 65_536
_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The metadata a Markdown file begins with, and where its text begins."""

    end: int = 0
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def title(self) -> str | None:
        """The `title` entry, where it is a text that says something."""
        title = self.metadata.get("title")
        return (" ".join(title.split()) or None) if isinstance(title, str) else None


def read_front_matter(text: str) -> FrontMatter:
    """Read the front matter; where there is none, or it is no YAML mapping, all of the text is content."""
    if not text.startswith("---"):
        return FrontMatter()
    match = _FRONT_MATTER.match(text, 0, _LONGEST)
    if match is None:
        return FrontMatter()
    from ruamel.yaml.error import YAMLError

    try:
        values = _yaml().load(match[1])
        if values is None:
            return FrontMatter(end=match.end())
        if not isinstance(values, dict):
            return FrontMatter()
        return FrontMatter(end=match.end(), metadata=json_mapping(values))
    except (YAMLError, MetadataTooLargeError, ValueError, TypeError, RecursionError):
        return FrontMatter()


@cache
def _yaml() -> "YAML":
    from ruamel.yaml import YAML

    return YAML(typ="safe")
