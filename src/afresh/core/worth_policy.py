"""What decides whether code that nobody asked for is shown."""

from math import inf

from afresh.core.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WorthPolicy:
    """When code is shown that nobody asked for. If it is needed and not there, it costs another step and then its price; if it is
    there, it costs its price, needed or not. So it is worth its tokens if chance × (step + price) > price.
    """

    step_tokens: int = 600
    """What a step to look for it costs; 0: whatever there is room for is shown."""
    chances: tuple[tuple[str, float, float, float], ...] = (
        ("target named", 0.8, 0.5, 0.1),
        ("target traceback", 0.8, 0.7, 0.7),
        ("target diff", 0.8, 0.7, 0.7),
        ("target plan", 0.6, 0.6, 0.6),
        ("target file", 0.5, 0.2, 0.05),
        ("target thought", 0.4, 0.4, 0.3),
        ("target option", 0.4, 0.2, 0.05),
        ("target words", 0.6, 0.1, 0.02),
        ("target example", 0.15, 0.05, 0.0),
        ("similar test", 0.5, 0.3, 0.2),
        ("similar", 0.2, 0.1, 0.02),
        ("callers", 0.25, 0.15, 0.15),
        ("tests", 0.1, 0.05, 0.05),
    )
    """How likely the model needs an item of this section, or section and reason: at first, once it has read something,
    and once a change was kept. What is not listed is always shown. Estimates: nine real tasks drew on 1 to 16 % of such sections,
    mostly in the first steps."""
    min_partial_chance: float = 0.5
    """Of what is less likely no part is shown: a guess with holes has to be read again if it was right."""

    def max_price(self, chance: float) -> float:
        """The tokens up to which an item is worth showing that is needed with this chance."""
        return inf if chance >= 1 or not self.step_tokens else self.step_tokens * chance / (1 - chance)
