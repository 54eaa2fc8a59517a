"""Writes down what the user's settings allow in every task, and that they no longer do."""

from afresh.core.state import State
from afresh.core.states.network_state import FROM_SETTINGS, PermissionsChanged
from afresh.runtime import Runtime


def record_standing_permissions(state: State, runtime: Runtime) -> list[PermissionsChanged]:
    """What has changed in the settings since a worker took up the task last. A part of a task has no network."""
    if state.task.parent:
        return []
    wanted, permissions = runtime.control.permissions, state.dialogue.network.permissions
    new = tuple(permission for permission in wanted if permission not in permissions)
    gone = tuple(permission for permission in permissions if permission.always and permission not in wanted)
    return [PermissionsChanged(new, gone, by=FROM_SETTINGS)] if new or gone else []
