"""What `sites:` of a collection promises to the person who writes it."""

import json
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path

import pytest

from sourcebook.config.edit import add_site, with_site
from sourcebook.config.field_types import Settings
from sourcebook.config.loading import load_configuration
from sourcebook.config.sites import PolitenessSettings, RequestSettings, SiteSource
from sourcebook.errors import ConfigurationError

MINIMAL = """\
collections:
  handbook:
    sites:
      - url: https://docs.example.com/
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sourcebook.yaml"


def read(path: Path, text: str) -> SiteSource:
    """Return the first site of the first collection."""
    path.write_text(text)
    (collection,) = load_configuration(path).collections.values()
    return collection.sites[0]


def with_setting(line: str) -> str:
    return MINIMAL + f"        {line}\n"


class TestReading:
    def test_a_url_is_all_it_takes(self, path: Path) -> None:
        """Everything but a site's URL has a default, and a collection of sites alone needs no folder."""
        site = read(path, MINIMAL)
        assert site.location == "https://docs.example.com/"
        assert (site.max_depth, site.max_pages, site.include, site.exclude) == (10, 1000, ("/**",), ())
        assert (site.follow_links, site.scope, site.render) == (None, "same_host", "auto")
        assert (site.politeness.respect_robots, site.politeness.concurrency) == (True, 4)
        assert site.politeness.requests_per_second == 1.0
        assert (site.refresh, site.request.timeout) == (timedelta(days=1), timedelta(seconds=30))

    def test_every_setting_is_read(self, path: Path) -> None:
        """What the file says is what the settings hold."""
        site = read(
            path,
            """
            collections:
              handbook:
                sites:
                  - url: HTTPS://Docs.Example.com
                    max_depth: 3
                    max_pages: 50
                    include: ["docs/", "/blog/*.html"]
                    exclude: ["/docs/old/**"]
                    follow_links: false
                    scope: same_domain
                    politeness: {requests_per_second: unlimited, concurrency: 8, respect_robots: false}
                    render: never
                    refresh: 12h
                    request:
                      user_agent: Example/1.0
                      timeout: 1.5s
                      max_bytes: 5MB
                      headers: {Authorization: "Bearer ${DOCS_TOKEN}"}
                      private_networks: [10.0.0.0/8]
                      cookies: true
                      proxy: http://proxy.example.com:3128
                    tags: [policy]
                    follow: ["contents/"]
                    keep: ["/docs/**"]
                    path_tags: {"/howto/": [howto]}
                    login: {form: https://docs.example.com/login, fields: {user: ada, password: "${PASSWORD}"}}
            """,
        )
        assert site.location == "https://docs.example.com/"
        assert (site.include, site.exclude) == (("/docs/**", "/blog/*.html"), ("/docs/old/**",))
        assert (site.politeness.requests_per_second, site.refresh, site.request.timeout) == (
            None,
            timedelta(hours=12),
            timedelta(seconds=1.5),
        )
        assert (site.request.max_bytes, site.tags) == (5_000_000, ("policy",))
        assert site.request.headers == {"Authorization": "Bearer ${DOCS_TOKEN}"}
        assert site.request.private_networks == (ip_network("10.0.0.0/8"),)
        assert (site.followed, site.kept) == (("/contents/**",), ("/docs/**",))
        assert (site.path_tags, site.keeps_cookies) == ({"/howto/**": ("howto",)}, True)

    def test_settings_survive_the_ledger(self, path: Path) -> None:
        """What is written to the database as JSON reads back as it was."""
        rate = "politeness: {requests_per_second: unlimited}"
        site = read(path, with_setting(f"{rate}\n        request: {{private_networks: [fd00::/8]}}"))
        assert SiteSource.model_validate(site.model_dump(mode="json")) == site

    @pytest.mark.parametrize(
        ("text", "parts"),
        [
            (MINIMAL.replace("https://", "ftp://"), ["line 4, column 14", "sites[0].url", "http or https"]),
            (MINIMAL.replace("docs.", "user:s3cr3t@docs."), ["sites[0].url", "names no user"]),
            (MINIMAL.replace(".com/", ".com:99999/"), ["sites[0].url", "port"]),
            (with_setting("refresh: tomorrow"), ["line 5, column 18", "'tomorrow'", "30m, 12h, 1d"]),
            (with_setting("render: yes"), ["sites[0].render", "never, auto or always"]),
            (with_setting("politeness: {requests_per_second: 0}"), ["requests_per_second", "above 0", "unlimited"]),
            (with_setting("politeness: {requests_per_second: often}"), ["'often'", "unlimited"]),
            (with_setting("politeness: {concurrency: 0}"), ["from 1 to 64"]),
            (with_setting("max_pages: 0"), ["from 1 to 10,000,000"]),
            (with_setting("max_depth: -1"), ["from 0 to 1000"]),
            (with_setting("include: []"), ["at least one"]),
            (
                with_setting('request: {headers: {"a b": x}}'),
                ["sites[0].request.headers.a b", "letters, digits and hyphens"],
            ),
            (with_setting('request: {headers: {"X-A": "a\\nb"}}'), ["one line"]),
            (
                with_setting("request: {headers: {Authorization: Bearer s3cr3t}}"),
                ["sites[0].request.headers.Authorization", "${NAME}"],
            ),
            (with_setting("request: {headers: {X-Api-Key: s3cr3t}}"), ["line 5, column 40", "found a literal value"]),
            (with_setting("request: {headers: {cookie: session=s3cr3t}}"), ["sites[0].request.headers.cookie"]),
            (with_setting("request: {private_networks: [intranet]}"), ["'intranet'", "10.0.0.0/8"]),
            (
                with_setting("request: {proxy: socks5://a:1080}"),
                ["sites[0].request.proxy", "or the word none", "found a text of"],
            ),
            (
                with_setting("request: {proxy: http://a:s3cr3t@b:1}"),
                ["sites[0].request.proxy", "found a literal value", "${NAME}"],
            ),
            (
                with_setting("login: {}"),
                ["sites[0].login", "one of form, state and basic", "form, fields, state, basic"],
            ),
            (with_setting("login: {stat: x}"), ["sites[0].login.stat", "did you mean state?"]),
            (with_setting("login: {form: https://a.example/}"), ["sites[0].login", "form and fields belong together"]),
            (with_setting("login: {basic: ada}"), ["sites[0].login.basic", "a user and a password", "a text of 3"]),
            (with_setting("login: {basic: ada:s3cr3t}"), ["sites[0].login.basic", "found a literal value"]),
            (
                with_setting("login: {form: https://a.example/, fields: {user: ada, Password: s3cr3t}}"),
                ["sites[0].login.fields.Password", "found a literal value", "${NAME}"],
            ),
            (with_setting("follow: []"), ["sites[0].follow", "such as"]),
            (with_setting("timout: 3s"), ["there is no such key (did you mean request.timeout?)"]),
            (with_setting("max_page: 3"), ["there is no such key (did you mean max_pages?)"]),
            (with_setting("request: {timout: 3s}"), ["request.timout: there is no such key (did you mean timeout?)"]),
            (
                MINIMAL + "      - url: HTTPS://docs.example.com/#top\n",
                ["sites[1].url", "sites[0] has this URL already"],
            ),
            ("collections:\n  a: {tags: [x]}\n", ["there is no such key"]),
            ("collections:\n  a: {chunking: {}}\n", ["neither files nor sites", "`- root: …`", "`- url: …`"]),
        ],
    )
    def test_a_mistake_is_named_with_its_place_and_what_is_allowed(
        self, path: Path, text: str, parts: list[str]
    ) -> None:
        """The message says where, what was found and what belongs there."""
        with pytest.raises(ConfigurationError) as caught:
            read(path, text)
        for part in parts:
            assert part in str(caught.value)
        assert "s3cr3t" not in str(caught.value)

    @pytest.mark.parametrize("group", [PolitenessSettings, RequestSettings])
    def test_a_setting_that_moved_is_named_with_its_place(self, path: Path, group: type[Settings]) -> None:
        """Each key that stood beside `url` is refused in a file with the line to write; a ledger's is taken over."""
        name = "politeness" if group is PolitenessSettings else "request"
        for moved in group.model_fields:
            with pytest.raises(ConfigurationError) as caught:
                read(path, with_setting(f"{moved}: x"))
            told = f"line 5, column 9: collections.handbook.sites[0].{moved}: this setting is gone: "
            assert f"{told}write it as {name}: {{{moved}: …}}" in str(caught.value)
        stored = {"url": "https://docs.example.com/", "max_depth": 2, **json.loads(group().model_dump_json())}
        assert SiteSource.model_validate(stored) == SiteSource(url="https://docs.example.com/", max_depth=2)

    def test_a_ledger_may_have_a_setting_in_its_place_and_others_beside_it(self) -> None:
        """As where a person has patched what an earlier version had stored."""
        stored = {"url": "https://docs.example.com/", "request": {"timeout": 5}, "cookies": True, "concurrency": 9}
        site = SiteSource.model_validate(stored)
        assert (site.request.timeout, site.request.cookies, site.politeness.concurrency) == (
            timedelta(seconds=5),
            True,
            9,
        )


class TestAddingASite:
    def test_comments_order_and_indentation_stay(self, path: Path) -> None:
        """Only the new lines differ from what a person wrote."""
        before = (
            "# Ours.\ncollections:\n  handbook:   # the first\n    files:\n    - root: ./docs\n      tags: ['a b']\n"
        )
        path.write_text(before)
        assert add_site(path, "handbook", "https://docs.example.com/", {"max_pages": 20})
        after = path.read_text()
        assert after.startswith(before)
        assert after.removeprefix(before).split() == [
            "sites:",
            "-",
            "url:",
            "https://docs.example.com/",
            "max_pages:",
            "20",
        ]

    @pytest.mark.parametrize(
        "before",
        [
            "collections: {handbook: {sites: [{url: https://docs.example.com/}]}}\n",
            "collections:\n  handbook:\n    sites: [{url: https://docs.example.com/}]  # ours\n",
            "collections:\n  handbook:\n    sites: [\n      {url: https://docs.example.com/},  # first\n    ]\n",
            "collections:\n  handbook:\n    sites: [{url: https://docs.example.com/,  # here\n      render: never}]\n",
            '{"collections": {"handbook": {"sites": [{"url": "https://docs.example.com/"}]}}}\n',
        ],
    )
    def test_a_file_in_braces_is_edited_as_any_other(self, path: Path, before: str) -> None:
        """And keeps its comments, wherever these stood."""
        path.write_text(before)
        assert add_site(path, "handbook", "https://docs.example.com/", {"max_pages": 3})
        assert add_site(path, "handbook", "https://two.example.com/", {"exclude": ["/x/**"]})
        assert add_site(path, "handbook", "https://docs.example.com/", {"politeness": {"concurrency": 2}})
        first, second = load_configuration(path).collections["handbook"].sites
        assert (first.max_pages, first.politeness.concurrency, second.exclude) == (3, 2, ("/x/**",))
        after = path.read_text()
        assert all(after.count(comment) == 1 for comment in ("# ours", "# first", "# here") if comment in before)

    def test_a_file_and_a_collection_are_made(self, path: Path) -> None:
        """Where nothing is there yet, a configuration of one site is written."""
        assert add_site(path, "docs", "https://docs.example.com/", {})
        assert load_configuration(path).collections["docs"].sites[0].url == "https://docs.example.com/"

    def test_a_known_site_is_changed_not_added(self, path: Path) -> None:
        """The same site in another spelling keeps its entry; settings that are not named stay."""
        path.write_text(with_setting("max_depth: 2"))
        assert add_site(path, "handbook", "https://DOCS.example.com", {"max_pages": 20})
        (site,) = load_configuration(path).collections["handbook"].sites
        assert (site.max_depth, site.max_pages) == (2, 20)
        assert not add_site(path, "handbook", "https://docs.example.com/", {"max_pages": 20})

    def test_a_group_keeps_its_other_settings(self, path: Path) -> None:
        """As a site does."""
        path.write_text(with_setting("politeness: {concurrency: 2}  # a small machine"))
        assert add_site(path, "handbook", "https://docs.example.com/", {"politeness": {"requests_per_second": 3}})
        politeness = load_configuration(path).collections["handbook"].sites[0].politeness
        assert (politeness.concurrency, politeness.requests_per_second) == (2, 3)
        assert "# a small machine" in path.read_text()

    @pytest.mark.parametrize(
        ("url", "settings"), [("ftp://example.com/", {}), ("https://example.com/", {"max_pages": 0})]
    )
    def test_a_mistake_leaves_the_file_as_it_was(self, path: Path, url: str, settings: dict[str, int]) -> None:
        """A wrong URL or setting is told with the file's own name, and nothing is written."""
        path.write_text(MINIMAL)
        with pytest.raises(ConfigurationError, match=r"sourcebook\.yaml, line \d"):
            add_site(path, "handbook", url, settings)
        assert path.read_text() == MINIMAL
        assert [child.name for child in path.parent.iterdir()] == ["sourcebook.yaml"]


class TestSecrets:
    @pytest.mark.parametrize("header", ["Authorization: Bearer s3cr3t", "X-Auth-Token: s3cr3t", 'X-A: "s3cr3t\\nb"'])
    def test_the_value_of_a_header_is_in_no_message(self, path: Path, header: str) -> None:
        """Messages go to logs, ticks and `status`: they name the header and never its value."""
        with pytest.raises(ConfigurationError) as raised:
            read(path, with_setting(f"request: {{headers: {{{header}}}}}"))
        assert "s3cr3t" not in str(raised.value)

    def test_other_headers_may_be_literal(self, path: Path) -> None:
        site = read(
            path, with_setting('request: {headers: {Accept-Language: de, X-Author: Ada, Cookie: "id=${SESSION}"}}')
        )
        assert set(site.request.headers) == {"Accept-Language", "X-Author", "Cookie"}

    def test_a_ledger_of_an_earlier_version_is_still_read(self) -> None:
        """A literal that an earlier version recorded stops no crawl."""
        headers = {"Authorization": "Bearer s3cr3t"}
        settings = {"url": "https://docs.example.com/", "request": {"headers": headers}}
        assert SiteSource.model_validate(settings).request.headers == headers


class TestTryingOut:
    def test_a_path_is_relative_to_the_file(self, path: Path) -> None:
        """As it is when the file is written."""
        path.write_text(with_setting("login: {state: ./docs-state.json}"))
        _, site = with_site(path, None, "https://docs.example.com/", {"max_pages": 5})
        assert site.login is not None
        assert site.login.state == str(path.parent.resolve() / "docs-state.json")
        assert site.max_pages == 5

    def test_the_named_collection_counts(self, path: Path) -> None:
        """Where two have the site, and where the named one is new; without a name it is the first that has it."""
        other = (
            "  manual:\n    parsing: {html: body}\n    sites:\n      - {url: https://docs.example.com/, max_pages: 7}\n"
        )
        path.write_text(MINIMAL + other)
        collection, site = with_site(path, "manual", "https://docs.example.com/", {"max_depth": 1})
        assert (collection.parsing.html, site.max_pages, site.max_depth) == ("body", 7, 1)
        assert with_site(path, None, "https://docs.example.com/", {})[1].max_pages == 1000
        assert with_site(path, "new", "https://docs.example.com/", {})[1].max_pages == 1000
