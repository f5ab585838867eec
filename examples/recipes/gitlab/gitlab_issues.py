"""Issues of a GitLab project with their discussions, read by python-gitlab."""

from datetime import UTC, datetime
from time import time

from gitlab import Gitlab, GitlabGetError

from sourcebook.records import Checkpoint, Deleted


class GitlabIssues:
    """The issues of a project.

    Args:
        url: address of the server.
        project: path of the project.
        token: a token with the scope read_api.
        whole_every: hours between complete listings, which find what was deleted and notes that were edited.
    """

    def __init__(self, url, project, token, whole_every=12):
        self.whole_every = whole_every
        self.project = Gitlab(url, private_token=token, per_page=100).projects.get(project, lazy=True)

    def changes(self, cursor):
        state = cursor or {"since": None, "newest": "", "whole": 0, "known": []}
        started, newest, known = time(), state["newest"], set(state["known"])
        whole = not 0 <= started - state["whole"] < self.whole_every * 3600
        # Pages are numbered: what goes from one moves others to the page before. So each look begins where the last
        # but one ended, and an issue is gone only once the server says so.
        since = {} if whole else {"updated_after": state["since"]}
        found = set()
        for issue in self.project.issues.list(iterator=True, order_by="updated_at", sort="desc", **since):
            newest = max(newest, issue.updated_at.replace("Z", "+00:00"))
            found.add(issue.iid)
            yield self.record(issue)
        for iid in sorted(known - found) if whole else ():
            try:
                yield self.record(self.project.issues.get(iid))
            except GitlabGetError as error:
                if error.response_code != 404:
                    raise
                known.remove(iid)
                yield Deleted(iid)
        since = state["newest"] or newest
        newest = min(newest, datetime.fromtimestamp(started, UTC).isoformat())  # the clock that is behind counts
        known |= found
        yield Checkpoint(
            {"since": since, "newest": newest, "whole": started if whole else state["whole"], "known": sorted(known)}
        )

    def record(self, issue):
        notes = [note for thread in issue.discussions.list(iterator=True) for note in thread.attributes["notes"]]
        milestone = (issue.milestone or {}).get("title")
        return {**issue.attributes, "notes": [note for note in notes if not note["system"]], "milestone": milestone}
