"""Chats among JSON, text and HTML files, known by what they hold and not by their names."""

import json
import re
from collections.abc import Callable
from typing import Any, Final

from sourcebook.model import media_types as media
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.chats.assistants import assistant_chats, is_assistant
from sourcebook.parsing.chats.chat import Chat, mapping
from sourcebook.parsing.chats.discord import discord_chat, is_discord
from sourcebook.parsing.chats.messenger import is_messenger, messenger_chat
from sourcebook.parsing.chats.slack import gathered_chat, is_slack, slack_chat
from sourcebook.parsing.chats.teams import is_teams, teams_chats
from sourcebook.parsing.chats.telegram import is_telegram, telegram_chats, telegram_page
from sourcebook.parsing.chats.whatsapp import whatsapp_chat
from sourcebook.parsing.chats.write_chats import write_chats
from sourcebook.parsing.text.decode import decode

MONTH: Final = "slack_month"
"""Key of the JSON into which an archive gathers a month of a Slack channel."""
_HEAD: Final = 32 << 10
_LIKE_CHAT: Final = {
    media.JSON: re.compile(
        rb'"(?:ts|messages|createdDateTime|MessageList|conversations|personal_information|slack_month|mapping|chat_messages)"\s*:'
    ).search,
    media.PLAIN_TEXT: re.compile(rb"\W*\d{1,4}[./-]\s?\d{1,2}[./-]\s?\d{1,4}\W{1,4}\d").match,
    media.HTML: re.compile(rb'class="message (?:default|service)').search,
}
"""Patterns of the beginning of a chat, by media type; a file without one is not looked at."""


def read_chat(content: bytes, media_type: str) -> ParsedDocument | None:
    """Return the document of a chat's export; None where the file is none."""
    like = _LIKE_CHAT.get(media_type)
    if like is None or like(content[:_HEAD].replace(b"\0", b"")) is None:
        return None
    match media_type:
        case media.PLAIN_TEXT:
            chat = whatsapp_chat(decode(content).text)
            return write_chats([chat], "WhatsApp") if chat else None
        case media.HTML:
            chat = telegram_page(content)
            return write_chats([chat], "Telegram") if chat else None
    try:
        value = json.loads(decode(content).text)
    except (ValueError, RecursionError):
        return None
    found = next(((platform, chats) for platform, is_it, chats in _READERS if is_it(value)), None)
    if found is None:
        return None
    platform, chats_of = found
    return write_chats(chats_of(value) or [Chat("")], platform)


_READERS: Final[tuple[tuple[str, Callable[[object], bool], Callable[[Any], list[Chat]]], ...]] = (
    (
        "Slack",
        lambda value: bool(mapping(mapping(value).get(MONTH))),
        lambda value: [gathered_chat(mapping(value[MONTH]))],
    ),
    ("Slack", is_slack, lambda value: [slack_chat(value)]),
    ("Discord", is_discord, lambda value: [discord_chat(value)]),
    ("Telegram", is_telegram, telegram_chats),
    ("Microsoft Teams", is_teams, teams_chats),
    ("Messenger", is_messenger, lambda value: [messenger_chat(value)]),
    ("Assistant", is_assistant, assistant_chats),
)
