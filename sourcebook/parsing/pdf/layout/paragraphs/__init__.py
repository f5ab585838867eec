"""Which lines make a paragraph, an item, code or a footnote."""
