"""What `sourcebook search` promises to the person and to the program that runs it."""

import json
from collections.abc import Callable
from pathlib import Path

from sourcebook.files.listing import file_uri
from tests.exported import link_model
from tests.integration.cli.command import Ingest, run, start

RESULT = [
    *("document_id", "collection", "uri", "title", "heading_path", "anchor", "page", "start_seconds"),
    *("end_seconds", "ordinal", "text", "score", "vector_rank", "keyword_rank", "version", "vector_score"),
    *("keyword_score", "rerank_score", "kind", "media_type", "language", "tags", "metadata", "start_char"),
    *("end_char", "parts", "also", "generation", "link", "relevance", "sections", "snippet", "snippet_start"),
    *("highlights", "redactions", "superseded_by", "also_in", "copies", "versions", "passage_id"),
    *("tokens", "total_chunks", "created_at", "updated_at", "indexed_at"),
    *("snippet_highlights", "time_span", "context_text"),
]
ANSWER = [
    *("results", "took_ms", "dropped_legs", "total_candidates", "offset", "next_offset", "notes"),
    *(
        "generations",
        "suggestion",
        "facets",
        "nothing_relevant",
        "withheld",
        "linked",
        "seconds_behind",
        "filling",
        "explanation",
    ),
]


def named(*arguments: str) -> list[str]:
    """Run a search; return the file names of what it finds."""
    return [result["uri"].rpartition("/")[2] for result in run("search", "--json", *arguments).json["results"]]


def write_log(folder: Path, settle: Callable[[Path], None]) -> None:
    """Write a document of five passages, each of which holds `harbour`, and the second `day2` alone."""
    days = (
        f"## Day {day}\n\nThe harbour, day{day}. " + "The wind was light and the sea calm. " * 25 for day in range(1, 6)
    )
    log = folder / "docs" / "log.md"
    log.write_text("# Log\n\n" + "\n\n".join(days))
    settle(log)


class TestSearch:
    def test_for_programs(self, boat: Path) -> None:
        """Each result has exactly the promised keys."""
        answer = run("search", "battery", "winters", "--mode", "keyword", "-c", "boat", "-n", "1", "--json").json
        assert list(answer) == ANSWER
        assert answer["took_ms"] > 0
        assert (answer["next_offset"], answer["notes"], answer["explanation"]) == (None, [], None)
        (result,) = answer["results"]
        assert list(result) == RESULT
        assert result["heading_path"] == ["Batteries", "Winter"]
        assert (result["vector_rank"], result["keyword_rank"], result["version"]) == (None, 1, 1)
        assert (result["kind"], result["parts"], result["also"]) == ("file", [], [])

    def test_for_people(self, boat: Path) -> None:
        """A hit shows title, heading path, address with anchor and score."""
        out = run("search", "winters", "--mode", "keyword").out
        assert "1. Batteries › Winter" in out
        assert f"{file_uri(str(boat / 'docs' / 'battery.md'))}#" in out
        assert "score 1.0000 (keyword rank 1), boat" in out

    def test_documents_do_not_control_the_terminal(self, boat: Path) -> None:
        """Escape sequences in a document are not printed, and what looks like markup is text."""
        out = run("search", "anchor", "--mode", "keyword").out
        assert "five fathoms [bold]always[/bold]" in " ".join(out.split())
        assert not {"\x1b", "\x07"} & set(out)

    def test_odd_queries(self, boat: Path) -> None:
        """An odd query is refused clearly or answered."""
        for query, code in (("", 2), (" ", 2), ("x" * 100_001, 2), ("\udcff", 0), ("🙂", 0)):
            ran = run("search", "--mode", "keyword", "--json", "--", query)
            assert ran.code == code, query[:10]
            assert ran.out == "" if code else ran.json["results"] == []
            assert "something went wrong" not in ran.err

    def test_operators_of_other_languages_are_words(self, boat: Path) -> None:
        """Quotes without their other half and operators of any other language are nothing but text."""
        for query in ("' OR 1=1 --", "anchor & | ! <-> (", "%(x)s %s {}", '"unclosed', "a\\' \\"):
            assert run("search", "--mode", "keyword", "--json", "--", query).code == 0

    def test_a_query_may_demand(self, boat: Path) -> None:
        """A phrase, a word to leave out and a word of the title hold; `--literal` takes the same as text.

        Without `--operators`, a demand that no passage fulfils is given up, and a note says so.
        """
        for query, found in (
            ('"two winters"', ["battery.md"]),
            ('"winters two"', []),
            ("winters -batteries", []),
            ("-winters anchor", ["odd%20%5Bred%5Dname%20'%C3%A9'.txt"]),
            ("title:batteries last", ["battery.md"]),
            ("title:anchor last", []),
        ):
            assert named("--mode", "keyword", "--operators", "--", query) == found, query
        shown = run("search", "--mode", "keyword", '"winters two"').out
        assert "battery.md" in shown
        assert "no passage fulfils the query with 'winters two'" in " ".join(shown.split())
        assert named("--mode", "keyword", "--literal", '"winters two"') == ["battery.md"]

    def test_misspelt(self, boat: Path) -> None:
        """With `--typos` a word that no passage holds stands for the nearest one."""
        assert named("--mode", "keyword", "fathmos") == []
        assert len(named("--mode", "keyword", "--typos", "fathmos")) == 1

    def test_filtered(self, boat: Path) -> None:
        """Filters narrow a search; where they let nothing through, the leg says so."""
        query = ("--mode", "keyword", "winters anchor")
        assert len(named(*query)) == 2
        assert named(*query, "--filter", "media_type=text/markdown") == ["battery.md"]
        assert named(*query, "--filter", "media_type=md") == ["battery.md"]
        assert named(*query, "--filter", "media_type=pdf") == []
        assert len(named(*query, "--filter", "kind=file", "--filter", "kind=page")) == 2
        out = run("search", *query, "--filter", "kind=page").out
        assert out.startswith("No passage was found.")
        assert "Without keyword search: no passage that fulfils the filters holds a word of the query." in out

    def test_pages(self, boat: Path, ingest: Ingest, settle: Callable[[Path], None]) -> None:
        """The next page is named, goes on with the ranks, and repeats nothing; behind the last one that is said."""
        write_log(boat, settle)
        ingest(boat / "sourcebook.yaml")
        query = ("search", "--mode", "keyword", "harbour", "-n", "2")
        first = run(*query).out
        assert "More: the same with --offset 2\n" in first
        second = run(*query, "--offset", "2").out
        assert second.startswith("3. Log")
        ordinals = [
            [result["ordinal"] for result in run(*query, "--offset", offset, "--json").json["results"]]
            for offset in ("0", "2", "4")
        ]
        assert [len(page) for page in ordinals] == [2, 2, 1]
        assert sorted(ordinal for page in ordinals for ordinal in page) == [0, 1, 2, 3, 4]
        assert "More:" not in run(*query, "--offset", "4").out
        assert "the search found 5" in run(*query, "--offset", "6").out

    def test_context(self, boat: Path, ingest: Ingest, settle: Callable[[Path], None]) -> None:
        """Neighbours stand around the marked hit; grouped by document, one result says how many more there are."""
        write_log(boat, settle)
        ingest(boat / "sourcebook.yaml")
        out = run("search", "--mode", "keyword", "day2", "--neighbours", "1").out
        before, _, rest = out.partition("\n > ")
        assert "day1" not in before, "its end is shown"
        assert before.rstrip().endswith("calm.")
        assert rest.startswith("The harbour, day2.")
        assert "day3" in rest
        assert "\n > " not in rest
        grouped = run("search", "--mode", "keyword", "harbour", "--group-by", "document")
        assert "and 4 other passages of this document" in grouped.out
        assert "\n2. " not in grouped.out

    def test_explained(self, boat: Path) -> None:
        """What was looked for, how the legs were joined, and PostgreSQL's plans, for people and for programs."""
        out = run("search", "--mode", "keyword", "winters", "--explain").out
        assert "keyword    1 candidates in" in out
        assert "keyword_entry" in out
        told = run("search", "--mode", "keyword", "winters", "--explain", "--json").json["explanation"]
        assert [leg["leg"] for leg in told["legs"]] == ["keyword"]

    def test_wrong_usage(self, boat: Path) -> None:
        """What makes no sense ends with 2, before any model is loaded."""
        for arguments in (
            ["-n", "0"],
            ["-n", "2000"],
            ["--mode", "psychic"],
            ["-c", "ship"],
            ["-n", "many"],
            ["--offset", "x"],
        ):
            ran = run("search", "anchor", "--json", *arguments)
            assert (ran.code, ran.out) == (2, ""), arguments
            assert ran.err

    def test_hybrid_as_a_process(self, boat: Path, exported_model: Path) -> None:
        """The whole command, with the model: found by vector search although no word is the same."""
        link_model(exported_model, boat / ".sourcebook")
        process = start("search", "how long does the power supply endure", "--all", "--json")
        out, err = process.communicate(timeout=300)
        assert (process.returncode, err) == (0, "")
        best = json.loads(out)["results"][0]
        assert best["uri"].endswith("battery.md")
        assert best["vector_rank"] == 1
        assert json.loads(out)["nothing_relevant"] is True, "three documents of which none is about power"
