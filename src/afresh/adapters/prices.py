"""What models cost: as the user says, or from the price list that the optional package genai-prices carries: no network."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from afresh.domain.price import FREE, Price, Rate

SAMPLE = 1000
"""Tokens that are priced to learn the price: few enough for the lowest tier of models that charge long calls more."""
EXACT = 6
"""Decimals of a dollar that are kept of a price: less is noise of the division."""
TIERS = (128_000, 200_000, 272_000)
"""Sizes of a call above which some providers charge more for all of it."""


@dataclass(frozen=True, slots=True)
class PriceTable:
    """By the full name of a model, `provider:name`. The user's own word counts before the list."""

    own: Mapping[str, Rate] = field(default_factory=dict[str, Rate])
    found: dict[tuple[str, int], Price | None] = field(default_factory=dict[tuple[str, int], Price | None])
    """Looking up takes as long as a step."""

    def of(self, model: str, size: int = SAMPLE) -> Price | None:
        """None: nobody knows. `size`: tokens of the call, since long ones may cost more."""
        if model in self.own:
            return self.own[model].price
        tier = max((limit + 1 for limit in TIERS if size > limit), default=SAMPLE)
        if (model, tier) not in self.found:
            self.found[model, tier] = price_of(model, tier)
        return self.found[model, tier]


class AtNoCost:
    """Of models that nobody pays for."""

    def of(self, model: str, size: int = SAMPLE) -> Price:
        return FREE


def listed() -> bool:
    """Is there a price list on this machine?"""
    from importlib.util import find_spec

    return find_spec("genai_prices") is not None


def price_of(model: str, size: int = SAMPLE) -> Price | None:
    """Of a model as recordings name it, also with a provider before a colon or a router before a slash. None if the list does
    not have it."""
    if not model or not listed():
        return None
    bare = model.partition(":")[2] or model
    names = dict.fromkeys((model, bare, bare.rsplit("/", 1)[-1]))
    return next((price for name in names if (price := _look_up(name, size))), None)


def _look_up(name: str, size: int) -> Price | None:
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
    per_million = [round(price * 1_000_000 / size, EXACT) for price in (new, again, reply, kept)]
    return Price(per_million[0], per_million[1], source, per_million[2], per_million[3])
