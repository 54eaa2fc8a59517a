"""Whether the next call keeps the previous prompt and appends the last step to it, or gets a new prompt: whichever costs less."""

from dataclasses import dataclass, replace

from afresh.core.cache_rates import CacheRates

MAX_FORECAST_STEPS = 10  # the costs of so many further steps are compared, if so many are expected
MIN_READ_RATE = 0.15  # what a cached token counts at least: what is sent again takes time and attention, however cheap


@dataclass(frozen=True, slots=True)
class ExtensionCosts:
    """Sizes in tokens, of whole prompts: system text and tools included."""

    base: int
    """What a new prompt is expected to have: as the last one that was built, with what was appended since if there is room."""
    fixed: int
    """System text and tools, which are the same in any prompt."""
    prefix: int
    """What would be kept of the previous prompt."""
    turn: int
    """What would be appended."""
    room: int
    """Left under the bound after appending; negative if it does not fit."""
    steps_left: int = 1
    """Expected calls, this one included."""
    expired: bool = False
    """The cache's lifetime has passed since the previous call."""


@dataclass(frozen=True, slots=True)
class ExtensionDecision:
    extend: bool
    reason: str


def decide_extension(costs: ExtensionCosts, rates: CacheRates) -> ExtensionDecision:
    if costs.room < 0:
        return ExtensionDecision(False, f"{-costs.room:,} tokens over the bound")
    rates = replace(rates, read=max(rates.read, min(rates.write, MIN_READ_RATE)))
    cold = explain_cold_cache(costs, rates)
    if cold and costs.prefix > costs.base:
        return ExtensionDecision(False, f"{cold}, and a new prompt is shorter by {costs.prefix - costs.base:,} tokens")
    steps = max(1, min(costs.steps_left, MAX_FORECAST_STEPS))
    extended, rebuilt = estimate_extended_cost(costs, rates, steps), estimate_rebuilt_cost(costs, rates, steps)
    words = f"costs like {extended:,.0f} new tokens in {steps} steps, {rebuilt:,.0f} with a new prompt"
    return ExtensionDecision(extended <= rebuilt, words)


def explain_cold_cache(costs: ExtensionCosts, rates: CacheRates) -> str:
    """Why none of the prefix is in the cache; empty if it is."""
    if rates.read >= rates.write:
        return "the model has no cheaper cache"
    if costs.expired:
        return "the cache has expired"
    return f"under {rates.minimum:,} tokens nothing is cached" if costs.prefix < rates.minimum else ""


def estimate_extended_cost(costs: ExtensionCosts, rates: CacheRates, steps: int) -> float:
    """In tokens at the full price: this call, and keeping what it has in the calls after it."""
    cached = 0 if explain_cold_cache(costs, rates) else costs.prefix
    return _estimate_cost(costs.prefix + costs.turn, cached, rates, steps)


def estimate_rebuilt_cost(costs: ExtensionCosts, rates: CacheRates, steps: int) -> float:
    """The same for a new prompt, of which only the fixed part can be in the cache."""
    return _estimate_cost(costs.base, 0 if costs.expired or costs.fixed < rates.minimum else costs.fixed, rates, steps)


def _estimate_cost(tokens: int, cached: int, rates: CacheRates, steps: int) -> float:
    saved = max(0.0, rates.write - rates.read)
    return rates.write * tokens - saved * cached + (rates.write - saved) * (steps - 1) * tokens
