"""Composition root: the only module that connects the pure rooms with their implementations."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from threading import Event

from afresh.actions.tools.registry import TOOLS
from afresh.app.code.project_profile import ProfileCache, find_missing_linters
from afresh.app.configure_compaction import configure_compaction
from afresh.app.dialogue.allow_network import load_standing_permissions
from afresh.app.dialogue.answer_mailbox import announce_end
from afresh.app.evolve.task_policy import choose_task_policy, watch_task_policy
from afresh.app.inspect.trace_task import trace_task
from afresh.app.mcp_servers import add_tools_to_run, open_task_tools
from afresh.app.memory.learn_lessons import draft_from_unfinished_task, learn_from_ended_tasks, open_lesson_library
from afresh.app.open_workspace import make_mounts, open_workspace
from afresh.app.orders.check_order import choose_model_spec, make_no_model_error, refuse_offline_type
from afresh.app.orders.check_task_limits import refuse_large_ceiling
from afresh.app.orders.tasks import block_task
from afresh.app.project import Project
from afresh.app.queue.hold_task import obey_request
from afresh.app.queue.read_tasks import SystemClock
from afresh.app.queue.retry_later import record_passing_fault
from afresh.app.run_subtask import PartRunner
from afresh.app.spending.context_alarm import ContextAlarm, compact_after_large_calls
from afresh.app.spending.read_spending import find_cache_rates
from afresh.app.spending.spending_ledger import PersonWithLimits, ask_about_limit, describe_unpriced_limits, open_run_ledger
from afresh.code.code_insight import CodeInsight
from afresh.config.templates.load_template import load_call_template, load_template
from afresh.core.network_access import FILTERING_LEVEL
from afresh.core.progress_event import TestsFinished
from afresh.core.spending import CallPurpose
from afresh.core.state import State
from afresh.core.states.supervision_state import AUTONOMOUS_MODE
from afresh.core.task import TaskStatus, TicketOrder, TicketQuery
from afresh.core.token_calibration import TokenCalibration, find_calibration
from afresh.core.tokens import EstimatingCounter
from afresh.errors import BadInstructions, NeedsPerson, OverCeiling, OverLimit, StopRequested, blame_model
from afresh.loop import advance_task
from afresh.models.call import MAX_REPLY_RETRIES, SideCall
from afresh.models.choose_model import (
    find_context_window,
    find_framing_tokens,
    find_retry_count,
    is_provider,
    make_model,
    spec_for_part,
)
from afresh.models.model_settings import ModelSettings
from afresh.outputs.count_finished_tests import FinishedTestCounter, FinishedTests
from afresh.policy.human_supervision import put_open_question
from afresh.policy.questions import ask_about_instructions, ask_about_token_limit
from afresh.ports.model import Model
from afresh.ports.watch import Watcher
from afresh.runtime import CallSettings, Cancellation, Knowledge, RunControl, Runtime, Supervisor
from afresh.sandbox.choose_level import choose_sandbox
from afresh.sandbox.escape_probe import AnySandbox
from afresh.sandbox.process import OutputListener, listen_to_nothing
from afresh.storage.renew_lease import identify_worker, renew_lease_in_background
from afresh.storage.sqlite.code_index import SqliteCodeIndex
from afresh.workspace.commit_history import GitCommitHistory, read_commit_history
from afresh.workspace.repository import Repository
from afresh.workspace.transfer import unpack_work
from afresh.workspace.worktree import GitWorkspace


@dataclass(frozen=True, slots=True)
class RunTerms:
    """The user's choices for one run."""

    model: str = ""
    no_sandbox: bool = False
    watchers: tuple[Watcher, ...] = ()
    alert: Callable[[str], None] = lambda text: None
    """Called when a spending limit is nearly reached, or prompts are large."""
    mode: str = ""
    baseline: str = ""
    """How often each check runs before the first change."""
    person: Supervisor | None = None
    cancellations: tuple[Cancellation, ...] = ()
    """Sources that can stop the run from outside."""
    at_most: int | None = None
    """Steps after which the task goes back to the queue; None: as many as it takes."""
    unattended: bool = False
    """Nobody waits for this task: if the model that it names can't be used, it is tried again later."""
    thread: str = ""
    """The name of the thread that works, in a process that runs several tasks."""

    @property
    def worker(self) -> str:
        return self.thread or identify_worker()

    def check_cancelled(self) -> None:
        for one in self.cancellations:
            one.check()


def run_task(project: Project, task: str | None, terms: RunTerms) -> State | None:
    """Claim a task (by default the next ready one) and advance it as far as possible. Returns None if no task is ready."""
    worker = terms.worker
    claimed = project.queue.claim(worker, task)
    if claimed is None:
        if said := watch_task_policy(project, None):
            terms.alert(said)
        return None
    try:
        learn_from_ended_tasks(project)
        with (
            renew_lease_in_background(project.queue, worker, claimed) as lease,
            trace_task(project, claimed, terms.alert) as tracers,
            record_passing_fault(project, claimed, own_model=(terms.unattended or not task) and not terms.model),
        ):
            lease.check()  # a request to pause or cancel may be older than this worker
            alarm = ContextAlarm(project.settings.alerts, terms.alert)
            seen, stops = (*terms.watchers, *tracers, alarm), (*terms.cancellations, lease)
            state = advance_or_block(project, claimed, replace(terms, watchers=seen, cancellations=stops))
            announce_end(choose_task_model(project, state, terms), project.settings.models, state)
        if said := watch_task_policy(project, claimed):
            terms.alert(said)
        return state
    except StopRequested as wish:
        return obey_request(project, claimed, wish.request)
    except NeedsPerson as fault:
        fault.safe = "; ".join(part for part in (fault.safe, f"task {claimed} and its work are kept") if part)
        if "afresh resume" not in fault.next:
            fault.next = "; then ".join(part for part in (fault.next, f"`afresh resume {claimed}` continues") if part)
        raise
    finally:
        draft_from_unfinished_task(project, claimed)
        project.queue.release(worker, claimed)


def advance_or_block(project: Project, task: str, terms: RunTerms) -> State:
    """Advance the task as far as possible. If a prompt cannot fit, block the task with a question."""
    try:
        state = project.store.load(task)
        with (
            project.view_writer.writing(task),
            open_task_tools(project.settings, state.task.tools, terms.alert) as tools,
        ):
            runtime = add_tools_to_run(build_runtime(project, state, terms), tools)
            return advance_within_limits(project, task, runtime, terms)
    except OverCeiling as fault:
        state = project.store.load(task)
        window = find_context_window(choose_task_model(project, state, terms), project.settings.models)
        return block_task(project, task, ask_about_token_limit(fault, state.task, window))
    except BadInstructions as fault:
        reason = f"{fault.what} ({fault.next}). Fix the file and answer; then it goes on"
        return block_task(project, task, ask_about_instructions(reason))


def advance_within_limits(project: Project, task: str, runtime: Runtime, terms: RunTerms) -> State:
    """Advance the task. At a spending limit of its own it asks whoever is there, and goes on. For a part the parent asks."""
    while True:
        try:
            advance_task(task, terms.worker, runtime, terms.at_most)
            learn_from_ended_tasks(project, make_lesson_wording(project, runtime, project.store.load(task)), task)
            return project.store.load(task)
        except OverLimit as fault:
            if project.store.load(task).task.parent or not (question := ask_about_limit(task, fault)):
                raise
            state = put_open_question(block_task(project, task, question, fault.what), terms.worker, runtime)
            if not state.is_running:
                return state


def build_runtime(project: Project, state: State, terms: RunTerms) -> Runtime:
    task, clock, spec = state.task, SystemClock(), choose_task_model(project, state, terms)
    counter = EstimatingCounter(framing=find_framing_tokens(spec, project.settings.models))
    repository, start = Repository.find(project.paths.root), state.workspace.start
    for needed in filter(None, (start.follows, task.id)):  # an imported task brings the commit that one begins with
        unpack_work(repository, needed)
    workspace = open_workspace(project, repository, state, terms.check_cancelled)
    model = open_task_model(project, state, spec, counter, terms)
    if not task.parent and (unpriced := describe_unpriced_limits(project, spec)):
        terms.alert(unpriced)
    known = open_code_insight(project, task.id, repository, terms.check_cancelled)
    # the user supervises the whole task, not its subtasks, and these end with the step that began them
    alone = replace(terms, mode=AUTONOMOUS_MODE, person=None, at_most=None)
    stop = Event()
    parts = PartRunner(project, workspace, known, lambda part: advance_or_block(project, part, alone)) if task.parts else None
    return Runtime(
        model=model,
        store=project.store,
        workspace=workspace,
        files=workspace.files,
        sandbox=replace(follow_tests(open_task_sandbox(project, workspace, terms.no_sandbox), terms.watchers), ended_by=stop),
        code=known,
        clock=clock,
        settings=configure_calls(project, state, spec, model.name, counter, terms),
        ledger=open_run_ledger(project, spec, terms.alert, terms.worker),
        knowledge=Knowledge(
            facts=project.facts,
            instructions=project.instructions,
            lessons=open_lesson_library(project, workspace.root),
            git_history=GitCommitHistory(repository),
        ),
        control=RunControl(
            watchers=(project.facts, project.view_writer, *terms.watchers),
            person=PersonWithLimits(project, terms.person) if terms.person else None,
            cancellations=terms.cancellations,
            stop_command=stop,
            linters=project.settings.linters,
            permissions=load_standing_permissions(project),
            delegate=parts,
        ),
    )


def open_task_model(project: Project, state: State, spec: str, counter: EstimatingCounter, terms: RunTerms) -> Model:
    settings = ModelSettings(count=counter, named=project.settings.models, check_cancelled=terms.check_cancelled)
    model = make_model(spec, state.spending.calls, replace(settings, task=state.task.id, reviews=state.spending.reviews))
    refuse_large_ceiling(state.task.budget, model.window)
    return model


def configure_calls(
    project: Project, state: State, spec: str, model: str, counter: EstimatingCounter, terms: RunTerms
) -> CallSettings:
    retries = find_retry_count(spec, project.settings.models)
    return CallSettings(
        template=compact_after_large_calls(load_template(state.task.type, project.templates), project.settings.alerts),
        tools=TOOLS,
        counter=counter,
        policy=choose_task_policy(project, state.task.parent or state.task.id),
        calibration=load_calibration(project, model, state.task.id),
        cache=find_cache_rates(model),
        compaction=configure_compaction(project, spec),
        stall=project.settings.no_progress,
        retries=MAX_REPLY_RETRIES if retries is None else min(retries, MAX_REPLY_RETRIES),
        native=is_provider(spec, project.settings.models),
        mode=terms.mode or ("" if state.dialogue.supervision.mode else project.settings.mode),
        baseline=terms.baseline,
    )


def open_task_sandbox(project: Project, workspace: GitWorkspace, allow_none: bool) -> AnySandbox:
    """Open the strongest sandbox that works on this machine, with the task's worktree mounted."""
    repository = workspace.repository
    mounts = replace(make_mounts(repository, workspace.root, project.settings), marker=workspace.marker)
    sandbox = choose_sandbox(mounts, allow_none=allow_none, cache=project.paths.make_state() / "sandbox-probe")
    if sandbox.level == FILTERING_LEVEL:
        sandbox = replace(sandbox, mounts=replace(mounts, own=workspace.environments))

    def listen(command: str) -> OutputListener:
        workspace.expect_changes()
        return listen_to_nothing(command)

    return replace(sandbox, listen=listen)


def follow_tests(sandbox: AnySandbox, watchers: tuple[Watcher, ...]) -> AnySandbox:
    """Return the sandbox with watchers that are told how many tests a command has finished."""

    def report(found: FinishedTests) -> None:
        for watcher in watchers:
            watcher.follow(TestsFinished(found.done, found.total, found.percent))

    def listen(command: str) -> OutputListener:
        sandbox.listen(command)
        return FinishedTestCounter(report)

    return replace(sandbox, listen=listen)


def open_code_insight(project: Project, tree: str, repository: Repository, check_cancelled: Callable[[], None]) -> CodeInsight:
    """Open code analysis for a tree. Its caches (code index, commit history, fingerprint) are kept next to the state and may
    be deleted."""
    state = project.paths.state
    told = cache(lambda base: read_commit_history(repository.git, base, state))
    kept, missing = ProfileCache(state / "projects.json"), find_missing_linters(repository)
    insight = CodeInsight(SqliteCodeIndex(state / "code.db"), tree, told, kept, missing)
    insight.check_cancelled = check_cancelled
    return insight


def make_lesson_wording(project: Project, runtime: Runtime, state: State) -> SideCall | None:
    """Return the optional paid call that words a lesson, if the user's settings allow it."""
    if not project.settings.knowledge.model_wording:
        return None
    return SideCall(
        runtime.gate,
        load_call_template("lesson", project.templates),
        runtime.settings.counter,
        CallPurpose.MEMORY,
        state.task,
        state.work.step,
    )


@blame_model()
def choose_task_model(project: Project, state: State, terms: RunTerms) -> str:
    """Return the model of this run: from the options, the task or the user's settings."""
    chosen = terms.model or choose_model_spec(state.task, project.settings.model)
    if not chosen:
        raise make_no_model_error(f"task {state.task.id} is kept", f"; then `afresh resume {state.task.id}`")
    refuse_offline_type(chosen, state.task)
    return spec_for_part(chosen, state.task.id.removeprefix(f"{state.task.parent}-")) if state.task.parent else chosen


MAX_TASKS_READ = 5
"""How many of the newest tasks are searched for a calibration. If none used the model, it is measured again."""


def load_calibration(project: Project, model: str, task: str) -> TokenCalibration:
    begun = tuple(status for status in TaskStatus if status is not TaskStatus.READY)
    newest = project.queue.tickets(TicketQuery(begun, order=TicketOrder.NEWEST, most=MAX_TASKS_READ + 1))
    others = [ticket.task for ticket in newest if ticket.task != task][:MAX_TASKS_READ][::-1]
    states = sorted(map(project.store.load, others), key=lambda state: state.times.updated, reverse=True)
    return next(
        (meter for state in states if (meter := find_calibration(state.tokens.calibrations, model)).samples),
        TokenCalibration(model),
    )
