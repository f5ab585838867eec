"""What `browser:` of a site promises to the person who writes it."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sourcebook.config.loading import load_configuration
from sourcebook.config.sites import SiteSource
from sourcebook.errors import ConfigurationError
from sourcebook.web.site import Site

URL = "https://docs.example.com/"
MINIMAL = f"collections:\n  handbook:\n    sites:\n      - url: {URL}\n"


def read(folder: Path, *lines: str) -> SiteSource:
    """Return the site of a file that has these lines."""
    path = folder / "sourcebook.yaml"
    path.write_text(MINIMAL + "".join(f"        {line}\n" for line in lines))
    return load_configuration(path).collections["handbook"].sites[0]


def site(**settings: Any) -> SiteSource:
    return SiteSource.model_validate({"url": URL, **settings})


def test_every_setting_is_read(tmp_path: Path) -> None:
    """What the file says is what the settings hold, and what the ledger gives back."""
    found = read(
        tmp_path,
        "browser:",
        """  wait_for: 'main article:not([data-is="a(b"]), #empty\\:page'""",
        '  clicks: ["#accept", {selector: "button.more:has-text(\'More\')", times: 20}]',
        "  js_code:",
        "    - |",
        "      const menu = document.querySelector('nav');",
        "      menu.remove()",
        "  scroll: true",
        "  page_timeout: 90s",
        "  viewport: 1280x800",
        "  locale: de-DE",
    )
    assert found.browser is not None
    assert [(click.selector, click.times) for click in found.browser.clicks] == [
        ("#accept", 1),
        ("button.more:has-text('More')", 20),
    ]
    assert found.browser.js_code == ("const menu = document.querySelector('nav');\nmenu.remove()",)
    assert (found.browser.scroll, found.browser.viewport, found.browser.locale) == (None, (1280, 800), "de-DE")
    assert (found.browser.page_timeout, found.page_seconds) == (timedelta(seconds=90), 90.0)
    assert SiteSource.model_validate(found.model_dump(mode="json")) == found


@pytest.mark.parametrize(("written", "screens"), [("true", None), ("false", 0), ("7", 7)])
def test_scrolling_is_yes_no_or_a_number(tmp_path: Path, written: str, screens: int | None) -> None:
    """`true` is without a limit, `false` is no screen."""
    found = read(tmp_path, f"browser: {{scroll: {written}}}")
    assert found.browser is not None
    assert found.browser.scroll == screens
    assert SiteSource.model_validate(found.model_dump(mode="json")) == found


@pytest.mark.parametrize(
    ("lines", "parts"),
    [
        (["render: never", "browser: {scroll: true}"], ["line 6", "sites[0].browser", "`render: never` opens no page"]),
        (["browser: {wait_for: 'main ['}"], ["sites[0].browser.wait_for", "'main ['", "this is no CSS selector"]),
        (["browser: {wait_for: 'main )'}"], ["sites[0].browser.wait_for", "this is no CSS selector"]),
        (["browser: {wait_for: '//main'}"], ["sites[0].browser.wait_for", "this is no CSS selector"]),
        (["browser: {wait_for: 'js:() => true'}"], ["sites[0].browser.wait_for", 'such as "main article"']),
        (["browser: {wait_for: ''}"], ["sites[0].browser.wait_for"]),
        (["browser: {clicks: ['a(']}"], ["line 5, column 28", "sites[0].browser.clicks[0]", "'a('", "no CSS selector"]),
        (["browser: {clicks: [{selector: 'a('}]}"], ["sites[0].browser.clicks[0].selector", "no CSS selector"]),
        (["browser: {clicks: [{selector: a, times: 0}]}"], ["clicks[0].times", "from 1 to 1000"]),
        (["browser: {clicks: [{selektor: a}]}"], ["clicks[0].selektor", "did you mean selector?"]),
        (["browser: {clicks: button}"], ["sites[0].browser.clicks", "a list of CSS selectors"]),
        (["browser: {js_code: openAll()}"], ["sites[0].browser.js_code", "a list of JavaScript"]),
        (["browser: {js_code: ['']}"], ["sites[0].browser.js_code[0]"]),
        (["browser: {scroll: -1}"], ["sites[0].browser.scroll", "from 0 to 1000"]),
        (["browser: {page_timeout: 1h}"], ["sites[0].browser.page_timeout", "at most 10m"]),
        (["browser: {viewport: 1280}"], ["sites[0].browser.viewport", "such as 1280x800"]),
        (["browser: {viewport: 10x20}"], ["sites[0].browser.viewport", "from 100 to 10000"]),
        (["browser: {locale: de_DE}"], ["sites[0].browser.locale", "such as de or de-DE"]),
        (["browser: {waitfor: main}"], ["sites[0].browser.waitfor", "did you mean wait_for?"]),
    ],
)
def test_an_error_names_place_value_and_remedy(tmp_path: Path, lines: list[str], parts: list[str]) -> None:
    """The message holds the key, what was found there, and what is allowed."""
    with pytest.raises(ConfigurationError) as failure:
        read(tmp_path, *lines)
    assert all(part in str(failure.value) for part in parts), str(failure.value)


def test_what_changes_pages_opens_every_page() -> None:
    """Where pages are worked on, `auto` opens every page; the size of the window or the language alone do not."""
    acting: list[dict[str, Any]] = [{"wait_for": "main"}, {"clicks": ["a"]}, {"js_code": ["x()"]}, {"scroll": 2}]
    assert all(site(browser=browser).renders_every_page for browser in acting)
    other: list[dict[str, Any]] = [{}, {"viewport": "800x600", "locale": "de", "page_timeout": "60s", "scroll": False}]
    assert not any(site(browser=browser).renders_every_page for browser in other)
    assert all(site(browser=browser, render="always").renders_every_page for browser in other)


def test_a_change_is_told() -> None:
    """Every setting that may change what a page holds changes the identity of its rendering; its time does not."""
    changes: list[dict[str, Any]] = [
        {"wait_for": "main"},
        {"clicks": ["a"]},
        {"clicks": [{"selector": "a", "times": 2}]},
        {"js_code": ["x()"]},
        {"scroll": 2},
        {"scroll": True},
        {"viewport": "800x600"},
        {"locale": "de"},
    ]
    found = [site(), site(render="always"), *(site(browser=change) for change in changes)]
    assert len({each.rendering for each in found}) == len(found)
    assert site().rendering == ""
    assert site(browser={"scroll": 2, "page_timeout": "60s"}).rendering == site(browser={"scroll": 2}).rendering


def test_a_change_begins_an_unfinished_crawl_again() -> None:
    """Pages that it has read already were read with the other settings; without any, nothing changes with an update."""

    def scope(**settings: Any) -> str:
        return Site(1, URL, site(**settings), None, None, due=True, keep="main").scope_digest

    assert scope(browser={"scroll": 2}) != scope() != scope(browser={"locale": "de"})
    assert scope(browser={"scroll": 2}) != scope(browser={"scroll": 3})
