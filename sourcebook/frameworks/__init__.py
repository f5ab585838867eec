"""A knowledge base as a part of other frameworks; each module needs the extra of its name, and nothing imports them."""
