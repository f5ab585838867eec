"""Git repositories as sources: the `git` command, mirrors in the state folder, and the tree of a commit."""
