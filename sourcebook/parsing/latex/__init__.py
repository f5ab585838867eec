"""LaTeX sources."""

from sourcebook.parsing.latex.parse import parse_latex

__all__ = ["parse_latex"]
