"""A small, readable change of a context policy: one field, its new value, and the reason."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from afresh.context.compaction.compact_prompt import COMPACTION_STRATEGIES
from afresh.core.codec import to_plain_value
from afresh.core.context_policy import ContextPolicy
from afresh.core.step_history import PassageVoice
from afresh.core.template import REQUIRED_SECTIONS, SECTION_ORDER
from afresh.errors import BadInput
from afresh.memory.history.score import OddsWeights

CAPS_FIELD = "allocation.caps"
CHANCES_FIELD = "allocation.worth.chances"
WEIGHTS_FIELD = "history.ranking.weights"
KINDS_FIELD = "history.ranking.kinds"
COMPACTION_FIELD = "compaction.first"
BY_NAME_FIELDS = (CAPS_FIELD, CHANCES_FIELD, WEIGHTS_FIELD, KINDS_FIELD)
"""Fields with a row for each name: a change sets one row, written as FIELD.NAME."""
WEIGHT_NAMES = {f"{kind}_{one.name}" for kind in ("name", "line") for one in fields(OddsWeights)} | {"line", "density"}
MAX_WEIGHT_CHANGE = 2.0
"""Log-odds. More would turn the order upside down."""
MIN_KIND_ODDS = -3.0
"""Log-odds of lines that actions never take. Nothing makes a kind likelier."""
ROW_BOUNDS = {
    CAPS_FIELD: (0.0, 1.0),
    WEIGHTS_FIELD: (-MAX_WEIGHT_CHANGE, MAX_WEIGHT_CHANGE),
    KINDS_FIELD: (MIN_KIND_ODDS, 0.0),
}
KIND_PATTERN = re.compile(rf"(?:{'|'.join(PassageVoice)})(?: \S{{1,80}})?")
NUMBER_BOUNDS: dict[str, tuple[float, float]] = {
    "history.ranking.min_worth": (0.0, 0.001),
    "history.max_name_index_share": (0.0, 0.3),
    "history.max_filled_gap_characters": (0, 200),
    "history.live.max_tokens": (100, 4_000),
    "history.live.max_output_characters": (0, 20_000),
    "history.live.max_filled_gap_characters": (0, 400),
    "allocation.worth.step_tokens": (50, 5_000),
    "allocation.extension.max_turn_tokens": (200, 6_000),
    "allocation.extension.max_read_tokens": (500, 12_000),
    "allocation.extension.max_growth": (1.0, 6.0),
    "truncation.docstring_weight": (0.0, 2.0),
    "files.max_idle_steps": (1, 60),
    "files.max_short_file_lines": (20, 600),
    "memory.max_observed_facts": (1, 40),
    "memory.max_stale_steps": (1, 1_000_000),
    "memory.max_archive_lines": (0, 80),
    "memory.max_step_line_characters": (40, 600),
    "recall.max_own_facts": (0, 20),
    "recall.max_foreign_facts": (0, 20),
    "lessons.max_lessons": (0, 6),
    "lessons.ceiling_share": (0.0, 0.2),
    "compaction.min_earlier_steps": (2, 20),
    "compaction.min_notes": (1, 20),
    "compaction.recent_excerpt_steps": (1, 20),
    "reports.max_output_characters": (500, 40_000),
    "reports.max_commits": (0, 20),
}
"""Numbers that a proposal may change, and how far. Nothing that is never compacted is among them."""


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """`field` is a path in the policy, such as `memory.max_archive_lines`, or `allocation.caps.outline` for one row of a field
    with rows by name."""

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
    return ", ".join(map(format_setting, value)) or "none" if isinstance(value, (list, tuple)) else str(value)


def read_setting(policy: ContextPolicy, field: str) -> Any:
    """The value of a field; of a row by name None if there is none. BadInput if a proposal may not change it."""
    table, name = split_row_name(field)
    if table:
        return next((_unpack_row(row) for row in _get_path(policy, table) if row[0] == name), None)
    if field not in NUMBER_BOUNDS and field != COMPACTION_FIELD:
        raise BadInput(
            f"{field!r} is not a setting that can be tuned",
            next=f"those that can are such as {', '.join(list(NUMBER_BOUNDS)[:3])}",
        )
    return _get_path(policy, field)


def split_row_name(field: str) -> tuple[str, str]:
    """The field with rows and the row's name; empty for a plain field."""
    table = next((one for one in BY_NAME_FIELDS if field.startswith(f"{one}.")), "")
    return table, field.removeprefix(f"{table}.") if table else ""


def apply_changes(policy: ContextPolicy, changes: Iterable[PolicyChange], version: int = 0) -> ContextPolicy:
    """The policy with these changes, each checked, under a new version."""
    made = policy
    for change in changes:
        check_setting(change.field, change.after)
        table, name = split_row_name(change.field)
        if table:
            rows = [row for row in _get_path(made, table) if row[0] != name]
            rows += [] if change.after is None else [(name, *_pack_row(change.after))]
            made = _replace_path(made, table, tuple(rows))
        else:
            made = _replace_path(made, change.field, _like(_get_path(made, change.field), change.after))
    return replace(made, version=version or policy.version + 1)


def check_setting(field: str, value: Any) -> None:
    """BadInput for a field that does not exist or may not be tuned, and for a value out of bounds."""
    table, name = split_row_name(field)
    if wrong := explain_unknown_row(table, name):
        raise BadInput(wrong, safe="the policy is unchanged")
    if table in ROW_BOUNDS:
        _check_number(field, value, *ROW_BOUNDS[table])
    elif table == CHANCES_FIELD:
        _check_chances(field, value)
    elif field == COMPACTION_FIELD:
        known = [one.name for one in COMPACTION_STRATEGIES]
        if not isinstance(value, (list, tuple)) or not all(one in known for one in value):
            raise BadInput(f"{field} is a list of {', '.join(known)}, not {value!r}", safe="the policy is unchanged")
    else:
        if field not in NUMBER_BOUNDS:
            raise BadInput(f"{field!r} is not a setting that can be tuned", safe="the policy is unchanged")
        _check_number(field, value, *NUMBER_BOUNDS[field])


def explain_unknown_row(table: str, name: str) -> str:
    """Why a row of this name can't be set; empty if it can."""
    if table == CAPS_FIELD and (name in REQUIRED_SECTIONS or name not in SECTION_ORDER):
        return f"the section {name!r} is never cut, or does not exist"
    if table == WEIGHTS_FIELD and name not in WEIGHT_NAMES:
        return f"{name!r} is not a weight of the history"
    return f"{name!r} is not a kind of passage" if table == KINDS_FIELD and not KIND_PATTERN.fullmatch(name) else ""


def _check_chances(field: str, value: Any) -> None:
    if value is not None and not (isinstance(value, (list, tuple)) and len(value) == 3):
        raise BadInput(f"{field} must be three chances, not {value!r}", safe="the policy is unchanged")
    for chance in value or ():
        _check_number(field, chance, 0.0, 1.0)


def _check_number(field: str, value: Any, least: float, most: float) -> None:
    if value is None and split_row_name(field)[0]:
        return
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
        raise BadInput(f"{field} must be between {least:g} and {most:g}, not {value!r}", safe="the policy is unchanged")


def list_differences(before: ContextPolicy, after: ContextPolicy) -> list[PolicyChange]:
    """All fields in which two policies differ, whatever they are; the version is none."""
    found = dict(_iterate_settings(to_plain_value(before), to_plain_value(after), ""))
    return [PolicyChange(field, _get_path(before, field), _get_path(after, field)) for field in found if field != "version"]


def _iterate_settings(one: dict[str, Any], other: dict[str, Any], at: str) -> Iterator[tuple[str, None]]:
    """Defaults are left out of plain values, so a field may be in one of them only."""
    for name in sorted({*one, *other}):
        mine, theirs = one.get(name), other.get(name)
        if mine == theirs:
            continue
        if isinstance(mine, dict) or isinstance(theirs, dict):
            yield from _iterate_settings(mine or {}, theirs or {}, f"{at}{name}.")
        else:
            yield f"{at}{name}", None


def explain_protected_changes(before: ContextPolicy, after: ContextPolicy) -> list[str]:
    """What a policy changes that proposals may not touch: everything besides the tunable fields."""
    tunable = {*NUMBER_BOUNDS, *BY_NAME_FIELDS, COMPACTION_FIELD}
    found = [str(change) for change in list_differences(before, after) if change.field not in tunable]
    caps = [name for name, _ in after.allocation.caps if name in REQUIRED_SECTIONS]
    return [*found, *[f"{CAPS_FIELD}.{name}: a required section" for name in caps]]


def _get_path(policy: Any, field: str) -> Any:
    for name in field.split("."):
        policy = getattr(policy, name)
    return policy


def _replace_path(value: Any, field: str, new: Any) -> Any:
    name, _, rest = field.partition(".")
    held = getattr(value, name)
    return replace(value, **{name: _replace_path(held, rest, new) if rest and is_dataclass(held) else new})


def _like(old: Any, new: Any) -> Any:
    if isinstance(old, tuple):
        return tuple(new)
    return float(new) if isinstance(old, float) else int(new)


def _unpack_row(row: Sequence[Any]) -> Any:
    return row[1] if len(row) == 2 else tuple(row[1:])


def _pack_row(value: Any) -> tuple[float, ...]:
    return tuple(map(float, value)) if isinstance(value, (list, tuple)) else (float(value),)
