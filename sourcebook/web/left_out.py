"""URLs of a site that are left out: the rules, and what the patterns leave out, counted by the pattern."""

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

LeftOutRule = Literal["follow_links", "type", "patterns", "max_depth", "follow", "trap", "nofollow"]
"""Rules that leave a link out, in the order in which they are asked."""

MOST_COUNTED = 100_000
"""URLs that are counted for a pattern; beyond it, the count stays as it is."""
_EXAMPLES = 3


class LeftOutBy(NamedTuple):
    """Rule that leaves a URL out, with the setting and the pattern of `patterns`."""

    rule: LeftOutRule
    setting: str | None = None
    """`exclude`, or the setting of which no pattern takes it: `include` or `keep`."""
    pattern: str | None = None
    """The pattern of `exclude`."""


@dataclass(frozen=True, slots=True)
class LeftOutLinks:
    """URLs of the site that were never requested, by what leaves them out."""

    rule: LeftOutRule
    setting: str | None
    pattern: str | None
    number: int
    """Number of URLs; of patterns also those that only lists, or pages that are not stored, name."""
    urls: dict[str, str] = field(default_factory=dict)
    """The first stored page with the link, by URL; "" where there is none."""


_BECAUSE = {
    "include": "no pattern of `include` takes {them}",
    "keep": "no pattern of `keep` takes {them}",
    "max_depth": "more than `max_depth` links lead to {them}",
    "follow": "no pattern of `follow` takes a page that links to {them}",
    "follow_links": "only URLs of lists are requested (`follow_links`)",
    "nofollow": "the pages that link to {them} ask for it (nofollow)",
    "trap": "there seems to be no end to such URLs",
}
"""Why a rule leaves URLs out, by its setting."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The URLs that one rule leaves out of a site."""

    setting: str
    """`exclude`, `canonical`, or the rule in `_BECAUSE`."""
    pattern: str | None
    """The pattern of `exclude`, the page of `canonical`; None for the others."""
    urls: int
    """Number of URLs, at most `MOST_COUNTED`."""
    examples: tuple[str, ...]

    @classmethod
    def of(cls, row: dict[str, Any]) -> "LeftOut":
        """Return the entry of a JSON object in `source.left_out`."""
        return cls(row["setting"], row["pattern"], row["urls"], tuple(row["examples"]))

    def __str__(self) -> str:
        """Return a sentence for people."""
        number = f"{self.urls:,} URL{'' if self.urls == 1 else 's'}"
        number = f"at least {number}" if self.urls >= MOST_COUNTED else number
        are, them = ("is", "it") if self.urls == 1 else ("are", "them")
        if self.setting == "canonical":
            own = f"{are} no document of {'its' if self.urls == 1 else 'their'} own"
            return f"{number} {own}, as {self.pattern} says the same: such as {self.examples[0]}"
        why = f"by `exclude: {self.pattern}`" if self.pattern else f"because {_BECAUSE[self.setting].format(them=them)}"
        return f"{number} {are} left out {why}, such as {self.examples[0]}"


class LeftOutUrls:
    """Collects the URLs that rules leave out, each once."""

    def __init__(self) -> None:
        self._urls: dict[tuple[str, str | None], set[int]] = {}
        self._examples: dict[tuple[str, str | None], list[str]] = {}

    def note(self, url: str, refusal: tuple[str, str | None] | None) -> None:
        """Count a URL under the setting and the pattern that leave it out; nothing where None does."""
        if refusal is None:
            return
        known = self._urls.setdefault(refusal, set())
        if len(known) < MOST_COUNTED and (digest := hash(url)) not in known:
            known.add(digest)
            examples = self._examples.setdefault(refusal, [])
            if len(examples) < _EXAMPLES:
                examples.append(url)

    def found(self) -> list[LeftOut]:
        """Return what was left out, the largest number first."""
        entries = [
            LeftOut(setting, pattern, len(urls), tuple(self._examples[setting, pattern]))
            for (setting, pattern), urls in self._urls.items()
        ]
        return sorted(entries, key=lambda entry: (-entry.urls, entry.setting, entry.pattern or ""))
