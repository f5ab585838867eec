"""The guard against a site that empties itself: with a server in maintenance, a login, a shell without text.

A page that is gone, or says the same as others that said something else before, is a loss. Losses wait until the crawl
ends: then they are recorded, unless they are more than a share of the site's pages. In that case the crawl stops, the
pages stay as they are, and a run with `accept` takes the loss.
"""

from collections import OrderedDict

from sourcebook.config.collection import RemovalSettings
from sourcebook.web.crawl_result import leaves
from sourcebook.web.outcome import Gone, Outcome, Redirected, Refused, Stored

MOST_CHANGED = 256
"""Changed pages that wait for another one with equal content."""


class EmptyingGuard:
    """Holds back the outcomes by which stored pages are lost.

    Args:
        rules: how much may go at once; None: all.
    """

    def __init__(self, rules: RemovalSettings | None) -> None:
        self._rules = rules
        self._lost: list[Outcome] = []
        self._alone: OrderedDict[bytes | str, Outcome] = OrderedDict()
        """The first changed page of each content, and the first that has moved to an address."""
        self._alike: set[bytes | str] = set()
        self._pages = 0

    def begin(self, pages: int, hashes: set[bytes]) -> None:
        """Begin with the number of a site's stored pages, and the hashes of their contents."""
        self._pages = pages
        self._alike = {*hashes}

    @property
    def lost(self) -> int:
        """Number of pages that would be lost."""
        return len(self._lost)

    @property
    def pages(self) -> int:
        """Number of stored pages at the start."""
        return self._pages

    @property
    def holds(self) -> bool:
        """Whether more would be lost than may go at once."""
        return self._rules is not None and self._rules.hold(self.lost, self._pages)

    def take(self, outcome: Outcome) -> Outcome | None:
        """Return the outcome to record now; None where it waits, perhaps in place of another one that is returned."""
        if self._rules is None or not outcome.claimed.live:
            return outcome
        match outcome:
            case Stored() if outcome.page.sha256 != outcome.claimed.sha256:
                return self._wait(outcome, outcome.page.sha256)
            case Redirected():
                return self._wait(outcome, outcome.target)
            case Gone() | Refused() if leaves(outcome):
                self._lost.append(outcome)
                return None
            case _:
                return outcome

    def _wait(self, outcome: Outcome, content: bytes | str) -> Outcome | None:
        if content in self._alike:
            self._lost.append(outcome)
        elif (first := self._alone.pop(content, None)) is not None:
            self._alike.add(content)
            self._lost += [first, outcome]
        else:
            self._alone[content] = outcome
            if len(self._alone) > MOST_CHANGED:
                return self._alone.popitem(last=False)[1]
        return None

    def release(self) -> list[Outcome]:
        """Return what waited and is to be recorded, at the end of a crawl; nothing where the loss is held back."""
        if self.holds:
            return []
        released, self._lost = self._lost, []
        return [*self.release_single(), *released]

    def release_single(self) -> list[Outcome]:
        """Return the changed pages that are like no other, which a crawl that pauses records."""
        released = [*self._alone.values()]
        self._alone.clear()
        return released
