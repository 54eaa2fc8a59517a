"""The seams to the clock and to those who watch a run."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from afresh.core.event import JournalEntry
from afresh.core.progress_event import ProgressEvent
from afresh.core.state import State
from afresh.core.step_history import HookAnswer


class Clock(Protocol):
    def now(self) -> float: ...


class CompactionHook(Protocol):
    """A command of the user that is asked before something is done."""

    def before_compaction(self, about: Mapping[str, Any]) -> HookAnswer: ...


class Watcher(Protocol):
    """Follows a run: writes views, shows progress. It can't change what happens."""

    def saw(self, state: State, entries: Sequence[JournalEntry]) -> None:
        """After every commit."""
        ...

    def follow(self, event: ProgressEvent) -> None:
        """During work that may take long."""
        ...
