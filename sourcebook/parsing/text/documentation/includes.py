"""Files that a tool would put into a page: a link stands in their place, and nothing is read."""

import re
from collections.abc import Sequence
from typing import Final

_ONE: Final = re.compile(
    r"""(?:-+8<-+[ \t]+["'](?P<rooted>[^"'\n]+)["']|<<<[ \t]+(?P<code>\S[^{\n]*?)[ \t]*(?:\{.*)?"""
    r"""|<!--[ \t]*@include:?[ \t]*(?P<part>[^\s{]+?)(?:\{[^}]*\})?[ \t]*-->)[ \t]*$"""
)
_MANY: Final = re.compile(r"-+8<-+[ \t]*$")
_MOST: Final = 100
"""Lines of a list of files."""
_PLACE: Final = re.compile(r"[#{]|:(?=\d|[\w-]+$)")
_UNSAFE: Final = re.compile(r"[\s()]")


class Includes:
    """Keeps the names of the files that are not included."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def mention(self, file: str, is_rooted: bool) -> str:
        """Return a link to a file.

        Args:
            file: as it is written, perhaps with lines or a part of it.
            is_rooted: whether its path begins at the root of the source, unless it says otherwise.
        """
        name = file.strip().strip("\"'")
        self.names.append(name)
        target = name
        if "://" not in name:
            target = _PLACE.split(name.removeprefix("@/"))[0]
            if (is_rooted or name.startswith("@/")) and not target.startswith((".", "/")):
                target = f"/{target}"
        return f"[{name}](<{target}>)" if _UNSAFE.search(target) else f"[{name}]({target})"

    def lines(self, lines: Sequence[str], place: int) -> tuple[list[str], int] | None:
        """Return the lines that stand for an include on lines of its own, and the line behind it; None for another."""
        line = lines[place].strip()
        if (one := _ONE.match(line)) is not None:
            file = one["rooted"] or one["code"] or one["part"]
            return [self.mention(file, one["rooted"] is not None)], place + 1
        if _MANY.match(line) is None:
            return None
        for end in range(place + 1, min(place + _MOST, len(lines))):
            if _MANY.match(lines[end].strip()) is not None:
                files = [name for line in lines[place + 1 : end] if (name := line.strip().lstrip(";").strip())]
                return [part for name in files for part in (self.mention(name, True), "")], end + 1
        return None
