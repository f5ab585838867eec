"""The entries of an RSS or Atom feed, read by feedparser."""

import feedparser

from sourcebook.records import Checkpoint

HARMLESS = (feedparser.CharacterEncodingOverride, feedparser.NonXMLContentType)
"""What feedparser notes about feeds that it reads whole."""


class FeedEntries:
    """The entries of a feed; the first look follows its pages (`rel="next"`, RFC 5005).

    Args:
        url: address of the feed.
        complete: whether the feed always has every entry there is, so that one that it lacks is gone.
    """

    def __init__(self, url, complete=False):
        self.url, self.complete = url, complete

    def changes(self, cursor):
        whole = cursor is None or self.complete
        page = first = read(self.url, **({} if whole else cursor))
        if page.get("status") == 304:
            return
        seen = set()
        while True:
            seen.add(page.href)
            for entry in page.entries:
                yield record(entry)
            following = next((link.href for link in page.feed.get("links", []) if link.rel == "next"), None)
            if not whole or following is None or following in seen:
                break
            page = read(following)
        state = {"etag": first.get("etag"), "modified": first.get("modified")}
        yield Checkpoint(state, complete=self.complete)


def read(url, **known):
    """Return a feed that was read whole; feedparser itself raises nothing."""
    page = feedparser.parse(url, **known)
    error = page.get("bozo_exception")
    if page.get("status", 200) >= 400:
        raise RuntimeError(f"the feed answers with status {page.status}")
    if error is not None and not isinstance(error, HARMLESS):
        raise RuntimeError(f"the feed cannot be read: {error}")
    if page.get("status") != 304 and not page.version:
        raise RuntimeError("the address has no feed")
    return page


def record(entry):
    parts = [part.value for part in entry.get("content", [])] or [entry.get("summary", "")]
    files = "".join(f'<p><a href="{link.href}">{link.href}</a></p>' for link in entry.get("enclosures", []))
    return {
        "id": entry.get("id") or entry.get("link"),
        "title": entry.get("title"),
        "text": "".join(parts) + files,
        "link": entry.get("link"),
        "updated": entry.get("updated") or entry.get("published"),
        "author": entry.get("author"),
        "labels": [tag.term for tag in entry.get("tags", []) if tag.term],
    }
