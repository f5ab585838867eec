"""Fenced code in Markdown, found in linear time: a fence that no other closes is text."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator

_FENCE = re.compile(r"(?P<fence>[ >]*`{3,})(?P<rest>[^`\n]*)$", re.MULTILINE)


def unfenced_spans(markdown: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the lines outside fenced code, fences of tildes aside.

    A fence is closed by the next line with the same indent, the same signs of quotations and as many backticks.
    """
    fences = list(_fences(markdown))
    closing: defaultdict[str, list[int]] = defaultdict(list)
    for number, fence in enumerate(fences):
        if not fence["rest"].strip(" "):
            closing[fence["fence"]].append(number)
    begin = number = 0
    while number < len(fences):
        ends = closing.get(fences[number]["fence"], [])
        after = bisect_left(ends, number + 1)
        if after < len(ends):
            yield begin, fences[number].start()
            number = ends[after]
            begin = fences[number].end()
        number += 1
    yield begin, len(markdown)


def _fences(markdown: str) -> Iterator[re.Match[str]]:
    """Yield the lines that may begin or end fenced code; a pattern alone would look at every line."""
    place = markdown.find("```")
    while place >= 0:
        fence = _FENCE.match(markdown, markdown.rfind("\n", 0, place) + 1)
        if fence is not None:
            yield fence
        line_end = markdown.find("\n", place)
        place = markdown.find("```", line_end) if line_end >= 0 else -1
