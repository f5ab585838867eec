"""Sites behind a login: cookies, forms, stored logins, HTTP authentication, and login pages that answer 200."""

from collections import Counter

import pytest
from aiohttp import web

from sourcebook.model.selection import Selection
from tests.integration.stages import Stages, html
from tests.web_server import WebServer

SECRET = "s3cr3t-of-the-test"
FORM = (
    '<form method="post" action="/session"><input type="hidden" name="csrf" value="{csrf}">'
    '<label>User <input name="user"></label><label>Password <input type="password" name="password"></label>'
    '<input type="checkbox" name="remember"><button name="go" value="in">Sign in</button></form>'
)


@pytest.fixture(autouse=True)
def account(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_USER", "ada")
    monkeypatch.setenv("TEST_PASSWORD", SECRET)


def login_page(csrf: str = "t1") -> str:
    return html("Sign in").replace("</main>", f"{FORM.format(csrf=csrf)}</main>")


class Account:
    """A site whose pages need a session, which a form of its own begins.

    Args:
        server: the server of the site.
        redirects: whether a page without a session redirects to the login; otherwise it shows it with status 200.
    """

    def __init__(self, server: WebServer, *, redirects: bool = False) -> None:
        self.server = server
        self.redirects = redirects
        self.posted: list[dict[str, str]] = []
        server.route("/login", lambda _: self._with_token())
        server.route("/session", self._begin)
        pages = {"/": ["/a", "/b"], "/a": [], "/b": []}
        for path, links in pages.items():
            text = html(f"Page {path}", f"The gauge of {path} is green.", links=links)
            server.route(path, lambda request, text=text: self._page(request, text))  # type: ignore[misc]

    def _with_token(self) -> web.Response:
        response = web.Response(text=login_page(), content_type="text/html")
        response.set_cookie("visit", "1")
        return response

    async def _begin(self, request: web.BaseRequest) -> web.Response:
        fields = {name: str(value) for name, value in (await request.post()).items()}
        self.posted.append(fields)
        good = fields.get("password") == SECRET and fields.get("csrf") == "t1" and "visit" in request.cookies
        if not good:
            return web.Response(text=login_page(), content_type="text/html")
        response = web.Response(status=302, headers={"Location": "/"})
        response.set_cookie("session", "open")
        return response

    def _page(self, request: web.BaseRequest, text: str) -> web.Response:
        if request.cookies.get("session") == "open":
            return web.Response(text=text, content_type="text/html")
        if self.redirects:
            return web.Response(status=302, headers={"Location": f"/login?next={request.path}"})
        return web.Response(text=login_page(), content_type="text/html")


def with_form(stages: Stages, **fields: str) -> None:
    fields = fields or {"user": "${TEST_USER}", "password": "${TEST_PASSWORD}"}
    stages.configure_site(login={"form": stages.address("/login"), "fields": fields})


@pytest.mark.parametrize("redirects", [False, True])
def test_a_login_page_is_a_failure_of_the_site_and_never_a_document(stages: Stages, redirects: bool) -> None:
    """Whether it comes in place of the page or by a redirect; the sentence names the remedy."""
    Account(stages.web, redirects=redirects)
    stages.configure_site()
    report = stages.crawl()
    assert stages.pages() == set()
    assert [failure.failure_class.value for failure in report.failures] == ["forbidden"]
    assert "set `login` or `request.headers` of the site" in (stages.site_error() or "")


def test_pages_that_were_kept_stay_when_the_session_ends(stages: Stages) -> None:
    """The start is open; the others ask for a login from one day on, and the site says so."""
    for path in ("/a", "/b", "/c"):
        stages.web.page(path, html(path, "The gauge is green."))
    stages.web.page("/", html("Start", links=["/a", "/b", "/c", "/login", "/later"]))
    stages.web.page("/login", login_page())
    stages.web.redirect("/later", "/login?next=/later")
    stages.configure_site()
    stages.run()
    assert stages.pages() == {"/", "/a", "/b", "/c"}
    problems = stages.problems()
    assert problems["/login"] == "it is a login page"
    assert "/login?next=%2Flater" in problems["/later"] or "/login?next=/later" in problems["/later"]
    for path in ("/a", "/b", "/c"):
        stages.web.page(path, login_page())
    stages.refresh()
    assert stages.pages() == {"/", "/a", "/b", "/c"}
    assert "it shows a login page in place of a document" in stages.problems()["/a"]


def test_a_site_with_more_logins_than_pages_has_failed(stages: Stages) -> None:
    stages.web.page("/", html("Start", links=["/a", "/b"]))
    for path in ("/a", "/b"):
        stages.web.page(path, login_page())
    stages.configure_site()
    stages.crawl()
    assert stages.pages() == {"/"}
    assert (stages.site_error() or "").startswith("2 URLs show a login in place of a document: set `login`")


def test_a_page_with_text_and_a_form_is_a_document(stages: Stages) -> None:
    """As where each page has a small form in its header, or where a document explains a form."""
    text = " ".join(f"Word {number} of the explanation." for number in range(60))
    stages.web.page("/", html("Start", "Short.", links=["/b"]).replace("<main>", f"<header>{FORM}</header><main>"))
    stages.web.page("/b", html("Form", text).replace("</main>", f"{FORM}</main>"))
    stages.configure_site()
    stages.crawl()
    assert stages.pages() == {"/", "/b"}


def test_a_form_is_filled_in_and_sent(stages: Stages) -> None:
    """With its hidden fields, its button and the cookie of its page, once for a crawl; no secret is in the database."""
    account = Account(stages.web)
    with_form(stages)
    stages.run()
    assert stages.pages() == {"/", "/a", "/b"}
    assert account.posted == [{"csrf": "t1", "user": "ada", "password": SECRET, "go": "in"}]
    tables = stages.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'sourcebook'")
    for table in tables:
        held = stages.rows(
            f"SELECT count(*) AS rows FROM sourcebook.{table['tablename']} t WHERE t::text LIKE '%%{SECRET}%%'"
        )
        assert held[0]["rows"] == 0, table


def test_a_refused_login_names_the_variables_and_asks_for_no_page(
    stages: Stages, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its next attempt is a day later, because repeated ones lock an account; an attempt on demand is made."""
    account = Account(stages.web)
    monkeypatch.setenv("TEST_PASSWORD", "wrong-s3cr3t")
    with_form(stages)
    report = stages.crawl()
    assert [failure.failure_class.value for failure in report.failures] == ["forbidden"]
    error = stages.site_error() or ""
    assert (
        error == f"the login at {stages.address('/login')} was refused: check the values of TEST_PASSWORD and TEST_USER"
    )
    assert stages.web.count("/") == 0
    assert "wrong-s3cr3t" not in caplog.text
    assert stages.rows("SELECT next_crawl_at > now() + interval '20 hours' AS later FROM source") == [{"later": True}]
    stages.crawl()
    assert len(account.posted) == 1
    monkeypatch.setenv("TEST_PASSWORD", SECRET)
    stages.crawl(Selection(force=True))
    assert stages.pages() == {"/", "/a", "/b"}
    assert stages.site_error() is None


@pytest.mark.parametrize(
    ("form", "fields", "reason"),
    [
        (
            FORM,
            {"mail": "x", "password": "${TEST_PASSWORD}"},
            "has the fields mail, password: its fields are user, password",
        ),
        (FORM.replace("/session", "http://elsewhere.example/x"), {}, "is sent to http://elsewhere.example, which is"),
        (FORM.replace('method="post"', ""), {}, "is not sent by POST"),
        ("", {}, "it has no field for a password"),
        (FORM, {"user": "x", "password": "${TEST_UNSET}"}, "needs the environment variable TEST_UNSET"),
    ],
)
def test_a_form_that_cannot_be_sent(stages: Stages, form: str, fields: dict[str, str], reason: str) -> None:
    """Each reason is named, and nothing is sent."""
    Account(stages.web)
    stages.web.page("/login", f"<p>Sign in</p>{form}")
    with_form(stages, **fields)
    stages.crawl()
    assert reason in (stages.site_error() or "")
    assert stages.web.count("/session") == 0


@pytest.mark.parametrize("place", ["action", "location"])
def test_a_login_that_leads_to_no_address(stages: Stages, place: str) -> None:
    """Is a failure of the site, as any other; the crawl does not break."""
    Account(stages.web)
    if place == "action":
        stages.web.page("/login", f"<p>Sign in</p>{FORM.replace('/session', 'http://[half')}")
    else:
        stages.web.redirect("/login", "http://[half")
    with_form(stages)
    report = stages.crawl()
    assert [failure.failure_class.value for failure in report.failures] == ["forbidden"]
    reason = "is sent to something that is no web address" if place == "action" else "answers 302"
    assert reason in (stages.site_error() or "")


class EndingSessions(Account):
    """An account whose sessions end after so many pages; its form is good for so many logins."""

    def __init__(self, server: WebServer, *, pages: int, logins: int = 9, redirects: bool = False) -> None:
        super().__init__(server, redirects=redirects)
        self.good_for = pages
        self.logins = logins
        self.shown: Counter[str] = Counter()
        server.route("/", lambda request: self._page(request, html("Start", links=[f"/p/{n}" for n in range(8)])))
        server.page("/welcome", html("Welcome"))
        server.route("/p/*", lambda request: self._page(request, html(request.path, f"Gauge {request.path[3:]}.")))

    async def _begin(self, request: web.BaseRequest) -> web.Response:
        if len(self.posted) >= self.logins:
            self.posted.append({})
            return web.Response(text=login_page(), content_type="text/html")
        response = await super()._begin(request)
        if "session" in response.cookies:
            response.headers["Location"] = "/welcome"
            response.set_cookie("session", f"number-{len(self.posted)}")
        return response

    def _page(self, request: web.BaseRequest, text: str) -> web.Response:
        session = request.cookies.get("session", "")
        self.shown[session] += 1
        if session == f"number-{len(self.posted)}" and self.shown[session] <= self.good_for:
            return web.Response(text=text, content_type="text/html")
        if self.redirects:
            return web.Response(status=302, headers={"Location": f"/login?next={request.path}"})
        return web.Response(text=login_page(), content_type="text/html")


@pytest.mark.parametrize("redirects", [False, True])
def test_a_session_that_ends_within_a_crawl_is_begun_again(stages: Stages, redirects: bool) -> None:
    """Once, by one of several visits that see its end; every page is read."""
    account = EndingSessions(stages.web, pages=5, redirects=redirects)
    with_form(stages)
    report = stages.crawl()
    assert stages.pages() == {"/", *(f"/p/{number}" for number in range(8))}
    assert len(account.posted) == 2
    assert report.failures == []


def test_a_session_is_begun_again_once_in_a_crawl(stages: Stages) -> None:
    """However often it ends; pages that show a login then wait for the next crawl."""
    account = EndingSessions(stages.web, pages=3)
    with_form(stages)
    stages.crawl()
    assert len(account.posted) == 2
    assert len(stages.pages()) == 6
    assert "the session may have ended" in next(iter(stages.problems().values()))


def test_a_new_login_that_is_refused_is_told_and_not_repeated(stages: Stages) -> None:
    account = EndingSessions(stages.web, pages=5, logins=1)
    with_form(stages)
    stages.crawl()
    assert len(account.posted) == 2
    assert len(stages.pages()) == 5
    problems = [reason for path, reason in stages.problems().items() if path.startswith("/p/")]
    assert len(problems) == 4
    assert all("a new login failed: the login at " in reason for reason in problems)
    assert SECRET not in "".join(problems)


def test_a_login_without_effect_is_not_repeated_within_minutes(stages: Stages) -> None:
    """The form seems to be taken, but the first page still shows a login: a wrong password may look like that."""
    Account(stages.web)
    stages.web.page("/session", html("Welcome", "Please go on."))
    with_form(stages)
    stages.crawl()
    assert "it shows a login page in place of a document" in (stages.site_error() or "")
    assert stages.rows("SELECT next_crawl_at > now() + interval '20 hours' AS later FROM source") == [{"later": True}]
    stages.crawl()
    assert stages.web.count("/session") == 1
