"""Addresses that are not connected to, whatever leads there."""

import pytest

from sourcebook.config.sites import SiteSource
from sourcebook.web.fetching.addresses import AddressGuard
from sourcebook.web.http_types import FetchError, Request
from tests.integration.web.fetching import PAGE, failure, fetch, fetch_all, settings_of
from tests.web_server import WebServer


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "127.0.0.2",
        "127.1",
        "2130706433",
        "0x7f.1",
        "[::ffff:127.0.0.1]",
        "[::1]",
        "0.0.0.0",  # noqa: S104 - leads to this machine, too
        "127.0.0.1.",
        "１２７.０.０.１",
        "①②⑦.0.0.1",
    ],
)
def test_a_public_site_never_leads_to_this_machine(server: WebServer, host: str) -> None:
    """Whatever the spelling, nothing arrives."""
    with pytest.raises(FetchError):
        fetch(server, f"http://{host}:{server.port}/a", url="https://docs.example.com/")
    assert server.paths() == []


def test_another_port_of_the_named_host_is_not_reached(server: WebServer) -> None:
    """A site on loopback opens its own port, not the database beside it."""
    with WebServer() as other:
        error = failure(server, f"{other.url}/a")
        assert "private_networks" in str(error)
        assert not error.transient
        assert other.paths() == []


def test_a_name_that_changes_its_address_gains_nothing(server: WebServer) -> None:
    """A name is looked up once, and connected to at the address that was checked (DNS rebinding)."""
    lookups = []

    async def lookup(host: str, port: int) -> list[str]:
        lookups.append(host)
        return ["192.0.2.1"] if len(lookups) == 1 else ["127.0.0.1"]

    site = SiteSource.model_validate(
        {"url": "https://docs.example.com/", "request": {"timeout": "0.5s", "private_networks": ["192.0.2.0/24"]}}
    )
    url = f"http://rebinding.example:{server.port}/a"
    with pytest.raises(FetchError):
        fetch_all(site, [Request(url)], AddressGuard(site, lookup))
    assert lookups == ["rebinding.example"]
    with pytest.raises(FetchError, match=r"rebinding\.example leads to a loopback address"):
        fetch_all(site, [Request(url)], AddressGuard(site, lookup))
    assert server.paths() == []


def test_names_may_lead_into_private_networks_that_the_site_lists(server: WebServer) -> None:
    """The way to an intranet."""
    server.page("/a", PAGE)
    url = f"http://localhost:{server.port}/a"
    assert fetch(server, url, url="https://docs.example.com/", private_networks=["127.0.0.0/8", "::1"]).status == 200


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "raw:<p>x", "ftp://h/", "http://", "http://u:p@h/", "http://h:99999/", "javascript:1", ""],
)
def test_only_plain_http_urls_are_fetched(server: WebServer, url: str) -> None:
    """No file, no script, and no password in a URL."""
    with pytest.raises(FetchError, match="only URLs of http and https"):
        fetch_all(settings_of(server), [Request(url)])
