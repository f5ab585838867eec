"""The normal form of URLs, which identifies a page.

Differences that a server may heed are kept: the trailing slash, `?a` and `?a=`, the order of repeated parameters,
`%20` and `+` in a query.
"""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import IPv4Address
from typing import TYPE_CHECKING

from yarl import URL

if TYPE_CHECKING:
    from tldextract import TLDExtract

LONGEST_URL = 2000
"""Limit on the characters of a normal form. Sitemaps allow 2,048; longer URLs are nearly always traps."""

_ROUTE = re.compile(r"!?/[^?#\s]+")
"""A fragment by which the scripts of a page show another one; `#/` is the page itself."""
_DEFAULT_PORTS = {"http": 80, "https": 443}
_BLANKS = "".join(map(chr, range(33)))
_HOST = re.compile(r"(?=.{1,253}\.?\Z)(?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63}\.?")
_NUMERIC_LABEL = re.compile(r"\d+|0x[0-9a-f]*")
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]@]+)(?::([0-9]{0,5}))?")

# Tracking parameters. `ref`, `source` and `from` are not among them, because many sites select content by them.
_TRACKING_PREFIXES = ("utm_", "hsa_", "mtm_", "pk_", "piwik_", "matomo_")
_TRACKING = frozenset(
    "_branch_match_id _ga _gl _hsenc _hsmi __hsfp __hssc __hstc "  # noqa: SIM905 - a name a line would fill a screen
    "_kx _openstat dclid epik fbclid gad_campaignid gad_source gbraid gclid gclsrc guccounter guce_referrer "
    "guce_referrer_sig hsctatracking igsh igshid irclickid li_fat_id mc_cid mc_eid mkt_tok ml_subscriber "
    "ml_subscriber_hash msclkid oly_anon_id oly_enc_id rb_clickid ref_src ref_url s_cid srsltid ttclid twclid "
    "vero_conv vero_id wbraid wickedid yclid ysclid zanpid".split()
)
_SESSIONS = frozenset({"asp.net_sessionid", "cfid", "cftoken", "jsessionid", "phpsessid"})
_MAYBE_SESSIONS = frozenset({"s", "sess", "session", "session_id", "sessionid", "sid", "ssid", "zenid"})
_TOKEN = re.compile(r"(?=.*\d)(?=.*[a-z])(?:[0-9a-f-]{16,}|[0-9a-z]{20,})", re.IGNORECASE)
_PATH_SESSION = re.compile(
    r";(?:jsessionid|phpsessid)=[^/;]*|/\([^/]{0,40}S\([a-z0-9]{24}\)[^/]{0,40}\)(?=/|\Z)", re.IGNORECASE
)


def route_form(url: str) -> str | None:
    """Return the normal form of a URL with the route of a page's own scripts in it: `#/guide` or `#!/guide`.

    What follows the route, such as `?id=part`, is a place in its page.
    """
    normal = normal_form(url)
    route = _ROUTE.match(url.partition("#")[2])
    return normal if normal is None or route is None else f"{normal}#{route[0]}"


def normal_form(url: str, base: str | None = None) -> str | None:
    """Return the normal form of a URL.

    Scheme and host in lower case, the host in ASCII (IDNA), without default port, fragment, dot segments, tracking
    parameters and session ids, percent-encoding in one way, parameters sorted by name; an empty path is `/`.
    The function is idempotent.

    Args:
        url: absolute, or relative to `base`; surrounding blanks and backslashes are handled as in browsers.
        base: an absolute URL.

    Returns:
        The normal form; None where the URL is not of http or https, names a user, or exceeds `LONGEST_URL`.
    """
    if len(url) > 4 * LONGEST_URL:
        return None
    url = url.strip(_BLANKS)
    if "\\" in url or " " in url:
        url = _as_browsers_read(url)
    try:
        parsed = URL(url)
        if parsed.scheme and not parsed.raw_authority:
            return None
        if base is not None:
            parsed = _parsed(base).join(parsed)
    except ValueError:
        return None
    authority = _authority(parsed.scheme, parsed.raw_authority)
    if authority is None:
        return None
    path = parsed.raw_path
    normal = f"{parsed.scheme}://{authority}{path}"
    if parsed.raw_query_string and (query := _kept_parameters(parsed.raw_query_string)):
        normal = f"{normal}?{query}"
    if base is not None and "%3A" in path:
        # yarl escapes the colon of a relative path, which might otherwise start with a scheme.
        return normal_form(normal)
    if (";" in path or "(" in path) and (kept := _PATH_SESSION.sub("", path)) != path:
        # The rest may be a dot segment.
        return normal_form(normal.replace(path, kept or "/", 1))
    return normal if len(normal) <= LONGEST_URL else None


def host_of(url: str) -> str:
    """Return the host of a normal form, with a port other than the scheme's default.

    The result does not depend on the scheme.
    """
    return url.split("/", 3)[2].partition("?")[0]


@lru_cache(maxsize=4096)
def registered_domain(host: str) -> str:
    """Return the registered domain of a host, such as `example.co.uk` of `docs.example.co.uk`.

    Each name under a shared suffix such as `github.io` is a registered domain. An address, `localhost` and a public
    suffix are their own domain. The list of public suffixes comes from the package tldextract.

    Args:
        host: host as `host_of` returns it; a port is ignored.
    """
    name = host if host.endswith("]") else host.rpartition(":")[0] or host
    if "." not in name or _is_address(name):
        return name  # without loading the list
    return _extract()(name).top_domain_under_public_suffix or name


@lru_cache(maxsize=1)
def _extract() -> TLDExtract:
    from tldextract import TLDExtract

    return TLDExtract(suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True)


@lru_cache(maxsize=256)
def _parsed(base: str) -> URL:
    return URL(base)


def _as_browsers_read(url: str) -> str:
    end = re.search(r"[?#]|\Z", url)
    path = end.start() if end else len(url)
    return (url[:path].replace("\\", "/") + url[path:]).replace(" ", "%20")


@lru_cache(maxsize=4096)
def _authority(scheme: str, authority: str) -> str | None:
    """Return the normal form of host and port, None where they name no host of the web."""
    parts = _AUTHORITY.fullmatch(authority.lower())
    if scheme not in _DEFAULT_PORTS or parts is None:
        return None
    host, port = parts[1], int(parts[2] or _DEFAULT_PORTS[scheme])
    if not host.startswith("["):
        if not _HOST.fullmatch(host):
            return None
        host = host.removesuffix(".")
        # `127.1` and `0x7f.0.0.1` are addresses to some resolvers and names to others; no page links to them.
        if _NUMERIC_LABEL.fullmatch(host.rpartition(".")[2]) and not _is_address(host):
            return None
    if not 0 < port < 65_536:
        return None
    return host if port == _DEFAULT_PORTS[scheme] else f"{host}:{port}"


def _is_address(host: str) -> bool:
    try:
        return bool(IPv4Address(host).compressed)
    except ValueError:
        return False


def _kept_parameters(query: str) -> str:
    parameters = [parameter for parameter in query.split("&") if parameter and not _is_noise(parameter)]
    if len(parameters) > 1:
        parameters.sort(key=_name)  # stable: repeated parameters keep their order
    return "&".join(parameters)


def _name(parameter: str) -> str:
    return parameter.partition("=")[0]


def _is_noise(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    name = name.lower()
    return (
        name in _TRACKING
        or name in _SESSIONS
        or name.startswith(_TRACKING_PREFIXES)
        or (name in _MAYBE_SESSIONS and _TOKEN.fullmatch(value) is not None)
    )
