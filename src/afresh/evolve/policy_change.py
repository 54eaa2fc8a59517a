"""A small, readable change of a context policy: one field, its new value, and the reason."""

from collections.abc import Iterable
from dataclasses import dataclass, is_dataclass, replace
from typing import Any

from afresh.core.context_policy import ContextPolicy
from afresh.core.template import REQUIRED_SECTIONS, SECTION_ORDER
from afresh.errors import BadInput

CAPS_FIELD = "allocation.caps"
CHANCES_FIELD = "allocation.worth.chances"
CHANCES_IN_A_ROW = 3
NUMBER_BOUNDS: dict[str, tuple[float, float]] = {
    "allocation.extension.max_turn_tokens": (200, 6_000),
    "allocation.extension.max_read_tokens": (500, 12_000),
    "reports.max_output_characters": (500, 40_000),
}
"""Numbers that a proposal may change, and how far. Nothing that is never compacted is among them."""


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """`field` is a path in the policy, such as `reports.max_output_characters`, or `allocation.caps.outline` for one row of a
    field that has a row for each name."""

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
    return ", ".join(map(format_setting, value)) if isinstance(value, (list, tuple)) else str(value)


def read_setting(policy: ContextPolicy, field: str) -> Any:
    """The value of a field; of a row by name None if there is none."""
    table, name = split_row_name(field)
    rows = _get_path(policy, table or field)
    if not table:
        return rows
    return next((row[1] if len(row) == 2 else tuple(row[1:]) for row in rows if row[0] == name), None)


def split_row_name(field: str) -> tuple[str, str]:
    """The field with rows and the row's name; empty for a plain field."""
    table = next((one for one in (CAPS_FIELD, CHANCES_FIELD) if field.startswith(f"{one}.")), "")
    return table, field.removeprefix(f"{table}.") if table else ""


def apply_changes(policy: ContextPolicy, changes: Iterable[PolicyChange], version: int = 0) -> ContextPolicy:
    """The policy with these changes, each checked, under a new version."""
    made = policy
    for change in changes:
        check_setting(change.field, change.after)
        table, name = split_row_name(change.field)
        if table:
            values = change.after if isinstance(change.after, (list, tuple)) else [change.after]
            rows = [row for row in _get_path(made, table) if row[0] != name]
            rows += [] if change.after is None else [(name, *map(float, values))]
            made = _replace_path(made, table, tuple(rows))
        else:
            made = _replace_path(made, change.field, int(change.after))
    return replace(made, version=version or policy.version + 1)


def check_setting(field: str, value: Any) -> None:
    """BadInput for a field that does not exist or may not be tuned, and for a value out of bounds."""
    table, name = split_row_name(field)
    if table == CAPS_FIELD and (name in REQUIRED_SECTIONS or name not in SECTION_ORDER):
        raise BadInput(f"the section {name!r} is never cut, or does not exist", safe="the policy is unchanged")
    if not table and field not in NUMBER_BOUNDS:
        raise BadInput(f"{field!r} is not a setting that can be tuned", safe="the policy is unchanged")
    if table and value is None:
        return
    values = value if table == CHANCES_FIELD else [value]
    if table == CHANCES_FIELD and not (isinstance(value, (list, tuple)) and len(value) == CHANCES_IN_A_ROW):
        raise BadInput(f"{field} must be three chances, not {value!r}", safe="the policy is unchanged")
    least, most = NUMBER_BOUNDS.get(field, (0.0, 1.0))
    for number in values:
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not least <= number <= most:
            raise BadInput(f"{field} must be between {least:g} and {most:g}, not {value!r}", safe="the policy is unchanged")


def _get_path(policy: Any, field: str) -> Any:
    for name in field.split("."):
        policy = getattr(policy, name)
    return policy


def _replace_path(value: Any, field: str, new: Any) -> Any:
    name, _, rest = field.partition(".")
    held = getattr(value, name)
    return replace(value, **{name: _replace_path(held, rest, new) if rest and is_dataclass(held) else new})
