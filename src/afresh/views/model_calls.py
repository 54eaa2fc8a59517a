"""Model calls as plain data: one, two compared, and their growth over a task."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from typing import Any

from afresh.core.ceiling_state import pressure_from_demand
from afresh.core.prompt import CallAudit, Omission, Section
from afresh.core.text import escape_hidden


def call_to_json(
    audit: CallAudit, sections: Sequence[Section], omitted: Sequence[Omission], step: int = 0, reported: int = 0
) -> dict[str, Any]:
    """Convert a call; `reported` is the provider's token count, 0 if there is none."""
    named = sum(section.tokens for section in sections)
    return {
        "step": step,
        "hash": audit.hash,
        "budget": audit.budget,
        "tokens": audit.tokens,
        "reported": reported or None,
        "demand": audit.demand,
        "unmet": audit.unmet,
        "pressure": pressure_from_demand(audit.demand, audit.budget).value,
        "model": audit.model,
        "reserve": audit.reserve,
        "headroom": audit.budget - audit.reserve - audit.tokens,
        "counter": audit.counter,
        "framing": audit.tokens - named,
        "sections": [
            {
                "name": s.name,
                "tier": s.tier.name.lower(),
                "tokens": s.tokens,
                "share": compute_token_share(s.tokens, audit.tokens),
                "text": s.text,
            }
            for s in sections
        ],
        "compactions": [
            {"strategy": c.strategy, "section": c.section, "removed": list(c.removed), "tokens": c.tokens}
            for c in audit.compactions
        ],
        "omitted": [{"section": o.section, "what": o.what, "tokens": o.tokens, "reason": o.reason} for o in omitted],
    }


def call_diff_to_json(before: Sequence[Section], after: Sequence[Section], steps: tuple[int, int] = (0, 0)) -> dict[str, Any]:
    old, new = _name_sections(before), _name_sections(after)
    rows = [_compare_sections(name, old.get(name), new.get(name)) for name in dict.fromkeys((*old, *new))]
    return {"steps": list(steps), "sections": rows, "delta": sum(row["delta"] for row in rows)}


def _name_sections(sections: Sequence[Section]) -> dict[str, Section]:
    """Return sections by name; a repeated name gets a number."""
    named: dict[str, Section] = {}
    for section in sections:
        count = sum(other.name == section.name for other in named.values())
        named[section.name if not count else f"{section.name} ({count + 1})"] = section
    return named


def _compare_sections(name: str, old: Section | None, new: Section | None) -> dict[str, Any]:
    before, after = old.tokens if old else None, new.tokens if new else None
    compared = "added" if old is None else "removed" if new is None else "unchanged" if old.text == new.text else "changed"
    patch = ""
    if old and new and compared == "changed":
        lines = unified_diff(
            escape_hidden(old.text).split("\n"), escape_hidden(new.text).split("\n"), "before", "after", lineterm="", n=2
        )
        patch = "\n".join(lines)
    return {
        "name": name,
        "compared": compared,
        "before": before,
        "after": after,
        "delta": (after or 0) - (before or 0),
        "diff": patch,
    }


def compute_token_share(tokens: int, total: int) -> float:
    return round(tokens / total, 4) if total else 0.0


SLOPE_STEPS = 100
MIN_STEPS_FOR_SLOPE = 20
"""Steps a task needs for a slope; with fewer it is noise."""


@dataclass(frozen=True, slots=True)
class TokenGrowth:
    calls: int
    average: int
    """Average tokens sent per call."""
    slope: float | None
    """Growth in tokens per hundred steps of the same task; None if no task has enough steps."""


def measure_token_growth(calls: Sequence[tuple[str, int, int]]) -> TokenGrowth:
    """Measure growth from calls as task, step and tokens. Each task is compared with its own mean, because tasks differ in
    size."""
    by_task: dict[str, list[tuple[int, int]]] = {}
    for task, step, tokens in calls:
        by_task.setdefault(task, []).append((step, tokens))
    together, apart = 0.0, 0.0
    long = [points for points in by_task.values() if max(points)[0] - min(points)[0] >= MIN_STEPS_FOR_SLOPE]
    for points in long:
        middle, mean = _compute_mean(step for step, _ in points), _compute_mean(tokens for _, tokens in points)
        together += sum((step - middle) * (tokens - mean) for step, tokens in points)
        apart += sum((step - middle) ** 2 for step, _ in points)
    average = round(_compute_mean(tokens for _, _, tokens in calls)) if calls else 0
    return TokenGrowth(len(calls), average, SLOPE_STEPS * together / apart if apart else None)


def _compute_mean(values: Iterable[int]) -> float:
    found = list(values)
    return sum(found) / len(found)
