"""What the user set for models."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from afresh.adapters.models.replies import Count, estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the user set. Never filled from a repository: a base URL there could lead keys and code away."""

    window: int = 0
    """0: what is known of the model."""
    base_urls: Mapping[str, str] = field(default_factory=dict[str, str])
    """By provider: anthropic, openai."""
    timeout: float = 0.0
    """Seconds for one call; 0: ten minutes for a provider, for ever for a mailbox."""
    count: Count = estimate
