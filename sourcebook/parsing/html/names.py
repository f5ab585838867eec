"""Meaning of elements by their class and id."""

import re
from functools import lru_cache
from typing import Literal

Meaning = Literal["boilerplate", "contents", "label", "page header", "page footer"]

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_JOINER = re.compile(r"[-_:.]+")

# Whole words of a name, joined by hyphens; a name that starts with `has-` or `with-` describes the layout around it.
_BOILERPLATE = r"""
    breadcrumbs? | skip-?(?:links?|nav|navigation|to(?:-main)?-content|to-main) | back-?to-?top | scroll-to-top
  | cookies?-?(?:banner|bar|consent|dialog|law|message|modal|notice|notification|overlay|popup|prompt|warning)
  | (?:consent|gdpr|privacy)-(?:banner|bar|dialog|manager|message|modal|notice|overlay|popup|prompt|root)
  | onetrust | cybot-cookiebot-dialog | didomi | usercentrics | qc-cmp2?-container | cc-(?:window|banner)
  | sidebar | sphinxsidebar(?:wrapper)? | side-?(?:bar|nav|navigation|menu) | nav | navs | navbar | navigation
  | (?:dropdown|main|mobile|nav|primary|site|top)-menu | mobile-nav | this-page-menu
  | related-(?:articles|content|links|pages?|posts|stories|topics)
  | nav-?(?:header|footer|links|bar|menu) | pagination | paginat(?:or|ion) | pager | prev-?next | rst-footer-buttons
  | (?:announcement|top)-?bar | masthead | colophon | (?:site|global|app)-(?:header|footer) | page-footer
  | share-?(?:bar|buttons?|icons?|links?|list|menu|this|tools|widget) | sharedaddy | addthis | addtoany
  | social-?(?:bar|buttons|icons|links|list|media|share|sharing)
  | edit-(?:this-page|page|on-github|link|button) | edit-?section | page-(?:feedback|actions|tools|nav|navigation)
  | (?:doc|docs|article)-feedback | feedback-(?:buttons|form|widget) | was-this-(?:page-)?helpful
  | newsletter | subscribe-(?:box|form|widget) | adsbygoogle | advert(?:isement|s)? | ad-(?:banner|container|slot|unit)
  | (?:language|version|theme)-(?:picker|selector|switcher|toggle) | comment-respond | comments-area | disqus-thread
  | md-(?:content-button|dialog|feedback|footer|header|skip|source-file|tabs|top) | copy-?(?:button|btn)
  | (?:article|doc|entry|post)-footer | catlinks | navbox | mw-(?:indicators|jump-link) | printfooter
  | sr-only | visually-?hidden | screen-reader-(?:text|only) | headerlink | viewcode-link | hash-link
"""
_CONTENTS = "toc | (?:md|page|mini|sticky|local)-?toc | table-of-contents | tableofcontents | on-this-page"
_LABEL = "admonition-(?:title|heading) | alert-title | custom-block-title | callout-title | rubric"
_NEVER = r"(?<!has-)(?<!no-)(?<!with-)(?<!without-)(?<!hide-)(?<!show-)(?<!layout-)"


def _names(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![^ -]){_NEVER}(?:{pattern})(?![^ -])", re.VERBOSE)


_RULES: tuple[tuple[re.Pattern[str], Meaning], ...] = (
    (_names(_LABEL), "label"),
    (_names(_BOILERPLATE), "boilerplate"),
    (_names(_CONTENTS), "contents"),
    # Words that count only as the whole name.
    (re.compile(r"(?<!\S)(?:ads?|gdpr|related|share|sharing|social|comments|menu|nav)(?!\S)"), "boilerplate"),
    (re.compile(r"(?<!\S)contents(?= (?:local )?topic(?!\S))"), "contents"),
    (re.compile(r"(?<!\S)(?:page-)?header(?!\S)"), "page header"),
    (re.compile(r"(?<!\S)footer(?!\S)"), "page footer"),
)


@lru_cache(maxsize=8192)
def meaning_of_names(names: str) -> Meaning | None:
    """Return the meaning of a class attribute or an id, whose words are separated by `-`, `_` and capitals.

    "page header" and "page footer" apply only outside an article, as for <header> and <footer>.
    """
    if len(names) > 1000:
        return None
    words = _JOINER.sub("-", _CAMEL.sub("-", names)).lower()
    words = " ".join(word.strip("-") for word in words.split())
    return next((what for pattern, what in _RULES if pattern.search(words)), None)
