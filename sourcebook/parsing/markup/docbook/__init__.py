"""DocBook."""

from sourcebook.parsing.markup.docbook.read_docbook import parse_docbook
from sourcebook.parsing.markup.docbook.recognise import parse_xml

__all__ = ["parse_docbook", "parse_xml"]
