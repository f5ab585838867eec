"""Internet messages (.eml): MIME parts, sorted into bodies and attachments."""

import codecs
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from email import message_from_bytes
from email.generator import BytesGenerator
from email.header import Header
from email.message import Message
from email.policy import compat32
from functools import partial
from html import escape
from io import BytesIO
from itertools import islice

from sourcebook.parsing.attached_files import DEEPEST
from sourcebook.parsing.html.charset import decode_page
from sourcebook.parsing.mail.headers import addresses, decoded, header, sent_date
from sourcebook.parsing.mail.message import Body, MailFile, MailMessage, first_files
from sourcebook.parsing.mail.transport_neutral import FILE_NAME, MEDIA_TYPES, PackedFile, read_packed_message

MESSAGE = "message/rfc822"
_SIGNATURES = frozenset({"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"})
_SMIME = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})
_ELSEWHERE = frozenset({"message/external-body", "message/partial"})
_OTHER_FORMS = frozenset({"text/x-amp-html", "text/watch-html"})
"""Forms of a message's text for some programs, beside those for all."""
_RICH = frozenset({"text/enriched", "text/richtext"})
_TEXTS = frozenset({"text/plain", "text/html", "text/markdown"}) | _RICH
_RICH_MARK = re.compile(r"<<|<param>.*?</param>|</?[a-z-]+>", re.IGNORECASE | re.DOTALL)
_NO_FILES = _SIGNATURES | _ELSEWHERE | _OTHER_FORMS
CONTENT_ID = re.compile(r"""cid:([^"'\s>)]+)""", re.IGNORECASE)
_PGP = re.compile(r"\s*-----BEGIN PGP MESSAGE-----")


def read_internet_message(content: bytes) -> MailMessage:
    """Read a message; a broken header, encoding or boundary loses only its own content."""
    message = message_from_bytes(content.removeprefix(codecs.BOM_UTF8).lstrip(), policy=compat32)
    sealed = _sealed(message)
    bodies = () if sealed else tuple(_bodies(message, message))
    if not sealed and not any((body.plain + body.html + body.other).strip() for body in bodies):
        bodies = tuple(_packed_body(message))
    if any(_PGP.match(body.plain) for body in bodies[:1]):
        sealed = "encrypted (PGP)"
    files, more_files = first_files(_files(message, depth=0))
    senders = addresses(message, "from") or addresses(message, "sender")
    return MailMessage(
        subject=header(message, "subject"),
        sender=", ".join(senders),
        to=addresses(message, "to"),
        cc=addresses(message, "cc"),
        sent=sent_date(message),
        message_id=header(message, "message-id"),
        in_reply_to=header(message, "in-reply-to"),
        bodies=bodies,
        files=files,
        more_files=more_files,
        pictures=dict(_pictures(message)),
        sealed=sealed,
    )


def _sealed(message: Message) -> str | None:
    kind = message.get_content_type()
    if kind == "multipart/encrypted":
        return "encrypted (PGP)"
    if kind not in _SMIME:
        return None
    with suppress(ValueError, LookupError, TypeError):
        if str(message.get_param("smime-type", "")).lower() == "signed-data":
            return "signed in a form that hides its text (S/MIME)"
    return "encrypted (S/MIME)"


def _bodies(part: Message, root: Message) -> Iterator[Body]:
    kind = part.get_content_type()
    parts = _parts(part)
    if kind == "multipart/alternative":
        forms = [list(_bodies(child, root)) for child in parts]
        pages = [form for form in forms if any(body.html for body in form)]
        yield Body(
            "\n\n".join(body.plain for form in forms if form not in pages for body in form if body.plain),
            "\n".join(body.html or f"<pre>{escape(body.plain)}</pre>" for form in pages[-1:] for body in form),
            next((body.other for form in forms for body in form if body.other), "")
            or "".join(
                f"<pre>{escape(body.plain)}</pre>" for form in pages for body in form if body.html and body.plain
            ),
        )
    elif kind == "multipart/signed":
        yield from (body for child in parts[:1] for body in _bodies(child, root))
    elif kind == "multipart/related":
        yield from (body for child in _root_first(part, parts) for body in _bodies(child, root))
    elif kind == "message/delivery-status":
        yield Body(plain="\n\n".join(str(child).strip() for child in parts))
    elif parts and kind != MESSAGE:
        yield from (body for child in parts for body in _bodies(child, root))
    elif kind in _OTHER_FORMS or _is_text(part, root):
        text = decode_page(_content(part), f"charset={_charset(part)}").text
        if kind in _OTHER_FORMS:
            yield Body(other=text)
        elif kind in _RICH:  # RFC 1896
            yield Body(plain=_RICH_MARK.sub(lambda found: "<" if found[0] == "<<" else "", text))
        else:
            yield Body(html=text) if kind == "text/html" else Body(plain=_unflowed(part, text))


def _as_page(plain: str) -> str:
    return f"<pre>{escape(plain)}</pre>"


def _pictures(message: Message) -> Iterator[tuple[str, Callable[[], bytes]]]:
    for leaf in _leaves(message):
        if leaf.get_content_maintype() == "image" and (name := header(leaf, "content-id").strip("<> ").lower()):
            yield name, partial(_content, leaf)


def _root_first(part: Message, parts: list[Message]) -> list[Message]:
    """Return the parts of a page with its pictures, the page itself first (RFC 2387)."""
    start = ""
    with suppress(ValueError, LookupError, TypeError):
        start = str(part.get_param("start", "")).strip("<> ")
    first = [child for child in parts if start and header(child, "content-id").strip("<> ") == start]
    return [*first, *(child for child in parts if child not in first)]


def _packed_body(message: Message) -> Iterator[Body]:
    """Yield the text that Outlook packed with the attachments of a message that has no other."""
    for leaf in _leaves(message):
        if _is_packed(leaf) and (packed := read_packed_message(_content(leaf))) is not None:
            yield from [packed.body] if packed.body.plain.strip() or packed.body.html.strip() else []


def _is_packed(part: Message) -> bool:
    return part.get_content_type() in MEDIA_TYPES or _file_name(part).lower() == FILE_NAME


def _packed_files(part: Message) -> Iterator[MailFile]:
    """Yield the attachments that Outlook packed into a part; the part itself where it is damaged."""
    found = list(_unpacked(_content(part), depth=0))
    for number, file in enumerate(found):
        yield MailFile(file.name, file.media_type, partial(_packed_content, part, number))
    packed = read_packed_message(_content(part))
    if not found and (packed is None or not (packed.body.plain.strip() or packed.body.html.strip())):
        yield MailFile(_file_name(part), part.get_content_type(), partial(_content, part))


def _packed_content(part: Message, number: int) -> bytes:
    return next(islice(_unpacked(_content(part), depth=0), number, None)).content


def _unpacked(content: bytes, *, depth: int) -> Iterator[PackedFile]:
    """Yield the files in a packed message; one in it is a message, followed by its own files."""
    packed = read_packed_message(content)
    for file in packed.files if packed is not None else ():
        inner = read_packed_message(file.content) if file.is_message and depth < DEEPEST else None
        if inner is None:
            yield file
            continue
        yield PackedFile(f"{file.name or 'message'}.eml", MESSAGE, _as_message(file.name, inner.body))
        yield from _unpacked(file.content, depth=depth + 1)


def _as_message(subject: str, body: Body) -> bytes:
    kind, text = ("html", body.html) if body.html.strip() else ("plain", body.plain)
    head = f"Subject: {Header(' '.join(subject.split()), 'utf-8').encode()}\r\n"
    return f"{head}Content-Type: text/{kind}; charset=utf-8\r\n\r\n{text}".encode("utf-8", "replace")


def _files(part: Message, *, depth: int) -> Iterator[MailFile | None]:
    """Yield the attachments of a message in order, without digital signatures and images shown in its HTML.

    None stands for each attachment that is nested too deeply.
    """
    leaves = list(_leaves(part))
    html = [
        decode_page(_content(leaf), f"charset={_charset(leaf)}").text
        for leaf in leaves
        if leaf.get_content_type() == "text/html"
    ]
    shown = {found[1].lower() for text in html for found in CONTENT_ID.finditer(text)}
    for leaf in leaves:
        kind = leaf.get_content_type()
        if kind == MESSAGE:
            nested = leaf.get_payload(0)
            if not isinstance(nested, Message):
                continue
            if depth < DEEPEST:
                yield MailFile(_message_name(leaf, nested), MESSAGE, partial(_flattened, nested))
                yield from _files(nested, depth=depth + 1)
            else:
                yield from _too_deep(nested)
        elif _is_packed(leaf) and not leaf.is_multipart():
            yield from _packed_files(leaf)
        elif (
            kind not in _SIGNATURES | _ELSEWHERE | _OTHER_FORMS and not _is_text(leaf, part) and not leaf.is_multipart()
        ):
            identity = header(leaf, "content-id").strip("<> ").lower()
            if not (identity and identity in shown and leaf.get_content_maintype() == "image"):
                yield MailFile(_file_name(leaf), kind, partial(_content, leaf))


def _too_deep(nested: Message) -> Iterator[None]:
    """Yield None for a nested message and for each attachment in it; without recursion, however deep it is."""
    yield None
    waiting = [nested]
    while waiting:
        part = waiting.pop()
        for leaf in _leaves(part):
            if leaf.get_content_type() == MESSAGE:
                yield None
                waiting.extend(_parts(leaf)[:1])
            elif not _is_text(leaf, part) and leaf.get_content_type() not in _SIGNATURES | _ELSEWHERE:
                yield None


def _leaves(part: Message) -> Iterator[Message]:
    """Yield the parts of a message that are not multipart; a nested message is one part."""
    waiting = [part]
    while waiting:
        found = waiting.pop()
        children = _parts(found)
        if children and found.get_content_maintype() == "multipart":
            waiting.extend(reversed(children))
        else:
            yield found


def _parts(part: Message) -> list[Message]:
    payload = part.get_payload()
    return [child for child in payload if isinstance(child, Message)] if isinstance(payload, list) else []


def _is_text(part: Message, root: Message) -> bool:
    """Return whether a part is body text rather than an attachment; a multipart without boundaries is text."""
    if part.is_multipart():
        return False
    textual = part.get_content_type() in _TEXTS or part.get_content_maintype() == "multipart"
    return textual and part.get_content_disposition() != "attachment" and (part is root or not _file_name(part))


def _content(part: Message) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _charset(part: Message) -> str:
    with suppress(ValueError, LookupError, TypeError):
        return part.get_content_charset() or ""
    return ""


def _file_name(part: Message) -> str:
    name: str | None = None
    with suppress(ValueError, LookupError, TypeError):  # from malformed parameters
        name = part.get_filename()
    return decoded(name) if name else ""


def _message_name(part: Message, nested: Message) -> str:
    name = _file_name(part) or header(nested, "subject")
    return name if not name or name.lower().endswith(".eml") else f"{name}.eml"


def _flattened(message: Message) -> bytes:
    buffer = BytesIO()
    BytesGenerator(buffer, mangle_from_=False, maxheaderlen=0, policy=compat32).flatten(message)
    return buffer.getvalue()


def _unflowed(part: Message, text: str) -> str:
    """Join the soft line breaks of flowed text (RFC 3676, format=flowed)."""
    with suppress(ValueError, LookupError, TypeError):
        if str(part.get_param("format", "")).lower() == "flowed":
            return _joined(text, drop_space=str(part.get_param("delsp", "")).lower() == "yes")
    return text


def _joined(text: str, *, drop_space: bool) -> str:
    lines: list[str] = []
    continues = False
    depth_before = 0
    for line in text.split("\n"):
        content = line.lstrip(">")
        depth = len(line) - len(content)
        content = content.removeprefix(" ")
        if continues and depth == depth_before and content != "-- ":
            lines[-1] += content
        else:
            lines.append(f"{'>' * depth} {content}" if depth else content)
        continues = content.endswith(" ") and content != "-- "
        depth_before = depth
        if continues and drop_space:
            lines[-1] = lines[-1][:-1]
    return "\n".join(lines)
