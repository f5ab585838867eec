"""Conversations with ChatGPT and Claude, as their exports of one's own data have them."""

from collections.abc import Mapping
from typing import Any

from sourcebook.parsing.chats.chat import Chat, Message, mapping, mappings, moment, name_of, texts

_NAMES = {"user": "User", "human": "User", "assistant": "Assistant", "tool": "Tool"}


def is_assistant(value: object) -> bool:
    """Tell whether a value is a list of conversations."""
    first = next(iter(mappings(value)), {})
    return isinstance(first.get("mapping"), Mapping) or isinstance(first.get("chat_messages"), list)


def assistant_chats(export: object) -> list[Chat]:
    """Return the conversations; what the program was told beforehand is a notice."""
    return [_chat(conversation) for conversation in mappings(export)]


def _chat(conversation: Mapping[str, Any]) -> Chat:
    chat = Chat(name_of(conversation.get("title") or conversation.get("name")))
    nodes = [mapping(node).get("message") for node in mapping(conversation.get("mapping")).values()]
    for message in mappings([*nodes, *mappings(conversation.get("chat_messages"))]):
        role = str(mapping(message.get("author")).get("role") or message.get("sender") or "")
        text = _text(message)
        if role not in _NAMES or not text.strip():
            chat.notices += role != "system" or bool(text.strip())
            continue
        time = moment(message.get("create_time")) or moment(message.get("created_at"))
        files = texts(message.get("attachments") or [], "file_name") + texts(message.get("files") or [], "file_name")
        chat.messages.append(Message(time, _NAMES[role], text, id=str(message.get("id") or ""), files=tuple(files)))
    return chat


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, Mapping):
        parts = content.get("parts")
        said = [part for part in parts if isinstance(part, str)] if isinstance(parts, list) else [content.get("text")]
        return "\n".join(str(part) for part in said if part)
    return str(message.get("text") or "") or "\n".join(texts(content or [], "text"))
