"""Text with markup: AsciiDoc and LaTeX."""
