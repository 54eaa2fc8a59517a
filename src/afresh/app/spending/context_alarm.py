"""Tells the user while a task runs that its prompts are large or grow, as limits of money are told."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from afresh.core.context_alert import CallSize, ContextThresholds, SizeRecord
from afresh.core.event import CallRequested, JournalEntry
from afresh.core.progress_event import ProgressEvent
from afresh.core.state import State
from afresh.core.template import Template


class ContextAlarm:
    """A Watcher that compares each call with the user's thresholds. Each alert is given once in a run."""

    def __init__(self, thresholds: ContextThresholds, alert: Callable[[str], None]) -> None:
        self._thresholds, self._alert = thresholds, alert
        self._records = dict[str, SizeRecord]()

    def saw(self, state: State, entries: Sequence[JournalEntry]) -> None:
        for entry in entries:
            if isinstance(entry.event, CallRequested):
                audit = entry.event.audit
                task = state.task.id  # parts of a task are seen too
                size = CallSize(task, entry.event.step, audit.tokens, audit.reserve, entry.at)
                self._records[task], alerts = self._records.get(task, SizeRecord()).add(size, self._thresholds)
                for alert in alerts:
                    self._alert(alert.words)

    def follow(self, event: ProgressEvent) -> None:
        """Do nothing: a call is known when it is recorded."""


def compact_after_large_calls(template: Template, thresholds: ContextThresholds) -> Template:
    """The template under which memory is compacted after a call that is an alert, if the user wants that. A smaller size that the
    template names goes before."""
    if not thresholds.compact or not thresholds.most_tokens:
        return template
    sizes = [size for size in (template.pruning.context, thresholds.most_tokens) if size]
    return replace(template, pruning=replace(template.pruning, context=min(sizes)))
