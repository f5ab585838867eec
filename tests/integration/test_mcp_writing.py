"""Agents that add and remove: documents, folders and sites, each as a job, within what they may."""

from typing import Any

import pytest
from mcp import MCPError

from sourcebook.admin.audit import audit_events
from sourcebook.admin.work_requests import claim_work, end_work
from sourcebook.knowledge_base import KnowledgeBase
from tests.integration.http_server import serving
from tests.integration.mcp_client import Agent, over_http
from tests.integration.stages import Stages
from tests.integration.test_mcp_jobs import key_of

NOTES = [
    {"name": "tides/gauge", "text": "# Gauge\n\nThe barnacle line marks high water.", "tags": ["tides"]},
    {"name": "knots.md", "text": "# Knots\n\nA bowline holds under load."},
]


@pytest.fixture
def knowledge(stages: Stages) -> KnowledgeBase:
    """A collection of the file, and one of the API."""
    stages.write("power.md", "# Power\n\nThe batteries last fourteen months.\n")
    stages.configure()
    stages.knowledge.create_collection("notes", actor="test")
    stages.knowledge.folders = [stages.root]
    return stages.knowledge


def test_an_agent_adds_documents_and_finds_them(stages: Stages, knowledge: KnowledgeBase) -> None:
    async def add(agent: Agent) -> Any:
        return await agent.ask("ingest_documents", collection="notes", documents=NOTES)

    async def find(agent: Agent) -> Any:
        return await agent.ask("search_documents", query="What marks high water?", filters={"tags": ["tides"]})

    with serving(knowledge, requires_key=True) as client:
        key = key_of(knowledge, "agent", "write")
        job = over_http(client.port, add, key=key)
        assert (job["state"], job["collection"]) == ("waiting", "notes")
        stored = [(each["name"], each["version"]) for each in job["documents"]]
        assert stored == [("tides/gauge.md", 1), ("knots.md", 1)]
        request = knowledge.work(job["job"])
        assert request is not None
        assert request.arguments["documents"] == [each["uri"] for each in job["documents"]]
        stages.collection = "notes"
        stages.run()
        (hit,) = over_http(client.port, find, key=key)["results"]
        assert hit["citation"]["title"] == "Gauge"
    with knowledge.database.connection() as connection:
        events = {event.action: event.actor for event in audit_events(connection)}
    assert {events["upload.add"], events["work.sync"]} == {"key agent"}


def test_an_agent_adds_an_allowed_folder_and_no_other(stages: Stages, knowledge: KnowledgeBase) -> None:
    allowed = str(stages.root)

    async def work(agent: Agent) -> None:
        for folder in ("/etc", f"{allowed}/../..", str(stages.root.parent), "s3://bucket/a", "docs"):
            said = await agent.refused("ingest_documents", collection="notes", folder=folder)
            assert "root" in said, folder
            assert "/etc" not in said
        both = {"folder": allowed, "documents": NOTES}
        assert "not both" in await agent.refused("ingest_documents", collection="notes", **both)
        assert (await agent.ask("ingest_documents", collection="notes", folder=allowed))["state"] == "waiting"
        assert (await agent.ask("ingest_documents", collection="notes", folder=allowed))["state"] == "waiting"
        assert (await agent.ask("ingest_documents", collection="handbook"))["collection"] == "handbook"
        declared = await agent.refused("crawl_website", collection="handbook", url="https://docs.example.com/")
        assert "sourcebook.yaml" in declared
        assert (await agent.ask("remove_source", collection="notes", location=allowed))["collection"] == "notes"
        assert "no source" in await agent.refused("remove_source", collection="notes", location=allowed)

    with serving(knowledge, requires_key=False) as client:
        over_http(client.port, work)


def test_an_agent_adds_a_site_of_the_public_web_and_no_other(knowledge: KnowledgeBase) -> None:
    async def work(agent: Agent) -> None:
        for url in ("http://127.0.0.1/", "http://169.254.169.254/latest", "file:///etc/passwd", "nonsense"):
            assert "url" in await agent.refused("crawl_website", collection="notes", url=url), url
        job = await agent.ask("crawl_website", collection="notes", url="https://docs.example.com/", max_pages=7)
        assert (job["collection"], job["state"]) == ("notes", "waiting")
        again = await agent.ask("crawl_website", collection="notes", url="https://docs.example.com")
        assert (again["job"] > job["job"], again.get("changed")) == (True, None)
        more = await agent.ask("crawl_website", collection="notes", url="https://docs.example.com/", max_pages=9)
        assert more["changed"] == "max_pages: 7 → 9"

    with serving(knowledge, requires_key=False) as client:
        over_http(client.port, work)
    (site,) = knowledge.collection_settings("notes").settings["sites"]
    assert (site["url"], site["max_pages"]) == ("https://docs.example.com/", 9)


def test_who_may_not_write_or_see_is_told_of_nothing(knowledge: KnowledgeBase) -> None:
    reader, other = key_of(knowledge, "reader", "read"), key_of(knowledge, "other", "write", ["handbook"])
    calls: dict[str, dict[str, Any]] = {
        "ingest_documents": {"documents": NOTES},
        "crawl_website": {"url": "https://docs.example.com/"},
        "remove_source": {"location": "https://docs.example.com/"},
    }

    async def reads(agent: Agent) -> None:
        for tool, arguments in calls.items():
            with pytest.raises(MCPError, match=f"there is no tool '{tool}'"):
                await agent.client.call_tool(tool, {"collection": "notes", **arguments})

    async def sees_another(agent: Agent) -> None:
        for tool, arguments in calls.items():
            hidden = await agent.refused(tool, collection="notes", **arguments)
            assert hidden == await agent.refused(tool, collection="nothing", **arguments)

    with serving(knowledge, requires_key=True) as client:
        over_http(client.port, reads, key=reader)
        over_http(client.port, sees_another, key=other)
    assert knowledge.uploads("notes") == []
    assert knowledge.work_requests() == []


def test_a_name_that_is_not_allowed_stores_nothing(knowledge: KnowledgeBase) -> None:
    async def work(agent: Agent) -> None:
        for name in ("../secret.md", "/etc/passwd", "a\0b", "x" * 256, "notes/"):
            documents = [NOTES[0], {"name": name, "text": "a"}]
            assert "name" in await agent.refused("ingest_documents", collection="notes", documents=documents)
        empty = [{"name": "a", "text": ""}]
        assert "text" in await agent.refused("ingest_documents", collection="notes", documents=empty)

    with serving(knowledge, requires_key=False) as client:
        over_http(client.port, work)
    assert knowledge.uploads("notes") == []


def test_an_agent_that_waits_gets_the_documents_with_the_job_that_has_ended(knowledge: KnowledgeBase) -> None:
    async def work(agent: Agent) -> Any:
        async def finish(progress: float, total: float | None, message: str | None) -> None:
            with knowledge.database.connection() as connection:
                claimed = claim_work(connection, worker="host:1")
                if claimed is not None:
                    end_work(connection, claimed.id, "succeeded")

        arguments = {"collection": "notes", "documents": NOTES, "wait": True}
        answer = await agent.client.call_tool("ingest_documents", arguments, progress_callback=finish)
        return answer.structured_content

    with serving(knowledge, requires_key=False) as client:
        done = over_http(client.port, work)
    assert done["state"] == "succeeded"
    assert "how_to_go_on" not in done
    assert len(done["documents"]) == 2


def test_a_collection_is_made_by_what_is_added_to_it_and_one_of_the_file_says_what_to_do(
    stages: Stages, knowledge: KnowledgeBase
) -> None:
    """Whoever may make collections needs no call for it; a key that may only write is told as of any other name."""
    stages.write("new/knots.md", "# Knots\n\nA bowline holds.\n")
    inside = str(stages.root / "new")

    async def makes(agent: Agent) -> None:
        job = await agent.ask(
            "ingest_documents", documents=[{"name": "knots.md", "text": "Knots hold.", "title": "Bends"}]
        )
        assert job["collection"] == "default"
        assert "No worker runs" in job["how_to_go_on"]
        made = await agent.ask("ingest_documents", collection="fresh", path=inside, file_patterns=["*.md"], tags=["a"])
        assert (made["collection"], made.get("changed")) == ("fresh", None)
        other = await agent.ask("ingest_documents", collection="fresh", path=inside, tags=["b"], recursive=False)
        assert other["changed"] == "include: ['**/*.md'] → ['*']; tags: ['a'] → ['b']"
        spoken = await agent.ask("ingest_documents", collection="fresh", transcription_language="de")
        assert spoken["changed"] == "speech.language: the default → de"
        assert "there is no file or folder" in await agent.refused("ingest_documents", path=f"{inside}/nothing.md")

        assert "changed" not in await agent.ask("ingest_documents", collection="handbook", path=inside)
        for tool, arguments in (
            ("ingest_documents", {"path": inside, "tags": ["a"]}),
            ("crawl_website", {"url": "https://docs.example.com/"}),
        ):
            said = await agent.refused(tool, collection="handbook", **arguments)
            assert "name another collection, which is made" in said
            assert "-c handbook" in said
        assert "remove_document" in await agent.refused("remove_source", location=str(stages.root))

        counts = {each["name"]: each["jobs"] for each in (await agent.ask("get_statistics"))["collections"]}
        assert counts["fresh"] == {"waiting": 3}
        pages = [await agent.ask("ingest_documents", path=f"https://docs.example.com/{each}") for each in "ab"]
        assert len({page["job"] for page in pages}) == 2

    async def writes(agent: Agent) -> None:
        for name in ("another", "fresh", None):
            said = await agent.refused("ingest_documents", documents=NOTES, collection=name)
            assert said.startswith("there is no such collection"), name

    with serving(knowledge, requires_key=True) as client:
        over_http(client.port, writes, key=key_of(knowledge, "writer", "write"))
    with serving(knowledge, requires_key=False) as client:
        over_http(client.port, makes)
    sites = knowledge.collection_settings("default").settings["sites"]
    assert [(site["url"][-1], site["follow_links"]) for site in sites] == [("a", False), ("b", False)]
    (upload,) = knowledge.uploads("default")
    assert upload.name == "knots.md"


def test_settings_of_a_known_site_change_as_asked_and_a_page_of_it_changes_none(knowledge: KnowledgeBase) -> None:
    url = "https://docs.example.com/"

    async def work(agent: Agent) -> None:
        await agent.ask("crawl_website", collection="notes", url=url, max_depth=3, rate=2, include_patterns=["/a/**"])
        same = await agent.ask("crawl_website", collection="notes", url=url, max_depth=3, rate=2)
        assert "changed" not in same
        changed = await agent.ask(
            "crawl_website", collection="notes", url=url, max_depth=4, batch_size=2, options={"refresh": "12h"}
        )
        assert changed["changed"] == (
            "max_depth: 3 → 4; refresh: the default → 12h; politeness.concurrency: the default → 2"
        )
        assert "changed" not in await agent.ask("ingest_documents", collection="notes", path=url)
        assert "at most 10" in await agent.refused("crawl_website", collection="notes", url=url, rate=50)
        for name, value in (("allowed", ["everyone"]), ("denied", []), ("documents_decide", True)):
            assert await agent.refused("crawl_website", collection="notes", url=url, options={name: value})
        private = {
            "collection": "notes",
            "url": "https://wiki.example.com/",
            "options": {"private_networks": ["10.0.0.0/8"]},
        }
        assert "private_networks" in await agent.refused("crawl_website", **private)

    with serving(knowledge, requires_key=False) as client:
        over_http(client.port, work)
    (site,) = knowledge.collection_settings("notes").settings["sites"]
    assert site == {
        "url": url, "max_pages": 100, "max_depth": 4, "include": ["/a/**"], "refresh": "12h",
        "politeness": {"requests_per_second": 2.0, "concurrency": 2},
    }  # fmt: skip


def test_documents_are_listed_as_asked_and_taken_out_by_whom_they_exist_for(
    stages: Stages, knowledge: KnowledgeBase
) -> None:
    for name, title in (("b", "Alpha"), ("a", "Omega")):
        stages.write(f"{name}.md", f"# {title}\n\nThe harbour of {title}.\n")
    stages.run()
    hidden = key_of(knowledge, "other", "write", ["notes"])

    async def sees_nothing(agent: Agent) -> None:
        for document in ("a.md", 1):
            missing = await agent.refused("remove_document", document="nothing.md")
            assert await agent.refused("remove_document", document=document) == missing
        assert (await agent.ask("list_documents"))["documents"] == []

    async def work(agent: Agent) -> None:
        async def titles(**asked: Any) -> list[str]:
            return [each["title"] for each in (await agent.ask("list_documents", **asked))["documents"]]

        assert await titles(sort="title") == ["Alpha", "Omega", "Power"]
        assert await titles(sort="-title", limit=1, offset=1) == ["Omega"]
        assert sorted(await titles(sort="-created", kinds=["file"], states=["ready"])) == ["Alpha", "Omega", "Power"]
        assert await titles(text="omega") == ["Omega"]
        assert await titles(tags=["none"]) == []
        page = await agent.ask("list_documents", limit=2)
        assert page["next_offset"] == 2
        assert "offset=2" in page["how_to_go_on"]
        assert "next_offset" not in await agent.ask("list_documents", limit=2, offset=2)
        (removed,) = (await agent.ask("remove_document", document="a.md"))["removed"]
        assert removed["uri"] == stages.uri("a.md")
        assert await titles(sort="title") == ["Alpha", "Power"]

    with serving(knowledge, requires_key=True) as client:
        over_http(client.port, sees_nothing, key=hidden)
    with serving(knowledge, requires_key=False) as client:
        over_http(client.port, work)
