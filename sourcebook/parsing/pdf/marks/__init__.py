"""Form fields, notes and comments that lie on a page and are no part of its content."""
