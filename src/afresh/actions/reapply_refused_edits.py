"""Applies edits again that were refused for want of a licence to change tests, once there is one. No call is bought for it."""

from afresh.core.licences.licence_for_tests import RefusedEdits
from afresh.core.state import State
from afresh.core.verdict import list_first_names
from afresh.errors import NeedsPerson
from afresh.runtime import Runtime

MAX_NAMED_TESTS = 3


def reapply_refused_edits(state: State, runtime: Runtime) -> str:
    """Whether they were applied, in words. A file that has changed since is never overwritten: then none of them is applied."""
    refused = state.verification.refused
    assert refused, "there are refused edits"
    if not _has_trees(refused, runtime):
        return f"the edits of step {refused.step} are allowed now, but were made on another machine: send them again"
    changed = {change.path for change in runtime.workspace.changes(refused.before, runtime.workspace.snapshot())}
    if lost := [path for path in refused.paths if path in changed]:
        return (
            f"the edits of step {refused.step} are allowed now and were not applied again, since these files have changed: "
            f"{list_first_names(lost)}; send what is still missing"
        )
    runtime.workspace.restore(refused.after, refused.paths)
    tests = list_first_names(dict.fromkeys(one.subject for one in refused.weakenings), MAX_NAMED_TESTS)
    return f"the edits of step {refused.step} were applied again, since changing {tests} is allowed now"


def _has_trees(refused: RefusedEdits, runtime: Runtime) -> bool:
    """A task that was imported comes with its last tree only."""
    try:
        return bool(runtime.workspace.changes(refused.before, refused.after))
    except NeedsPerson:
        return False
