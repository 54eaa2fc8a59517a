"""A task: its goal and criteria, its steps, its decisions, its files, and what a person can do with it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from starlette.responses import Response

from afresh.app.inspect.read_steps import StepPage, read_step_page
from afresh.app.orders.tasks import find_task
from afresh.app.project import Project
from afresh.app.queue.hold_task import discard_task, pause_task, release_task
from afresh.app.queue.queue_place import PlaceEdit, edit_place
from afresh.app.queue.retry_task import retry_task
from afresh.app.results.auto_merge import apply_checked
from afresh.app.results.read_task_diff import list_diff_changes
from afresh.app.results.task_result import undo_task_steps
from afresh.app.service.start_worker import explain_worker_stop, is_worker_starting, read_worker_log, start_worker
from afresh.app.spending.spending_report import sum_task_charge
from afresh.core.answer_options import parse_options
from afresh.core.change import Change
from afresh.core.state import State
from afresh.core.task import QueueTicket, TaskStatus, TicketQuery
from afresh.errors import BadInput, NotPossible
from afresh.views.decision_tree import DecisionRun, build_decision_tree, group_runs
from afresh.views.session_file import render_session
from afresh.views.task_facts import find_current_verdict, list_current_failures, list_next_steps, task_tests_to_json
from afresh.web.visit import PageRoute, Visit

STEPS_PER_PAGE = 50
DECISION_STEPS_PER_PAGE = 100
TIMELINE_KINDS = ("asked", "answered", "spoke", "undone", "turned", "noticed", "compacted", "ended", "rebudgeted", "planned")
"""Lines of the decision log that are shown between the steps."""


@dataclass(frozen=True, slots=True)
class StepWindow:
    """The steps that a page shows, of all."""

    first: int
    last: int
    whole: int
    size: int

    @property
    def newer(self) -> int:
        """The last step of the next newer page; 0 if there is none."""
        return min(self.whole, self.last + self.size) if self.last < self.whole else 0

    @property
    def older(self) -> int:
        return self.first - 1


@dataclass(frozen=True, slots=True)
class TaskHead:
    """The head of every page of a task."""

    state: State
    ticket: QueueTicket
    tab: str
    starting: bool = False
    """A worker was started here and has not claimed the task yet."""

    @property
    def actions(self) -> list[str]:
        """Return what can be done with the task now."""
        status, ticket = self.state.status, self.ticket
        if self.starting:
            return []
        if ticket.parent or ticket.owner:
            return ["pause", "discard"] if ticket.owner and not ticket.parent else []
        if ticket.marks.hold and not status.over:
            return ["release", "discard"]
        unmet = ["skip"] if ticket.status is TaskStatus.READY and not ticket.ready else []
        kept = self.state.workspace.kept > 0
        return {
            TaskStatus.READY: [*(["resume"] if ticket.ready or ticket.waits_for_message else unmet), "discard"],
            TaskStatus.RUNNING: ["resume", *(["undo"] if kept else []), "discard"],
            TaskStatus.BLOCKED: [*(["apply-unverified"] if self.state.workspace.commit else []), "discard"],
            TaskStatus.DONE: ["apply", *(["undo"] if kept else []), "discard"],
            TaskStatus.FAILED: ["retry", "discard"],
            TaskStatus.UNCHANGED: ["discard"],
            TaskStatus.DISCARDED: ["retry"],
        }.get(status, [])


def load_task_head(visit: Visit, tab: str) -> TaskHead:
    task = find_task(visit.project, visit.get_part("task"))
    (ticket,) = [one for one in visit.project.queue.tickets(TicketQuery(prefix=task)) if one.task == task]
    return TaskHead(visit.project.store.load(task), ticket, tab, is_worker_starting(visit.project, ticket))


def choose_window(visit: Visit, state: State, size: int) -> StepWindow:
    """Choose the last steps, or those up to the one that the address names."""
    whole = max(state.work.step, state.work.pending.step if state.work.pending else 0)
    last = max(1, min(visit.read_number("to", whole), whole))
    return StepWindow(max(1, last - size + 1), last, whole, size)


def show_task(visit: Visit) -> Response:
    head = load_task_head(visit, "steps")
    state = head.state
    window = choose_window(visit, state, STEPS_PER_PAGE)
    page = read_step_page(visit.project, state.task.id, window.first, window.last)
    verdict, verdict_step = find_current_verdict(state)
    return visit.show(
        "task.html",
        head=head,
        window=window,
        rows=list_timeline(page, window),
        tests=task_tests_to_json(state),
        verdict=verdict,
        verdict_step=verdict_step,
        failures=list_current_failures(state),
        options=parse_options(state.dialogue.options),
        charge=sum_task_charge(visit.project, state.task.id),
        next_steps=list_next_steps(state),
        log=read_worker_log(visit.project, state.task.id),
        stop=explain_worker_stop(visit.project, head.ticket),
    )


def list_timeline(page: StepPage, window: StepWindow) -> list[tuple[str, object]]:
    """Return steps and the events between them, the latest first."""
    notes = [line for line in page.lines if line["kind"] in TIMELINE_KINDS]
    rows = list[tuple[str, object]]()
    for step in page.steps:
        rows += [("note", line) for line in notes if line["step"] < step.step]
        notes = [line for line in notes if line["step"] >= step.step]
        rows.append(("step", step))
    if window.last == window.whole:
        rows += [("note", line) for line in notes]
    return rows[::-1]


def show_decisions(visit: Visit) -> Response:
    head = load_task_head(visit, "decisions")
    window = choose_window(visit, head.state, DECISION_STEPS_PER_PAGE)
    lines = read_step_page(visit.project, head.state.task.id, window.first, window.last).lines
    return visit.show("decisions.html", head=head, window=window, tree=build_decision_tree(lines), group_runs=group_decisions)


def group_decisions(branches: Sequence) -> list[tuple[str, object]]:
    return [("run" if isinstance(run, DecisionRun) else "node", run) for run in group_runs(branches)]


def show_files(visit: Visit) -> Response:
    head = load_task_head(visit, "files")
    changes, why = list_changes_or_reason(visit.project, head.state)
    session = "\n".join(render_session(head.state))
    return visit.show("files.html", head=head, changes=changes, why=why, session=session)


def list_changes_or_reason(project: Project, state: State) -> tuple[Sequence[Change], str]:
    """Return the task's changes; or why they can't be shown."""
    if not state.workspace.first_snapshot:
        return (), "The task has not begun."
    try:
        return list_diff_changes(project.paths.root, state), ""
    except NotPossible as fault:
        return (), f"{fault.what}; {fault.next}"


def resume_task(visit: Visit, project: Project, task: str) -> str:
    start_worker(project, task)
    return "A worker has been started. Its steps appear here as they are taken."


def pause_work(visit: Visit, project: Project, task: str) -> str:
    _, owner = pause_task(project, task)
    return "Its worker stops as soon as the call that it is making has been answered." if owner else "It is paused."


def release_hold(visit: Visit, project: Project, task: str) -> str:
    release_task(project, task)
    return "It has its turn again."


def retry_and_start(visit: Visit, project: Project, task: str) -> str:
    state = retry_task(project, task, visit.form.get("words", "").strip())
    start_worker(project, state.task.id)
    return "It is tried again: a worker has been started."


def undo_last_change(visit: Visit, project: Project, task: str) -> str:
    undo_task_steps(project, task, why=visit.form.get("words", "").strip())
    return "The last change has been undone."


def skip_waiting(visit: Visit, project: Project, task: str) -> str:
    edit_place(project, task, PlaceEdit(not_after=("all",)).apply)
    return "It no longer waits for other tasks."


def apply_result(visit: Visit, project: Project, task: str) -> str:
    return apply_checked(project, task, unverified=visit.get_part("action") == "apply-unverified")[1]


def discard_result(visit: Visit, project: Project, task: str) -> str:
    if discard_task(project, task)[1]:
        return "Its worker discards it before its next call."
    return f"{task} is discarded: its branch and worktree are gone, its journal is kept."


ACTIONS: dict[str, Callable[[Visit, Project, str], str]] = {
    "resume": resume_task,
    "pause": pause_work,
    "release": release_hold,
    "retry": retry_and_start,
    "undo": undo_last_change,
    "skip": skip_waiting,
    "apply": apply_result,
    "apply-unverified": apply_result,
    "discard": discard_result,
}


def act_on_task(visit: Visit) -> Response:
    act = ACTIONS.get(visit.get_part("action"))
    if act is None:
        raise BadInput("no such action", next="use the buttons of the page", safe="nothing was changed")
    with visit.open_to_change() as project:
        task = find_task(project, visit.get_part("task"))
        text = act(visit, project, task)
    return visit.go(visit.link("tasks", task), text)


ROUTES = [
    PageRoute("/tasks/{task}", show_task),
    PageRoute("/tasks/{task}/decisions", show_decisions),
    PageRoute("/tasks/{task}/files", show_files),
    PageRoute("/tasks/{task}/act/{action}", act_on_task, "POST"),
]
