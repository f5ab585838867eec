"""IP addresses that a crawl may connect to: public ones, and those that the site's settings name."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from yarl import URL

from sourcebook.config.sites import SiteSource
from sourcebook.errors import FailureClass
from sourcebook.web.http_types import FetchError

Address = IPv4Address | IPv6Address
Lookup = Callable[[str, int], Awaitable[list[str]]]
"""Resolve a host and port to addresses; raises OSError where there are none."""

_MOST_REMEMBERED = 4096
_LOOKUP_SECONDS = 3.0
"""Seconds for the lookup of a name that a proxy connects to; behind a proxy there may be no DNS."""
_METADATA = {IPv4Address("169.254.169.254"), IPv6Address("fd00:ec2::254")}
_SHARED = ip_network("100.64.0.0/10")
_PUBLIC_IPV6 = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")


class AddressGuard:
    """Checks the IP addresses of a site's connections.

    A literal address or `localhost` in the site's URL is allowed at the port of that URL, and so are the addresses in
    `request.private_networks`. Any other address must be public.
    """

    def __init__(self, settings: SiteSource, lookup: Lookup | None = None) -> None:
        self._lookup = lookup or system_lookup
        self._networks = settings.request.private_networks
        url = URL(settings.url)
        self._named = (_plain_host(url.host or ""), url.port)
        self._left_to_proxy: set[str] = set()
        self._refusals: dict[tuple[str, str, int], str | None] = {}

    def refusal(self, host: str, address: str, port: int) -> str | None:
        """Return the reason to refuse an address, with the remedy; None where it is allowed.

        Args:
            host: host name or literal address in the URL.
            address: resolved address of the host; equal to `host` where that is a literal address.
            port: port of the connection.
        """
        key = (host, address, port)
        if key not in self._refusals:
            if len(self._refusals) >= _MOST_REMEMBERED:
                self._refusals.clear()
            self._refusals[key] = self._judge(host, address, port)
        return self._refusals[key]

    def _judge(self, host: str, address: str, port: int) -> str | None:
        try:
            target = _effective(ip_address(address.partition("%")[0]))
        except ValueError:
            return f"{address} is not an address in its usual form, and is not connected to"
        kind = _kind(target)
        if target in _METADATA:
            return f"{address} gives out the credentials of this machine, and is never connected to"
        if kind is None or any(target in network for network in self._networks) or self._is_named(host, target, port):
            return None
        meant = "which is not connected to; if that is meant, add its network"
        is_name = _plain_host(host) != _plain_host(address)
        if is_name:  # readers of a failure need not know the addresses of this network
            told = f"which `getent hosts {host}` tells, to the site's request.private_networks"
            return f"{host} leads to {kind}, {meant}, {told}"
        network = ip_network(f"{target}/{24 if target.version == 4 else 64}", strict=False)
        return f"{address} is {kind}, {meant} to the site's request.private_networks, such as {network}"

    async def resolve(self, host: str, port: int) -> list[str]:
        """Return the allowed addresses of a host; connect to these without another DNS lookup.

        Raises:
            FetchError: the host does not resolve, or none of its addresses is allowed.
        """
        literal = literal_address(host)
        if literal is not None:
            addresses = [literal]
        else:
            try:
                addresses = await self._lookup(host, port)
            except (OSError, UnicodeError) as error:
                raise _not_found(host, error) from error
            if not addresses:
                raise _not_found(host, OSError("it has no address"))
        refusals = {address: self.refusal(host, address, port) for address in addresses}
        allowed = [address for address, refusal in refusals.items() if refusal is None]
        if not allowed:
            raise FetchError(str(next(iter(refusals.values()))), transient=False, failure_class=FailureClass.FORBIDDEN)
        return allowed

    async def check_behind_proxy(self, host: str, port: int) -> None:
        """Check a host that a proxy connects to: what this machine resolves to refused addresses alone is refused.

        The proxy does its own lookup. A name that this machine cannot resolve is left to it.

        Raises:
            FetchError: the host is refused.
        """
        if host in self._left_to_proxy:
            return
        try:
            async with asyncio.timeout(_LOOKUP_SECONDS):
                await self.resolve(host, port)
        except TimeoutError:
            pass
        except FetchError as error:
            if error.failure_class is FailureClass.FORBIDDEN:
                raise
        else:
            return
        self._left_to_proxy.add(host)

    def _is_named(self, host: str, address: Address, port: int) -> bool:
        # The name `localhost` must not lead to other machines of the network.
        named = (_plain_host(host), port) == self._named
        return named and (_is_literal(host) or (self._named[0] == "localhost" and address.is_loopback))


async def system_lookup(host: str, port: int) -> list[str]:
    """Return the addresses of a host from the system's resolver, in its order of preference."""
    found = await asyncio.get_running_loop().getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG
    )
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


@lru_cache(maxsize=4096)
def literal_address(host: str) -> str | None:
    """Return the host of a URL where it is a literal IP address, None where it is a name.

    Raises:
        FetchError: the address has an unusual notation such as `2130706433` or `0x7f.1`, which would evade checks.
    """
    plain = _plain_host(host)
    if _is_literal(plain):
        return plain
    try:
        meant = socket.inet_ntoa(socket.inet_aton(plain))
    except (OSError, UnicodeError):
        return None
    raise FetchError(
        f"the host {host} is an odd spelling of {meant}; write the address plainly",
        transient=False,
        failure_class=FailureClass.FORBIDDEN,
    )


def _plain_host(host: str) -> str:
    host = host.strip("[]").rstrip(".").lower()
    return str(ip_address(host)) if _is_literal(host) else host


def _is_literal(host: str) -> bool:
    try:
        ip_address(host.strip("[]").rstrip("."))
    except ValueError:
        return False
    return True


def _effective(address: Address) -> Address:
    """Return the IPv4 address embedded in an IPv6 address (mapped, 6to4, NAT64), or the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _kind(address: Address) -> str | None:
    """Return the kind of a non-public address; None for a public one."""
    if address in _METADATA:
        return "where clouds keep their credentials"
    if address.is_unspecified:
        return "no address of a server"
    if address.is_loopback:
        return "a loopback address"
    if address.is_link_local:
        return "a link-local address"
    if address.is_multicast:
        return "a multicast address"
    if address in _SHARED or address.is_private:
        return "a private address"
    outside = isinstance(address, IPv6Address) and address not in _PUBLIC_IPV6
    return "a reserved address" if outside or address.is_reserved or not address.is_global else None


def _not_found(host: str, error: Exception) -> FetchError:
    reason = getattr(error, "strerror", None) or str(error)
    return FetchError(
        f"the name {host} could not be looked up ({reason}); check its spelling and this machine's DNS",
        transient=True,
        host_failed=True,
        failure_class=FailureClass.NETWORK,
    )
