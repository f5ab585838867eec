"""Forms that change something: who may send them, and that a page of this server was what sent them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final

from fastapi import Depends, Request
from starlette.responses import RedirectResponse, Response

from sourcebook.model.access import Grant, Scope
from sourcebook.server.page.translation import gettext
from sourcebook.server.page.visitors import FieldLists, Visitor, repeats_token
from sourcebook.server.problems import ForbiddenError

_OWN: Final = (None, "same-origin")
"""Values of `Sec-Fetch-Site` with which a form of this server comes; an old browser, or one without TLS, sends none."""

ELSEWHERE: Final = "the form came from elsewhere, or had expired: open its page again"


@dataclass(frozen=True, slots=True)
class Form:
    """A form that a visitor with the scope has sent from a page of this server."""

    visitor: Grant
    fields: dict[str, list[str]]

    def one(self, name: str) -> str:
        """Return the first value of a field; nothing where it was not sent."""
        return self.many(name)[0] if self.many(name) else ""

    def many(self, name: str) -> list[str]:
        """Return the values of a field, such as those of ticked boxes."""
        return self.fields.get(name, [])

    @property
    def once(self) -> str | None:
        """The idempotency key of the form: sent twice, it asks for one thing."""
        sent = self.one("once")
        return f"page {sent}"[:_LONGEST_KEY] if sent and sent.isprintable() else None


_LONGEST_KEY: Final = 100


def needing_scope(scope: Scope) -> Callable[..., Grant]:
    """Return the dependency of a page that needs a scope: the visitor, who has it."""

    def check(visitor: Visitor) -> Grant:
        if not visitor.allows(scope):
            raise ForbiddenError(gettext("this needs a key with the scope %(scope)s") % {"scope": scope})
        return visitor

    return check


def form_needing(scope: Scope) -> Any:
    """Return the dependency of a route that changes something: the form, sent by a visitor who has the scope.

    Besides its token a form must come from this very origin: a page on another port of the machine shares cookies.
    """

    def check(request: Request, visitor: Annotated[Grant, Depends(needing_scope(scope))], fields: FieldLists) -> Form:
        check_origin(request)
        check_token(request, {name: values[0] for name, values in fields.items()})
        return Form(visitor, fields)

    return Depends(check)


def is_own(request: Request) -> bool:
    """Return whether a page of this server asks, or a typed address: what a link from elsewhere asks may not cost."""
    return request.headers.get("sec-fetch-site") in {*_OWN, "none"}


def check_origin(request: Request) -> None:
    """Raise a ForbiddenError where another page than one of this server has sent a form."""
    if request.headers.get("sec-fetch-site") not in _OWN:
        raise ForbiddenError(gettext(ELSEWHERE))


def check_token(request: Request, fields: dict[str, str]) -> None:
    """Raise a ForbiddenError where a form does not repeat the token of the browser."""
    if not repeats_token(request, fields):
        raise ForbiddenError(gettext(ELSEWHERE))


ReaderForm = Annotated[Form, form_needing("read")]
WriterForm = Annotated[Form, form_needing("write")]
AdministratorForm = Annotated[Form, form_needing("admin")]
Writing = Annotated[Grant, Depends(needing_scope("write"))]
Administering = Annotated[Grant, Depends(needing_scope("admin"))]


def own_address(target: str) -> str:
    """Return an address of this server; `/` in place of one that leads elsewhere."""
    is_own = target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable()
    return target if is_own and "\\" not in target else "/"


def redirect_to(path: str) -> Response:
    """Lead the browser to a page after a form, so that a reload does not send it again."""
    return RedirectResponse(path, 303, {"Cache-Control": "no-store"})
