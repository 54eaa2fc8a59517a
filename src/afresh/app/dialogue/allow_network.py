"""Opens the network for a task or for all tasks of a repository, by a person's word, and closes it again."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from afresh.core.network_access import NetworkPermission, PermissionKind, allow_address, allow_command, is_command_allowed
from afresh.core.states.network_state import ALLOW_ALWAYS_OPTION, PermissionsChanged
from afresh.core.text import to_visible_json
from afresh.errors import BadInput, NotPossible

if TYPE_CHECKING:
    from pathlib import Path

    from afresh.app.project import Project
    from afresh.core.event import Event, QuestionAnswered
    from afresh.core.state import State

NOTHING_ALLOWED = "nothing was changed"


@dataclass(frozen=True, slots=True)
class PermissionChange:
    """What a person names on the command line."""

    addresses: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    always: bool = False

    @property
    def permissions(self) -> tuple[NetworkPermission, ...]:
        return parse_permissions(self.addresses, self.commands, self.always)


def parse_permissions(addresses: Sequence[str], commands: Sequence[str], always: bool = False) -> tuple[NetworkPermission, ...]:
    """BadInput for what is no address or no command."""
    try:
        return (
            *(allow_address(text, always) for text in addresses),
            *(allow_command(text, always) for text in commands),
        )
    except ValueError as fault:
        raise BadInput(
            str(fault), next="name a host such as pypi.example or host:port, or a whole command", safe=NOTHING_ALLOWED
        ) from None


def permissions_of_order(addresses: Sequence[str], commands: Sequence[str]) -> "list[Event]":
    """What a new task may reach from its start. BadInput for what is no address or no command."""
    granted = parse_permissions(addresses, commands)
    return [PermissionsChanged(granted)] if granted else []


def allow_network(project: "Project", task: str, change: PermissionChange) -> "State":
    """Record the permissions. A task that asks for the network is answered by them, and becomes ready."""
    from afresh.app.orders.tasks import record_events
    from afresh.app.results.task_result import refuse_held_task
    from afresh.core.event import QuestionAnswered
    from afresh.core.task import TaskStatus
    from afresh.workspace.git import find_author_name

    state, granted = project.store.load(task), change.permissions
    refuse_held_task(project, state, NOTHING_ALLOWED)
    if change.always:
        store_standing_permissions(project, granted)
    by = find_author_name(project.paths.root)
    events: list[Event] = [PermissionsChanged(granted, by=by)]
    if state.status is TaskStatus.BLOCKED and _answers_question(state, granted):
        events.append(QuestionAnswered(f"The network is open for {', '.join(permission.words for permission in granted)}", by))
    return record_events(project, state, task, events)


def _answers_question(state: "State", granted: Sequence[NetworkPermission]) -> bool:
    asked = state.dialogue.network.offered
    return bool(asked) and any(
        permission.kind is PermissionKind.ADDRESS or is_command_allowed(permission.text, asked) for permission in granted
    )


def revoke_network(project: "Project", task: str, change: PermissionChange) -> "State":
    """Take back what is named, or all that holds for this task alone; what holds always only if that is said."""
    from afresh.app.orders.tasks import record_events
    from afresh.app.results.task_result import refuse_held_task

    state = project.store.load(task)
    refuse_held_task(project, state, NOTHING_ALLOWED)
    named = {(permission.kind, permission.text) for permission in change.permissions}
    permissions = state.dialogue.network.permissions
    gone = tuple(
        permission
        for permission in permissions
        if (permission.kind, permission.text) in named or (not named and (change.always or not permission.always))
    )
    if missing := named - {(permission.kind, permission.text) for permission in gone}:
        text = sorted(text for _, text in missing)[0]
        raise NotPossible(
            f"task {task} is not allowed {text}", next=f"afresh allow {task} lists what it is", safe=NOTHING_ALLOWED
        )
    if any(permission.always for permission in gone) and not change.always:
        raise NotPossible(
            "that holds in every task of this repository", next="add --always to take it back everywhere", safe=NOTHING_ALLOWED
        )
    if change.always:
        store_standing_permissions(project, (), gone)
    return record_events(project, state, task, [PermissionsChanged(revoked=gone)]) if gone else state


def load_standing_permissions(project: "Project") -> tuple[NetworkPermission, ...]:
    """What the user's own settings allow in every task of this repository, as the file is now. A repository can't allow itself
    anything."""
    from afresh.app.settings import load_user_settings

    options = load_user_settings().network.get(str(project.paths.root))
    return parse_permissions(options.addresses, options.commands, always=True) if options else ()


def store_standing_permissions(
    project: "Project", added: Sequence[NetworkPermission], removed: Sequence[NetworkPermission] = ()
) -> "Path":
    """Change the user's settings; the file is replaced in one move."""
    from afresh.config.edit_settings import SettingChange, change_settings_file
    from afresh.config.settings_file import find_user_config

    before, gone = load_standing_permissions(project), {(permission.kind, permission.text) for permission in removed}
    after = [permission for permission in before if (permission.kind, permission.text) not in gone]
    after += [
        permission
        for permission in added
        if (permission.kind, permission.text) not in {(known.kind, known.text) for known in after}
    ]
    table = f"network.{to_visible_json(str(project.paths.root))}"
    keys = {PermissionKind.ADDRESS: "addresses", PermissionKind.COMMAND: "commands"}
    changed = [kind for kind in keys if _select_texts(before, kind) != _select_texts(after, kind)]
    path = find_user_config()
    change_settings_file(path, [SettingChange(table, keys[kind], _select_texts(after, kind)) for kind in changed])
    return path


def _select_texts(permissions: Sequence[NetworkPermission], kind: PermissionKind) -> tuple[str, ...]:
    return tuple(permission.text for permission in permissions if permission.kind is kind)


def store_answer_for_ever(project: "Project", state: "State", answer: "QuestionAnswered") -> None:
    """Keep a command in the user's settings if that is the answer. First of all: a crash after it leaves the question open."""
    if state.dialogue.network.offered and answer.option == ALLOW_ALWAYS_OPTION:
        store_standing_permissions(project, parse_permissions((), (state.dialogue.network.offered,), always=True))
