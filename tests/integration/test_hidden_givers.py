"""A collection that gives documents to another one, and does not exist for a key that sees the other one alone."""

import json

import pytest

from sourcebook.admin.access_keys import create_key
from tests.integration.http_server import Client, serving
from tests.integration.page_forms import Browser
from tests.integration.stages import Stages

GIVER = "secret-giver"
CONFIGURATION = f"""\
collections:
  {GIVER}: {{files: [{{root: ./docs, tags: [shared]}}]}}
  all: {{from: [{{collection: {GIVER}, tags: [shared]}}]}}
"""


@pytest.fixture
def base(stages: Stages) -> Stages:
    stages.write("power.md", "# Power\n\nThe batteries of the tide gauge last fourteen months.")
    stages.configure(CONFIGURATION)
    stages.run_all(GIVER, "all")
    return stages


def test_no_answer_about_a_document_names_the_collection_that_gives_it(base: Stages) -> None:
    """Whoever sees the giver is told it, and an entity tag stays one of what the key was shown."""
    (taken,) = base.knowledge.documents("all")
    path = f"/v1/documents/{taken.document_id}"
    with base.connection() as connection:
        keys = {
            name: create_key(connection, name, ("write",), seen, actor="test")[1]
            for name, seen in {"other": ["all"], "both": None}.items()
        }
    with serving(base.knowledge, requires_key=True) as anyone:
        both, other = Client(anyone.port, keys["both"]), Client(anyone.port, keys["other"])
        assert both.get(path).json["document"]["taken_from"] == GIVER
        listed = {each["collection"]: each["taken_from"] for each in both.get("/v1/documents").json["documents"]}
        assert listed == {GIVER: None, "all": GIVER}

        assert GIVER in str(both.get("/v1/collections/all/settings").json)

        shown = other.get(path)
        changed = other.patch(path, {"tags": ["read"]}, If_Match=shown.headers["etag"])
        assert (shown.status, changed.status) == (200, 200)
        answers = [shown, changed, other.get("/v1/documents"), other.request("DELETE", path)]
        answers += [other.get(f"{path}/export"), other.get("/v1/sources"), other.get("/v1/status")]
        answers.append(other.get("/v1/collections/all/settings"))
        browser = Browser(Client(anyone.port), keys["other"])
        answers += [browser.get(f"/documents/{taken.document_id}"), browser.get("/documents")]
        answers += [browser.get("/collections"), browser.get("/collections/all")]
        for answer in answers:
            assert GIVER.encode() not in answer.content, answer.content
        assert json.loads(shown.content)["document"]["taken_from"] is None
