"""Counts and failures of a crawl, and the sentences on its end."""

from collections import Counter
from dataclasses import dataclass, field

from sourcebook.errors import FailureClass
from sourcebook.model.report import ItemFailure
from sourcebook.web.login_pages import login_reason
from sourcebook.web.outcome import (
    Failed,
    Gone,
    Listed,
    Outcome,
    Postponed,
    Redirected,
    Refused,
    Stored,
)
from sourcebook.web.site import Site


@dataclass
class CrawlResult:
    """Counts and failures of a crawl."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    failures: list[ItemFailure] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    """Counts by name: refused, forbidden, redirected, lists, postponed, rendered, login, bytes."""
    refusals: Counter[str] = field(default_factory=Counter)
    """Number of excluded pages by reason."""
    stopped: ItemFailure | None = None
    """Reason why the crawl stopped early, with the URL of its start."""
    shows_login: bool = False
    """Whether the start shows a login, so that the crawl stopped."""
    paused: bool = False
    """Whether the crawl paused, so that the pages of other sites become searchable."""
    waits_for: Postponed | None = None
    """Last postponed URL, whose reason is that of the site."""

    def take(self, outcome: Outcome) -> None:
        """Count an outcome."""
        claimed = outcome.claimed
        match outcome:
            case Stored():
                self._take_page(outcome)
            case Gone() | Refused() | Redirected():
                self.removed += leaves(outcome)
                if isinstance(outcome, Refused):
                    self.counts["forbidden" if outcome.rule == "robots" else "refused"] += 1
                    self.refusals[outcome.reason] += 1
                elif isinstance(outcome, Redirected):
                    self.counts["redirected"] += 1
            case Listed():
                self.counts["lists"] += 1
                if outcome.notice is not None:
                    self.failures.append(ItemFailure(claimed.url, outcome.notice, FailureClass.CORRUPT))
            case Failed():
                if outcome.asks_login:
                    self.counts["login"] += 1
                if not claimed.is_start:  # reported as the failure of the site
                    self.failures.append(ItemFailure(claimed.url, outcome.reason, outcome.failure_class))
            case Postponed():
                self.counts["postponed"] += 1
                self.waits_for = outcome
            case _:
                self.unchanged += 1

    def take_failed(self, outcome: Outcome, failed: Failed) -> None:
        """Count an outcome that was counted, and could not be recorded, as failed."""
        if isinstance(outcome, Stored):
            self.added -= not outcome.claimed.live
            self.changed -= outcome.claimed.live and outcome.claimed.sha256 != outcome.page.sha256
        self.take(failed)

    def _take_page(self, outcome: Stored) -> None:
        if not outcome.claimed.live:
            self.added += 1
        elif outcome.claimed.sha256 != outcome.page.sha256:
            self.changed += 1
        else:
            self.unchanged += 1
        self.counts["bytes"] += outcome.page.size
        if outcome.page.rendered:
            self.counts["rendered"] += 1


def leaves(outcome: Gone | Refused | Redirected) -> bool:
    """Return whether an outcome removes a stored page."""
    return outcome.claimed.live and (outcome.removes if isinstance(outcome, Refused) else True)


def why_login(site: Site, result: CrawlResult) -> ItemFailure:
    """Return the failure of a site that shows a login for more URLs than it has pages."""
    reason = login_reason(site.settings, f"{result.counts['login']:,} URLs show a login")
    return ItemFailure(site.location, reason, FailureClass.FORBIDDEN)


def why_nothing(site: Site, result: CrawlResult) -> ItemFailure:
    """Return the reason why a crawl ended without any page."""
    if forbidden := result.counts["forbidden"]:
        agent = site.settings.request.user_agent.partition("/")[0]
        reason = f"0 pages because robots.txt forbids them to {agent} ({forbidden:,} URLs)"
        return ItemFailure(site.location, reason, FailureClass.FORBIDDEN)
    if result.failures:
        first = result.failures[0]
        return ItemFailure(site.location, f"0 pages; {first.uri}: {first.reason}", first.failure_class)
    if result.refusals:
        (reason, refused), *_ = result.refusals.most_common(1)
        total = result.refusals.total()
        reason = f"0 pages; {refused:,} of {total:,} URLs are not taken because: {reason}"
        return ItemFailure(site.location, reason, FailureClass.EMPTY)
    nothing = "0 pages: nothing was found that the patterns take and that holds text"
    return ItemFailure(site.location, nothing, FailureClass.EMPTY)
