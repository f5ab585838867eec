"""Cost of a language model's tokens: by the prices that the settings have, else by the list of genai-prices."""

from datetime import UTC, date, datetime, time

from sourcebook.config.answering import ModelPrices

_MILLION = 1_000_000


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
