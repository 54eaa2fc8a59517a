"""What models cost: as the user says, or from the price list of the package genai-prices: no network."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from afresh.core.cache_rates import DEFAULT_CACHE_RATES, NO_CACHE, CacheRates
from afresh.core.usage import Usage

NANO_PER_MICRO_DOLLAR = 1_000
"""A dollar for a million tokens is this many nano-dollars for one."""


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens: read for the first time, read again from the provider's cache, written there, and replied."""

    input: float
    cached: float
    source: str = ""
    output: float = 0.0
    written: float = 0.0
    """0: writing to the cache costs no more than reading."""

    def worst(self, tokens: int, reserve: int) -> int:
        """Nano-dollars for a call of which nothing is cached and whose reply takes all it may."""
        return to_nano_dollars(tokens * max(self.input, self.written) + reserve * self.output)

    def read(self, usage: Usage) -> int:
        """Nano-dollars for what was sent."""
        new = usage.input - usage.cached - usage.written
        return to_nano_dollars(new * self.input + usage.cached * self.cached + usage.written * (self.written or self.input))

    def said(self, usage: Usage) -> int:
        """Nano-dollars for the reply."""
        return to_nano_dollars(usage.output * self.output)


@dataclass(frozen=True, slots=True)
class UserPrice:
    """The user's price of a model, in dollars for a million tokens. Cached tokens cost like the rest by default."""

    input: float = 0.0
    output: float = 0.0
    cached: float | None = None
    written: float = 0.0

    @property
    def price(self) -> Price:
        cached = self.input if self.cached is None else self.cached
        return Price(self.input, cached, "your config", self.output, self.written)


FREE_PRICE = Price(0.0, 0.0, "nobody pays for it")


def to_nano_dollars(millionths: float) -> int:
    """Nano-dollars for tokens times dollars per million."""
    return round(millionths * NANO_PER_MICRO_DOLLAR)


SAMPLE_TOKENS = 1000
"""Tokens that are priced to learn the price: few enough for the lowest tier of models that charge long calls more."""
PRICE_DECIMALS = 6
"""Decimals of a dollar that are kept of a price: less is noise of the division."""
TIER_LIMITS_TOKENS = (128_000, 200_000, 272_000)
"""Sizes of a call above which some providers charge more for all of it."""


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices by the full name of a model, `provider:name`. The user's own override the list."""

    own: Mapping[str, UserPrice] = field(default_factory=dict[str, UserPrice])
    found: dict[tuple[str, int], Price | None] = field(default_factory=dict[tuple[str, int], Price | None])
    """A lookup takes as long as a step."""

    def of(self, model: str, size: int = SAMPLE_TOKENS) -> Price | None:
        """None if the price is unknown. `size`: tokens of the call, since long calls may cost more."""
        if model in self.own:
            return self.own[model].price
        tier = max((limit + 1 for limit in TIER_LIMITS_TOKENS if size > limit), default=SAMPLE_TOKENS)
        if (model, tier) not in self.found:
            self.found[model, tier] = find_price(model, tier)
        return self.found[model, tier]


LONG_CACHE_MINIMUMS = {
    "claude-opus-4-5": 4_096,
    "claude-opus-4-6": 4_096,
    "claude-haiku-4-5": 4_096,
    "claude-sonnet-4-6": 2_048,
    "claude-3-5-haiku": 2_048,
    "claude-3-haiku": 2_048,
}
"""Models that cache only longer prefixes than others, by the beginning of their name; from Anthropic's page on prompt caching."""


UNCACHED_MODELS = ("offline", "scripted")


def derive_cache_rates(model: str, price: Price | None) -> CacheRates:
    """Return what cached tokens of a model cost, relative to its price of input; the usual rates where that is unknown or 0."""
    if model.partition(":")[0] in UNCACHED_MODELS:
        return NO_CACHE
    bare = model.partition(":")[2].rsplit("/", 1)[-1].replace(".", "-")
    minimum = next((size for name, size in LONG_CACHE_MINIMUMS.items() if bare.startswith(name)), DEFAULT_CACHE_RATES.minimum)
    rates = replace(DEFAULT_CACHE_RATES, minimum=minimum)
    if not price or not price.input:
        return rates
    written = price.written or price.input
    return replace(rates, read=round(price.cached / price.input, 4), write=round(written / price.input, 4))


class FreePrices:
    """Prices of free models."""

    def of(self, model: str, size: int = SAMPLE_TOKENS) -> Price:
        return FREE_PRICE


def has_price_list() -> bool:
    """Return whether the price list can be imported."""
    from importlib import import_module

    try:
        import_module("genai_prices")
    except Exception:  # a broken package is no list
        return False
    return True


def find_price(model: str, size: int = SAMPLE_TOKENS) -> Price | None:
    """Of a model as recordings name it, also with a provider before a colon or a router before a slash. None if the list does
    not have it."""
    if not model or not has_price_list():
        return None
    bare = model.partition(":")[2] or model
    names = dict.fromkeys((model, bare, bare.rsplit("/", 1)[-1]))
    return next((price for name in names if (price := _look_up_price(name, size))), None)


def _look_up_price(name: str, size: int) -> Price | None:
    from genai_prices import Usage, calc_price

    def dollars(**more: int) -> float:
        return float(calc_price(Usage(input_tokens=size, **more), name).total_price)

    try:
        # the list counts what comes from the cache and what goes there as part of the input
        new, again, kept = dollars(), dollars(cache_read_tokens=size), dollars(cache_write_tokens=size)
        reply = dollars(output_tokens=size) - new
        source = calc_price(Usage(input_tokens=size), name).model.name or name
    except LookupError:
        return None
    per_million = [round(price * 1_000_000 / size, PRICE_DECIMALS) for price in (new, again, reply, kept)]
    return Price(per_million[0], per_million[1], source, per_million[2], per_million[3])
