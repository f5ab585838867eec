"""The protocol's own conformance suite and inspector, from npm, against the server for agents."""

import json
import re
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.server.mcp.catalogue import TOOLS
from tests.integration.http_server import serving
from tests.integration.stages import Stages
from tests.node_programs import CONFORMANCE, INSPECTOR, NoRegistryError, install, run_program

VERSIONS: Final = ("2025-11-25", "2026-07-28")
NO_SUCH_FEATURE: Final = """\
A server offers the features of the protocol that it has: this one has tools and resources, and lists no others among
its capabilities. The answer to their methods is "Method not found", as the specification wants it."""
NO_FIXTURE: Final = """\
The scenario calls a tool, or reads a resource, of a name that the suite prescribes (`test_simple_text`,
`test://static-text`), to see content that this server never sends: images, sound, questions back to the user."""
OTHER_EXTENSION: Final = "Tasks are an extension that is not offered; a job is asked for and followed with tools."
EXCEPTIONS: Final[dict[str, frozenset[str]]] = {
    NO_SUCH_FEATURE: frozenset(
        {
            "completion-complete",
            "logging-set-level",
            "prompts-list",
            "prompts-get-simple",
            "prompts-get-with-args",
            "prompts-get-embedded-resource",
            "prompts-get-with-image",
            "resources-subscribe",
            "resources-unsubscribe",
            "caching: sep-2549-prompts-list-caching-hints",
            "input-required-result-non-tool-request",
        }
    ),
    NO_FIXTURE: frozenset(
        {
            "tools-call-simple-text",
            "tools-call-image",
            "tools-call-audio",
            "tools-call-embedded-resource",
            "tools-call-mixed-content",
            "tools-call-with-logging",
            "tools-call-with-progress",
            "tools-call-error",
            "tools-call-sampling",
            "tools-call-elicitation",
            "elicitation-sep1034-defaults",
            "elicitation-sep1330-enums",
            "json-schema-2020-12",
            "resources-read-text",
            "resources-read-binary",
            "resources-templates-read",
            "http-custom-header-server-validation",
            "input-required-result-basic-elicitation",
            "input-required-result-basic-sampling",
            "input-required-result-basic-list-roots",
            "input-required-result-capability-check",
            "input-required-result-multi-round",
            "input-required-result-multiple-input-requests",
            "input-required-result-request-state",
            "input-required-result-result-type",
            "input-required-result-tampered-state",
            "server-stateless: sep-2575-server-rejects-undeclared-capability",
            "server-stateless: sep-2575-missing-capability-http-400",
            "server-stateless: sep-2575-http-server-no-independent-requests-on-stream",
            "server-stateless: sep-2575-server-no-log-without-loglevel",
        }
    ),
    OTHER_EXTENSION: frozenset(
        {
            "tasks-capability-negotiation",
            "tasks-dispatch-and-envelope",
            "tasks-lifecycle",
            "tasks-mrtr-composition",
            "tasks-mrtr-input",
            "tasks-request-headers",
            "tasks-request-state-removal",
            "tasks-required-task-error",
            "tasks-wire-fields",
        }
    ),
}
"""Scenarios that fail, or single checks of them, by the reason."""
FEWEST_CHECKS: Final = {"2025-11-25": 36, "2026-07-28": 100}
"""Checks that pass, at least: a suite that ran nothing would have no failures either."""


@pytest.fixture(scope="module", autouse=True)
def programs() -> None:
    """Install the programs; where npm's registry is out of reach, say so and skip."""
    try:
        install()
    except NoRegistryError as error:
        pytest.skip(f"the conformance suite and the inspector cannot be installed: {error}")


@pytest.fixture
def knowledge(stages: Stages) -> KnowledgeBase:
    """A collection with a document."""
    stages.write("power.md", "# Power\n\nThe batteries of the tide gauge last fourteen months.\n")
    stages.configure()
    stages.run()
    return stages.knowledge


def test_the_conformance_suite_passes_in_both_versions(knowledge: KnowledgeBase, tmp_path: Path) -> None:
    failed: dict[str, str] = {}
    with serving(knowledge, requires_key=False) as client:
        for version in VERSIONS:
            passed = 0
            for check in conformance_checks(client.port, version, tmp_path / version):
                passed += check["status"] == "SUCCESS"
                if check["status"] == "FAILURE":
                    failed[f"{check['scenario']}: {check['id']}"] = check.get("errorMessage", "")
            assert passed >= FEWEST_CHECKS[version]
    excepted = frozenset().union(*EXCEPTIONS.values())
    unexpected = {name: why for name, why in failed.items() if not {name, name.partition(": ")[0]} & excepted}
    assert unexpected == {}
    still_failing = {*failed, *(name.partition(": ")[0] for name in failed)}
    assert excepted <= still_failing, "an exception that is none any more goes from the list"


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_lists_and_calls_over_http(knowledge: KnowledgeBase, era: str) -> None:
    with serving(knowledge, requires_key=False) as client:
        server = ("--server-url", f"http://127.0.0.1:{client.port}/mcp", "--transport", "http", "--protocol-era", era)
        listed = inspect(*server, "--method", "tools/list", "--strict")
        assert [tool["name"] for tool in listed["tools"]] == [tool.name for tool in TOOLS]
        found = inspect(*server, *search("How long do the batteries last?"))
        assert found["structuredContent"]["results"][0]["citation"]["title"] == "Power"


def test_the_inspector_lists_and_calls_over_stdio(
    stages: Stages, knowledge: KnowledgeBase, exported_model: Path, tmp_path: Path
) -> None:
    servers = tmp_path / "servers.json"
    command = {
        "command": str(Path(sys.executable).with_name("sourcebook")),
        "args": ["mcp"],
        "env": {"SOURCEBOOK_DATABASE_URL": stages.database.url, "SOURCEBOOK_HOME": str(exported_model)},
    }
    servers.write_text(json.dumps({"mcpServers": {"sourcebook": command}}))
    server = ("--config", str(servers), "--server", "sourcebook")
    listed = inspect(*server, "--method", "tools/list", "--strict")
    assert [tool["name"] for tool in listed["tools"]] == [tool.name for tool in TOOLS]
    found = inspect(*server, *search("How long do the batteries last?"))
    assert found["structuredContent"]["results"][0]["citation"]["title"] == "Power"


def conformance_checks(port: int, version: str, folder: Path) -> list[dict[str, Any]]:
    """Run all scenarios that a version of the protocol requires; return their checks, with the scenario of each."""
    ran = run_program(
        CONFORMANCE,
        *("server", "--url", f"http://127.0.0.1:{port}/mcp", "--requirements", version, "-o", str(folder)),
    )
    checks: list[dict[str, Any]] = []
    for file in sorted(folder.glob("*/checks.json")):
        scenario = re.fullmatch(r"server-(.+?)-\d{4}-\d\d-\d\dT.+", file.parent.name)
        assert scenario is not None, file.parent.name
        checks += [{**check, "scenario": scenario[1]} for check in json.loads(file.read_text(encoding="utf-8"))]
    assert checks, ran.stdout + ran.stderr
    return checks


def search(query: str) -> tuple[str, ...]:
    """Return the inspector's arguments of a search."""
    return (
        "--method",
        "tools/call",
        "--tool-name",
        "search_documents",
        "--tool-args-json",
        json.dumps({"query": query}),
    )


def inspect(*arguments: str) -> Any:
    """Return what the inspector prints."""
    ran = run_program(
        INSPECTOR, "--cli", "--quiet", *arguments, environment={"MCP_INSPECTOR_SECRET_STORE": "memory", "CI": "1"}
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return json.loads(ran.stdout)
