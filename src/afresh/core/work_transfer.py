import hashlib
import re

from afresh.core.fast_dataclass import dataclass
from afresh.core.state import State

GIT_OBJECT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class TaskWork:
    patch: bytes
    """From the snapshot before the first change to the last one; empty when nothing has changed."""
    commit: bytes = b""
    """The text of the commit object, when there is one to take over."""
    before: bytes = b""
    """Of a part: from the base to the tree that it began with."""


def has_transferable_work(state: State) -> bool:
    """Whether there is work to take along: what was applied is in the user's history, what was discarded is gone."""
    return bool(state.workspace.first_snapshot) and not state.status.closed


def has_commit_of_id(work: TaskWork, commit: str) -> bool:
    """Whether the text of the commit is that of this id."""
    sha1 = hashlib.sha1 if len(commit) == 40 else hashlib.sha256
    return sha1(b"commit %d\0" % len(work.commit) + work.commit).hexdigest() == commit
