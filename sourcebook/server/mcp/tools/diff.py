"""The tool `diff_documents`: what changed from one version of a document to another."""

from pydantic import BaseModel, Field, StrictBool, StrictInt

from sourcebook.contract.differences import marked
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.server.comparing import differences_for
from sourcebook.server.mcp.arguments import _Budgeted
from sourcebook.server.mcp.budget import SENTENCE_TOKENS, clipped, fitting

_LONGEST = 4_000
"""Characters of a change."""


class DiffArguments(_Budgeted):
    """Arguments of `diff_documents`."""

    first: StrictInt | str = Field(description="The earlier version: id, URI or end of its path.")
    second: StrictInt | str = Field(description="The later one.")
    collection: str | None = Field(default=None, description="Collection of both, where several have them.")
    unredacted: StrictBool = Field(default=False, description="Needs a key with the scope `unredacted`.")


class ChangedSection(BaseModel):
    """A section that differs."""

    section: str = Field(description="Its headings, outermost first.")
    kind: str = Field(description="changed, added, removed, moved or renamed.")
    before: str | None = Field(default=None, description="Address of its place in the first document, to cite.")
    after: str | None = Field(default=None, description="Address of its place in the second document.")
    changes: list[str] = Field(description="What changed: removed words as `[-old-]`, added ones as `{+new+}`.")
    numbers: list[str] | None = Field(default=None, description="Numbers that changed, as `30 → 60`.")


class DiffAnswer(BaseModel):
    """Differences from the first document to the second."""

    first: str
    second: str
    sections: list[ChangedSection]
    unchanged: int = Field(description="Number of sections that are the same in both.")
    fields: list[str] | None = Field(default=None, description="Title and metadata that changed.")
    notes: list[str] | None = None
    how_to_go_on: str | None = Field(default=None, description="What is left out, and how to ask for it.")


def diff_documents(knowledge: KnowledgeBase, grant: Grant, asked: DiffArguments) -> DiffAnswer:
    """Return what changed from one document to another.

    Raises:
        NotFoundError: one of them does not exist for the caller.
        QueryError: several collections have one, and none is named.
    """
    found = differences_for(knowledge, grant, asked.first, asked.second, asked.collection, unredacted=asked.unredacted)
    entries = [
        ChangedSection(
            section=each.title,
            kind=", ".join(found.said(each)),
            before=each.before.address if each.before else None,
            after=each.after.address if each.after else None,
            changes=[clipped(marked(change), _LONGEST) for change in each.changes],
            numbers=[f"{n.before or 'nothing'} → {n.after or 'nothing'}" for c in each.changes for n in c.numbers]
            or None,
        )
        for each in found.sections
    ]
    answer = DiffAnswer(
        first=found.first.uri,
        second=found.second.uri,
        sections=[],
        unchanged=found.unchanged,
        fields=[clipped(f"{each.name}: {each.before} → {each.after}", _LONGEST) for each in found.fields] or None,
        notes=list(found.notes) or None,
    )
    shown = fitting(entries, asked.max_tokens - 4 * SENTENCE_TOKENS)
    answer.sections = entries[:shown]
    if shown < len(entries):
        answer.how_to_go_on = f"{len(entries) - shown} more sections: ask for more max_tokens."
    return answer
