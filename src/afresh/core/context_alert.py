"""Alerts on the size of prompts: a call that takes many tokens, and calls of a task that grow."""

from collections.abc import Iterable

from afresh.core.fast_dataclass import dataclass

DEFAULT_CALL_TOKENS = 16_000
"""Four times the usual ceiling: no call of a task with the usual settings may take more."""
DEFAULT_GROWTH_PERCENT = 100
CALLS_COMPARED = 10
"""The first calls of a task are compared with as many of its last ones."""


@dataclass(frozen=True, slots=True)
class ContextThresholds:
    """The user's own. None: the default; 0: no alert."""

    call_tokens: int | None = None
    """Tokens of a call with what is kept for its reply."""
    growth: int | None = None
    """Percent by which calls of a task may grow."""
    compact: bool = False
    """Whether memory is compacted after a call of so many tokens."""

    @property
    def most_tokens(self) -> int:
        return DEFAULT_CALL_TOKENS if self.call_tokens is None else self.call_tokens

    @property
    def most_growth(self) -> int:
        return DEFAULT_GROWTH_PERCENT if self.growth is None else self.growth


DEFAULT_THRESHOLDS = ContextThresholds()


@dataclass(frozen=True, slots=True)
class CallSize:
    task: str
    step: int
    sent: int
    """Tokens of the prompt."""
    reserve: int
    """Tokens kept for the reply."""
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class ContextAlert:
    task: str
    at: float
    words: str


@dataclass(frozen=True, slots=True)
class SizeRecord:
    """What is known of the sizes of a task's calls. Its size does not grow with their number."""

    first: tuple[int, ...] = ()
    last: tuple[int, ...] = ()
    large: bool = False
    """The alert on a large call was given."""
    grown: bool = False

    def add(self, size: CallSize, thresholds: ContextThresholds) -> "tuple[SizeRecord, list[ContextAlert]]":
        """The record after a call, and the alerts that it gives: each once a task."""
        used, most, alerts = size.sent + size.reserve, thresholds.most_tokens, list[ContextAlert]()
        first, last, grown = self.first, self.last, self.grown
        if len(first) < CALLS_COMPARED:
            first = (*first, size.sent)
        else:
            last = (*last[-CALLS_COMPARED + 1 :], size.sent)
        if 0 < most <= used and not self.large:
            what = f"a call of task {size.task} took {used:,} tokens in step {size.step}; the alert is at {most:,}"
            alerts.append(ContextAlert(size.task, size.at, what))
        percent = 100 * (sum(last) - sum(first)) // max(1, sum(first))
        if len(last) == CALLS_COMPARED and not grown and 0 < thresholds.most_growth <= percent:
            before, after = sum(first) // CALLS_COMPARED, sum(last) // CALLS_COMPARED
            what = (
                f"calls of task {size.task} have grown by {percent} %: {before:,} tokens at first, {after:,} at step {size.step}"
            )
            alerts.append(ContextAlert(size.task, size.at, what))
            grown = True
        return SizeRecord(first, last, self.large or 0 < most <= used, grown), alerts


def find_context_alerts(calls: Iterable[CallSize], thresholds: ContextThresholds) -> list[ContextAlert]:
    """The alerts of these calls, in their order."""
    records, context_alerts = dict[str, SizeRecord](), list[ContextAlert]()
    for size in calls:
        records[size.task], alerts = records.get(size.task, SizeRecord()).add(size, thresholds)
        context_alerts += alerts
    return context_alerts
