"""Layout of pages: from lines to a structured document with reading order, paragraphs, headings, lists and tables."""
