"""Names of documents and relations as documents write them, without a database."""

import time

import pytest

from sourcebook.config.relations import RelationPattern, RelationSettings
from sourcebook.parsing.text.markdown import parse_markdown
from sourcebook.stages.relations.links import link_targets, prose, wiki_targets
from sourcebook.stages.relations.names import joined, names_of, normal_name, normal_uri, series_of
from sourcebook.stages.relations.written import MOST, WritingDocument, written_relations

URI = "file:///base/docs/eip-1820.md"


def found(
    markdown: str, settings: RelationSettings | None = None, uri: str = URI, **metadata: object
) -> set[tuple[str, bool, str]]:
    names = names_of(uri, None, metadata)
    document = WritingDocument(uri, "file:///base", metadata, markdown)
    relations = written_relations(document, names, settings or RelationSettings())
    return {(each.kind, each.is_inverse, each.target) for each in relations}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ADR-0004", "adr-4"),
        ("adr 4", "adr-4"),
        ("RFC9110", "rfc-9110"),
        ("My Page_two.md", "my-page-two"),
        ("Straße", "strasse"),
        ("0004-use-postgres", "0004-use-postgres"),
        ("x" * 5_000, normal_name("x" * 5_000)),
    ],
)
def test_a_name_has_one_normal_form(text: str, name: str) -> None:
    assert normal_name(text) == name
    assert len(normal_name(text)) <= 400


def test_fields_name_their_targets_as_people_write_them() -> None:
    """Wiki links, also unquoted ones that YAML reads as lists, and ids with a title behind them."""
    old = {("supersedes", False, "adr-2")}
    for written in ([["ADR-0002"]], "[[ADR-0002]]", "[[log/ADR-0002#Part|x]]", "ADR-0002: Cron", "ADR-2 (Cron)"):
        assert found("", supersedes=written) == old, written
    assert found("", supersedes="[[ADR-2]], [[ADR-3|three]]") == {*old, ("supersedes", False, "adr-3")}


def test_what_documentation_tools_write_are_links() -> None:
    """Wiki links with a text of their own, links of Hugo, Jekyll, MyST and components, and files that are included."""
    written = """# T

[[Setup guide|how to set up]], [[log/Old page#Part]], ![[Embedded]], [a]({{< ref "a.md" >}}),
[b]({% link _docs/b.md %}), {doc}`c`, [d]({{ site.baseurl }}/d/).

<Card title="E" href="/e">Text</Card>

--8<-- "f.md"

``` md
[[Not this]] --8<-- "nor/this.md"
```
"""
    targets = {
        target for _, _, target in found(parse_markdown(written.encode()).markdown, uri="file:///base/docs/t.md")
    }
    assert targets == {"setup-guide", "old-page", "embedded"} | {
        f"file:///base/{path}" for path in ("docs/a", "docs/_docs/b", "docs/c", "d", "e", "f")
    }


@pytest.mark.parametrize("field", ["permalink", "slug", "aliases", "redirect_from", "url"])
def test_a_document_is_found_by_the_path_of_its_page(field: str) -> None:
    """Its front matter says it, from the root of the site, which is the folder of the source."""
    names = names_of("file:///base/_posts/2024-01-02-tides.md", "Tides", {field: "/guide/tides/"}, "file:///base")
    (link,) = found("[a](/guide/tides/#top)", uri="file:///base/b/c.md")
    assert link[2] in {name.name for name in names}
    assert "2" not in {name.name for name in names_of(URI, None, {field: "two words"}, "file:///base")}


def test_the_query_of_a_link_between_files_is_no_part_of_its_target() -> None:
    plain = found("[a](guide.md)")
    for written in ("guide.md?plain=1", "guide.md?plain=1#L3", "./guide.md#L3?x"):
        assert found(f"[a]({written})") == plain, written
    assert found("[a](<Who?.md>)") != found("[a](Who)")
    assert found("[a](?q=1)", uri="https://example.org/x.md") == set()
    assert found("[a](b.md?q=1)", uri="https://example.org/x.md") != found("[a](b.md)", uri="https://example.org/x.md")


def test_no_name_holds_what_the_database_cannot() -> None:
    """One link with %00 must not stop the ingest of its collection."""
    relations = found("[a](%00.md) [b](x%ED%A0%80.md) [[c\0]] [d](http://e.org/?q=\0)", supersedes="a\0b")
    names = [name.name for name in names_of("https://e.org/%00/a%00", "t\0", {"slug": "\0s"})]
    assert len(relations) == 5
    assert not any("\0" in text for text in [*(target for *_, target in relations), *names])


def test_code_within_a_line_opens_no_block() -> None:
    assert found("```[[a]]``` and [[b]]\n\n`` [[c]] `` [[d]]") == {
        ("references", False, "b"),
        ("references", False, "d"),
    }


def test_links_meet_documents_whatever_their_ending() -> None:
    guide = normal_uri("file:///base/docs/Guide%20one.md")[0]
    for link in ("Guide%20one.md", "./guide one.html#top", "../docs/Guide one/", "/docs/Guide one"):
        assert normal_uri(joined(URI, link, "file:///base"))[0] == guide, link
    page = "https://example.org/a/b.html?x=1"
    assert normal_uri(joined(page, "../c/", ""))[0] == normal_uri("http://example.org/c/index.html")[0]
    assert normal_uri(joined(page, "/top", ""))[0] == "https://example.org/top"
    assert normal_uri(joined(page, "//other.org/x", ""))[0] == "https://other.org/x"
    assert normal_uri(joined(URI, "../../../../x.md", ""))[0] == "file:///x"


def test_a_document_is_called_by_its_file_its_id_its_aliases_and_its_title() -> None:
    names = names_of("file:///b/decisions/0004-use-postgres.md", "Use PostgreSQL", {"aliases": ["the database one"]})
    assert {name.name for name in names} == {
        "file:///b/decisions/0004-use-postgres", "adr-4", "the-database-one", "0004-use-postgres", "use-postgresql",
    }  # fmt: skip
    assert series_of(names) == "adr"
    assert series_of(names_of(URI, None, {})) == "eip"
    assert series_of(names_of("file:///b/notes.md", "PEP 345 – Metadata", {})) == "pep"
    assert "meetings-2024" not in {name.name for name in names_of("file:///m/meetings/2024-01-05-x.md", None, {})}


def test_fields_are_read_as_eips_and_peps_write_them() -> None:
    assert found("", requires="165, 820") == {("requires", False, "eip-165"), ("requires", False, "eip-820")}
    assert found("", requires=[20, "EIP-165"]) == {("requires", False, "eip-20"), ("requires", False, "eip-165")}
    peps = RelationSettings(fields={"Replaces": "supersedes", "Superseded-By": "superseded_by"})
    assert found("", peps, "file:///p/pep-0345.rst", **{"replaces": "314", "superseded-by": "566"}) == {
        ("supersedes", False, "pep-314"),
        ("supersedes", True, "pep-566"),
    }
    assert found("", depends_on="[[Ids|the ids]]") == {("requires", False, "ids")}
    assert found("", implements="../specs/wire.md") == {("implements", False, "file:///base/specs/wire")}
    assert found("", references="[Wire](wire.md) and [Ids](ids.md#a)") == {
        ("references", False, "file:///base/docs/wire"),
        ("references", False, "file:///base/docs/ids"),
    }
    assert found("", requires=None, supersedes="none", references=True) == set()


def test_links_wiki_links_and_ids_are_references() -> None:
    text = """
Read [EIP-165](./eip-165.md#abstract), [the
list](<a b.md> "title"), [ref][r], <https://example.org/x>, ![picture](p.png), [![badge](b.svg)](ci.md)
and [[Page One#part|that page]], ADR-0004 and RFC 9110; [mail](mailto:a@b.c), [here](#anchor), \\[not](no.md)
<a class="x" href="raw.html">raw</a>

[r]: https://example.org/r
"""
    targets = {target for _, _, target in found(text)}
    base = "file:///base/docs/"
    assert targets == {
        base + "eip-165", base + "a b", base + "ci", base + "raw", "https://example.org/x", "https://example.org/r",
        "page-one", "adr-4", "rfc-9110",
    }  # fmt: skip


def test_code_comments_pictures_and_front_matter_hold_no_references() -> None:
    text = "---\nurl: '[a](a.md)'\n---\n```\n[b](b.md) ADR-0001\n```\n- x\n  ~~~\n  [[c]]\n  ~~~\n"
    text += "`[d](d.md)` <!-- RFC 1 -->\n"
    assert found(text) == set()
    assert found("```\nunclosed [a](a.md)") == set()


def test_a_relation_to_itself_is_none_and_each_stands_once() -> None:
    assert found("EIP-1820 [x](eip-1820.md) [[eip-1820]]", eip=1820) == set()
    assert len(found("[a](b.md) [b](./b.md#x) [c](b.html)")) == 1


def test_patterns_of_ones_own_name_documents() -> None:
    settings = RelationSettings(patterns=(RelationPattern(kind="requires", match=r"PEP (\d+)", target="pep-{1}"),))
    assert found("As PEP 0256 says, and ADR-0001", settings) == {("requires", False, "pep-256")}
    with pytest.raises(ValueError, match="group"):
        RelationPattern(match="PEP", target="pep-{1}")
    with pytest.raises(ValueError, match="empty"):
        RelationPattern(match="x*")


def test_hostile_text_takes_linear_time() -> None:
    settings = RelationSettings(patterns=(RelationPattern(match=r"(a+)+b"),))
    started = time.process_time()
    for part in ("[", "](", "`", "<!--", "[[a", "a", "~~~\n", "[a](b(", '<a href="', "](\\", "- ", "x]: "):
        found(part * 60_000, settings)
    assert time.process_time() - started < 10
    assert len(found(" ".join(f"[x](p{number}.md)" for number in range(3_000)))) == MOST


def test_prose_keeps_what_is_no_code() -> None:
    text = prose("a ``x ` y`` b\n\n```py\ncode\n```\n\nend [l](m.md)")
    assert "code" not in text
    assert list(link_targets(text)) == ["m.md"]
    assert list(wiki_targets("[[a|b]] [[c]](d) [[e^f]]")) == ["a", "e"]
