"""The Web API of Slack: channels, messages and replies in pages behind cursors, and errors with status 200."""

import json
from datetime import timedelta
from typing import Any

from tests.recipes.service import Answer, Request, page_of
from tests.recipes.threads import Post, Thread, ThreadService


class Slack(ThreadService):
    """Two channels; who edits a reply leaves its thread's first message as it is."""

    recipe = "slack"
    environment = {"SLACK_TOKEN": "secret-token"}  # noqa: RUF012
    kinds = ("C1", "C2")
    told = frozenset({"add", "edit", "delete", "comment", "reply", "delete comment"})
    depth = 1
    follows_clock = False

    def settings(self, text: str) -> str:
        return text.replace("channels: [keepers, harbour]", f'channels: [keepers, harbour], url: "{self.url}/api/"')

    def begun(self) -> Thread:
        thread = super().begun()
        thread.created = self.time + timedelta(microseconds=int(thread.id))
        return thread

    def _post(self) -> Post:
        post = super()._post()
        post.created = self.time  # a message is its time: that of one channel only rises
        return post

    def key(self, thread: Thread) -> str:
        return f"{thread.kind}-{_ts(thread)}"

    def truth(self) -> dict[str, list[str]]:
        return {self.key(each): each.words()[:1] + each.words() for each in self.threads.values()}

    def refused(self) -> Answer:
        return Answer({"ok": False, "error": "token_expired"})

    def busy(self) -> Answer:
        return Answer({"ok": False, "error": "ratelimited"}, 429, {"Retry-After": "1"})

    def answer(self, request: Request) -> Answer:
        given = {name: value[-1] if isinstance(value, list) else value for name, value in request.body.items()}
        given |= request.query
        method, after = request.path.rpartition("/")[2], given.get("cursor") or None
        found: list[Any]
        match method:
            case "auth.test":
                return Answer({"ok": True, "url": "https://example.slack.com/"})
            case "users.list":
                field, found = "members", [{"id": "U1", "name": "alma", "real_name": "Alma"}]
            case "conversations.list":
                field = "channels"
                names = {"C1": "keepers", "C2": "harbour", "C3": "lobby"}
                found = [{"id": key, "name": name, "is_member": key != "C3"} for key, name in names.items()]
            case "conversations.history":
                threads = [each for each in self.threads.values() if each.kind == given["channel"]]
                field, found = "messages", [self._first(each) for each in threads]
                found.append({"type": "message", "subtype": "channel_join", "ts": "1.000001", "text": "has joined"})
            case "conversations.replies":
                thread = next((each for each in self.threads.values() if _ts(each) == given["ts"]), None)
                if thread is None:
                    return Answer({"ok": False, "error": "thread_not_found"})
                replies = [_message(each) | {"thread_ts": _ts(thread)} for each in thread.replies]
                field, found = "messages", [self._first(thread), *replies]
            case _:
                return Answer({"ok": False, "error": "unknown_method"})
        newest_first = method == "conversations.history"
        page, last = page_of(found, after, 3, lambda each: _rank(each, newest_first))
        return Answer({"ok": True, field: page, "response_metadata": {"next_cursor": last or ""}})

    def _first(self, thread: Thread) -> dict[str, Any]:
        if not thread.replies:
            return _message(thread)
        latest = _ts(thread.replies[-1])
        told = {"reply_count": len(thread.replies), "latest_reply": latest, "thread_ts": _ts(thread)}
        return _message(thread) | told


def _message(post: Post) -> dict[str, Any]:
    edited = {"edited": {"user": "U1", "ts": post.text}} if post.is_edited else {}
    return {"type": "message", "user": "U1", "ts": _ts(post), "text": f"{post.text} &amp; <@U1>", **edited}


def _ts(post: Post) -> str:
    number = int(post.id.removeprefix("post"))
    return f"{int(post.created.timestamp())}.{number:06d}"


def _rank(item: dict[str, Any], newest_first: bool) -> str:
    seconds, _, rest = item.get("ts", "0").partition(".")
    stamp = int(seconds) * 1_000_000 + int(rest or 0)
    return f"{10**17 - stamp if newest_first else stamp:018} {json.dumps(item)[:20]}"
