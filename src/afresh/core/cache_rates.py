"""What a provider's cache of prompts costs, relative to the price of input, and what a call is paid by it."""

from afresh.core.fast_dataclass import dataclass
from afresh.core.usage import Usage


@dataclass(frozen=True, slots=True)
class CacheRates:
    """Prices of cached tokens, as shares of the price of a token that is read anew."""

    read: float = 0.1
    """A token that the cache already holds."""
    write: float = 1.25
    """A token that is written to the cache."""
    minimum: int = 1_024
    """The shortest prefix that is cached, in tokens."""
    lifetime_seconds: int = 300
    """How long a prefix stays in the cache after its last use."""

    def estimate_usage(self, tokens: int, same: int) -> Usage:
        """What a provider would report for a prompt of so many tokens, of which the first `same` were sent before within the
        cache's lifetime. A prefix under the minimum is not cached; all that follows it is written."""
        cached = same if same >= self.minimum else 0
        return Usage(input=tokens, cached=cached, written=tokens - cached if tokens >= self.minimum else 0)

    def count_paid_tokens(self, usage: Usage) -> int:
        """Tokens of a prompt, weighed by what they cost compared with a token that is read anew."""
        new = usage.input - usage.cached - usage.written
        return round(new + self.read * usage.cached + self.write * usage.written)


DEFAULT_CACHE_RATES = CacheRates()
"""The rates of most providers, for models without a known price."""
NO_CACHE = CacheRates(read=1.0, write=1.0, lifetime_seconds=0)
"""Of models that cache nothing, such as rules and scripts: every prompt is built anew."""
