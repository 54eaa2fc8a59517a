"""What `afresh evolve` can tune of what a prompt shows. Every other number stands as a constant where it is used."""

from dataclasses import replace
from functools import cache
from hashlib import sha256

from afresh.core.codec import to_canonical_json
from afresh.core.fast_dataclass import dataclass
from afresh.core.template import REQUIRED_SECTIONS, CallLayout


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPolicy:
    version: int = 1
    caps: tuple[tuple[str, float], ...] = ()
    """Of these sections the part that they never exceed, instead of the template's."""
    max_growth: float = 3.0
    """An extended prompt may have so many times the tokens that a rebuilt one may have; 0: prompts are never extended."""
    max_turn_tokens: int = 1_000
    """Most tokens of one output in a turn."""
    max_read_tokens: int = 6_000
    """Most tokens of lines that one turn has read: the model asked for them."""
    max_output_characters: int = 12_000
    """Most characters of one output of the last step in a new prompt."""

    @property
    def id(self) -> str:
        """Its version and the beginning of its hash, as calls are recorded with it."""
        return name_context_policy(self)

    def cap_layout(self, layout: CallLayout) -> CallLayout:
        """The template's layout under these caps. What no template may cut or hide has none."""
        caps = {name: part for name, part in self.caps if name not in REQUIRED_SECTIONS}
        shares = [share.limit_to(caps.get(share.section)) for share in layout.shares]
        return replace(layout, shares=tuple(shares)) if caps else layout


@cache
def name_context_policy(policy: ContextPolicy) -> str:
    return f"{policy.version}-{sha256(to_canonical_json(policy).encode()).hexdigest()[:8]}"


DEFAULT_CONTEXT_POLICY = ContextPolicy()
