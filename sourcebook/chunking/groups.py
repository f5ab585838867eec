"""Which sections share a passage: small ones join what follows under the same heading."""

from collections.abc import Iterable, Iterator, Sequence

from sourcebook.chunking.sections import Heading, Section
from sourcebook.chunking.token_index import TokenIndex

_TINY = 4
"""A section below a quarter of the budget is too small to stand alone."""

Group = Sequence[Section]


def groups(sections: Iterable[Section], index: TokenIndex, *, budget: int) -> Iterator[Group]:
    """Yield the sections that are packed together.

    - A heading without content of its own goes with the section that follows; where headings fill half a passage, with
      the one before.
    - Headings that end the document go with what stands before them.
    - A tiny section goes with the siblings or children that follow, as long as all of it fits one passage.
    """
    whole: list[Section] = []  # to be yielded, once it is known that no headings alone follow
    whole_says = False
    for group in _joined(sections, index, budget):
        says = group[0].has_content or group[-1].has_content
        if whole_says and says:
            yield whole
            whole = []
        whole.extend(group)
        whole_says = whole_says or says
    if whole:
        yield whole


def common_path(group: Group) -> tuple[Heading, ...]:
    """Return the headings that all the content of a group stands under."""
    paths = [section.path for section in group if section.has_content] or [section.path for section in group]
    common = paths[0]
    for path in paths[1:]:
        shared = 0
        while shared < min(len(common), len(path)) and common[shared] == path[shared]:
            shared += 1
        common = common[:shared]
    return common


def _joined(sections: Iterable[Section], index: TokenIndex, budget: int) -> Iterator[Group]:
    group: list[Section] = []
    for section in sections:
        if group and not _joins(group, section, index, budget):
            yield group
            group = []
        group.append(section)
    if group:
        yield group


def _joins(group: Group, following: Section, index: TokenIndex, budget: int) -> bool:
    first = group[0]
    if not group[-1].has_content:
        return index.size(first.start, group[-1].end) * 2 < budget
    return (
        first.has_heading
        and following.path[: len(first.path) - 1] == first.path[:-1]
        and index.size(first.start, group[-1].end) * _TINY < budget
        and index.size(first.start, following.end) <= budget
    )
