"""What a page would do in a browser: scripts, handlers, addresses."""

import re
from html.parser import HTMLParser
from urllib.parse import urlsplit

_STATIC = "/static/"
_VOID_OR_ALLOWED_SOURCES = {"script", "img", "link"}
_ACTING = {"style", "iframe", "object", "embed", "base", "svg", "math", "template", "video", "audio"}
_DRAWN = {("svg", "plot"), ("svg", "marks")}
_PICTURE = re.compile(r"/documents/\d+/pages/\d+\.png")
_RECORDING = re.compile(r"/documents/\d+/original\?inline=true(?:#t=\d+)?")
_PLAYERS = {"audio", "video"}


class Page(HTMLParser):
    """The tags, links and texts of a page.

    Args:
        content: the page.
    """

    def __init__(self, content: bytes) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.areas: dict[str, str] = {}
        self._area: str | None = None
        self.feed(content.decode())
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        self._area = self.tags[-1][1]["name"] if tag == "textarea" else None
        if self._area is not None:
            self.areas[self._area] = ""

    def handle_endtag(self, tag: str) -> None:
        self._area = None

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._area is not None:
            self.areas[self._area] += data

    @property
    def links(self) -> list[str]:
        return [held["href"] for tag, held in self.tags if tag == "a" and "href" in held]

    def with_id(self, name: str) -> tuple[str, dict[str, str]]:
        (found,) = [each for each in self.tags if each[1].get("id") == name]
        return found

    def acting(self) -> list[str]:
        """Return what acts, or loads something, beyond the files and the htmx attributes of the page itself."""
        found = []
        for tag, held in self.tags:
            loaded = held.get("src", held.get("href", ""))
            is_own_recording = tag in _PLAYERS and _RECORDING.fullmatch(loaded) is not None and "autoplay" not in held
            if tag in _ACTING and (tag, held.get("class")) not in _DRAWN and not is_own_recording:
                found.append(tag)
            is_own_picture = tag == "img" and _PICTURE.fullmatch(loaded) is not None
            if tag in _VOID_OR_ALLOWED_SOURCES and not loaded.startswith(_STATIC) and not is_own_picture:
                found.append(f"{tag} {held}")
            if tag == "form" and not held["action"].startswith("/"):
                found.append(f"form {held}")
            for name, value in held.items():
                if name.startswith("on") or name == "style" or (name.startswith("hx-") and not _is_own(tag, held)):
                    found.append(f"{tag} {name}")
                if name in {"href", "src", "action"} and urlsplit(value).scheme not in {"", "http", "https"}:
                    found.append(f"{tag} {value}")
        return found


def _is_own(tag: str, held: dict[str, str]) -> bool:
    """Return whether a tag is one of the page's own that asks again: no document can give a class."""
    return tag == "input" or (tag == "section" and "live" in held.get("class", "").split())
