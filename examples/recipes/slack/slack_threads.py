"""Messages of Slack channels with their replies, a record a thread, read by slack_sdk."""

import re
from datetime import UTC, datetime
from html import unescape
from time import time

from slack_sdk import WebClient
from slack_sdk.http_retry.builtin_handlers import (
    ConnectionErrorRetryHandler,
    RateLimitErrorRetryHandler,
    ServerErrorRetryHandler,
)

from sourcebook.records import Checkpoint, Deleted

NOISE = {"channel_join", "channel_leave", "thread_broadcast", "channel_topic", "channel_purpose", "channel_name"}
"""Kinds of messages that are no documents; a broadcast reply is in its thread."""


class SlackThreads:
    """The threads of some channels in the last days.

    Args:
        token: a bot's token with channels:history, channels:read and users:read; the bot is in the channels.
        channels: names of channels; None: every channel that the bot is in.
        days: age of the oldest thread.
        private: whether private channels are read, too, for which the token needs groups:history and groups:read.
        url: address of the API.
        whole_every: hours between looks that read every thread again, which find replies that were edited.
    """

    def __init__(self, token, channels=None, days=365, private=False, url="https://slack.com/api/", whole_every=24):
        self.channels, self.days, self.whole_every = channels, days, whole_every
        handlers = [
            RateLimitErrorRetryHandler(max_retry_count=20),
            ConnectionErrorRetryHandler(),
            ServerErrorRetryHandler(max_retry_count=2),
        ]
        self.types = "public_channel,private_channel" if private else "public_channel"
        self.client = WebClient(token, base_url=url, retry_handlers=handlers)

    def changes(self, cursor):
        state = cursor or {"marks": {}, "whole": 0}
        started = time()
        whole = not 0 <= started - state["whole"] < self.whole_every * 3600
        team = self.client.auth_test()["url"]
        self.names = {
            user["id"]: user.get("real_name") or user["name"] for user in self.listed("users_list", "members")
        }
        marks = {}
        for channel in self.joined():
            oldest = f"{started - self.days * 86400:.6f}"
            for first in self.listed("conversations_history", "messages", channel=channel["id"], oldest=oldest):
                if first.get("subtype") in NOISE or first.get("thread_ts", first["ts"]) != first["ts"]:
                    continue
                key = f"{channel['id']}-{first['ts']}"
                told = [first.get(name) for name in ("latest_reply", "reply_count", "subtype")]
                marks[key] = [first.get("edited", {}).get("ts"), *told]
                if whole or state["marks"].get(key) != marks[key]:
                    yield {"id": key, **self.thread(channel, first, team)}
        for key in state["marks"].keys() - marks.keys():
            yield Deleted(key)
        yield Checkpoint({"marks": marks, "whole": started if whole else state["whole"]}, complete=whole)

    def joined(self):
        listed = self.listed("conversations_list", "channels", exclude_archived=True, types=self.types)
        found = [each for each in listed if each["is_member"]]
        missing = set(self.channels or ()) - {each["name"] for each in found}
        if missing:
            raise RuntimeError(f"the bot is not in the channels {', '.join(sorted(missing))}")
        return [each for each in found if self.channels is None or each["name"] in self.channels]

    def listed(self, method, field, **arguments):
        for page in getattr(self.client, method)(limit=200, **arguments):
            yield from page[field]

    def thread(self, channel, first, team):
        messages = [first]
        if first.get("reply_count"):
            messages = list(self.listed("conversations_replies", "messages", channel=channel["id"], ts=first["ts"]))
        text = self.plain(first)
        return {
            "title": f"#{channel['name']}: {' '.join(text.split())[:80]}",
            "text": "\n\n".join(f"**{self.author(each)}**: {self.plain(each)}" for each in messages),
            "link": f"{team}archives/{channel['id']}/p{first['ts'].replace('.', '')}",
            "updated": datetime.fromtimestamp(float(messages[-1]["ts"]), UTC).isoformat(),
            "channel": channel["name"],
            "author": self.author(first),
        }

    def author(self, message):
        return self.names.get(message.get("user")) or message.get("username") or "unknown"

    def plain(self, message):
        """Return the text of a message with names in place of ids, and its files."""
        text = re.sub(r"<@(\w+)(?:\|[^>]*)?>", lambda match: "@" + self.names.get(match[1], match[1]), message["text"])
        text = re.sub(r"<#\w+\|([^>]*)>", r"#\1", text)
        text = re.sub(r"<([^|>]+)\|([^>]+)>", r"[\2](\1)", text)
        files = "".join(f"\n[{each.get('name')}]({each.get('permalink')})" for each in message.get("files", ()))
        return unescape(text) + files
