"""reStructuredText, also with the directives and roles of Sphinx, as Markdown; docutils parses it."""

from sourcebook.parsing.markup.restructuredtext.read_rst import parse_rst

__all__ = ["parse_rst"]
