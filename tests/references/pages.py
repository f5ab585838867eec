"""The pages of docs/ that are made from the source."""

from collections.abc import Callable, Mapping
from typing import Final

from tests.checkout import DOCS
from tests.references import (
    assets_page,
    commands_page,
    endings_page,
    errors_page,
    python_page,
    rest_page,
    settings_page,
    tools_page,
)

REFERENCES: Final[Mapping[str, Callable[[], str]]] = {
    "configuration.md": settings_page.make,
    "commands.md": commands_page.make,
    "rest.md": rest_page.make,
    "mcp-tools.md": tools_page.make,
    "python.md": python_page.make,
    "errors.md": errors_page.make,
    "assets.md": assets_page.make,
    "endings.md": endings_page.make,
}
"""Each page by the name of its file: a function that makes it."""


def write_references() -> None:
    """Write all pages anew."""
    for name, make in REFERENCES.items():
        (DOCS / name).write_text(make(), encoding="utf-8")
