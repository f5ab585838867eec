"""The headers that a site's settings add to its requests, with secrets from the environment."""

import os
import re
from base64 import b64encode

from sourcebook.config.site_types import REFERENCE
from sourcebook.config.sites import SiteSource
from sourcebook.errors import FailureClass
from sourcebook.web.http_types import FetchError

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def site_headers(settings: SiteSource) -> dict[str, str]:
    """Return the headers of a site with the values of their environment variables; they are for its origin alone.

    Raises:
        FetchError: a variable is not set, or a value holds characters that no header may have.
    """
    headers = {name: filled_in(f"header {name}", value) for name, value in settings.request.headers.items()}
    if settings.login is not None and settings.login.basic is not None:
        headers["Authorization"] = f"Basic {b64encode(filled_in('login', settings.login.basic).encode()).decode()}"
    return headers


def filled_in(subject: str, value: str) -> str:
    """Substitute environment variables in a value of the settings; no message contains a value.

    Args:
        subject: what needs the value, such as `header Cookie`.
        value: text with references such as `${DOCS_TOKEN}`.

    Raises:
        FetchError: a variable is not set, or the value holds control characters.
    """

    def variable(match: re.Match[str]) -> str:
        found = os.environ.get(match[1])
        if found is None:
            reason = f"the site's {subject} needs the environment variable {match[1]}, which is not set"
            raise FetchError(reason, failure_class=FailureClass.FORBIDDEN, transient=False)
        return found.strip()

    filled = REFERENCE.sub(variable, value)
    if _CONTROL.search(filled):
        raise FetchError(
            f"the site's {subject} holds characters that no header may have",
            transient=False,
            failure_class=FailureClass.UNSUPPORTED,
        )
    return filled
