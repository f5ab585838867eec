"""The settings of answering, and the sentences for those that are not allowed."""

from pathlib import Path

import pytest

from sourcebook.config.loading import load_configuration
from sourcebook.errors import ConfigurationError


def loaded(folder: Path, settings: str) -> object:
    path = folder / "sourcebook.yaml"
    path.write_text(f"collections:\n  handbook:\n    files: [{{root: docs}}]\n    answering: {settings}\n")
    return load_configuration(path).collections["handbook"].answering


def test_a_model_of_openai_needs_its_name_alone(tmp_path: Path) -> None:
    settings = loaded(tmp_path, "{model: gpt-4o-mini}")
    assert (settings.url, settings.key_variable) == ("https://api.openai.com/v1", "OPENAI_API_KEY")  # type: ignore[attr-defined]
    own = loaded(tmp_path, "{model: m, base_url: 'http://127.0.0.1:8080/v1/'}")
    assert (own.url, own.key_variable) == ("http://127.0.0.1:8080/v1", None)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("{}", "answering: the key model is missing"),
        ("{model: m, base_url: 'http://user:secret@host/v1'}", "does not belong in it"),
        ("{model: m, api_key_env: sk-secret}", "no variable's name"),
        ("{model: m, max_cost: 0}", "US dollars above 0"),
        ("{model: m, prices: {input: -1, output: 1}}", "per million tokens"),
        ("{model: m, answer_tokens: 900, max_tokens: 800}", "more than max_tokens"),
        ("{model: m, api_key: sk-secret}", "there is no such key"),
    ],
)
def test_what_is_not_allowed(tmp_path: Path, settings: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        loaded(tmp_path, settings)
    assert said in str(refused.value)
    assert "sk-secret" not in str(refused.value)
