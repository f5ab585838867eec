"""The REST API v4 of GitLab: numbered pages with links, issues with discussions of notes."""

import re
from datetime import datetime
from typing import Any

from tests.recipes.service import Answer, Request
from tests.recipes.threads import Post, Thread, ThreadService

_SIZE = 3


class GitLab(ThreadService):
    """Issues; a discussion is a note and its replies."""

    recipe = "gitlab"
    environment = {"GITLAB_TOKEN": "secret-token"}  # noqa: RUF012

    def settings(self, text: str) -> str:
        return text.replace("https://gitlab.example.com", self.url)

    def admits(self, request: Request) -> bool:
        return request.headers.get("private-token") == self.token

    def answer(self, request: Request) -> Answer:
        path = request.path.removeprefix("/api/v4/projects/group/tide-gauge/issues")
        if path == "":
            threads = sorted(self.threads.values(), key=lambda each: (each.updated, int(each.id)), reverse=True)
            if since := request.query.get("updated_after"):
                threads = [each for each in threads if each.updated >= datetime.fromisoformat(since)]
            return self._page(request, [_issue(each) for each in threads])
        found = re.fullmatch(r"/(\d+)(/discussions)?", path)
        thread = self.threads.get(found[1]) if found else None
        if found is None or thread is None:
            return Answer({"message": "404 Not found"}, 404)
        if found[2]:
            notes = [[_note(each) for each in (post, *post.replies)] for post in thread.replies]
            system = {"id": 0, "system": True, "body": "changed the description", "author": {"name": "alma"}}
            return self._page(
                request, [{"id": "d0", "notes": [system]}, *({"id": "d", "notes": each} for each in notes)]
            )
        return Answer(_issue(thread))

    def _page(self, request: Request, items: list[Any]) -> Answer:
        number = int(request.query.get("page", "1"))
        shown = items[(number - 1) * _SIZE : number * _SIZE]
        query = "&".join(f"{name}={value}" for name, value in request.query.items() if name != "page")
        address = (
            f"{self.url}{request.path.replace('group/tide-gauge', 'group%2Ftide-gauge')}?page={number + 1}&{query}"
        )
        more = number * _SIZE < len(items)
        return Answer(shown, headers={"Link": f'<{address}>; rel="next"'} if more else {})


def _issue(thread: Thread) -> dict[str, Any]:
    return {
        "id": 1000 + int(thread.id),
        "iid": int(thread.id),
        "title": thread.title,
        "description": f"It slips, says {thread.text}.",
        "web_url": f"https://gitlab.example.com/group/tide-gauge/-/issues/{thread.id}",
        "updated_at": thread.updated.isoformat(timespec="milliseconds"),
        "labels": ["winch"],
        "state": "opened",
        "milestone": None,
    }


def _note(post: Post) -> dict[str, Any]:
    return {"id": post.id, "system": False, "body": f"It slips, says {post.text}.", "author": {"name": post.author}}
