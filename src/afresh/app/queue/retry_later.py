"""Tries a task again by itself after a passing fault: a provider outage, a git that hangs, a full disk; where nobody watches a
model, too, that can't be used and that this task alone names. One that failed on its merits waits for a person."""

import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EDQUOT, EIO, ENOSPC
from hashlib import sha256

from afresh.app.orders.tasks import record_events
from afresh.app.project import Project
from afresh.core.event import TaskEnded
from afresh.core.redaction import redact_secrets
from afresh.core.states.queue_state import AttemptFailed, FailureCause
from afresh.core.task import TaskStatus
from afresh.core.truncate import to_one_line
from afresh.errors import AfreshError, Cancelled, DiskFault, LeaseLost, NeedsPerson, TryAgain
from afresh.workspace.git import GitFailed, GitHangs

FIRST_DELAY_SECONDS = 60.0
MAX_DELAY_SECONDS = 3_600.0
MAX_FAILURES_IN_A_ROW = 8
"""About three hours; then the task has failed, and a person decides."""
DELAY_SPREAD = 0.25
"""Share by which a delay may be shorter: tasks that failed together do not all come back at the same moment."""
MAX_WORDS_CHARACTERS = 300
DISK_ERROR_CODES = (ENOSPC, EDQUOT, EIO)
NO_SPACE_PHRASE = "No space left on device"


@contextmanager
def record_passing_fault(project: Project, task: str, own_model: bool = False) -> Iterator[None]:
    """Record a passing fault in the block, with the time of the next attempt, which the error then names. The caller holds the
    task. `own_model`: a fault of the model that the task names counts as one, so that others are not held up by it."""
    try:
        yield
    except (AfreshError, OSError) as fault:
        cause = find_failure_cause(fault)
        if own_model and not cause and is_of_own_model(project, task, fault):
            cause = FailureCause.MODEL
        if cause:
            with suppress(AfreshError, OSError):  # a full disk may not take it; then the task is simply interrupted
                fault.retry_at = record_failure(project, task, cause, fault)  # pyright: ignore[reportAttributeAccessIssue]
                fault.of_one_task = True  # pyright: ignore[reportAttributeAccessIssue]
        raise


def is_of_own_model(project: Project, task: str, fault: Exception) -> bool:
    """Whether it is of a model that the task names and that is not the user's default."""
    own = project.store.load(task).task.model
    return isinstance(fault, NeedsPerson) and fault.of_model and own not in ("", project.settings.model)


def find_failure_cause(fault: Exception) -> FailureCause | None:
    """Return what has failed, if it may well be over later; None if not."""
    if isinstance(fault, Cancelled | LeaseLost):
        return None
    if isinstance(fault, DiskFault) or (isinstance(fault, GitFailed) and NO_SPACE_PHRASE in fault.output):
        return FailureCause.DISK
    if isinstance(fault, OSError):
        return FailureCause.DISK if fault.errno in DISK_ERROR_CODES else None
    if isinstance(fault, GitHangs):
        return FailureCause.GIT
    if isinstance(fault, TryAgain):
        return FailureCause.MACHINE if fault.local else FailureCause.PROVIDER
    return None


def record_failure(project: Project, task: str, cause: FailureCause, fault: Exception) -> float:
    """Write the failure to the task's error log. Returns when it is tried again; 0 if it has failed too often."""
    state, now = project.store.load(task), project.clock.now()
    if state.status.over:
        return 0.0
    what, failed = to_one_line(redact_secrets(str(fault)), MAX_WORDS_CHARACTERS), state.times.attempts.streak + 1
    if failed >= MAX_FAILURES_IN_A_ROW:
        reason = f"given up after {failed} failed attempts in a row; the last: {what}"
        record_events(project, state, task, [AttemptFailed(cause, what, 0.0), TaskEnded(TaskStatus.FAILED, reason)])
        return 0.0
    asked = getattr(fault, "wait", None) or 0.0
    delay = max(choose_delay(task, failed), asked if math.isfinite(asked) else MAX_DELAY_SECONDS)
    record_events(project, state, task, [AttemptFailed(cause, what, round(now + delay, 3))])
    return now + delay


def choose_delay(task: str, failed: int) -> float:
    """Seconds before the next attempt: twice as long after each failure, a little less by the name of the task."""
    part = int.from_bytes(sha256(f"{task} {failed}".encode()).digest()[:4]) / 2**32
    return min(FIRST_DELAY_SECONDS * 2.0 ** (failed - 1), MAX_DELAY_SECONDS) * (1 - DELAY_SPREAD * part)
