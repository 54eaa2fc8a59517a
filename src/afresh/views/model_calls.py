"""Model calls as plain data: one, two compared, and their growth over a task."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from typing import Any

from afresh.context.measure_yield import SectionYield
from afresh.core.prompt import CallAudit, Omission, Section
from afresh.core.states.ceiling_state import pressure_from_demand
from afresh.core.text import escape_hidden
from afresh.views.section_yield import share_drawn_on


def call_to_json(
    audit: CallAudit,
    sections: Sequence[Section],
    omitted: Sequence[Omission],
    step: int = 0,
    reported: int = 0,
    drawn: Sequence[SectionYield] = (),
) -> dict[str, Any]:
    """Convert a call; `reported` is the provider's token count, 0 if there is none. `drawn` is what replies drew on, section by
    section; empty if there is no reply."""
    named = sum(section.tokens for section in sections)
    shares = [share if share is None else round(share, 4) for share in map(share_drawn_on, drawn)] or [None] * len(sections)
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
        "sections": [_section_to_json(s, audit.tokens, share) for s, share in zip(sections, shares, strict=True)],
        "compactions": [
            {"strategy": c.strategy, "section": c.section, "removed": list(c.removed), "tokens": c.tokens}
            for c in audit.compactions
        ],
        "omitted": [{"section": o.section, "what": o.what, "tokens": o.tokens, "reason": o.reason} for o in omitted],
    }


def _section_to_json(section: Section, whole: int, drawn: float | None) -> dict[str, Any]:
    return {
        "name": section.name,
        "tier": section.tier.name.lower(),
        "tokens": section.tokens,
        "share": compute_token_share(section.tokens, whole),
        "drawn_on": drawn,
        "text": section.text,
    }


def call_diff_to_json(before: Sequence[Section], after: Sequence[Section], steps: tuple[int, int] = (0, 0)) -> dict[str, Any]:
    """Compare two calls. Both are counted as the later one was: the factor that a provider's reports teach may have changed."""
    old, new = name_sections(before), name_sections(after)
    old = _count_like(old, new)
    rows = [_compare_sections(name, old.get(name), new.get(name)) for name in dict.fromkeys((*old, *new))]
    return {"steps": list(steps), "sections": rows, "delta": sum(row["delta"] for row in rows)}


def name_sections(sections: Sequence[Section]) -> dict[str, Section]:
    """Return sections by name; a repeated name gets a number."""
    named: dict[str, Section] = {}
    for section in sections:
        count = sum(other.name == section.name for other in named.values())
        named[section.name if not count else f"{section.name} ({count + 1})"] = section
    return named


def _count_like(old: dict[str, Section], new: dict[str, Section]) -> dict[str, Section]:
    """Return the sections of the first call with the counts that the second would give them, by those that are the same."""
    same = [name for name, section in old.items() if name in new and new[name].text == section.text]
    now, then = sum(new[name].tokens for name in same), sum(old[name].tokens for name in same)
    factor = now / then if then else 1.0
    return {
        name: replace(section, tokens=new[name].tokens if name in same else round(section.tokens * factor))
        for name, section in old.items()
    }


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


@dataclass(frozen=True, slots=True)
class HistoryComparison:
    """A task's tokens beside those of an agent that keeps its whole history and has it cached."""

    calls: int = 0
    sent: int = 0
    paid: int = 0
    estimated: int = 0
    """Number of calls whose paid tokens are estimated."""
    accumulating: int = 0
    accumulating_paid: int = 0

    @property
    def saved(self) -> float | None:
        return 1 - self.sent / self.accumulating if self.accumulating else None

    @property
    def saved_paid(self) -> float | None:
        """Below 0 where the kept history would have cost less."""
        return 1 - self.paid / self.accumulating_paid if self.accumulating_paid else None


def history_to_json(tokens: HistoryComparison) -> dict[str, Any]:
    """Convert tokens sent and paid, by our own count, and the same of a kept history."""
    return {
        "sent": tokens.sent,
        "sent_paid": tokens.paid,
        "sent_paid_estimated": tokens.estimated,
        "accumulating": tokens.accumulating,
        "accumulating_paid": tokens.accumulating_paid,
        "saved": tokens.saved,
        "saved_paid": tokens.saved_paid,
    }


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
