"""Markup languages: AsciiDoc and LaTeX."""
