"""Messages, and the content of their attachments."""

import struct

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.media_types import EMAIL, MBOX, OUTLOOK
from sourcebook.parsing.mail.message import MailMessage


def read_message(content: bytes, *, media_type: str) -> MailMessage:
    """Read an Internet message (.eml) or an Outlook message (.msg).

    Raises:
        ParseError: the content is no message, or a damaged one.
    """
    if media_type != OUTLOOK:
        from sourcebook.parsing.mail.internet import read_internet_message

        return read_internet_message(content)
    from sourcebook.parsing.mail.outlook import read_outlook_message

    try:
        return read_outlook_message(content)
    except (OSError, LookupError, ValueError, TypeError, AttributeError, struct.error) as error:
        raise ParseError(
            "it is no readable Outlook message; open it in Outlook and save it again", FailureClass.CORRUPT
        ) from error


def attachment_content(content: bytes, *, media_type: str, number: int) -> bytes:
    """Return the bytes of an attachment of a message or mailbox.

    Args:
        content: the whole message or mailbox.
        media_type: its media type: message/rfc822, application/vnd.ms-outlook or application/mbox.
        number: index in `ParsedDocument.attachments`, from 0.

    Raises:
        ParseError: there is no such attachment, or the message is damaged.
    """
    if media_type == MBOX:
        from sourcebook.parsing.mail.mailbox_messages import message_of_attachment

        content, number = message_of_attachment(content, number)
    files = read_message(content, media_type=EMAIL if media_type == MBOX else media_type).files
    if not 0 <= number < len(files):
        raise ParseError(
            f"the message has {len(files)} attachments, none of the number {number}; read it again",
            FailureClass.MISSING,
        )
    return files[number].read()
