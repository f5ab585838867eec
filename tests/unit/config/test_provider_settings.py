"""What `embedding:` promises where a provider makes the vectors."""

from pathlib import Path

import pytest

from sourcebook.config.collection import EmbeddingSettings
from sourcebook.config.loading import load_configuration
from sourcebook.config.provider import CONNECTION
from sourcebook.errors import ConfigurationError
from sourcebook.model.generation import plain_settings

AZURE = "https://name.openai.azure.com"
URL = "https://embeddings.example.com/v1"


def settings(folder: Path, text: str) -> EmbeddingSettings:
    file = folder / "sourcebook.yaml"
    file.write_text(f"collections:\n  handbook:\n    files: [{{root: ./docs}}]\n    embedding: {{{text}}}\n")
    return load_configuration(file).collections["handbook"].embedding


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(ConfigurationError) as refused:
        settings(folder, text)
    return str(refused.value)


def test_a_provider_and_a_model_are_all_it_takes(tmp_path: Path) -> None:
    """OpenAI's own server and its variable; any other server has no key unless one is named."""
    own = settings(tmp_path, "provider: openai, model: text-embedding-3-small")
    assert (own.url, own.key_variable) == ("https://api.openai.com/v1", "OPENAI_API_KEY")
    other = settings(tmp_path, f"provider: openai, model: m, base_url: {URL}/")
    assert (other.url, other.key_variable) == (URL, None)


def test_azure_has_a_key_of_its_own(tmp_path: Path) -> None:
    found = settings(tmp_path, f"provider: azure, model: m, base_url: {AZURE}/, api_version: 2024-10-21")
    assert (found.url, found.key_variable, found.api_version) == (AZURE, "AZURE_OPENAI_API_KEY", "2024-10-21")
    assert found.connection["api_version"] == "2024-10-21"  # a change of it builds no generation


def test_the_spaces_of_prefixes_count(tmp_path: Path) -> None:
    found = settings(tmp_path, 'provider: openai, model: m, query_prefix: "query: ", passage_prefix: "passage: "')
    assert (found.query_prefix, found.passage_prefix) == ("query: ", "passage: ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("provider: openai", "embedding: found a mapping (a provider needs the name of a model)"),
        (f"base_url: {URL}", "embedding.base_url: found 'https://embeddings.example.com/v1' (it needs the setting"),
        ("model: m, tokens_per_minute: 5", "embedding.tokens_per_minute: found 5 (it needs the setting"),
        ("provider: cohere, model: m", "embedding.provider: found 'cohere'; allowed: openai"),
        ("provider: azure, model: m", "embedding.provider: found 'azure' (azure needs the address of the resource"),
        (f"provider: azure, model: m, base_url: {AZURE}/openai/v1", "azure needs the address of the resource alone"),
        (f"provider: openai, model: m, base_url: {URL}, api_version: v", "it needs provider: azure beside it"),
        (f"provider: azure, model: m, base_url: {AZURE}, api_version: 'a&b'", "embedding.api_version: found 'a&b'"),
        ("provider: openai, model: m, base_url: ftp://x", "embedding.base_url: found 'ftp://x' (it is no http"),
        ("provider: openai, model: m, requests_per_minute: 0", "embedding.requests_per_minute: found 0; allowed"),
        ("provider: openai, model: m, dimensions: 4096", "embedding.dimensions: found 4096; allowed: a whole number"),
    ],
)
def test_settings_that_cannot_work_are_refused_by_name(tmp_path: Path, text: str, said: str) -> None:
    assert said in refusal(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        "api_key_env: sk-proj-0123secret",
        "base_url: https://me:0123secret@embeddings.example.com/v1",
        "api_key_env: a0123secret",
    ],
)
def test_a_key_in_the_file_is_refused_and_not_repeated(tmp_path: Path, text: str) -> None:
    """The file names the variable of the environment; a key written there shows in no message."""
    assert "0123secret" not in refusal(tmp_path, f"provider: openai, model: m, {text}")


def test_how_a_provider_is_reached_makes_no_generation() -> None:
    """Another address, key, limit or batch leaves the vectors as they are; prefixes and dimensions do not."""
    first = {"provider": "openai", "model": "m", "base_url": URL, "requests_per_minute": 5, "parallel": 2}
    second = {"provider": "openai", "model": "m", "base_url": f"{URL}2", "api_key_env": "OTHER", "timeout": "5s"}
    assert plain_settings({}, first) == plain_settings({}, second)
    assert not set(CONNECTION) & plain_settings({}, first)["embedding"].keys()
    for other in ({"query_prefix": "query: "}, {"dimensions": 256}, {"revision": "2"}, {"max_tokens": 512}):
        assert plain_settings({}, first) != plain_settings({}, {**first, **other})
