"""An Atom feed after RFC 4287, with an archive in pages after RFC 5005, ETags and 304."""

import hashlib

from tests.recipes.service import Answer, Change, HttpService, Request

_WINDOW = 10


class Feed(HttpService):
    """A feed that shows its latest entries, and the others behind `rel="next"`; none is ever taken back."""

    recipe = "feed"
    follows_clock = False

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.entries: dict[str, list[str]] = {}
        """Title and text by identity, in the order of publication."""

    def settings(self, text: str) -> str:
        return text.replace("https://news.example.com", self.url)

    def admits(self, request: Request) -> bool:
        return True

    def change(self) -> Change:
        if len(self.entries) > 3 and self.random.random() < 0.4:
            key = self.random.choice(list(self.entries)[-3:])
            self.entries[key][1] = self.word()
        else:
            key = f"https://news.example.com/{len(self.entries) + 1}"
            self.entries[key] = [self.word(), self.word()]
        return Change(key)

    def truth(self) -> dict[str, list[str]]:
        return self.entries

    def answer(self, request: Request) -> Answer:
        number = int(request.query.get("page", "1"))
        newest = list(self.entries.items())[::-1]
        shown = newest[(number - 1) * _WINDOW : number * _WINDOW]
        more = (
            f'<link rel="next" href="{self.url}/atom.xml?page={number + 1}"/>' if number * _WINDOW < len(newest) else ""
        )
        entries = "".join(
            f"<entry><id>{key}</id><title>{title}</title><updated>{self.stamp()}</updated>"
            f'<link href="{key}"/><category term="news"/>'
            f'<content type="html">&lt;p&gt;{text} &amp;amp; more&lt;/p&gt;</content></entry>'
            for key, (title, text) in shown
        )
        etag = '"' + hashlib.sha256(repr(shown).encode()).hexdigest()[:16] + '"'
        if request.headers.get("if-none-match") == etag:
            return Answer("", 304, {"ETag": etag})
        feed = f'<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><id>{self.url}</id>{more}{entries}</feed>'
        return Answer(f'<?xml version="1.0" encoding="utf-8"?>{feed}', 200, {"ETag": etag}, "application/atom+xml")
