"""What models cost, from the price list that the optional package genai-prices carries: no network."""

from afresh.domain.price import Price

SAMPLE = 1000
"""Tokens that are priced to learn the price: few enough for the lowest tier of models that charge long calls more."""


def listed() -> bool:
    """Is there a price list on this machine?"""
    from importlib.util import find_spec

    return find_spec("genai_prices") is not None


def price_of(model: str) -> Price | None:
    """Of a model as recordings name it, also with a provider or a router before a slash. None if the list does not have it."""
    if not model or not listed():
        return None
    return next((price for name in dict.fromkeys((model, model.rsplit("/", 1)[-1])) if (price := _look_up(name))), None)


def _look_up(name: str) -> Price | None:
    from genai_prices import Usage, calc_price

    try:
        new = calc_price(Usage(input_tokens=SAMPLE), name)
        # the list counts what comes from the cache as part of the input
        again = calc_price(Usage(input_tokens=SAMPLE, cache_read_tokens=SAMPLE), name)
    except LookupError:
        return None
    scale = 1_000_000 / SAMPLE
    return Price(float(new.total_price) * scale, float(again.total_price) * scale, new.model.name or name)
