"""Forms of the page, sent as a browser without scripts sends them."""

from collections.abc import Mapping, Sequence
from http.cookies import SimpleCookie
from urllib.parse import urlencode

from tests.integration.http_server import Answer, Client
from tests.integration.inert_pages import Page

URLENCODED = "application/x-www-form-urlencoded"


class Browser:
    """A browser of one visitor: it keeps cookies, and sends the forms of the pages that it opens.

    Args:
        client: a client of the server.
        key: a key to sign in with; None where none is needed.
    """

    def __init__(self, client: Client, key: str | None = None) -> None:
        self.client = client
        self.cookies: dict[str, str] = {}
        if key is not None:
            self.open("/sign-in")
            assert self.send("/sign-in", {"key": key}).status == 303

    def get(self, path: str, **headers: str) -> Answer:
        """Return the answer to a request."""
        return self._kept(self.client.get(path, Accept="text/html", Cookie=self._cookie(), **headers))

    def open(self, path: str) -> Page:
        """Open a page that acts in no way."""
        answer = self.get(path)
        assert answer.status == 200, (path, answer.status, answer.content)
        page = Page(answer.content)
        assert page.acting() == []
        return page

    def send(
        self,
        path: str,
        fields: Mapping[str, str | Sequence[str]] | None = None,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send a form with the token that the cookie holds, or with another one."""
        sent = {"token": self.cookies.get("sourcebook_form", "") if token is None else token, **(fields or {})}
        named = {"Content-Type": URLENCODED, "Accept": "text/html", "Cookie": self._cookie(), **(headers or {})}
        return self._kept(self.client.request("POST", path, urlencode(sent, doseq=True).encode(), named))

    def _cookie(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    def _kept(self, answer: Answer) -> Answer:
        held = SimpleCookie(answer.headers.get("set-cookie", ""))
        self.cookies |= {name: each.value for name, each in held.items()}
        return answer


def fields_of(page: Page, action: str) -> list[dict[str, str]]:
    """Return the hidden fields of each form of a page that leads to an address."""
    forms: list[dict[str, str]] = []
    is_inside = False
    for tag, held in page.tags:
        if tag == "form":
            is_inside = held["action"] == action
            if is_inside:
                forms.append({})
        elif tag == "input" and is_inside and held.get("type") == "hidden":
            forms[-1][held["name"]] = held["value"]
    return forms
