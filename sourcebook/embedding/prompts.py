"""The words that asymmetric models, such as E5, want before a question and before a passage."""

from collections.abc import Mapping


def query_prompt(prompts: Mapping[str, str | None]) -> str:
    """Choose what a model puts before a question; empty where it says nothing."""
    return prompts.get("query") or ""


def passage_prompt(prompts: Mapping[str, str | None]) -> str:
    """Choose what a model puts before a passage; empty where it says nothing."""
    # sentence-transformers itself takes an empty "document" prompt before a "passage" that says something.
    return next((prompt for key in ("document", "passage", "corpus") if (prompt := prompts.get(key))), "")
