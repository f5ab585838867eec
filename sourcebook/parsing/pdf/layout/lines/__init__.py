"""Which runs make a line, and what lines make no text of the page: numbers of pages, running heads."""
