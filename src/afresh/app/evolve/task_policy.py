"""Which context policy a task's prompts are built by."""

from collections.abc import Sequence

from afresh.app.project import Project
from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY, ContextPolicy
from afresh.core.event import Event
from afresh.core.policy_history import PolicyHistory, choose_policy, fold_policy_events

OFF_MODE = "off"
AUTO_MODE = "auto"


def name_project(project: Project) -> str:
    """As the user's notebook names it."""
    return str(project.paths.root)


def load_policy_history(project: Project) -> PolicyHistory:
    entries = ((entry.at, entry.event) for entry in project.storage.user_notebook.entries())
    return fold_policy_events(entries, name_project(project))


def record_policy_events(project: Project, events: Sequence[Event]) -> None:
    project.storage.user_notebook.append(events)


def choose_task_policy(project: Project, task: str) -> ContextPolicy:
    """The policy that the calls of a task are built by; a part of a task has that of the whole."""
    off = project.settings.evolve.mode == OFF_MODE
    return DEFAULT_CONTEXT_POLICY if off else choose_policy(load_policy_history(project), task)


def watch_task_policy(project: Project, task: str | None) -> str:
    """After a task has come to rest, or when none is ready: what there is to say about the policy. Costs nothing where no policy
    was adopted and none is to be looked for."""
    mode = project.settings.evolve.mode
    if mode == OFF_MODE or (mode != AUTO_MODE and load_policy_history(project).latest is None):
        return ""
    from afresh.app.evolve.watch_policy import evolve_if_due, note_outcome

    return note_outcome(project, task) if task else evolve_if_due(project)
