"""`sourcebook key` and `sourcebook serve`: limits of keys, and origins that are none."""

from pathlib import Path

from tests.integration.cli.command import run


def test_a_key_has_a_limit_where_it_is_given_one(here: Path) -> None:
    made = run("key", "create", "website", "--limit", "60", "--json").json
    assert (made["requests_a_minute"], made["state"]) == (60, "valid")
    assert run("key", "create", "other", "--json").json["requests_a_minute"] is None
    assert [each["requests_a_minute"] for each in run("key", "list", "--json").json["keys"]] == [60, None]
    assert run("key", "create", "third", "--limit", "0").code == 2
    assert run("key", "list", "--limit", "5").code == 2


def test_the_server_starts_with_no_origin_that_is_none(here: Path) -> None:
    refused = run("serve", "--port", "0", "--allow-origin", "https://*.example")
    assert refused.code != 0
    assert "is no origin" in refused.err


def test_a_key_belongs_to_principals_or_asks_on_behalf_of_others(boat: Path) -> None:
    """Both are shown in the list, and a mistake is told."""
    anna = run("key", "create", "anna", "--principal", "USER:anna", "--principal", "group:Gründe", "--json").json
    assert (anna["principals"], anna["on_behalf"]) == (["everyone", "group:Gründe", "user:anna"], None)
    assert run("key", "create", "portal", "--on-behalf", "required", "--json").json["on_behalf"] == "required"
    listed = run("key", "list").out
    assert "everyone, group:Gründe, user:anna" in " ".join(listed.split())
    assert "others (required)" in " ".join(listed.split())
    for wrong, said in (
        (("--principal", "anna"), "write user:NAME"),
        (("--principal", "user:anna", "--scope", "write"), "changes nothing"),
        (("--principal", "user:anna", "--on-behalf", "required"), "choose one"),
    ):
        refused = run("key", "create", "x", *wrong)
        assert refused.code != 0
        assert said in " ".join(refused.err.split())
    assert run("key", "create", "x", "--on-behalf", "always").code == 2
    assert run("key", "list", "--principal", "user:anna").code == 2
