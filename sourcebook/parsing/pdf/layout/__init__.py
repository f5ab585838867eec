"""Lines on pages in, a structured document out: reading order, paragraphs, headings, lists, tables, code."""
