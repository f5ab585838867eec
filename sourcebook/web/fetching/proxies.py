"""The HTTP proxy of a request: the site's setting, else the environment's HTTPS_PROXY, HTTP_PROXY and NO_PROXY."""

import re
from base64 import b64encode
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from urllib.parse import unquote, urlsplit
from urllib.request import (  # type: ignore[attr-defined]  # typeshed leaves one of them out
    getproxies_environment,
    proxy_bypass_environment,
)

from sourcebook.config.sites import SiteSource
from sourcebook.errors import FailureClass
from sourcebook.web.fetching.site_headers import filled_in
from sourcebook.web.http_types import FetchError

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy; its user and password are in no message."""

    scheme: str
    """`http` or `https`: how the connection to the proxy is made."""
    host: str
    port: int
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    @property
    def url(self) -> str:
        """Its URL without user and password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    @property
    def authorization(self) -> str | None:
        """Value of Proxy-Authorization, None where it wants no user."""
        if not self.user:
            return None
        return f"Basic {b64encode(f'{self.user}:{self.password}'.encode()).decode()}"


class Proxies:
    """Chooses the proxy of each request of a site.

    The proxy of the settings serves every host. Those of the environment leave out the hosts in NO_PROXY, this machine,
    and everything where the settings say `none`.
    """

    def __init__(self, settings: SiteSource) -> None:
        self._named = settings.request.proxy
        self._environment = getproxies_environment() if settings.request.proxy is None else {}
        self._known: dict[str, Proxy] = {}

    def of(self, scheme: str, host: str, port: int) -> Proxy | None:
        """Return the proxy for a host, None where the connection is direct.

        Args:
            scheme: `http` or `https`, of the URL.
            host: host of the URL, without brackets.
            port: its port.

        Raises:
            FetchError: the proxy is named by a variable that is not set, or by something that is no URL of a proxy.
        """
        if self._named == "none":
            return None
        if self._named is not None:
            return self._of_settings(self._named)
        named = self._environment.get(scheme)
        if not named or _is_this_machine(host) or proxy_bypass_environment(f"{host}:{port}", self._environment):
            return None
        return self._read(f"{scheme.upper()}_PROXY", named if _SCHEME.match(named) else f"http://{named}")

    def _of_settings(self, named: str) -> Proxy:
        """Return the proxy of the settings; no character of a user or password is taken for a part of its address."""
        scheme, sign, rest = named.partition("://")
        account, at, address = rest.rpartition("@")
        proxy = self._read("the site's proxy", filled_in("proxy", f"{scheme}{sign}{address}"))
        if not at:
            return proxy
        user, colon, password = account.partition(":")
        user, password = filled_in("proxy", user), filled_in("proxy", password)
        if not colon:
            user, _, password = user.partition(":")
        return replace(proxy, user=unquote(user), password=unquote(password))

    def _read(self, subject: str, url: str) -> Proxy:
        if url not in self._known:
            self._known[url] = _read(subject, url)
        return self._known[url]


def refusal_of_proxy(proxy: Proxy, host: str, status: int) -> FetchError:
    """Return the error of a proxy that does not connect to a host.

    Args:
        proxy: the proxy.
        host: host of the URL.
        status: status of its answer.
    """
    wants = ": it wants a user and a password" if status == 407 else ""
    return FetchError(
        f"the proxy does not connect to {host} (status {status}){wants}",
        transient=status >= 500,
        host_failed=True,
        failure_class=FailureClass.NETWORK if status >= 500 else FailureClass.FORBIDDEN,
    )


def _read(subject: str, url: str) -> Proxy:
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        host, port = "", 0
    if not host or parts.scheme not in {"http", "https"}:
        reason = f"{subject} names no proxy of http or https"  # without the URL, which may hold a password
        raise FetchError(reason, transient=False, failure_class=FailureClass.UNSUPPORTED)
    return Proxy(parts.scheme, host, port, unquote(parts.username or ""), unquote(parts.password or ""))


def _is_this_machine(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
