"""Login with a form: fill in the fields of a site's login page, send them, and judge the answer."""

from collections.abc import Iterator, Mapping
from urllib.parse import urldefrag, urljoin, urlsplit

from sourcebook.config.site_types import REFERENCE
from sourcebook.config.sites import LoginSettings, SiteSource
from sourcebook.errors import FailureClass
from sourcebook.parsing.html.charset import decode_page
from sourcebook.parsing.html.tree import Element, parse_page
from sourcebook.web.fetching.breaker import CircuitBreaker
from sourcebook.web.fetching.fetcher import HttpFetcher
from sourcebook.web.fetching.politeness import HostLimiter
from sourcebook.web.fetching.retries import Fetcher, fetch_with_retries
from sourcebook.web.fetching.site_headers import filled_in
from sourcebook.web.http_types import FetchError, Request, Response
from sourcebook.web.login_state import read_login_state
from sourcebook.web.url import registered_domain

MOST_REDIRECTS = 5
"""Redirects that are followed before and after the form is sent."""
_BUTTONS = frozenset({"button", "image", "reset", "file"})


class LoginError(FetchError):
    """The login to a site failed; no page was requested."""

    def __init__(self, reason: str, *, transient: bool = False) -> None:
        super().__init__(reason, failure_class=FailureClass.FORBIDDEN, transient=transient)


async def begin_session(
    settings: SiteSource, host: str, fetcher: HttpFetcher, limiter: HostLimiter, breaker: CircuitBreaker
) -> Mapping[str, Mapping[str, str]]:
    """Log in where the settings ask for it; return the local storage of a stored login by origin.

    Raises:
        LoginError: the login failed.
    """
    try:
        if settings.login is not None and settings.login.state is not None:
            state = read_login_state(settings.login.state, host)
            fetcher.add_cookies(state.cookies)
            return state.storage
        if settings.login is not None and settings.login.form is not None:
            await log_in(settings.login, fetcher, limiter, breaker)
    except LoginError:
        raise
    except FetchError as error:
        raise LoginError(f"the login failed: {error}", transient=error.transient) from error
    return {}


async def log_in(login: LoginSettings, fetcher: Fetcher, limiter: HostLimiter, breaker: CircuitBreaker) -> None:
    """Send the login form of a site; the session is in the cookies that the fetcher keeps.

    Args:
        login: settings with a form.
        fetcher: HTTP client of the site, which keeps cookies.
        limiter: request rate of each host.
        breaker: circuit breaker of each host.

    Raises:
        LoginError: there is no such form, or the site refuses what was sent.
        FetchError: a variable is not set, or the server does not answer.
    """
    page = str(login.form)
    values = {name: filled_in(f"login field {name}", value) for name, value in login.fields.items()}

    async def ask(request: Request) -> Response:
        """Return the response after redirects, which stay within the domain of the form."""
        response = await fetch_with_retries(fetcher, limiter, breaker, request)
        for _ in range(MOST_REDIRECTS):
            location = response.headers.get("location") if 300 <= response.status < 400 else None
            target = None if location is None else _resolved(response.url, location)
            if target is None or not _is_same_site(page, target):
                break
            response = await fetch_with_retries(fetcher, limiter, breaker, Request(target))
        return response

    found = await ask(Request(page))
    if not 200 <= found.status < 300:
        raise LoginError(f"the login page {page} answers {found.status}", transient=found.status >= 500)
    form = _form(found, values, page)
    action = _resolved(found.url, form.get("action") or "")
    if (form.get("method") or "get").strip().lower() != "post":
        raise LoginError(f"the form of {page} is not sent by POST, so it would put the password into a URL")
    if action is None:
        raise LoginError(f"the form of {page} is sent to something that is no web address")
    if not _is_same_site(found.url, action):
        raise LoginError(f"the form of {page} is sent to {_origin(action)}, which is another site or is not encrypted")
    answer = await ask(Request(action, form=tuple(_filled(form, values))))
    if 400 <= answer.status < 500 or _password_fields(_tree(answer)):
        names = sorted({name for value in login.fields.values() for name in _variables(value)})
        check = f": check the values of {' and '.join(names)}" if names else ""
        raise LoginError(f"the login at {page} was refused{check}")
    if answer.status >= 500:
        raise LoginError(f"the login at {page} is answered with {answer.status}", transient=True)


def _form(response: Response, values: Mapping[str, str], page: str) -> Element:
    """Return the form with the configured fields.

    Raises:
        LoginError: no form has them; the message names the fields of the form with a password.
    """
    tree = _tree(response)
    forms = [] if tree is None else list(tree.iter("form"))
    for form in forms:
        if set(values) <= {str(control.get("name")) for control in _controls(form)}:
            return form
    named = [
        str(control.get("name"))
        for form in forms
        if _password_fields(form)
        for control in _controls(form)
        if control.get("name")
        and control.tag != "button"
        and (control.get("type") or "").lower() not in {"hidden", "submit", *_BUTTONS}
    ]
    fields = f"its fields are {', '.join(named)}" if named else "it has no field for a password"
    raise LoginError(f"no form of {page} has the fields {', '.join(values)}: {fields}")


def _filled(form: Element, values: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the fields of a form as a browser sends them, with the configured values."""
    pressed = False
    for control in _controls(form):
        name, kind = control.get("name"), (control.get("type") or "").lower()
        if not name or kind in _BUTTONS or control.get("disabled") is not None:
            continue
        if kind in {"checkbox", "radio"} and name not in values and control.get("checked") is None:
            continue
        if kind == "submit" or control.tag == "button":
            if pressed:
                continue
            pressed = True
        yield name, values.get(name, _value(control, kind))


def _value(control: Element, kind: str) -> str:
    if control.tag == "textarea":
        return "".join(control.itertext())
    if control.tag == "select":
        options = list(control.iter("option"))
        first = options[0] if options else None
        chosen = next((option for option in options if option.get("selected") is not None), first)
        if chosen is None:
            return ""
        value = chosen.get("value")
        return "".join(chosen.itertext()).strip() if value is None else value
    value = control.get("value")
    return value if value is not None else "on" if kind in {"checkbox", "radio"} else ""


def _controls(form: Element) -> Iterator[Element]:
    yield from form.iter("input", "select", "textarea", "button")


def _password_fields(tree: Element | None) -> list[Element]:
    fields = [] if tree is None else tree.iter("input")
    return [field for field in fields if (field.get("type") or "").lower() == "password"]


def _tree(response: Response) -> Element | None:
    return parse_page(decode_page(response.body, response.headers.get("content-type", "")).text)


def _is_same_site(page: str, target: str) -> bool:
    """Whether a password may go from a page to a URL: within its registered domain, and not from https to http."""
    before, after = urlsplit(page), urlsplit(target)
    return (
        after.scheme in {"http", "https"}
        and registered_domain(after.netloc.lower()) == registered_domain(before.netloc.lower())
        and not (before.scheme == "https" and after.scheme == "http")
    )


def _resolved(base: str, reference: str) -> str | None:
    """Return the URL that a page names, without its fragment; None where it is no URL."""
    try:
        target = urldefrag(urljoin(base, reference))[0]
        urlsplit(target)
    except ValueError:  # such as an IPv6 address that does not end
        return None
    return target


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _variables(value: str) -> list[str]:
    return REFERENCE.findall(value)
