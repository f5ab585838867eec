"""The parts of a page that a setting chooses from, without pydantic: a process that only cleans pages stays small."""

from typing import Literal

HtmlPart = Literal["main", "body", "everything"]
"""Part of a web page that becomes text: its main content; its body without site menus and footers; or all of it."""
