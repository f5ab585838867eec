"""Which addresses a site may lead to."""

import asyncio
from ipaddress import ip_network

import pytest

from sourcebook.config.sites import RequestSettings, SiteSource
from sourcebook.web.fetching.addresses import AddressGuard, literal_address
from sourcebook.web.http_types import FetchError

PUBLIC = SiteSource(url="https://docs.example.com/")


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.8.9.10",
        "::1",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "100.64.0.1",
        "169.254.1.1",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
        "fec0::1",
        "0.0.0.0",  # noqa: S104 - an address to refuse
        "::",
        "224.0.0.1",
        "ff02::1",
        "240.0.0.1",
        "255.255.255.255",
        "192.0.2.1",
        "198.18.0.1",
        "::ffff:127.0.0.1",
        "::127.0.0.1",
        "64:ff9b::a00:1",
        "64:ff9b:1::1",
        "2002:7f00:1::1",
        "2001:0:1::1",
        "2001:db8::1",
        "4000::1",
    ],
)
def test_no_address_inside_is_reached_from_a_public_site(address: str) -> None:
    """Private, loopback, link-local, multicast, reserved and wrapped ones are refused: with the remedy, and unnamed."""
    refusal = AddressGuard(PUBLIC).refusal("docs.example.com", address, 443)
    assert refusal is not None
    assert "private_networks" in refusal
    assert address not in refusal


@pytest.mark.parametrize("address", ["169.254.169.254", "fd00:ec2::254", "::ffff:169.254.169.254"])
def test_what_gives_out_a_machine_s_credentials_is_never_reached(address: str) -> None:
    """Not even where the configuration names it, or a network that it lies in."""
    networks = (ip_network("169.254.0.0/16"), ip_network("fd00::/8"))
    guard = AddressGuard(SiteSource(url="http://169.254.169.254/", request=RequestSettings(private_networks=networks)))
    assert "credentials" in (guard.refusal("169.254.169.254", address, 80) or "")


@pytest.mark.parametrize(
    "address",
    ["93.184.216.34", "2606:2800:220:1::1", "64:ff9b::5db8:d822", "::ffff:93.184.216.34", "2002:5db8:d822::1"],
)
def test_public_addresses_are_reached(address: str) -> None:
    """What is public is allowed, also where IPv6 wraps it."""
    assert AddressGuard(PUBLIC).refusal("docs.example.com", address, 443) is None


def test_what_the_site_names_is_allowed_at_its_port_only() -> None:
    """A literal address as the site's host opens that host and that port, and nothing beside."""
    guard = AddressGuard(SiteSource(url="http://127.0.0.1:8000/docs/"))
    assert guard.refusal("127.0.0.1", "127.0.0.1", 8000) is None
    assert guard.refusal("127.0.0.1", "127.0.0.1", 5432) is not None
    assert guard.refusal("127.0.0.2", "127.0.0.2", 8000) is not None
    assert guard.refusal("localhost", "127.0.0.1", 8000) is not None
    assert guard.refusal("evil.example.com", "127.0.0.1", 8000) is not None


def test_localhost_is_this_machine_and_no_other() -> None:
    """`localhost` as the site's host opens loopback addresses at its port, not wherever the name leads."""
    guard = AddressGuard(SiteSource(url="http://localhost:8000/"))
    assert guard.refusal("localhost", "127.0.0.1", 8000) is None
    assert guard.refusal("localhost", "::1", 8000) is None
    assert guard.refusal("localhost", "10.0.0.1", 8000) is not None
    assert guard.refusal("127.0.0.1", "127.0.0.1", 8000) is not None


def test_a_name_as_the_sites_host_opens_nothing_inside() -> None:
    """That the site's own name leads inside is no permission: a name is not an address."""
    assert AddressGuard(PUBLIC).refusal("docs.example.com", "10.0.0.1", 443) is not None


def test_private_networks_open_exactly_themselves() -> None:
    """Names may lead into the networks that the settings list, also where IPv6 wraps the address."""
    inside = RequestSettings(private_networks=(ip_network("10.1.0.0/16"),))
    guard = AddressGuard(SiteSource(url="https://wiki.corp.example/", request=inside))
    assert guard.refusal("wiki.corp.example", "10.1.2.3", 443) is None
    assert guard.refusal("wiki.corp.example", "::ffff:10.1.2.3", 443) is None
    assert guard.refusal("wiki.corp.example", "10.2.0.1", 443) is not None
    assert guard.refusal("wiki.corp.example", "169.254.169.254", 443) is not None


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "127.1", "0177.0.0.1", "0"])
def test_odd_spellings_of_addresses_are_refused(host: str) -> None:
    """A number that systems take for an address is not asked for."""
    with pytest.raises(FetchError, match="odd spelling"):
        literal_address(host)


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.1.", "127.0.0.1"),
        ("[::1]", "::1"),
        ("docs.example.com", None),
        ("a1", None),
    ],
)
def test_literal_addresses_are_told_from_names(host: str, address: str | None) -> None:
    """A host is an address or a name."""
    assert literal_address(host) == address


def test_resolving_gives_only_what_may_be_connected_to() -> None:
    """Of the addresses of a name those that are refused are left out; if none is left, that is an error."""

    async def lookup(host: str, port: int) -> list[str]:
        return {"mixed.example": ["10.0.0.1", "93.184.216.34"], "inside.example": ["10.0.0.1", "::1"]}[host]

    guard = AddressGuard(PUBLIC, lookup)
    assert asyncio.run(guard.resolve("mixed.example", 443)) == ["93.184.216.34"]
    with pytest.raises(FetchError, match=r"inside\.example leads to a private address") as refused:
        asyncio.run(guard.resolve("inside.example", 443))
    assert not refused.value.transient
    with pytest.raises(FetchError, match=r"127\.0\.0\.1 is a loopback address"):
        asyncio.run(guard.resolve("127.0.0.1", 443))


def test_a_name_that_is_not_found_is_a_failure_of_the_host() -> None:
    """DNS failure is told in words, and may pass."""
    with pytest.raises(FetchError, match=r"no-such-host\.invalid could not be looked up") as failure:
        asyncio.run(AddressGuard(PUBLIC).resolve("no-such-host.invalid", 443))
    assert failure.value.transient
    assert failure.value.host_failed


@pytest.mark.parametrize("host", ["a..b", "x" * 64 + ".example", "ä" * 70])
def test_a_name_that_cannot_be_one_is_an_error_too(host: str) -> None:
    """Labels that are empty or too long do not crash the look-up."""
    with pytest.raises(FetchError, match="could not be looked up"):
        asyncio.run(AddressGuard(PUBLIC).resolve(host, 443))
