"""A task as a list names it, and what is refused of any list. The text of a list is data, as that of an issue is."""

import re
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256

from afresh.core.fast_dataclass import dataclass
from afresh.core.schedule import parse_interval
from afresh.errors import BadInput

NOTHING_ADDED = "nothing was added"
MAX_LISTED_TASKS = 1_000
MAX_GOAL_CHARACTERS = 2_000
MAX_DETAILS_CHARACTERS = 4_000
"""About a thousand tokens: they are in every prompt of the task."""
MAX_LABELS = 8
LABEL_PATTERN = re.compile(r"[\w][\w./:+-]{0,39}")
"""The form of labels and projects, which a list names within a line."""
KEY_CHARACTERS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTask:
    key: str
    """Stays the same when the list is read again: a task with this key is added once."""
    goal: str
    line: int
    """Line of the list that names it, counted from 1."""
    name: str = ""
    """How the list calls it; empty: by its goal."""
    details: str = ""
    needs: tuple[str, ...] = ()
    """Keys of other tasks of the list."""
    type: str = ""
    checks: tuple[str, ...] = ()
    priority: int = 0
    labels: tuple[str, ...] = ()
    due: float = 0.0
    project: str = ""


def make_fault(name: str, line: int, what: str) -> BadInput:
    return BadInput(f"{name}:{line}: {what}", next="correct the file and add it again", safe=NOTHING_ADDED)


def make_key(*parts: str) -> str:
    return sha256("\n".join(parts).encode()).hexdigest()[:KEY_CHARACTERS]


def refuse_long_list(tasks: Sequence[ListedTask], name: str) -> None:
    if len(tasks) > MAX_LISTED_TASKS:
        what = f"the list has {len(tasks):,} tasks; {MAX_LISTED_TASKS:,} are the most at once"
        raise make_fault(name, tasks[MAX_LISTED_TASKS].line, what)


def check_label(label: str) -> str:
    """The label. ValueError if it can't stand in a line of a list."""
    if not LABEL_PATTERN.fullmatch(label):
        raise ValueError(f"{label!r} can't be a label (letters, digits and ._/:+-, up to 40)")
    return label


def check_labels(labels: Sequence[str]) -> tuple[str, ...]:
    """Each label once. ValueError if one is unusable or there are too many."""
    known = tuple(dict.fromkeys(check_label(label) for label in labels))
    if len(known) > MAX_LABELS:
        raise ValueError(f"{len(known)} labels; {MAX_LABELS} are the most")
    return known


def parse_due(text: str, now: float) -> float:
    """Seconds since the epoch of a date (the end of that day), a date with a time, or an interval from now. ValueError for
    anything else."""
    try:
        return now + parse_interval(text)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text.strip())
        whole_day = len(text.strip()) <= len("2026-12-31")
        return (moment.replace(hour=23, minute=59, second=59) if whole_day else moment).timestamp()
    except (ValueError, OverflowError, OSError):
        raise ValueError(f"{text!r} is no due time (use 2026-12-31, 2026-12-31T18:00, 6h, 3d or 2w)") from None
