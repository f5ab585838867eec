"""The types that methods of a knowledge base take and return."""

from functools import cache
from importlib import import_module
from typing import Any

import sourcebook
from sourcebook.contract import HOMES
from tests.surface import python_interface


@cache
def public_types() -> dict[str, type[Any]]:
    """Return the dataclasses that are exported, or reached from the methods, by their names."""
    reached: dict[str, Any] = {}
    for name in sourcebook.__all__:
        python_interface.reach(getattr(sourcebook, name), reached)
    for name, home in HOMES.items():
        python_interface.reach(getattr(import_module(f"sourcebook.contract.{home}"), name), reached)
    return {name: kind for name, kind in sorted(reached.items()) if hasattr(kind, "__dataclass_fields__")}
