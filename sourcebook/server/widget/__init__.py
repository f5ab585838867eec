"""Search and answers for the pages of other sites, with keys that anybody can read."""
