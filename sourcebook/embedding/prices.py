"""Prices of models: what a collection sets, else the list of the package genai-prices; unknown where neither knows."""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from functools import lru_cache

from sourcebook.config.answering import ModelPrices
from sourcebook.model.usage import LOCAL, UNKNOWN_PROVIDER


def chat_cost(
    provider: str,
    model: str,
    prompt_tokens: int | None,
    answer_tokens: int | None,
    prices: ModelPrices | None = None,
    day: date | None = None,
) -> float | None:
    """Return what tokens cost, in US dollars; None where a number of them or the price is unknown.

    Args:
        provider: name (`openai`) or host of the service.
        model: its model.
        prompt_tokens: tokens that it read.
        answer_tokens: tokens that it wrote.
        prices: set prices; the list's where None.
        day: day of the use, which the price of the list goes by; today where None.
    """
    if prompt_tokens is None or answer_tokens is None:
        return None
    if prices is not None:
        return (prompt_tokens * prices.input + answer_tokens * prices.output) / _MILLION
    return _listed_cost(provider, model, prompt_tokens, answer_tokens, day or datetime.now(UTC).date())


def _listed_cost(provider: str, model: str, prompt_tokens: int, answer_tokens: int, day: date) -> float | None:
    """Return the cost by the package's list; importing it takes a quarter of a second."""
    try:
        from genai_prices import Usage, calc_price
    except ImportError:
        return None
    used = Usage(input_tokens=prompt_tokens, output_tokens=answer_tokens)
    noon = datetime.combine(day, time(12), UTC)
    try:
        if "." in provider or ":" in provider:
            found = calc_price(used, model, provider_api_url=f"https://{provider}", genai_request_timestamp=noon)
        else:
            found = calc_price(used, model, provider_id=provider, genai_request_timestamp=noon)
    except (LookupError, ValueError):
        return None
    price = found.model_price
    return float(found.total_price) if price.input_mtok is not None and price.output_mtok is not None else None


_MILLION = 1_000_000


def cost(
    provider: str, model: str, tokens: int | None, prices: Mapping[str, float], day: date | None = None
) -> float | None:
    """Return what tokens cost, in US dollars; None where their number or the price is unknown.

    Args:
        provider: who computed.
        model: its model.
        tokens: tokens that it read.
        prices: set prices in US dollars per million tokens, by model or by `provider/model`.
        day: day of the use, which the price of the list goes by; today where None.
    """
    if tokens == 0:
        return 0.0  # a cache answered
    price = price_of(provider, model, prices, day or datetime.now(UTC).date())
    if price == 0:
        return 0.0
    return None if price is None or tokens is None else tokens * price / _MILLION


def price_of(provider: str, model: str, prices: Mapping[str, float], day: date) -> float | None:
    """Return the price of a model in US dollars per million tokens; None where it is unknown, 0 for local models."""
    for name in (f"{provider}/{model}", model):
        if name in prices:
            return prices[name]
    if provider == LOCAL:
        return 0.0
    return None if provider == UNKNOWN_PROVIDER else _listed_price(provider, model, day)


def has_list() -> bool:
    """Whether the list of prices is installed."""
    from importlib.util import find_spec

    return find_spec("genai_prices") is not None


@lru_cache(maxsize=1_024)
def _listed_price(provider: str, model: str, day: date) -> float | None:
    """Return the price of the package's list; importing it takes a quarter of a second."""
    try:
        from genai_prices import Usage, calc_price
    except ImportError:
        return None
    asked = Usage(input_tokens=1_000)
    noon = datetime.combine(day, time(12), UTC)
    try:
        if "." in provider or ":" in provider:
            found = calc_price(asked, model, provider_api_url=f"https://{provider}", genai_request_timestamp=noon)
        else:
            found = calc_price(asked, model, provider_id=provider, genai_request_timestamp=noon)
    except (LookupError, ValueError):
        return None
    has_price = found.model_price.input_mtok is not None  # a list may know a model without what its input costs
    return float(found.total_price * 1_000) if has_price else None
