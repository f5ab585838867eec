"""Recognition of login pages, which servers send in place of a document."""

import re
from urllib.parse import urlsplit

from sourcebook.config.sites import SiteSource

MOST_WORDS = 120
"""Words of the longest login page: a page with more text is a document that has a login form as well."""
_LOGIN_PATH = re.compile(
    r"/(?:log[-_]?in|log[-_]?on|sign[-_]?in|sso|saml2?|oauth2?/authorize)(?=[/.?;]|$)", re.IGNORECASE
)
_LOGIN_HOST = re.compile(r"(?:log[-_]?in|sign[-_]?in|sso|accounts?|auth|idp)\d*\.", re.IGNORECASE)
_ID_HOST = re.compile(r"id\d*\.", re.IGNORECASE)
"""Host of identities, or of pages in Indonesian: the way back in the query tells them apart."""
_WAY_BACK = re.compile(
    r"(?:^|&)(?:client_id|continue|goto|next|redirect\w*|return\w*|samlrequest|service)=", re.IGNORECASE
)
_WORD = re.compile(r"\w+")


def is_login_url(url: str) -> bool:
    """Return whether a URL names a login page by its path."""
    return _LOGIN_PATH.search(urlsplit(url).path) is not None


def leads_to_login(url: str, target: str) -> bool:
    """Return whether a redirect leads from a document to a login: by the path, or to a host for logins."""
    before, after = urlsplit(url), urlsplit(target)
    if before.netloc != after.netloc:
        if _LOGIN_HOST.match(after.netloc):
            return True
        if _ID_HOST.match(after.netloc) and _WAY_BACK.search(after.query):
            return True
    return is_login_url(target) and not is_login_url(url)


def is_login_page(markdown: str, *, asks_password: bool) -> bool:
    """Return whether a page is a login rather than a document: a field for a password, and hardly any text."""
    return asks_password and sum(1 for _ in _WORD.finditer(markdown)) <= MOST_WORDS


def login_reason(settings: SiteSource, what: str) -> str:
    """Return the reason of a failure because of a login, with the remedy.

    Args:
        settings: settings of the site.
        what: the event, such as `it shows a login page`.
    """
    event = f"{what} in place of a document"
    if settings.login is not None or settings.request.headers:
        configured = "`login`" if settings.login is not None else "`request.headers`"
        return f"{event}, although {configured} of the site is set: the session may have ended"
    return f"{event}: set `login` or `request.headers` of the site, or leave it out with `exclude`"
