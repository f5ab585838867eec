"""LaTeX sources."""

from sourcebook.parsing.markup.latex.read_latex import parse_latex

__all__ = ["parse_latex"]
