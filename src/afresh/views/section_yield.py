"""How much of each section the replies used, added up."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from afresh.context.cache_prefix import SECTIONS_SENT_FIRST
from afresh.context.measure_yield import CallYield, SectionYield, add_by_section


def sum_sent_sections(calls: Sequence[CallYield]) -> list[SectionYield]:
    """Add up the sections of all calls, the largest first."""
    return sorted(
        add_by_section(section for call in calls for section in call.sections), key=lambda section_yield: -section_yield.tokens
    )


def sum_new_sections(calls: Sequence[CallYield]) -> list[SectionYield]:
    return sorted(
        add_by_section(section_yield for call in calls for section_yield in call.new),
        key=lambda section_yield: -section_yield.tokens,
    )


def is_sent_first(name: str) -> bool:
    """Return whether a section is part of every prompt and asked for no reply: the tools and the system text."""
    return name in SECTIONS_SENT_FIRST


def sum_without_system(sections: Iterable[SectionYield]) -> SectionYield:
    return sum((section for section in sections if not is_sent_first(section.name)), SectionYield(""))


def share_drawn_on(section_yield: SectionYield) -> float | None:
    """Return how much of a section was drawn on; None of one that no reply asked for, where a word of it says nothing."""
    return None if is_sent_first(section_yield.name) else section_yield.share


def order_by_waste(sections: Iterable[SectionYield]) -> list[SectionYield]:
    """Return the sections with the most tokens that were not drawn on first, and last those of which that is not known."""
    return sorted(
        sections, key=lambda section_yield: (is_sent_first(section_yield.name), section_yield.drawn - section_yield.tokens)
    )


def scale_to_usage(calls: Iterable[CallYield], counted: Mapping[int, int]) -> list[CallYield]:
    """Split what the call of each step was counted as by the estimated tokens of its sections, as the spending report does."""
    scaled = list[CallYield]()
    for call in calls:
        whole = sum(section.tokens for section in call.sections)
        factor = (counted.get(call.step) or whole) / whole if whole else 1.0
        sections = [SectionYield(section.name, section.tokens * factor, section.drawn * factor) for section in call.sections]
        scaled.append(replace(call, sections=tuple(sections)))
    return scaled
