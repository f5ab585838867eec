"""Org mode."""

from sourcebook.parsing.markup.org.read_org import parse_org

__all__ = ["parse_org"]
