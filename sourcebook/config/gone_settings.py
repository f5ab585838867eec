"""Settings that checkouts before the first release had, and that are no more."""

from collections.abc import Mapping
from typing import Any, Final

_MOVED: Final = {
    "politeness": ("requests_per_second", "concurrency", "respect_robots", "max_crawl_delay"),
    "request": ("headers", "cookies", "user_agent", "proxy", "private_networks", "timeout", "max_bytes"),
}
"""Settings of a site by the mapping that has them now."""

GONE: Final = {
    "embedding.fallback_urls": "put a load balancer before the servers, and its address into embedding.base_url",
    "embedding.collection_requests_per_minute": "embedding.requests_per_minute holds for all collections together",
    "embedding.collection_tokens_per_minute": "embedding.tokens_per_minute holds for all collections together",
    "embedding.low_memory": "name the smaller model in embedding.model",
    "evaluation.severity": "a missed floor is always an error; without evaluation.floors none is missed",
    "generations.parts_from": "parts are made from a million passages on",
    "speech.device": "a GPU is taken where there is one; CUDA_VISIBLE_DEVICES= in the environment hides it",
    **{f"sites.{name}": f"write it as {group}: {{{name}: …}}" for group, names in _MOVED.items() for name in names},
}
"""Advice in place of each setting, by the name of its mapping and its own."""


def without_gone(settings: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Return stored settings of a collection without those that are no more.

    Args:
        settings: those of a collection, or of a mapping within them.
        above: name of that mapping, such as `embedding`.
    """
    kept: dict[str, Any] = {
        name: without_gone(value, name) if isinstance(value, dict) else value
        for name, value in settings.items()
        if f"{above}.{name}" not in GONE
    }
    if not above and "sites" in kept:
        kept["sites"] = [regrouped(site) for site in kept["sites"]]
    return kept


def regrouped(site: Mapping[str, Any]) -> dict[str, Any]:
    """Return stored settings of a site with each that has moved in its mapping."""
    moved = {group: {name: site[name] for name in names if name in site} for group, names in _MOVED.items()}
    kept = {name: value for name, value in site.items() if f"sites.{name}" not in GONE}
    return kept | {group: {**kept.get(group, {}), **found} for group, found in moved.items() if found}
