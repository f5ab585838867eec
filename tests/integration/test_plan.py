"""`plan` says what the next ingest would do and why, changes nothing, and is right about it."""

from collections.abc import Iterable

import dagster as dg
import pytest
from psycopg import sql

from resources.run_uses import PLAN
from sensors.run_requests import request_run
from sourcebook.admin.planning.plan import make_plans
from sourcebook.config.loading import Configuration, load_configuration
from sourcebook.contract.plans import CollectionPlan, Reason
from sourcebook.errors import QueryError
from tests.integration.stages import Stages

LONG_PAGE = "# Tides\n\n" + "\n\n".join(
    f"## Part {part}\n\n" + f"The tide is {part} m high. " * 60 for part in range(8)
)


def plan(stages: Stages, configuration: Configuration | None = None) -> CollectionPlan:
    with stages.connection() as connection:
        (found,) = make_plans(connection, configuration, [stages.collection])
    return found


def reasons(found: CollectionPlan) -> dict[str, str]:
    return {item.uri.rpartition("/")[2]: item.reason.value for item in found.items}


def contents(stages: Stages) -> dict[str, list[str]]:
    """Return every row of the ledger and the index."""
    names = stages.rows("SELECT tablename FROM pg_tables WHERE schemaname = 'sourcebook' ORDER BY 1")
    with stages.connection() as connection:
        return {
            row["tablename"]: sorted(
                str(found)
                for found in connection.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(row["tablename"])))
            )
            for row in names
        }


def write_all(stages: Stages, names: Iterable[str]) -> None:
    for name in names:
        stages.write(name, f"# {name}\n\nThe lamp of {name} is dim.\n")


def test_every_change_has_its_reason_and_the_ledger_stays_as_it_was(stages: Stages) -> None:
    stages.configure()
    write_all(stages, ("same.md", "edited.md", "gone.md", "returned.md"))
    stages.run()
    (stages.root / "returned.md").unlink()
    stages.run()
    write_all(stages, ("returned.md", "added.md"))
    stages.write("edited.md", "# edited.md\n\nThe lamp is bright.\n")
    (stages.root / "gone.md").unlink()
    before = contents(stages)
    found = plan(stages)
    assert contents(stages) == before
    assert reasons(found) == {
        "added.md": "new",
        "edited.md": "content changed",
        "gone.md": "gone",
        "returned.md": "returned",
    }
    assert found.counts == {"new": 1, "content changed": 1, "returned": 1, "gone": 1}
    assert (found.texts_to_embed, found.texts_cached) == (2, 1)
    assert found.seconds > 0
    stages.run()
    assert plan(stages).items == ()


def test_the_configuration_is_planned_for_before_it_is_applied(stages: Stages) -> None:
    stages.configure()
    write_all(stages, ("a.md", "b.txt"))
    stages.run()
    file = stages.root.parent / "sourcebook.yaml"
    file.write_text(
        f"collections:\n  {stages.collection}:\n    files:\n      - root: ./{stages.root.name}\n"
        '        include: ["*.md"]\n        tags: [policy]\n'
    )
    found = plan(stages, load_configuration(file))
    assert found.changed_settings == ("files",)
    assert reasons(found) == {"a.md": "settings changed", "b.txt": "gone"}
    assert (found.texts_to_embed, found.texts_cached) == (0, 1)
    assert plan(stages).items == ()


def test_a_revised_parser_names_both_versions(stages: Stages) -> None:
    stages.configure()
    write_all(stages, ("a.md",))
    stages.run()
    stages.rows("UPDATE document SET config_hash = 'markdown/0' RETURNING 1")
    stages.rows("UPDATE collection SET compared_with = NULL RETURNING 1")
    (item,) = plan(stages).items
    assert item.reason is Reason.REVISED
    assert item.detail.startswith("markdown/0 → ")


def test_a_file_whose_type_is_read_now_is_planned_with_its_texts(stages: Stages) -> None:
    """An earlier version skipped it; nothing of it is cached."""
    stages.configure()
    stages.write("gate.svg", "<svg><text>The upper gate opens upstream.</text></svg>")
    stages.raw_files()
    stages.rows("UPDATE raw_file SET skip_reason = 'SVG images are not read in this version' RETURNING 1")
    stages.rows("UPDATE collection SET compared_with = NULL RETURNING 1")
    found = plan(stages)
    assert [(item.reason, item.detail) for item in found.items] == [(Reason.REVISED, "files of its type are read now")]
    assert (found.texts_to_embed, found.texts_cached) == (1, 0)
    stages.run()
    assert plan(stages).items == ()


def test_a_failed_file_is_planned_when_its_retry_is_due(stages: Stages) -> None:
    stages.configure()
    stages.write("broken.pdf", b"%PDF-1.7 nothing of it")
    stages.run()
    assert plan(stages).items == ()
    stages.due_now()
    stages.rows("UPDATE document SET next_retry_at = now() - interval '1 s' RETURNING 1")
    assert reasons(plan(stages)) == {"broken.pdf": "retry due"}


def test_an_interrupted_run_is_planned_to_its_end_with_exact_texts(stages: Stages) -> None:
    stages.configure()
    stages.write("long.md", LONG_PAGE)
    stages.raw_files()
    stages.documents()
    chunks = stages.chunks().added
    found = plan(stages)
    assert reasons(found) == {"long.md": "unfinished"}
    assert (found.texts_to_embed, found.texts_cached) == (chunks, 0)
    stages.embeddings()
    found = plan(stages)
    assert (found.texts_to_embed, found.texts_cached) == (0, chunks)


def test_the_texts_of_new_files_follow_the_passages_of_like_ones(stages: Stages) -> None:
    """Within a third of what the ingest then embeds, from files of other sizes."""
    stages.configure()

    def write(number: int, sentences: int) -> None:
        text = " ".join(f"The mark {number}.{sentence} is blue." for sentence in range(sentences))
        stages.write(f"{number}.md", f"# Page {number}\n\n{text}\n")

    for number in range(5):
        write(number, 40 + 40 * number)
    stages.run()
    for number in range(5, 10):
        write(number, 60 + 20 * number)
    expected = plan(stages).texts_to_embed
    embedded = stages.run()["embeddings"].extra["computed"]
    assert abs(expected - embedded) <= embedded / 3


def test_moved_files_and_copies_need_no_text_to_be_embedded(stages: Stages) -> None:
    """A moved file, a copy, and a file of the same size with another content."""
    stages.configure()
    write_all(stages, ("a.md", "b.md"))
    stages.run()
    (stages.root / "a.md").rename(stages.root / "moved.md")
    stages.write("copy.md", (stages.root / "b.md").read_bytes())
    stages.write("same-size.md", "# x.md\n\nThe lamp of y.md is red.\n")
    found = plan(stages)
    assert (found.texts_to_embed, found.texts_cached) == (1, 2)
    details = {item.uri.rpartition("/")[2]: item.detail.rpartition("/")[2] for item in found.items}
    assert details == {"moved.md": "a.md", "copy.md": "b.md", "same-size.md": "", "a.md": ""}
    embedded = stages.run()["embeddings"]
    assert embedded.extra["computed"] == 1


def test_a_collection_that_is_not_there_is_named(stages: Stages) -> None:
    stages.configure()
    with (
        stages.connection() as connection,
        pytest.raises(QueryError, match=f"'handbok'; did you mean {stages.collection}"),
    ):
        make_plans(connection, None, ["handbok"])


def test_a_requested_run_carries_its_plan(stages: Stages) -> None:
    stages.configure()
    write_all(stages, ("a.md", "b.md"))
    found = plan(stages)
    with stages.connection() as connection, dg.DagsterInstance.ephemeral() as instance:
        request = request_run(instance, connection, stages.collection, "0123456789abcdef", lambda: found.summary)
    assert isinstance(request, dg.RunRequest)
    assert request.tags[PLAN].startswith("2 new; 2 texts (2 to embed, 0 from the cache); about ")


def test_another_chunk_size_is_announced_with_its_cost(stages: Stages) -> None:
    """The texts of a new generation within a third; documents of one small passage come from the cache."""
    stages.configure()
    write_all(stages, ("a.md", "b.md", "c.md"))
    text = " ".join(f"The mark {sentence} is blue." for sentence in range(600))
    stages.write("long.md", f"# Marks\n\n{text}\n")
    stages.run()
    file = stages.root.parent / "sourcebook.yaml"
    source = f"    files:\n      - root: ./{stages.root.name}\n"
    file.write_text(f"collections:\n  {stages.collection}:\n    chunking: {{tokens: 64}}\n{source}")
    found = plan(stages, load_configuration(file))
    assert found.counts == {"settings changed": 4}
    assert {item.detail for item in found.items} == {"chunking.tokens: 256 → 64"}
    assert found.texts_cached == 3
    stages.configure(file.read_text())
    embedded = stages.run()["embeddings"].extra["computed"]
    assert abs(found.texts_to_embed - embedded) <= embedded / 3
