"""Settings over the API: nothing in them reaches the server's environment, files, logins or private network."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from sourcebook.config import api_collection
from sourcebook.config.answering import AnsweringSettings
from sourcebook.config.api_collection import ApiCollectionSettings, ApiLimits, read_settings
from sourcebook.config.field_types import Settings
from sourcebook.errors import SettingsError


@pytest.fixture
def limits(tmp_path: Path) -> ApiLimits:
    """One allowed folder, beside a folder `private`, and with the state folder in it."""
    for name in ("allowed/notes", "allowed/state/mirror", "private"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "allowed" / "way-out").symlink_to(tmp_path / "private")
    (tmp_path / "allowed" / "way-in").symlink_to(tmp_path / "allowed" / "notes")
    return ApiLimits(
        folders=(tmp_path / "allowed",),
        own=(tmp_path / "allowed" / "state",),
        models=frozenset({"all-MiniLM-L6-v2"}),
    )


def refusal(settings: Any, limits: ApiLimits) -> str:
    with pytest.raises(SettingsError) as caught:
        read_settings(settings, limits)
    return str(caught.value)


def site(**settings: Any) -> dict[str, Any]:
    return {"sites": [{"url": "https://docs.example.com/", **settings}]}


def repository(url: str, **settings: Any) -> dict[str, Any]:
    return {"repositories": [{"url": url, **settings}]}


DANGEROUS: list[tuple[dict[str, Any], str]] = [
    # Files of the server
    ({"files": [{"root": "docs"}]}, "files[0].root: allowed is the absolute path"),
    ({"files": [{"root": "~/docs"}]}, "files[0].root: allowed is the absolute path"),
    ({"files": [{"root": "file:///etc"}]}, "files[0].root: allowed is the absolute path"),
    ({"files": [{"root": "s3://bucket/folder"}]}, "files[0].root: allowed is the absolute path"),
    ({"files": [{"root": "simplecache::file:///etc"}]}, "files[0].root: allowed is the absolute path"),
    ({"files": [{"root": "http://169.254.169.254/"}]}, "files[0].root: allowed is the absolute path"),
    ({"files": [{"root": "/etc"}]}, "files[0].root: the folder is in none that the server allows"),
    ({"files": [{"root": "/"}]}, "files[0].root: the folder is in none that the server allows"),
    ({"files": [{"root": "/proc/self/environ"}]}, "files[0].root: the folder is in none"),
    ({"files": [{"root": "{allowed}/../private"}]}, "files[0].root: the folder is in none"),
    ({"files": [{"root": "{allowed}/way-out"}]}, "files[0].root: the folder is in none"),
    ({"files": [{"root": "{allowed}-beside"}]}, "files[0].root: the folder is in none"),
    ({"files": [{"root": "{allowed}"}]}, "files[0].root: the folder has Sourcebook's own state in it"),
    ({"files": [{"root": "{allowed}/state/mirror"}]}, "files[0].root: the folder has Sourcebook's own state"),
    ({"files": [{"root": "{allowed}/notes", "follow_links": True}]}, "files[0].follow_links: the API does not take"),
    ({"files": [{"root": "{allowed}/notes", "include": ["../**"]}]}, "files[0].include[0]: a pattern is relative"),
    ({"parsing": {"models": "/etc"}}, "parsing.models: the API does not take"),
    ({"evaluation": {"queries": "/etc/passwd", "qrels": "/etc/passwd"}}, "evaluation: the API does not take"),
    ({"embedding": {"model": "/srv/model"}}, "embedding.model: allowed are auto"),
    ({"embedding": {"model": "somebody/else"}}, "embedding.model: allowed are auto"),
    (site(cookies=True), "sites[0]: this setting is gone: write it as request: {cookies: …}"),
    ({"embedding": {"low_memory": "/srv/model"}}, "embedding: this setting is gone: name the smaller model"),
    ({"speech": {"model": "/srv/model.pt"}}, "speech.model: allowed are the names"),
    ({"speech": {"model": "model.pt"}}, "speech.model: allowed are the names"),
    (site(login={"state": "/root/state.json"}), "sites[0].login: the API does not take"),
    # Its environment and its secrets
    (site(request={"headers": {"Accept": "${HOME}"}}), "refers to a variable of the server's environment"),
    (
        site(request={"headers": {"Authorization": "Bearer ${TOKEN}"}}),
        "refers to a variable of the server's environment",
    ),
    (site(request={"user_agent": "${AWS_SECRET_ACCESS_KEY}"}), "refers to a variable of the server's environment"),
    (
        site(request={"headers": {"Authorization": "Bearer abc"}}),
        "sites[0].request.headers[…]: a secret is kept in the environment",
    ),
    (site(request={"headers": {"Host": "intranet"}}), "sites[0].request.headers: allowed over the API are accept"),
    (site(login={"basic": "user:password"}), "sites[0].login.basic: a secret"),
    (site(login={"form": "https://docs.example.com/login", "fields": {"user": "me"}}), "sites[0].login: the API"),
    ({"embedding": {"provider": "openai", "model": "m"}}, "embedding.provider: the API does not take"),
    (
        {
            "embedding": {
                "provider": "openai",
                "model": "m",
                "base_url": "https://evil.example/v1",
                "api_key_env": "KEY",
            }
        },
        "embedding.base_url: the API does not take",
    ),
    # Its network
    (site(url="http://127.0.0.1:8320/"), "sites[0].url: its host is no public name"),
    (site(url="http://[::1]/"), "sites[0].url: its host is no public name"),
    (site(url="http://169.254.169.254/latest/"), "sites[0].url: its host is no public name"),
    (site(url="http://8.8.8.8/"), "sites[0].url: its host is no public name"),
    (site(url="http://0x7f.1/"), "sites[0].url: its host is no public name"),
    (site(url="http://0x7f.0x1/"), "sites[0].url: its host is no public name"),
    (site(url="http://2130706433/"), "sites[0].url: its host is no public name"),
    (site(url="http://localhost:5432/"), "sites[0].url: its host is no public name"),
    (site(url="http://LOCALHOST./"), "sites[0].url: its host is no public name"),
    (site(url="http://app.localhost/"), "sites[0].url: its host is no public name"),
    (site(url="http://intranet/"), "sites[0].url: its host is no public name"),
    (site(url="http://①②⑦.0.0.1/"), "sites[0].url: its host is no public name"),
    (site(url="http://127。0。0。1/"), "sites[0].url: its host is no public name"),
    (site(request={"private_networks": ["10.0.0.0/8"]}), "sites[0].request.private_networks: the API does not take"),
    (site(request={"proxy": "http://10.0.0.1:3128"}), "sites[0].request.proxy: the API does not take"),
    (site(request={"proxy": "none"}), "sites[0].request.proxy: the API does not take"),
    (repository("/srv/git/secret.git"), "repositories[0].url: allowed over the API is a URL of https"),
    (repository("file:///srv/git/secret.git"), "repositories[0].url: allowed over the API is a URL of https"),
    (repository("git@github.com:org/private.git"), "repositories[0].url: allowed over the API is a URL of https"),
    (repository("ssh://github.com/org/private.git"), "repositories[0].url: allowed over the API is a URL of https"),
    (repository("http://github.com/org/handbook.git"), "repositories[0].url: allowed over the API is a URL of https"),
    (repository("https://me@github.com/org/handbook"), "repositories[0].url: allowed over the API is a URL of https"),
    (repository("https://10.0.0.1/org/handbook.git"), "repositories[0].url: allowed over the API are repositories of"),
    (repository("https://github.com:8443/a/b"), "repositories[0].url: allowed over the API are repositories of"),
    (repository("https://github.com/a/b", revision="a" * 40), "repositories[0].revision: allowed over the API is"),
    (repository("ext::sh -c id"), "repositories[0].url: remote helpers"),
    # Others, in the name of the server; and its resources
    (site(browser={"js_code": ["fetch('/')"]}), "sites[0].browser.js_code: the API does not take"),
    (site(politeness={"respect_robots": False}), "sites[0].politeness.respect_robots: the API does not take"),
    (
        site(politeness={"requests_per_second": "unlimited"}),
        "sites[0].politeness.requests_per_second: allowed over the API are at most 10",
    ),
    (
        site(politeness={"requests_per_second": 500}),
        "sites[0].politeness.requests_per_second: allowed over the API are at most 10",
    ),
    ({"parsing": {"memory": "900GB"}}, "parsing.memory: the API does not take"),
    # What is none
    ({"files": "/etc"}, "files: allowed: a list of folders"),
    ({"file": []}, "the settings: there is no such key; allowed: files, sites"),
    ({"chunking": {"tokens": float("nan")}}, "a value is no finite number"),
    ({"retries": {"attempts": 10**30}}, "a number is too large"),
    ({"from": {"collection": "a\0b"}}, "a character that is not text"),
    ({"from": {"collection": "\ud800"}}, "a character that is not text"),
    ({"usage": {"prices": {"\0": 1}}}, "a character that is not text"),
    ({"retries": {"attempts": object()}}, "a value is none that JSON has"),
]


@pytest.mark.parametrize(
    ("settings", "reason"), DANGEROUS, ids=[f"{reason[:40]}-{n}" for n, (_, reason) in enumerate(DANGEROUS)]
)
def test_what_reaches_into_the_server_is_refused(settings: dict[str, Any], reason: str, limits: ApiLimits) -> None:
    def placed(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace("{allowed}", str(limits.folders[0]))
        if isinstance(value, dict):
            return {key: placed(held) for key, held in value.items()}
        return [placed(each) for each in value] if isinstance(value, list) else value

    assert reason in refusal(placed(settings), limits)


def test_what_a_collection_needs_is_taken(limits: ApiLimits) -> None:
    allowed = limits.folders[0]
    taken = read_settings(
        {
            "files": [{"root": f"{allowed}/notes", "tags": ["a"]}, {"root": f"{allowed}/not-yet"}],
            "sites": [
                {
                    "url": "https://docs.example.com:8443/a",
                    "request": {"headers": {"Accept-Language": "de"}},
                    "browser": {"clicks": ["#more"], "scroll": True},
                }
            ],
            "repositories": [{"url": "https://github.com/org/handbook.git", "revision": "main", "path": "docs"}],
            "from": {"collection": "other", "tags": ["policy"]},
            "chunking": {"tokens": 128},
            "embedding": {"model": "all-MiniLM-L6-v2", "device": "cpu"},
            "parsing": {"ocr": False, "timeout": "60s"},
            "speech": {"model": "small.en"},
            "retention": {"removed": "30d"},
        },
        limits,
    )
    assert taken.files[0].location == f"{allowed}/notes"
    assert read_settings({}, limits) == ApiCollectionSettings()
    assert read_settings({"files": [{"root": f"{allowed}/way-in"}]}, limits).files[0].location == f"{allowed}/notes"


def test_no_folder_is_allowed_unless_somebody_allows_it(tmp_path: Path) -> None:
    assert "in none that the server allows" in refusal({"files": [{"root": str(tmp_path)}]}, ApiLimits())


def test_no_sentence_repeats_what_was_written(limits: ApiLimits) -> None:
    mark = "Marmalade"
    for settings in (
        {mark: 1},
        {"files": [{"root": f"/{mark}"}]},
        {"files": [{"root": "/a", mark: 1}]},
        site(request={"headers": {mark: "x"}}),
        site(url=f"http://{mark}/"),
        site(request={"headers": {f"{mark} x": "x"}}),
        {"parsing": {"html": mark}},
        {"usage": {"prices": {mark: -1}}},
        {"usage": {"prices": {mark: mark}}},
        {"embedding": {"model": mark}},
        {"generations": {"gate": {mark: 0}}},
        {"sites": [mark]},
    ):
        assert mark.lower() not in refusal(settings, limits).lower()


def test_values_are_counted_and_nested_within_limits(limits: ApiLimits) -> None:
    deep: Any = "x"
    for _ in range(50):
        deep = [deep]
    assert "nested too deeply" in refusal({"files": deep}, limits)
    assert "more than" in refusal({"usage": {"prices": {str(number): 1 for number in range(20_000)}}}, limits)


def test_every_section_has_been_thought_about() -> None:
    """A setting or a section that comes later is refused until it is named in the list."""

    def sections(model: type[BaseModel]) -> set[type[BaseModel]]:
        found = {model}
        for field in model.model_fields.values():
            waiting = [field.annotation]
            while waiting:
                annotation = waiting.pop()
                waiting += getattr(annotation, "__args__", ())
                if isinstance(annotation, type) and issubclass(annotation, Settings) and annotation not in found:
                    found |= sections(annotation)
        return found

    named = api_collection._ALLOWED
    untaken = {"AnsweringSettings", "EvaluationSettings", "LoginSettings", "ModelPrices"}
    untaken |= {
        "AttachmentSettings",
        "DltSettings",
        "FilePlace",
        "ProgramSettings",
        "RestSettings",
    }
    assert {each.__name__ for each in sections(ApiCollectionSettings) - set(named)} == untaken
    for model, allowed in named.items():
        assert allowed <= set(model.model_fields)


@pytest.mark.parametrize("hidden", [".ssh", "notes/.git", ".config/app"])
def test_who_runs_the_process_reads_any_folder_but_hidden_ones_and_those_of_the_system(
    tmp_path: Path, hidden: str
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / hidden).mkdir(parents=True)
    (tmp_path / "way").symlink_to("/etc")
    (tmp_path / "way-in").symlink_to(tmp_path / hidden)
    owner = ApiLimits(is_owners=True, own=(tmp_path / "state",))
    assert read_settings({"files": [{"root": str(tmp_path / "notes")}]}, owner).files
    for root in (tmp_path / hidden, Path("/etc"), Path("/proc/self"), Path("/"), tmp_path / "way", tmp_path / "way-in"):
        assert "hidden files" in refusal({"files": [{"root": str(root)}]}, owner)
    spelt = {"root": str(tmp_path / "notes"), "include": ["**/.env"]}
    assert "hidden files" in refusal({"files": [spelt]}, owner)
    assert "own state" in refusal({"files": [{"root": str(tmp_path / "state")}]}, owner)
    named = ApiLimits(is_owners=True, folders=(tmp_path / "notes",))
    assert "in none that the server allows" in refusal({"files": [{"root": str(tmp_path)}]}, named)


def test_private_hosts_are_crawled_where_the_owner_allows_them() -> None:
    private = {"sites": [{"url": "http://wiki/", "request": {"private_networks": ["10.0.0.0/8"]}}]}
    assert read_settings(private, ApiLimits(private_hosts=True)).sites
    said = refusal(private, ApiLimits())
    assert "no public name" in said
    assert "private_networks: the API does not take" in said


def test_a_source_that_a_collection_has_stays_as_it_is_and_changes_within_the_limits() -> None:
    private = {"url": "http://wiki/"}
    known = read_settings({"sites": [private]}, ApiLimits(private_hosts=True)).sites
    limits = ApiLimits(known=known)
    assert read_settings({"sites": [private, {"url": "https://docs.example.com/"}]}, limits).sites
    assert "no public name" in refusal({"sites": [{**private, "include": ["/admin/**"]}]}, limits)
    assert "no public name" in refusal({"sites": [{"url": "http://other/"}]}, limits)


def test_a_model_answers_that_the_file_names_with_the_limits_of_the_file() -> None:
    of_the_file = AnsweringSettings(model="gpt-4o-mini", max_cost=0.02)
    limits = ApiLimits(answering={"gpt-4o-mini": of_the_file})
    assert read_settings({"answering": {"model": "gpt-4o-mini"}}, limits).answering == of_the_file
    for written in ({"model": "other"}, {"model": "gpt-4o-mini", "max_cost": 100}):
        assert "answering: allowed is {model: …}" in refusal({"answering": written}, limits)
    assert "answering: allowed is" in refusal({"answering": {"model": "gpt-4o-mini"}}, ApiLimits())
