"""Outcomes of visits that lead to no document, with their reasons."""

from sourcebook.config.sites import SiteSource
from sourcebook.errors import FailureClass
from sourcebook.web.login_pages import login_reason
from sourcebook.web.outcome import ClaimedUrl, Failed, FoundUrl, Outcome, Refused


def not_to_be_indexed(claimed: ClaimedUrl, found: tuple[FoundUrl, ...] = ()) -> Outcome:
    """Return the outcome of a page that asks not to be indexed."""
    return Refused(claimed, "the page asks not to be indexed (robots)", "noindex", found=found, removes=True)


def led_away(claimed: ClaimedUrl, target: str) -> Outcome:
    """Return the outcome of a URL that leads off the site; the start fails and removes no page."""
    reason = f"it redirects to {target[:200]}, which does not belong to the site"
    if claimed.is_start:
        return Failed(
            claimed,
            f"{reason}; if the site has moved there, make that its `url`",
            transient=False,
            failure_class=FailureClass.SERVER,
        )
    return Refused(claimed, reason, "redirect", removes=True)


def asks_login(claimed: ClaimedUrl, settings: SiteSource, what: str) -> Outcome:
    """Return the outcome of a URL that shows a login in place of a document; the stored page stays."""
    reason = login_reason(settings, what)
    return Failed(claimed, reason, transient=False, failure_class=FailureClass.FORBIDDEN, asks_login=True)
