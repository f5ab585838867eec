"""Exports of Notion and Confluence: pages with the names and places that people know."""

from sourcebook.model.document import ParsedDocument
from sourcebook.model.media_types import ZIP
from sourcebook.parsing.archives.read_archive import member_content
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parse import parse
from tests.unit.parsing.archives.archive_writer import zipped

ONE, TWO, THREE, FOUR = (str(number) * 32 for number in (1, 2, 3, 4))
MD5 = "d41d8cd98f00b204e9800998ecf8427e"


def opened(content: bytes) -> tuple[ParsedDocument, dict[str, bytes]]:
    archive = parse(content, name="export.zip", media_type=ZIP)
    held = range(len(archive.attachments))
    contents = [member_content(content, media_type=ZIP, number=number) for number in held]
    return archive, {each.name: inner for each, inner in zip(archive.attachments, contents, strict=True)}


def test_notion_pages_lose_their_ids_and_keep_their_links() -> None:
    """The archive within has a new name each time; of a table, the file with all rows is read."""
    inner = zipped(
        {
            f"Harbour {ONE}.md": f"# Harbour\n\n[Winch](Harbour%20{ONE}/Winch%20{TWO}.md) has {MD5}.\n",
            f"Harbour {ONE}/Winch {TWO}.md": f"# Winch\n\n[Boats](Boats%20{THREE}.csv)\n",
            f"Harbour {ONE}/Boats {THREE}.csv": "Name,Length\nSkarv,7\n",
            f"Harbour {ONE}/Boats {THREE}_all.csv": "Name,Length\nSkarv,7\nHavfrue,11\n",
            f"Harbour {ONE}/plan.pdf": "",
        }
    )
    archive, found = opened(zipped({"Export-1111-aa-Part-1.zip": inner}))
    assert found == {
        "Harbour.md": f"# Harbour\n\n[Winch](Harbour/Winch.md) has {MD5}.\n".encode(),
        "Harbour/Winch.md": b"# Winch\n\n[Boats](Boats.csv)\n",
        "Harbour/Boats.csv": b"Name,Length\nSkarv,7\nHavfrue,11\n",
        "Harbour/plan.pdf": b"",
    }
    assert archive.metadata["unread"] == ["1 that are views of tables, of which all rows are read"]


def test_notion_pages_of_one_name_keep_their_ids() -> None:
    """Otherwise a link would lead to the wrong one."""
    page = f"[a](Untitled%20{TWO}.md) [b](Untitled%20{THREE}.md) [c](C%20{FOUR}.md)"
    _, found = opened(
        zipped({f"Home {ONE}.md": page, f"Untitled {TWO}.md": "x", f"Untitled {THREE}.md": "y", f"C {FOUR}.md": "z"})
    )
    assert list(found) == ["Home.md", f"Untitled {TWO}.md", f"Untitled {THREE}.md", "C.md"]
    assert found["Home.md"].decode() == f"[a](Untitled%20{TWO}.md) [b](Untitled%20{THREE}.md) [c](C.md)"


def test_other_archives_keep_their_names() -> None:
    """A few files called after a hash make no export."""
    names = {f"scan {ONE}.md": "a", "b.md": "b", "c.md": "c"}
    assert list(opened(zipped(names))[1]) == list(names)


def thing(kind: str, ident: int, **values: str | tuple[str, int]) -> str:
    properties = "".join(
        f'<property name="{name}"><![CDATA[{value}]]></property>'
        if isinstance(value, str)
        else f'<property name="{name}" class="{value[0]}"><id name="id">{value[1]}</id></property>'
        for name, value in values.items()
    )
    return f'<object class="{kind}" package="com.atlassian.confluence"><id name="id">{ident}</id>{properties}</object>'


SPACE = "<hibernate-generic>" + "".join(
    [
        thing("Page", 1, title="Yard", contentStatus="current", lastModificationDate="2026-03-03 10:00:00.000"),
        thing("Page", 2, title="Winch / crane", parent=("Page", 1), contentStatus="current"),
        thing("Page", 3, title="Winch / crane", originalVersion=("Page", 2), contentStatus="current"),
        thing("Page", 4, title="Gone", contentStatus="deleted"),
        thing("BodyContent", 11, body="<p>All about ropes.</p>", content=("Page", 1)),
        thing(
            "BodyContent",
            12,
            body='<h2>Start</h2><ac:structured-macro ac:name="code"><ac:plain-text-body><![CDATA[winch --up <a>]] >'
            "</ac:plain-text-body></ac:structured-macro>",
            content=("Page", 2),
        ),
        thing("BodyContent", 13, body="<p>old text</p>", content=("Page", 3)),
        thing("BodyContent", 15, body="<p>It squeaks.</p>", content=("Comment", 21)),
        thing("Comment", 21, contentStatus="current", containerContent=("Page", 2)),
        thing("Attachment", 31, title="plan.txt", version="2", contentStatus="current", containerContent=("Page", 2)),
    ]
) + "</hibernate-generic>"  # fmt: skip


def test_a_space_of_confluence_is_its_pages() -> None:
    """Paths and headings say where a page stands; code, comments and files are its own; old versions are no pages."""
    archive, found = opened(
        zipped(
            {
                "entities.xml": SPACE,
                "exportDescriptor.properties": "exportType=space",
                "attachments/2/31/1": "old plan",
                "attachments/2/31/2": "The plan.",
                "attachments/4/99/1": "of a removed page",
            }
        )
    )
    assert list(found) == ["Yard.html", "Yard/Winch - crane.html", "Yard/Winch - crane/plan.txt"]
    assert found["Yard/Winch - crane/plan.txt"] == b"The plan."
    assert archive.metadata["unread"] == ["2 that are earlier versions, or files of pages that were removed"]
    pages = {
        name: parse(content, name=name, media_type=detect_media_type(name, content)) for name, content in found.items()
    }
    page = pages["Yard/Winch - crane.html"]
    assert page.title == "Winch / crane"
    assert page.markdown == (
        "# Yard › Winch / crane\n\n## Start\n\n```\nwinch --up <a>\n```\n\n## Comments\n> It squeaks.\n"
    )
    assert pages["Yard.html"].metadata["modified"] == "2026-03-03T10:00:00"
    assert "ropes" in pages["Yard.html"].markdown


def test_a_space_in_circles_and_a_damaged_list() -> None:
    """Pages above each other end somewhere; what can be read of a damaged list is read."""
    circle = thing("Page", 1, title="A", parent=("Page", 2)) + thing("Page", 2, title="B", parent=("Page", 1))
    for end in ("</hibernate-generic>", "<object"):
        files = {"entities.xml": f"<hibernate-generic>{circle}{end}", "exportDescriptor.properties": ""}
        assert len(opened(zipped(files))[1]) == 2
