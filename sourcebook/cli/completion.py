"""Words that the shell completes: names of collections, read from the configuration alone."""

from pathlib import Path

import typer


def complete_collections(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the collections whose names begin with the last name of a word such as `handbook,ta`."""
    before, comma, begun = incomplete.rpartition(",")
    named = set(before.split(","))
    return [f"{before}{comma}{name}" for name in _names(ctx) if name.startswith(begun) and name not in named]


def _names(ctx: typer.Context) -> list[str]:
    """Return the collections of the configuration; none where it cannot be read.

    The file is read without its checks, whose imports take longer than a person waits for a completion.
    """
    from ruamel.yaml import YAML

    path: Path = ctx.find_root().params.get("config") or Path("sourcebook.yaml")
    try:
        file = YAML(typ="safe", pure=True).load(path.expanduser())
        return [name for name in file["collections"] if isinstance(name, str)]
    except Exception:  # noqa: BLE001 - a file that is missing or wrong completes nothing
        return []
