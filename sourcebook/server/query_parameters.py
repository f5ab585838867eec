"""Parameters of a URL that a route does not have: they are refused, as an ignored one answers another question."""

from typing import Final

from fastapi import Depends, Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel


async def refuse_unknown_parameters(request: Request) -> None:
    """Refuse a request whose URL has a parameter that its route does not know.

    Raises:
        RequestValidationError: it has one; the message names those that there are.
    """
    route = request.scope.get("route")
    if not (request.query_params and isinstance(route, APIRoute)):
        return
    known = _names(route.dependant)
    if not known.issuperset(request.query_params):
        said = f"it has {', '.join(sorted(known))}" if known else "it has none"
        raise RequestValidationError(
            [{"type": "unknown_parameter", "loc": ("query",), "msg": f"the address has no such parameter; {said}"}]
        )


KNOWN_PARAMETERS: Final = Depends(refuse_unknown_parameters)


def _names(dependant: Dependant) -> set[str]:
    """Return the names of a route's parameters in the query, those of models and of its dependencies among them."""
    names = set[str]().union(*map(_names, dependant.dependencies))
    for each in dependant.query_params:
        kind = each.field_info.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            names.update(field.alias or name for name, field in kind.model_fields.items())
        else:
            names.add(each.alias)
    return names
