"""What users meet, written down: commands, routes, tools, signatures, refusals, tables and answers.

`python -m tests.surface FOLDER [PART…]` writes all of it, so that two checkouts can be compared with `diff -r`.
`python -m tests.surface --snapshots` rewrites the short forms in `tests/surface/snapshots/`, which a test compares with
the code: a change of what users meet is a change of these files, and is reviewed as one.
"""

import argparse
import os
import sys
from pathlib import Path

from tests.surface import catalogs, command_help, example_answers, python_interface, refusals, server_interface
from tests.surface.short_forms import SNAPSHOTS, write_snapshots

PARTS = {
    "help": command_help.pages,
    "openapi": server_interface.openapi_files,
    "mcp": server_interface.mcp_files,
    "python": python_interface.files,
    "refusals": refusals.files,
    "catalogs": catalogs.files,
    "answers": example_answers.files,
}
"""Each part by its name: a function that returns texts by the paths of their files."""


def main() -> int:
    """Write the parts that were asked for; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.surface", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"some of {', '.join(PARTS)} (all)")
    parser.add_argument("--snapshots", action="store_true", help=f"rewrite {SNAPSHOTS.name}/ instead")
    given = parser.parse_args()
    if given.snapshots:
        write_snapshots()
        return 0
    if given.folder is None or set(given.parts) - set(PARTS):
        parser.error(f"name a folder, and parts out of {', '.join(PARTS)}")
    folder: Path = given.folder.absolute()
    for name in ("SOURCEBOOK_CONFIG", "SOURCEBOOK_HOME", "SOURCEBOOK_DATABASE_URL", "SOURCEBOOK_KEY"):
        os.environ.pop(name, None)
    for part in given.parts or PARTS:
        print(f"{part} …", file=sys.stderr, flush=True)
        for name, text in PARTS[part]().items():
            path = folder / part / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
