"""In which order a page is read: columns, spreads, frames."""
