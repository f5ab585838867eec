"""A record of a source as a document: its text by the reader of its format, with the title and facts of its fields."""

import json
from base64 import b64decode
from dataclasses import replace
from typing import Final

from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import FailureClass, ParseError
from sourcebook.model import media_types as media
from sourcebook.model.document import ParsedDocument
from sourcebook.model.left_out import with_left_out
from sourcebook.parsing.media_type import HEAD_BYTES, detect_media_type
from sourcebook.parsing.parse import parse
from sourcebook.parsing.registry import parser_for, skip_reason

_FORMATS: Final = {"markdown": media.MARKDOWN, "html": media.HTML, "plain": media.PLAIN_TEXT}


def parse_envelope(content: bytes, *, name: str, settings: ParsingSettings) -> ParsedDocument:
    """Parse a record, as `sourcebook.records.mapping` writes it. Files in its file are counted as left out.

    Args:
        content: a JSON object with title, language, metadata, and a text with its format or bytes with their type.
        name: the key of the record.
        settings: those of the collection.

    Raises:
        ParseError: the bytes are of a type that is not read, or cannot be read.
    """
    envelope = json.loads(content)
    if "base64" in envelope:
        held = b64decode(envelope["base64"])
        named = envelope["type"] or name
        is_type = named.count("/") == 1 and parser_for(named) is not None
        media_type = named if is_type else detect_media_type(named, held[:HEAD_BYTES])
        if parser_for(media_type) is None or media_type == media.SOURCE_RECORD:
            raise ParseError(skip_reason(media_type), FailureClass.UNSUPPORTED)
        name = envelope.get("file") or (name if is_type else named)
    else:
        held, media_type = envelope["text"].encode(), _FORMATS[envelope["format"]]
    document = parse(held, name=name, media_type=media_type, settings=settings.model_copy(update={"records": "never"}))
    return replace(
        document,
        title=envelope["title"] or document.title,
        language=envelope["language"] or document.language,
        metadata=with_left_out(
            {**document.metadata, **envelope["metadata"]}, {"attachments": len(document.attachments)}
        ),
        attachments=(),
    )
