"""Groups of sections that share passages: a small section joins the next one under the same heading."""

from collections.abc import Iterable, Iterator, Sequence

from sourcebook.chunking.sections import Heading, Section
from sourcebook.chunking.token_index import TokenIndex

_TINY = 4
"""Divisor of the budget: a section below a quarter of it is joined with others."""

Group = Sequence[Section]


def groups(sections: Iterable[Section], index: TokenIndex, *, budget: int) -> Iterator[Group]:
    """Yield the sections that are packed together.

    - A heading without content joins the next section; where such headings fill half a passage, the section before.
    - Headings at the end of the document join the section before.
    - A slide with content joins no other slide: a passage names one page.
    - A tiny section joins the siblings or children that follow, as long as they fit one passage together.
    """
    whole: list[Section] = []  # yielded once another section with content follows
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
    """Return the headings that enclose all content of a group."""
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
    if _is_another_slide(group[-1], following) and any(section.has_content for section in group):
        return False
    if not group[-1].has_content:
        return index.size(first.start, group[-1].end) * 2 < budget
    return (
        first.has_heading
        and following.path[: len(first.path) - 1] == first.path[:-1]
        and index.size(first.start, group[-1].end) * _TINY < budget
        and index.size(first.start, following.end) <= budget
    )


def _is_another_slide(section: Section, following: Section) -> bool:
    """Return whether the next section begins another page with a heading of the first level, as each slide does."""
    page = following.blocks[0].page
    return following.blocks[0].level == 1 and page is not None and page != section.blocks[-1].page
