"""Askers: the knowledge base as the principals of a request see it, by what is open to them."""

from starlette.requests import Request

from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Asker
from sourcebook.server.identity.open_operations import is_open
from sourcebook.server.problems import ForbiddenError


def knowledge_of_route(request: Request, asker: Asker, knowledge: KnowledgeBase) -> KnowledgeBase:
    """Return the knowledge base that exists for an asker, for the route that answers a request.

    Raises:
        ForbiddenError: the route is closed to who asks for principals.
    """
    route = request.scope["route"]
    if not is_open(asker, getattr(route, "operation_id", None) or route.name):
        raise ForbiddenError("this is closed to who asks for principals: it needs a key that has none")
    return knowledge_for(asker, knowledge)


def knowledge_for(asker: Asker, knowledge: KnowledgeBase) -> KnowledgeBase:
    """Return the knowledge base that exists for an asker; the whole of it without principals."""
    return knowledge if asker.principals is None else knowledge.seen_by(asker.principals)
