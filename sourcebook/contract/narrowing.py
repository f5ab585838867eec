"""Filters of a model within those of its program: what both ask for must hold, and nothing becomes wider."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from sourcebook.contract.filters import Filters
from sourcebook.errors import QueryError


def narrowed(
    program: Filters | Mapping[str, Any] | None, tags: Sequence[str] = (), further: Mapping[str, Any] | None = None
) -> Filters | None:
    """Return the filters of a search that a model asks for within the filters of its program.

    Args:
        program: filters that hold in any case.
        tags: tags of which a document must have one.
        further: other filters, such as `{"kinds": "page"}`.

    Raises:
        QueryError: a filter is not allowed, or one that the program has set is set again.
    """
    own = Filters.checked(program) or Filters()
    asked = Filters.checked(further or None) or Filters()
    if tags:
        if asked.tags_any is not None:
            raise QueryError("tags are given twice: leave one of them out")
        asked = replace(asked, tags_any=list(tags))
    for each in fields(Filters):
        wanted, held = getattr(asked, each.name), getattr(own, each.name)
        if wanted is None:
            continue
        if held is None:
            own = replace(own, **{each.name: wanted})
        elif each.name == "metadata":
            own = replace(own, metadata=[*_pairs(held), *_pairs(wanted)])
        elif each.name == "tags_all":
            own = replace(own, tags_all=[*_texts(held), *_texts(wanted)])
        elif each.name == "tags_any" and len(_texts(wanted)) == 1:  # one of one tag is all of it
            own = replace(own, tags_all=[*_texts(own.tags_all or ()), *_texts(wanted)])
        else:
            raise QueryError(f"the program has set the filter {each.name}: leave it out")
    return None if own == Filters() else own


def _pairs(metadata: Any) -> list[Any]:
    return list(metadata.items()) if isinstance(metadata, Mapping) else list(metadata)


def _texts(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)
