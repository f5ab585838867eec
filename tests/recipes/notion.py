"""The API of Notion: search behind cursors, pages as Markdown, comments, times in minutes."""

import re
from typing import Any

from tests.recipes.service import Answer, Request, page_of
from tests.recipes.threads import Thread, ThreadService


class Notion(ThreadService):
    """Pages; the search forgets one now and then, and long pages continue in a block."""

    recipe = "notion"
    environment = {"NOTION_TOKEN": "secret-token"}  # noqa: RUF012
    told = frozenset({"add", "edit", "delete"})
    depth = 1
    follows_clock = False

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.read: set[str] = set()
        """Pages whose text was read: only these are forgotten."""

    def key(self, thread: Thread) -> str:
        return f"p{int(thread.id):08}"

    def settings(self, text: str) -> str:
        return text.replace('token: "${NOTION_TOKEN}"', f'token: "${{NOTION_TOKEN}}", url: "{self.url}"')

    def busy(self) -> Answer:
        return Answer(_error(429, "rate_limited"), 429, {"Retry-After": "1"})

    def refused(self) -> Answer:
        return Answer(_error(401, "unauthorized"), 401)

    def answer(self, request: Request) -> Answer:
        path = request.path.removeprefix("/v1/")
        if path == "search":
            known = [key for key, each in self.threads.items() if key in self.read]
            forgotten = self.random.choice([None, None, None, *known])
            threads = [each for key, each in self.threads.items() if key != forgotten]
            return self._list(request.body, [_page(each) for each in threads])
        if path == "comments":
            thread = self._thread_of(request.query["block_id"])
            posts = thread.replies if thread else []
            said = [{"id": f"{int(each.id[4:]):09}", "rich_text": [{"plain_text": each.text}]} for each in posts]
            return self._list(request.query, said)
        found = re.fullmatch(r"pages/([\w-]+)(/markdown)?", path)
        thread = self._thread_of(found[1]) if found else None
        if found is None or thread is None:
            return Answer(_error(404, "object_not_found"), 404)
        if not found[2]:
            return Answer(_page(thread))
        self.read.add(thread.id)
        is_rest = found[1].startswith("b")
        text = "The rest." if is_rest else f"# Slip\n\nIt slips, says {thread.text}."
        rest = [] if is_rest else [f"b{found[1]}"]
        return Answer({"object": "page_markdown", "markdown": text, "truncated": bool(rest), "unknown_block_ids": rest})

    def _list(self, query: Any, items: list[dict[str, Any]]) -> Answer:
        page, last = page_of(
            items, query.get("start_cursor"), 3, lambda each: each.get("last_edited_time", "") + each["id"]
        )
        return Answer({"object": "list", "results": page, "has_more": last is not None, "next_cursor": last})

    def _thread_of(self, name: str) -> Thread | None:
        return self.threads.get(name.lstrip("bp").lstrip("0"))


def _error(status: int, code: str) -> dict[str, Any]:
    return {"object": "error", "status": status, "code": code, "message": code}


def _page(thread: Thread) -> dict[str, Any]:
    edited = thread.updated.strftime("%Y-%m-%dT%H:%M:00.000Z")
    title = {"id": "title", "type": "title", "title": [{"plain_text": thread.title}]}
    return {
        "object": "page",
        "id": f"p{int(thread.id):08}",
        "in_trash": False,
        "url": f"https://www.notion.so/{thread.id}",
        "created_time": thread.created.isoformat(),
        "last_edited_time": edited,
        "properties": {"State": {"id": "s", "type": "select", "select": None}, "Name": title},
    }
