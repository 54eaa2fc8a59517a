"""What `import afresh` offers: run a goal, resume a task, apply a result, with the functions of the commands."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

from afresh.app.compose import RunTerms, run_task
from afresh.app.dialogue.answer_question import answer_question
from afresh.app.orders.check_order import OrderTerms
from afresh.app.orders.order_task import order_task
from afresh.app.orders.tasks import TaskOrder, find_task
from afresh.app.project import Project, open_project
from afresh.app.results.auto_merge import apply_checked
from afresh.app.results.task_result import apply_if_wanted
from afresh.app.run_result import RunResult, read_run_result
from afresh.core.event import JournalEntry
from afresh.core.progress_event import ProgressEvent, ProgressListener, WorkNotice, ignore_progress
from afresh.core.state import State
from afresh.errors import BadInput
from afresh.ports.watch import Watcher
from afresh.runtime import Cancellation

ORDER_FIELDS = ("type", "budget", "max_budget", "max_steps", "loop", "thinking")
"""Options that are fields of a `TaskOrder` under the same name."""
CHOICES_BY_OPTION = {
    "mode": ("autonomous", "supervised"),
    "baseline": ("once", "twice"),
    "loop": ("react", "plan_execute"),
}
NOTHING_DONE = "nothing was changed"


class ResumeOptions(TypedDict, total=False):
    """How a task is worked on; each as the option of `afresh resume`."""

    mode: Literal["autonomous", "supervised"]
    no_sandbox: bool
    baseline: Literal["once", "twice"]
    watchers: Sequence[Watcher]
    """Told of every commit to the journal and of all progress."""
    cancellations: Sequence[Cancellation]
    """Asked before each call and action; one that raises `errors.Cancelled` stops the run."""


class RunOptions(ResumeOptions, total=False):
    """The options that describe a task, as those of `afresh run`."""

    type: str
    checks: str | Sequence[str]
    no_check: bool
    force: bool
    budget: int
    max_budget: int
    max_steps: int
    loop: Literal["react", "plan_execute"]
    thinking: int
    allow_test_changes: str | Sequence[str]
    on: str
    with_changes: bool


@dataclass(frozen=True, slots=True)
class ProgressCallback:
    """A Watcher that passes progress on to a function."""

    listen: ProgressListener

    def saw(self, state: State, entries: Sequence[JournalEntry]) -> None:
        """Do nothing: only progress is passed on."""

    def follow(self, event: ProgressEvent) -> None:
        self.listen(event)


def run_goal(
    goal: str,
    *,
    repo: str | Path = ".",
    model: str = "",
    on_progress: ProgressListener = ignore_progress,
    **options: Unpack[RunOptions],
) -> RunResult:
    """Work on `goal` until the checks pass, and return how it ended. Nobody is asked: a question is in the result.

    Raises an error of `afresh.errors` if the task can't begin or go on: a wrong option, no model, a provider that fails. Then
    `afresh.resume` continues it.
    """
    refuse_wrong_options(options, RunOptions.__optional_keys__)
    fields: dict[str, Any] = {name: value for name, value in options.items() if name in ORDER_FIELDS}
    terms = OrderTerms(without_check=options.get("no_check", False), force=options.get("force", False))
    with open_project_at(repo) as project:
        order = TaskOrder(
            goal,
            checks=list_strings(options.get("checks", ())),
            model=model,
            test_changes=list_strings(options.get("allow_test_changes", ())),
            **fields,
        )
        state = order_task(project, order, terms, options.get("on", ""), options.get("with_changes", False))
        return _run_to_result(project, state.task.id, _make_run_terms(model, on_progress, options), on_progress)


def resume_task(
    task: RunResult | str,
    *,
    answer: str = "",
    repo: str | Path = ".",
    model: str = "",
    on_progress: ProgressListener = ignore_progress,
    **options: Unpack[ResumeOptions],
) -> RunResult:
    """Continue a task, by its result or its id. `answer`: the number of an option, or your own words, to its open question."""
    refuse_wrong_options(options, ResumeOptions.__optional_keys__)
    with _open_project_of(task, repo) as (project, name):
        if answer and (answered := answer_question(project, name, answer)).status.over:
            return read_run_result(project, answered)
        return _run_to_result(project, name, _make_run_terms(model, on_progress, options), on_progress)


def apply_result(task: RunResult | str, *, repo: str | Path = ".", unverified: bool = False) -> RunResult:
    """Merge the result of a task into the current branch of the checkout; unverified work only with `unverified`."""
    with _open_project_of(task, repo) as (project, name):
        return read_run_result(project, apply_checked(project, name, unverified)[0])


@contextmanager
def open_project_at(repo: str | Path) -> Generator[Project]:
    project = open_project(Path(repo))
    try:
        yield project
    finally:
        project.storage.close()


@contextmanager
def _open_project_of(task: RunResult | str, repo: str | Path) -> Generator[tuple[Project, str]]:
    named, place = (task.task, task.repo) if isinstance(task, RunResult) else (task, repo)
    with open_project_at(place) as project:
        yield project, find_task(project, named)


def _make_run_terms(model: str, on_progress: Callable[[ProgressEvent], None], options: ResumeOptions) -> RunTerms:
    return RunTerms(
        model,
        options.get("no_sandbox", False),
        (ProgressCallback(on_progress), *options.get("watchers", ())),
        alert=lambda text: on_progress(WorkNotice(text)),
        mode=options.get("mode", ""),
        baseline=options.get("baseline", ""),
        cancellations=tuple(options.get("cancellations", ())),
    )


def _run_to_result(project: Project, task: str, terms: RunTerms, on_progress: ProgressListener) -> RunResult:
    state = run_task(project, task, terms)
    assert state, "a named task is claimed or refused"
    if text := apply_if_wanted(project, state):
        on_progress(WorkNotice(text))
        state = project.store.load(task)
    return read_run_result(project, state)


def refuse_wrong_options(options: Mapping[str, Any], known: frozenset[str]) -> None:
    """Raise TypeError for a name that no option has, and BadInput for a value that it can't have."""
    if unknown := sorted(options.keys() - known):
        raise TypeError(f"no such option: {unknown[0]}; options: {', '.join(sorted(known))}")
    for name, choices in CHOICES_BY_OPTION.items():
        if options.get(name) and options[name] not in choices:
            raise BadInput(f"{name}={options[name]!r} is not known", next=f"use one of {', '.join(choices)}", safe=NOTHING_DONE)
    for name in ("budget", "max_budget", "max_steps"):
        if name in options and options[name] < 1:
            raise BadInput(f"{name}={options[name]} is too small", next="use 1 or more", safe=NOTHING_DONE)


def list_strings(text: str | Sequence[str]) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else tuple(text)
