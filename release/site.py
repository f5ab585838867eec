"""Build the documentation site from docs/ into build/site, without the network:  python -m release.site.

A link or an anchor that leads nowhere ends the build. DOCS_SERVER and DOCS_KEY name the server whose search the pages
have, DOCS_URL the address of the site, for llms.txt.
"""

import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from release.running import ReleaseError

CHECKOUT: Final = Path(__file__).resolve().parent.parent
SITE: Final = CHECKOUT / "build" / "site"
WIDGET: Final = '<script src="{server}/widget.js" data-key="{key}" defer></script>'
_LINK: Final = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:|#)([^)#\s]+)(#[^)\s]*)?\)")
_FENCE: Final = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
_CODE: Final = re.compile(r"`[^`\n]+`")
_ANCHOR: Final = re.compile(r'^<a id="([\w-]+)"></a>\n\n(#+ .+)$', re.MULTILINE)
"""An anchor above a heading, which is the heading's own on the site."""
_PARTS: Final = "parts"
"""Folder of docs/ whose texts are in the references."""


def main() -> None:
    """Run the command."""
    try:
        build_site(
            SITE, os.environ.get("DOCS_SERVER", ""), os.environ.get("DOCS_KEY", ""), os.environ.get("DOCS_URL", "")
        )
    except ReleaseError as error:
        sys.exit(f"docs: {error}")
    print(f"{SITE}: {len(list(SITE.rglob('*.html')))} pages")


def build_site(site: Path, server: str = "", key: str = "", url: str = "", *, docs: Path = CHECKOUT / "docs") -> None:
    """Build the site.

    Args:
        site: folder of the site, which is replaced.
        server: address of a server whose search the pages have; none where empty.
        key: its key.
        url: address of the site, for llms.txt; links are relative where empty.
        docs: folder of the pages.

    Raises:
        ReleaseError: a link or an anchor leads nowhere.
    """
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        shutil.copytree(docs, work / "docs", ignore=shutil.ignore_patterns(_PARTS))
        for page in (work / "docs").rglob("*.md"):
            page.write_text(_within(page.read_text(encoding="utf-8"), page, work / "docs"), encoding="utf-8")
        sections = dict(navigation(docs))
        _write_settings(work / "zensical.toml", sections)
        made = subprocess.run(
            [sys.executable, "-m", "zensical", "build", "--strict", "-f", "zensical.toml"],
            cwd=work,
            capture_output=True,
            text=True,
        )
        if made.returncode:
            raise ReleaseError(
                re.sub(r"\x1b\[[0-9;]*m|^Traceback.*", "", made.stdout + made.stderr, flags=re.DOTALL | re.MULTILINE)
            )
        for page in (work / "site").rglob("*.html"):
            page.write_text(with_widget(page.read_text(encoding="utf-8"), server, key), encoding="utf-8")
        shutil.copytree(work / "docs", work / "site", dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.png"))
        _write_llms(work / "site", work / "docs", sections, url)
        shutil.rmtree(site, ignore_errors=True)
        shutil.copytree(work / "site", site)


def navigation(docs: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the sections of docs/README.md with the title of each page that they link to, one level deep."""
    home = docs / "README.md"
    if not home.exists():
        yield "Pages", {page.name: _title(page.read_text(encoding="utf-8")) for page in sorted(docs.glob("*.md"))}
        return
    known: set[str] = set()
    for section in home.read_text(encoding="utf-8").split("\n## ")[1:]:
        title, _, body = section.partition("\n")
        pages = {
            link: text for text, link, _ in _LINK.findall(body) if link.endswith(".md") and not link.startswith("..")
        }
        yield title.strip(), {link: text[:1].upper() + text[1:] for link, text in pages.items() if link not in known}
        known |= pages.keys()


def with_widget(page: str, server: str, key: str) -> str:
    """Return a page with the search of a server, where one is named."""
    if not (server and key):
        return page
    script = WIDGET.format(server=html.escape(server.rstrip("/")), key=html.escape(key))
    return page.replace("</body>", f"{script}\n</body>")


def _within(text: str, page: Path, docs: Path) -> str:
    """Return a page whose links out of docs/ are words alone, and whose code in tables has no escaped bars.

    GitHub needs them, and the site's Markdown would show the backslash.
    """

    def kept(link: re.Match[str]) -> str:
        return link[0] if (page.parent / link[2]).resolve().is_relative_to(docs.resolve()) else link[1]

    def changed(part: str) -> str:
        bars = _CODE.sub(lambda code: code[0].replace("\\|", "|"), part)
        return _LINK.sub(kept, bars)

    text = _ANCHOR.sub(r"\2 {#\1}", text)
    return "".join(part if part.startswith("```") else changed(part) for part in _FENCE.split(text))


def _write_settings(path: Path, sections: dict[str, dict[str, str]]) -> None:
    """Write the settings of the tool with the navigation as the first lines of their table."""
    held = [{title: [{name: link} for link, name in pages.items()]} for title, pages in sections.items()]
    home = [{"Documentation": "README.md"}] if (path.parent / "docs" / "README.md").exists() else []
    listed = json.dumps([*home, *held], ensure_ascii=False).replace('": ', '" = ')
    settings = (CHECKOUT / "release" / "site.toml").read_text(encoding="utf-8")
    path.write_text(settings.replace("[project]\n", f"[project]\nnav = {listed}\n", 1), encoding="utf-8")


def _write_llms(site: Path, docs: Path, sections: dict[str, dict[str, str]], url: str) -> None:
    """Write llms.txt with a line a page, and llms-full.txt with all of their text."""
    lines, texts = ["# Sourcebook", ""], []
    for title, pages in sections.items():
        lines += [f"## {title}", ""]
        for link, name in pages.items():
            text = (docs / link).read_text(encoding="utf-8")
            lines.append(f"- [{name}]({url}{link}): {_beginning(text)}")
            texts.append(text)
        lines.append("")
    (site / "llms.txt").write_text("\n".join(lines), encoding="utf-8")
    (site / "llms-full.txt").write_text("\n\n".join(texts), encoding="utf-8")


def _title(text: str) -> str:
    return text.partition("\n")[0].lstrip("# ")


def _beginning(text: str) -> str:
    """Return the first sentence of a page, without links."""
    paragraphs = (part for part in _FENCE.sub("", text).split("\n\n")[1:] if re.match(r"[\w`*\[\"]", part))
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(next(paragraphs, "").split()))
    return re.split(r"(?<=[.:;]) ", plain)[0]


if __name__ == "__main__":
    main()
