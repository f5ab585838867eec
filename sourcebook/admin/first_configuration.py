"""The text of a first `sourcebook.yaml`, with a comment on each setting that most people change."""

import json
import re
from pathlib import Path

from sourcebook.admin.additions import is_site, local_path, local_source
from sourcebook.config.edit import write_new
from sourcebook.errors import ConfigurationError

_PLAIN = re.compile(r"[A-Za-z0-9./][A-Za-z0-9._/:@%+-]*")
"""Texts that need no quotes in YAML."""

_FILES = """\
    files:
      # A folder or a file, relative to this file or absolute, or a URL such as s3://bucket/folder
      - root: {place}
        # Patterns of the files to read, such as ["**/*.md", "**/*.pdf"]
        include: {include}
{exclude}
        # Words that a search can ask for: --filter tag=policy
        # tags: [policy]
    # A web site of the same collection
    # sites:
    #   - url: https://docs.example.com/
"""
_SITE = """\
    sites:
      # A page, a sitemap or an llms.txt; pages below it are crawled
      - url: {place}
        max_pages: {pages}
        # Patterns of the paths to crawl
        # include: ["/guide/**"]
        # Time between two crawls
        refresh: 1d
    # A folder of the same collection
    # files:
    #   - root: ./docs
"""
_TEXT = """\
# What Sourcebook keeps searchable. After a change: sourcebook ingest
# All settings: docs/configuration.md
collections:
  # The name is yours; a search can name it: sourcebook search "a question" -c {name}
  {name}:
{sources}\
    # The model that turns passages into vectors; without this line the languages of the first documents choose it
    # embedding: {{model: multilingual-e5-small}}
"""


def first_configuration(path: Path, place: str, name: str, limit: str, *, home: Path) -> None:
    """Write a first configuration with one source.

    Args:
        path: the file, which does not exist.
        place: a folder, a file or a URL.
        name: the name of the collection.
        limit: patterns of files with commas between; for a web site the maximum number of pages.
        home: the state folder, which is never a document.

    Raises:
        ConfigurationError: the folder does not exist, an answer is not allowed, or the file exists.
    """
    if is_site(place):
        sources = _SITE.format(place=_scalar(place), pages=_scalar(limit))
    else:
        patterns = [pattern.strip() for pattern in limit.split(",") if pattern.strip()]
        exclude: tuple[str, ...] = ()
        if "://" not in place:
            if not local_path(place).exists():
                raise ConfigurationError(f"there is no file or folder {place}")
            source = local_source(name, local_path(place), (path, home))
            place, exclude = source.written, source.exclude
        sources = _FILES.format(place=_scalar(place), include=_list(patterns), exclude=_exclude(exclude))
    write_new(path, _TEXT.format(name=_scalar(name), sources=sources))


def _exclude(patterns: tuple[str, ...]) -> str:
    return f"        exclude: {_list(patterns)}" if patterns else '        # exclude: ["drafts/**"]'


def _list(patterns: "list[str] | tuple[str, ...]") -> str:
    return f"[{', '.join(json.dumps(pattern, ensure_ascii=False) for pattern in patterns)}]"


def _scalar(text: str) -> str:
    """Return a text as YAML has it on one line: in quotes where it needs them."""
    return text if _PLAIN.fullmatch(text) and not text.endswith(":") else json.dumps(text, ensure_ascii=False)
