"""The design of the keyword leg beside its alternatives: latency, size, time to build, at two sizes."""

from benchmarks.corpora.large_library import large_library
from benchmarks.corpora.text_collection import TextShelf
from benchmarks.harness.bench import Bench
from benchmarks.harness.latency import ask_each
from benchmarks.harness.report import Row, say
from benchmarks.peers.bm25_designs import DEPTH, Design, designs
from benchmarks.peers.sql_rankings import every_entry_scored
from sourcebook.search.query_terms import QueryTerm, query_terms
from sourcebook.search.ranking.leg import LegRanking

_QUESTIONS = 60
_ALIKE = 1e-4
"""Largest relative difference of scores, which are sums of 4-byte floats in any order."""


def run(bench: Bench) -> list[Row]:
    """Ask each design the same questions."""
    large = large_library(bench)
    some = large.questions[:: max(len(large.questions) // _QUESTIONS, 1)]
    rows: list[Row] = []
    with large.library.database() as database, database.connection() as connection:
        for shelf in large.shelves:
            scope = shelf.scope(connection)
            terms = {question: query_terms(connection, scope, question) for question in some}
            exact = {
                question: every_entry_scored(connection, shelf.generation.id, terms[question], DEPTH)
                for question in some
            }
            rows += [_measure(design, shelf, some, terms, exact) for design in designs(connection, shelf)]
    return rows


def _measure(
    design: Design, shelf: TextShelf, some: list[str], terms: dict[str, list[QueryTerm]], exact: dict[str, LegRanking]
) -> Row:
    asked = ask_each(lambda question: design.rank(terms[question]), some)
    same = all(_alike(design.rank(terms[question]), exact[question]) for question in some) if design.is_bm25 else None
    built = "" if design.seconds is None else f", built in {design.seconds:.0f} s"
    found = {None: "another measure", True: "exact", False: "not exact"}[same]
    note = f"p50 {asked.p50:.1f} ms, {design.bytes:,.0f} bytes a passage{built}, {found}"
    say(f"  {shelf.entries:,} passages, {design.name}: p95 {asked.p95:.1f} ms, {note}")
    return Row(f"{design.name}, {shelf.entries:,} passages, p95", asked.p95, "ms", note=note)


def _alike(found: LegRanking, exact: LegRanking) -> bool:
    return len(found) == len(exact) and all(
        abs(one - other) <= _ALIKE * other for (_, one), (_, other) in zip(found, exact, strict=True)
    )
