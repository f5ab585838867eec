"""Reading order of a page: columns, spreads, frames."""
