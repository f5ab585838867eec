"""Signing in at the issuer of signed tokens (OpenID Connect): a browser goes there, and comes back with a code."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response

from sourcebook.operations import access_keys
from sourcebook.server.access import WholeKnowledge
from sourcebook.server.identity.attempts import Attempt
from sourcebook.server.identity.provider import Provider
from sourcebook.server.identity.sign_in_settings import LOGOUT_PATH, RETURN_PATH
from sourcebook.server.page.forms import own_address
from sourcebook.server.page.sign_in import LONGEST_ADDRESS, asks_to_sign_in, led_to
from sourcebook.server.page.translation import gettext
from sourcebook.server.page.visitors import SESSION_COOKIE, Fields, keep
from sourcebook.server.problems import IssuerError, TokenError

router = APIRouter(include_in_schema=False)
_COOKIE: Final = "sourcebook_sign_in"
_UNKEPT: Final = {"Cache-Control": "no-store"}
_SECONDS: Final = 600
"""Seconds in which a browser may come back."""
_LONGEST: Final = 4_000
"""Characters of a code or a state."""
OTHER: Final = (
    "This return from the provider belongs to no sign-in that this browser began in the last ten minutes, or to one "
    "that is over. Sign in again, in one tab."
)


@router.get("/sign-in/provider")
def begin(request: Request, target: Annotated[str, Query(alias="next", max_length=LONGEST_ADDRESS)] = "/") -> Response:
    """Lead a browser to the provider."""
    provider, attempt = _provider(request), Attempt.begin(own_address(target))
    try:
        address = provider.address_for(attempt)
    except IssuerError as error:
        return _not_now(request, error, attempt.target)
    response = RedirectResponse(address, 303, {"Cache-Control": "no-store"})
    response.set_cookie(
        _COOKIE,
        attempt.cookie,
        max_age=_SECONDS,
        path=RETURN_PATH,
        httponly=True,
        samesite="lax",  # it has to come along when the provider sends the browser back
        secure=_is_secure(provider),
    )
    return response


@router.get(RETURN_PATH)
def come_back(
    request: Request,
    knowledge: WholeKnowledge,
    state: Annotated[str, Query(max_length=_LONGEST)] = "",
    code: Annotated[str, Query(max_length=_LONGEST)] = "",
    error: Annotated[str, Query(max_length=_LONGEST)] = "",
    iss: Annotated[str | None, Query(max_length=_LONGEST)] = None,
) -> Response:
    """Begin the session of the person whom the provider names, and go to the page that was asked for."""
    provider, attempt = _provider(request), Attempt.of_cookie(request.cookies.get(_COOKIE, ""))
    if attempt is None or not attempt.is_answered_by(state) or iss not in (None, provider.settings.issuer):
        return _over(asks_to_sign_in(request, "/", 401, gettext(OTHER)))
    target = own_address(attempt.target)
    if error or not code:
        said = gettext("%(name)s has not signed you in. Try again, or ask those who look after it.")
        said %= {"name": provider.name}
        return _over(asks_to_sign_in(request, target, 401, said))
    try:
        person, refresh_token = provider.person_for(code, attempt)
    except TokenError as failure:
        return _over(asks_to_sign_in(request, target, 401, f"{_sentence(failure)} {gettext('Sign in again.')}"))
    except IssuerError as failure:
        return _over(_not_now(request, failure, target))
    access_keys.sign_out(knowledge, request.cookies.get(SESSION_COOKIE, ""))
    token = access_keys.sign_in_person(
        knowledge,
        person,
        request.headers.get("user-agent", ""),
        issuer=provider.settings.issuer,
        lasts=provider.sign_in.lasts,
    )
    if provider.sign_in.refresh is not None and refresh_token is not None:
        access_keys.keep_refresh_token(knowledge, token, person, refresh_token, provider.sign_in.refresh)
    response = led_to(request, target)
    seconds = int(provider.sign_in.lasts.total_seconds())
    keep(response, request, SESSION_COOKIE, token, seconds, is_secure=_is_secure(provider))
    return _over(response)


@router.post(LOGOUT_PATH)
def log_out(request: Request, fields: Fields, knowledge: WholeKnowledge) -> Response:
    """End the sessions that the provider has ended (OpenID Connect Back-Channel Logout 1.0)."""
    provider = _provider(request)
    try:
        logout = provider.logout_for(fields.get("logout_token", ""))
    except TokenError as error:
        return _refused(str(error))
    except IssuerError as error:
        return JSONResponse({"error": "temporarily_unavailable"}, 503, {**_UNKEPT, "Retry-After": str(error.seconds)})
    if not access_keys.end_by_provider(knowledge, provider.settings.issuer, logout):
        return _refused("the token is not valid: it was taken before")
    return Response(status_code=200, headers=_UNKEPT)


def _refused(reason: str) -> Response:
    return JSONResponse({"error": "invalid_request", "error_description": reason}, 400, _UNKEPT)


def _provider(request: Request) -> Provider:
    provider: Provider | None = request.app.state.provider
    if provider is None:
        raise HTTPException(404)
    return provider


def _is_secure(provider: Provider) -> bool:
    return provider.sign_in.url.startswith("https:")


def _over(response: Response) -> Response:
    """Return an answer that takes away what a sign-in has kept: a return is taken once."""
    response.delete_cookie(_COOKIE, path=RETURN_PATH, httponly=True, samesite="lax")
    return response


def _not_now(request: Request, error: IssuerError, target: str) -> Response:
    said = gettext("Try again in a minute, or sign in with a key; the server's log says more.")
    response = asks_to_sign_in(request, target, 503, f"{_sentence(error)} {said}")
    response.headers["Retry-After"] = str(error.seconds)
    return response


def _sentence(error: Exception) -> str:
    said = str(error)
    return f"{said[:1].upper()}{said[1:]}."
