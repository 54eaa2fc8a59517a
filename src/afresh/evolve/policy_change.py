"""A small, readable change of a context policy: one field, its new value, and the reason."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from afresh.core.context_policy import ContextPolicy
from afresh.core.template import REQUIRED_SECTIONS, SECTION_ORDER
from afresh.errors import BadInput

CAPS_FIELD = "caps"
NUMBER_BOUNDS: dict[str, tuple[float, float]] = {
    "max_turn_tokens": (200, 6_000),
    "max_read_tokens": (500, 12_000),
    "max_output_characters": (500, 40_000),
}
"""Numbers that a proposal may change, and how far. Nothing that is never compacted is among them."""


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """`field` is one of the policy, such as `max_output_characters`, or `caps.outline` for the cap of one section."""

    field: str
    before: Any
    after: Any
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.field}: {format_setting(self.before)} → {format_setting(self.after)}"


def format_setting(value: Any) -> str:
    if value is None:
        return "as the template"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def read_setting(policy: ContextPolicy, field: str) -> Any:
    """The value of a field; the cap of a section is None if it has none."""
    section = _find_capped_section(field)
    return dict(policy.caps).get(section) if section else getattr(policy, field)


def _find_capped_section(field: str) -> str:
    """Empty for a plain field."""
    table, _, section = field.partition(".")
    return section if table == CAPS_FIELD else ""


def apply_changes(policy: ContextPolicy, changes: Iterable[PolicyChange], version: int = 0) -> ContextPolicy:
    """The policy with these changes, each checked, under a new version."""
    context_policy = policy
    for change in changes:
        check_setting(change.field, change.after)
        if section := _find_capped_section(change.field):
            caps = [cap for cap in context_policy.caps if cap[0] != section]
            context_policy = replace(
                context_policy, caps=(*caps, *([] if change.after is None else [(section, float(change.after))]))
            )
        else:
            context_policy = replace(context_policy, **{change.field: int(change.after)})
    return replace(context_policy, version=version or policy.version + 1)


def check_setting(field: str, value: Any) -> None:
    """BadInput for a field that does not exist or may not be tuned, and for a value out of bounds."""
    section = _find_capped_section(field)
    if section in REQUIRED_SECTIONS or (section and section not in SECTION_ORDER):
        raise BadInput(f"the section {section!r} is never cut, or does not exist", safe="the policy is unchanged")
    if not section and field not in NUMBER_BOUNDS:
        raise BadInput(f"{field!r} is not a setting that can be tuned", safe="the policy is unchanged")
    if section and value is None:
        return
    least, most = NUMBER_BOUNDS.get(field, (0.0, 1.0))
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
        raise BadInput(f"{field} must be between {least:g} and {most:g}, not {value!r}", safe="the policy is unchanged")
