"""Messages of Telegram: the files `result.json` and `messages.html` of its desktop program."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from sourcebook.parsing.chats.chat import Chat, Message, mapping, mappings, moment, name_of

if TYPE_CHECKING:
    from lxml.html import HtmlElement  # type: ignore[import-untyped] # its stubs are a package of their own

_MARKS: Final = {"bold": "**", "italic": "*", "strikethrough": "~~", "code": "`"}
_FILES: Final = ("file_name", "file", "photo")
_DATE: Final = re.compile(r"(\d{2})\.(\d{2})\.(\d{4}) (\d{2}):(\d{2}):(\d{2})(?: UTC([+-]\d{2}:\d{2}))?")


def is_telegram(value: object) -> bool:
    """Tell whether a value is a chat of Telegram, or an export of all."""
    return bool(_exported(value))


def telegram_chats(export: object) -> list[Chat]:
    """Return the chats of an export."""
    return [_chat(each) for each in _exported(export)]


def _exported(value: object) -> list[Mapping[str, Any]]:
    found = mapping(value)
    chats = [
        found,
        *(chat for part in ("chats", "left_chats") for chat in mappings(mapping(found.get(part)).get("list"))),
    ]
    return [chat for chat in chats if isinstance(chat.get("messages"), list) and "type" in chat and "id" in chat]


def _chat(export: Mapping[str, Any]) -> Chat:
    chat = Chat(name_of(export.get("name") or export.get("type")))
    messages = mappings(export["messages"])
    speakers = {message.get("id"): _speaker(message) for message in messages}
    for message in messages:
        if message.get("type") != "message":
            chat.notices += 1
            continue
        forwarded = message.get("forwarded_from")
        said = [
            f"Forwarded from {name_of(forwarded)}:" if forwarded else "",
            _text(message.get("text")),
            _poll(message),
        ]
        chat.messages.append(
            Message(
                time=moment(message.get("date")) or moment(message.get("date_unixtime")),
                speaker=speakers[message.get("id")],
                text="\n".join(filter(None, said)) or str(message.get("sticker_emoji") or ""),
                id=str(message.get("id") or ""),
                answers=speakers.get(message.get("reply_to_message_id"), ""),
                files=_files(message),
            )
        )
    return chat


def _speaker(message: Mapping[str, Any]) -> str:
    return name_of(message.get("from") or message.get("actor") or message.get("from_id") or message.get("author"))


def _text(value: object) -> str:
    """Return the pieces of a text with their marks."""
    if isinstance(value, str):
        return value
    return "".join(_piece(each) for each in value) if isinstance(value, list) else ""


def _piece(piece: object) -> str:
    if not isinstance(piece, Mapping):
        return str(piece)
    text = str(piece.get("text") or "")
    match piece.get("type"):
        case "text_link":
            return f"[{text}]({piece.get('href')})"
        case "pre":
            return f"\n```{piece.get('language') or ''}\n{text}\n```\n"
        case str(kind) if kind in _MARKS and text.strip() == text and "\n" not in text and text:
            return f"{_MARKS[kind]}{text}{_MARKS[kind]}"
    return text


def _poll(message: Mapping[str, Any]) -> str:
    poll = mapping(message.get("poll"))
    answers = ", ".join(f"{each.get('text')} ({each.get('voters', 0)})" for each in mappings(poll.get("answers")))
    return f"Poll: {poll.get('question')}: {answers}" if poll else ""


def _files(message: Mapping[str, Any]) -> tuple[str, ...]:
    name = next((str(message[field]) for field in _FILES if message.get(field)), "")
    if name.startswith("(File"):  # "(File not included. Change data exporting settings to download.)"
        name = str(message.get("media_type") or ("photo" if message.get("photo") else "file")).replace("_", " ")
    return (name_of(name.rpartition("/")[2]),) if name else ()


def telegram_page(content: bytes) -> Chat | None:
    """Return the messages of a page of an export; None where the page is none."""
    from lxml import html  # type: ignore[import-untyped] # its stubs are a package of their own

    root = html.document_fromstring(content, parser=html.HTMLParser(encoding="utf-8"))
    messages = root.xpath("//div[contains(concat(' ', @class, ' '), ' message ')]")
    header = root.xpath("string(//div[contains(@class, 'page_header')]//div[contains(@class, 'text')])")
    chat, speaker = Chat(name_of(header)), ""
    for message in messages:
        if "service" in message.get("class", ""):
            chat.notices += not _DAY.fullmatch(name_of(message.text_content()))
            continue
        speaker = name_of(message.xpath("string(./div[@class='body']/div[@class='from_name'])")) or speaker
        chat.messages.append(_from_page(message, speaker))
    return chat if any(message.time is not None for message in chat.messages) else None


_DAY: Final = re.compile(r"\d{1,2} \w+ \d{4}")


def _from_page(message: HtmlElement, speaker: str) -> Message:
    from html_to_markdown import convert
    from lxml import html

    texts = [
        convert(html.tostring(part, encoding="unicode", with_tail=False)).content or ""
        for part in message.xpath(".//div[@class='text']")
    ]
    found = _DATE.match(message.xpath("string(.//div[contains(@class, 'date details')]/@title)"))
    day, month, year, *clock, zone = found.groups() if found else ("",) * 7
    time = moment(f"{year}-{month}-{day}T{':'.join(clock)}{zone or ''}") if found else None
    files = [name_of(part.text_content()) for part in message.xpath(".//div[@class='title bold']")]
    return Message(time, speaker, "\n".join(map(str.strip, texts)), id=message.get("id") or "", files=tuple(files))
