"""What a knowledge base does with its database, from an empty one to a second generation, by the `sourcebook` command.

python -m tests.acceptance.server_trial URL

prints the versions of a PostgreSQL server with pgvector, and `works`, or how the first command that did not work ended.
The database is empty, and its role may create schemas in it, or owns the schema `sourcebook` and one for Dagster.
"""

import sys
import traceback
from dataclasses import replace

import psycopg

from tests.acceptance.workplace import Workplace, temporary_workplace


def try_out(workplace: Workplace) -> None:
    """Ingest, search, change, remove and index anew; each step asserts what its command says."""
    workplace.configure(handbook="docs")
    for name, text in {"tides": "The tide gauge is read twice.", "häfen": "Im Hafen liegen Boote."}.items():
        workplace.write(f"docs/{name}.md", f"# {name.title()}\n\n{text} \\d '' € 漢字\n")
    assert "new ones are made" in workplace.run("upgrade", "--check")
    assert "new ones are made" in workplace.run("upgrade")
    counts = workplace.ingest("--force")["handbook"]  # a run of Dagster, whose tables it makes
    assert counts["documents"]["added"] == 2, counts
    assert _found(workplace, "when is the gauge read?") == "Tides"
    assert _found(workplace, "Boote") == "Häfen"
    workplace.write("docs/tides.md", "# Tides\n\nThe barnacles grow below the line.\n")
    (workplace.docs / "häfen.md").unlink()
    counts = workplace.ingest()["handbook"]  # a small change
    assert (counts["documents"]["changed"], counts["documents"]["removed"]) == (1, 1), counts
    assert _found(workplace, "barnacles") == "Tides"
    assert _found(workplace, "Boote") != "Häfen"
    with workplace.configuration.open("a") as file:
        file.write("    chunking:\n      tokens: 128\n")
    workplace.ingest()
    states = [each["state"] for each in workplace.json("generations")["generations"]]
    assert states.count("active") == 1, states
    assert "kept" in states, states
    assert _found(workplace, "barnacles") == "Tides"
    assert workplace.json("status")["collections"][0]["documents"] == 1
    assert "nothing to upgrade" in workplace.run("upgrade", "--check")


def _found(workplace: Workplace, query: str) -> str | None:
    results = workplace.json("search", query)["results"]
    return str(results[0]["title"]) if results else None


def main() -> None:
    """Try one server and print a line."""
    url = sys.argv[1]
    outcome = "works"
    with temporary_workplace() as empty:
        try:
            try_out(replace(empty, database_url=url))
        except AssertionError as error:
            traceback.print_exc()
            outcome = f"does not work: {error}"
    with psycopg.connect(url) as connection:
        version = connection.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'").fetchone()
        number = connection.info.server_version
    print(f"PostgreSQL {number // 10000}.{number % 10000}, pgvector {version and version[0]}: {outcome}")


if __name__ == "__main__":
    main()
