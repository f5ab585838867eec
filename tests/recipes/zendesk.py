"""The API v2 of Zendesk: the incremental export of tickets, their comments, and articles behind cursors."""

import re
from base64 import b64decode, b64encode
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, ClassVar

from tests.recipes.service import Answer, Request, page_of
from tests.recipes.threads import Post, Thread, ThreadService

_LOGIN = "Basic " + b64encode(b"desk@example.com/token:secret-token").decode()
_LAG = timedelta(minutes=1)
"""The last minute is not exported."""


class _Zendesk(ThreadService):
    recipe = "zendesk"
    environment = {"ZENDESK_TOKEN": "secret-token"}  # noqa: RUF012
    depth = 1
    source: ClassVar[str]
    """Name of the source in the settings: the other one is read by itself."""

    def settings(self, text: str) -> str:
        head, *sources = text.replace("https://example.zendesk.com", self.url).split("\n      - name: ")
        return "\n      - name: ".join((head, *(each for each in sources if each.startswith(self.source))))

    def admits(self, request: Request) -> bool:
        return request.headers.get("authorization") == _LOGIN

    def busy(self) -> Answer:
        return Answer({"error": "APIRateLimitExceeded"}, 429, {"Retry-After": "1"})

    def refused(self) -> Answer:
        return Answer({"error": "Couldn't authenticate you"}, 401)

    def _page(self, request: Request, field: str, items: Iterable[dict[str, Any]]) -> Answer:
        page, last = page_of(items, request.query.get("page[after]"), 3, lambda each: f"{each['id']:09}")
        return Answer({field: page, "meta": {"has_more": last is not None, "after_cursor": last}})


class ZendeskTickets(_Zendesk):
    """Tickets, whose export has deleted ones, and lacks those of the last minute; a comment may be redacted."""

    source = "tickets"
    changes = ("add", "add", "add", "edit", "edit", "delete", "comment", "comment", "comment", "edit comment")
    told = frozenset({"add", "edit", "delete", "comment"})

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.exported: dict[str, datetime] = {}
        """When the last change of each ticket is exported, by a right clock."""
        self.deleted: dict[str, Thread] = {}

    def begin(self, fault: str | None, at: int) -> None:
        super().begin(fault, at)
        self.time += _LAG

    def begun(self) -> Thread:
        thread = super().begun()
        self.exported[thread.id] = self.time + _LAG
        return thread

    def _changed(self, thread: Thread, kind: str) -> str:
        done = super()._changed(thread, kind)
        if done in self.told:
            self.exported[thread.id] = self.time + _LAG
        if done == "delete":
            self.deleted[thread.id] = thread
        return done

    def answer(self, request: Request) -> Answer:
        path = request.path.removeprefix("/api/v2/")
        if path == "incremental/tickets/cursor":
            return self._exported(request)
        found = re.fullmatch(r"tickets/(\d+)/comments", path)
        thread = self.threads.get(found[1]) if found else None
        if thread is None:
            return Answer({"error": "RecordNotFound", "description": "Not found"}, 404)
        page = self._page(request, "comments", map(_comment, (thread, *thread.replies)))
        users = {"users": [{"id": 7, "name": "Alma"}]} if request.query.get("include") == "users" else {}
        return Answer({**page.body, **users})

    def _exported(self, request: Request) -> Answer:
        after = b64decode(request.query["cursor"]).decode() if "cursor" in request.query else None
        since = int(request.query.get("start_time", 0))
        if after is None and since > self.time.timestamp() - 60:
            return Answer({"error": "InvalidValue", "description": "Too recent start_time."}, 422)
        tickets = [
            each
            for each in (*self.threads.values(), *self.deleted.values())
            if self.exported[each.id] <= self.time and each.updated.timestamp() >= since
        ]
        page, last = page_of(tickets, after, 3, _rank)
        cursor = b64encode((_rank(page[-1]) if page else after or f"{since:015.1f}").encode()).decode()
        found = {"tickets": [self._ticket(each) for each in page], "after_cursor": cursor, "end_of_stream": not last}
        return Answer({**found, "after_url": f"{self.url}/api/v2/incremental/tickets/cursor?cursor={cursor}"})

    def _ticket(self, thread: Thread) -> dict[str, Any]:
        return {
            "id": int(thread.id),
            "subject": thread.title,
            "status": "deleted" if thread.id in self.deleted else "open",
            "tags": ["winch"],
            "updated_at": thread.updated.isoformat(),
            "generated_timestamp": int(thread.updated.timestamp()),
        }


class ZendeskArticles(_Zendesk):
    """Articles of the help centre, whose order people change; every fifth is a draft."""

    source = "articles"
    changes = ("add", "add", "edit", "delete")
    follows_clock = False

    def truth(self) -> dict[str, list[str]]:
        return {key: words for key, words in super().truth().items() if int(key) % 5}

    def answer(self, request: Request) -> Answer:
        if request.path != "/api/v2/help_center/articles":
            return Answer({"error": "RecordNotFound", "description": "Not found"}, 404)
        articles = [*self.threads.values()]
        if request.query.get("sort_by") != "created_at":
            articles = self.random.sample(articles, len(articles) - 1)
        return self._page(request, "articles", map(self._article, articles))

    def _article(self, thread: Thread) -> dict[str, Any]:
        return {
            "id": int(thread.id),
            "title": thread.title,
            "body": f"<p>It slips, says <b>{thread.text}</b>.</p>",
            "draft": int(thread.id) % 5 == 0,
            "html_url": f"{self.url}/hc/en-us/articles/{thread.id}",
            "updated_at": thread.updated.isoformat(),
            "label_names": ["winch"],
            "locale": "en-us",
        }


def _comment(post: Post) -> dict[str, Any]:
    number = int(post.id.removeprefix("post"))
    body = f"<p>It slips, says <b>{post.text}</b>.</p>"
    return {"id": number, "author_id": 7, "public": number % 3 > 0, "html_body": body, "attachments": []}


def _rank(thread: Thread) -> str:
    return f"{thread.updated.timestamp():015.1f}||{thread.id:>9}"
