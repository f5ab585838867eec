"""DocBook."""

from sourcebook.parsing.markup.docbook.read_docbook import parse_docbook, parse_xml

__all__ = ["parse_docbook", "parse_xml"]
