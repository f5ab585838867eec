"""Messages of Microsoft Teams: an answer of Microsoft Graph, or the export of a person's own data, as of Skype."""

import re
from collections.abc import Mapping
from typing import Any, Final

from sourcebook.parsing.chats.chat import Chat, Message, mapping, mappings, moment, name_of

_CARD: Final = re.compile(r"<attachment\b[^>]*>\s*(?:</attachment>)?")
_CHATS: Final = frozenset({"messageType", "chatId", "channelIdentity"})
_MENTION: Final = re.compile(r"</?at\b[^>]*>")


def is_teams(value: object) -> bool:
    """Tell whether a value is a list of messages of Graph, or an export of conversations."""
    return bool(_messages(value)) or bool(mappings(mapping(value).get("conversations")))


def teams_chats(export: object) -> list[Chat]:
    """Return the chats of an export."""
    own = [_conversation(each) for each in mappings(mapping(export).get("conversations"))]
    if own:
        return [chat for chat in own if chat.messages or chat.notices]
    chat = Chat(name_of(mapping(export).get("topic") or mapping(export).get("displayName")))
    for message in _messages(export):
        replies = mappings(message.get("replies"))
        for each in (message, *replies):
            _add(chat, each, "" if each is message else str(message.get("id") or ""))
    return [chat]


def _messages(value: object) -> list[Mapping[str, Any]]:
    """Return the messages of Graph, which an answer has as `value`, and programs as `messages`."""
    held = mapping(value).get("value") or mapping(value).get("messages") or value
    found = mappings(held)
    is_graph = all("createdDateTime" in each and "body" in each and not _CHATS.isdisjoint(each) for each in found[:20])
    return found if is_graph else []


def _add(chat: Chat, message: Mapping[str, Any], within: str) -> None:
    sender = mapping(message.get("from"))
    person = next((mapping(sender[kind]) for kind in ("user", "application", "device") if sender.get(kind)), {})
    if message.get("messageType", "message") != "message" or message.get("deletedDateTime"):
        chat.notices += 1
        return
    body = mapping(message.get("body"))
    text = str(body.get("content") or "")
    subject = message.get("subject")
    said = _markdown(text) if body.get("contentType") == "html" else text
    chat.messages.append(
        Message(
            time=moment(message.get("createdDateTime")),
            speaker=name_of(person.get("displayName") or person.get("id")),
            text=f"**{name_of(subject)}**\n{said}" if subject else said,
            id=str(message.get("id") or ""),
            thread=str(message.get("replyToId") or within),
            link=str(message.get("webUrl") or "") or None,
            files=tuple(name_of(each["name"]) for each in mappings(message.get("attachments")) if each.get("name")),
        )
    )


def _conversation(export: Mapping[str, Any]) -> Chat:
    """Return a conversation of a person's own data; its messages stand from the newest to the oldest."""
    chat = Chat(name_of(export.get("displayName") or mapping(export.get("threadProperties")).get("topic")))
    for message in reversed(mappings(export.get("MessageList"))):
        kind = str(message.get("messagetype") or message.get("messageType") or "Text")
        if not kind.startswith(("Text", "RichText")) or kind.startswith("RichText/UriObject"):
            chat.notices += 1
            continue
        sender = str(message.get("displayName") or message.get("imdisplayname") or message.get("from") or "")
        chat.messages.append(
            Message(
                time=moment(message.get("originalarrivaltime") or message.get("originalArrivalTime")),
                speaker=name_of(sender).partition(":")[2] if re.match(r"\d+:", sender) else name_of(sender),
                text=_markdown(str(message.get("content") or "")),
                id=str(message.get("id") or ""),
            )
        )
    return chat


def _markdown(html: str) -> str:
    from html_to_markdown import convert

    plain = _MENTION.sub("", _CARD.sub("", html)).replace("\r\n", "\n").replace("\n", "<br>")
    return (convert(plain).content or "").strip()
