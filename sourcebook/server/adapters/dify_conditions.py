"""Dify's conditions on metadata as a filter of a search."""

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from sourcebook.errors import QueryError

_BOUNDS: Final = {">": "gt", "<": "lt", "≥": "gte", "≤": "lte", "before": "lt", "after": "gt"}
"""Ends of a range by the operators that set them."""
_EQUAL: Final = frozenset({"is", "=", "in"})
_PRESENT: Final = {"empty": False, "not empty": True}
_READ: Final = ", ".join(("is", "=", "in", "empty", "not empty", *_BOUNDS))
Value = str | int | float | bool


class Condition(BaseModel):
    """A condition on one key of the metadata of documents."""

    model_config = ConfigDict(frozen=True)

    name: str | Annotated[list[str], Field(min_length=1, max_length=1)]
    comparison_operator: str = Field(description=f"One of {_READ}; filters have no others.")
    value: Value | list[Value] | None = None


class MetadataCondition(BaseModel):
    """Conditions on the metadata of documents."""

    model_config = ConfigDict(frozen=True)

    logical_operator: Literal["and", "or"] | None = "and"
    conditions: list[Condition] | None = None


def as_filter(asked: MetadataCondition | None) -> dict[str, Any] | None:
    """Return the filter of a search; None where there is no condition.

    Raises:
        QueryError: a filter cannot say this: an operator for parts of texts, a negation, or alternatives.
    """
    conditions = (asked.conditions or []) if asked is not None else []
    if asked is not None and asked.logical_operator == "or" and len(conditions) > 1:
        raise QueryError("conditions are joined by and; alternatives for one key are the values of the operator in")
    wanted: dict[str, dict[str, Any]] = {}
    for condition in conditions:
        name = condition.name if isinstance(condition.name, str) else condition.name[0]
        found, held = _comparison(condition), wanted.setdefault(name, {})
        if set(found) & set(held):
            raise QueryError("two conditions set the same end of a range, or the same value of one key")
        held.update(found)
    return {"metadata": wanted} if wanted else None


def _comparison(condition: Condition) -> dict[str, Any]:
    operator, value = condition.comparison_operator, condition.value
    if operator in _PRESENT:
        return {"exists": _PRESENT[operator]}
    if value is None or value == []:
        raise QueryError("a condition needs a value")
    if operator in _EQUAL:
        values = value if isinstance(value, list) else [value]
        return {"in": [form for each in values for form in _forms(each)]}
    if operator not in _BOUNDS:
        raise QueryError(f"filters know the operators {_READ}, and no others")
    if isinstance(value, list):
        raise QueryError("the end of a range is one value")
    is_of_dates = operator in {"before", "after"}
    return {_BOUNDS[operator]: value if is_of_dates else _forms(value)[-1]}


def _forms(value: Value) -> list[Value]:
    """Return a value, and the number that a text is: Dify sends most numbers as texts."""
    if not isinstance(value, str):
        return [value]
    try:
        number = float(value)
    except ValueError:
        return [value]
    if number != number or number in {float("inf"), float("-inf")}:
        return [value]
    return [value, int(number) if number.is_integer() else number]
