"""Composition root: the only module that connects the pure rooms with their implementations."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from afresh.actions.tools.registry import TOOLS
from afresh.app.learn_lessons import draft_from_unfinished_task, learn_from_ended_tasks, open_lesson_library
from afresh.app.project import Project
from afresh.app.project_profile import ProfileCache, find_missing_linters
from afresh.app.read_spending import find_cache_rates
from afresh.app.read_tasks import SystemClock
from afresh.app.run_subtask import PartRunner
from afresh.app.spending_ledger import ask_about_limit, open_run_ledger
from afresh.app.tasks import block_task, refuse_large_ceiling
from afresh.code.code_insight import CodeInsight
from afresh.config.templates.load_template import load_call_template, load_template
from afresh.core.spending import CallPurpose
from afresh.core.state import State
from afresh.core.step_history import HookAnswer
from afresh.core.supervision_state import AUTONOMOUS_MODE
from afresh.core.task import Task, TaskStatus
from afresh.core.token_calibration import TokenCalibration, find_calibration
from afresh.core.tokens import EstimatingCounter
from afresh.core.truncate import to_one_line
from afresh.errors import BadInput, BadInstructions, OverCeiling, OverLimit
from afresh.loop import advance_task
from afresh.models.call import MAX_REPLY_RETRIES, SideCall
from afresh.models.choose_model import find_framing_tokens, find_retry_count, is_provider, make_model, spec_for_part
from afresh.models.model_settings import ModelSettings
from afresh.ports.watch import Watcher
from afresh.ports.workspace import Sandbox
from afresh.runtime import CallSettings, Cancellation, CompactionSettings, Knowledge, RunControl, Runtime, Supervisor
from afresh.sandbox.choose_level import choose_sandbox
from afresh.sandbox.import_origin import require_own_tree
from afresh.sandbox.mounts import Mounts
from afresh.storage.renew_lease import identify_worker, renew_lease_in_background
from afresh.storage.sqlite.code_index import SqliteCodeIndex
from afresh.workspace.commit_history import GitCommitHistory, read_commit_history
from afresh.workspace.environment_files import find_environment_folders
from afresh.workspace.repository import Repository
from afresh.workspace.transfer import unpack_work
from afresh.workspace.worktree import GitWorkspace, PartOrigin


@dataclass(frozen=True, slots=True)
class RunTerms:
    """The user's choices for one run."""

    model: str = ""
    no_sandbox: bool = False
    watchers: tuple[Watcher, ...] = ()
    alert: Callable[[str], None] = lambda text: None
    """Called when a spending limit is nearly reached."""
    mode: str = ""
    person: Supervisor | None = None
    cancellations: tuple[Cancellation, ...] = ()
    """Sources that can stop the run from outside."""


def run_task(project: Project, task: str | None, terms: RunTerms) -> State | None:
    """Claim a task (by default the next ready one) and advance it as far as possible. Returns None if no task is ready."""
    worker = identify_worker()
    claimed = project.queue.claim(worker, task)
    if claimed is None:
        return None
    try:
        learn_from_ended_tasks(project)
        with renew_lease_in_background(project.queue, worker, claimed) as lease:
            return advance_or_block(project, claimed, replace(terms, cancellations=(*terms.cancellations, lease)))
    finally:
        draft_from_unfinished_task(project, claimed)
        project.queue.release(worker, claimed)


def advance_or_block(project: Project, task: str, terms: RunTerms) -> State:
    """Advance the task as far as possible. If a prompt cannot fit, block the task with a question."""
    try:
        runtime = build_runtime(project, project.store.load(task), terms)
        advance_task(task, identify_worker(), runtime)
        learn_from_ended_tasks(project, make_lesson_wording(project, runtime, project.store.load(task)), task)
        return project.store.load(task)
    except OverCeiling as fault:
        return block_task(project, task, str(fault))
    except OverLimit as fault:
        question = ask_about_limit(project, fault)
        if not question or project.store.load(task).task.parent:  # the parent pays, so the parent asks
            raise
        return block_task(project, task, fault.what, question)
    except BadInstructions as fault:
        return block_task(project, task, f"{fault.what} ({fault.next}). Mend the file and answer; then it goes on")


def build_runtime(project: Project, state: State, terms: RunTerms) -> Runtime:
    task, clock, spec = state.task, SystemClock(), choose_task_model(project, state, terms)
    counter = EstimatingCounter(framing=find_framing_tokens(spec, project.settings.models))
    repository = Repository.find(project.paths.root)
    unpack_work(repository, task.id)
    workspace = GitWorkspace(repository, task.id, clock, find_part_origin(project, task))
    model = make_model(spec, state.spending.calls, ModelSettings(count=counter, named=project.settings.models, task=task.id))
    refuse_large_ceiling(task.budget, model.window)
    known = open_code_insight(project, task.id, repository)
    alone = replace(terms, mode=AUTONOMOUS_MODE, person=None)  # the user supervises the whole task, not its subtasks
    return Runtime(
        model=model,
        store=project.store,
        workspace=workspace,
        files=workspace.files,
        sandbox=open_task_sandbox(project, workspace, terms.no_sandbox),
        code=known,
        clock=clock,
        settings=configure_calls(project, state, spec, model.name, counter, terms),
        ledger=open_run_ledger(project, spec, terms.alert),
        knowledge=Knowledge(
            facts=project.facts,
            instructions=project.instructions,
            lessons=open_lesson_library(project, workspace.root),
            git_history=GitCommitHistory(repository),
        ),
        control=RunControl(
            watchers=(project.facts, project.view_writer, *terms.watchers),
            person=terms.person,
            cancellations=terms.cancellations,
            delegate=PartRunner(project, workspace, known, lambda part: advance_or_block(project, part, alone))
            if task.parts
            else None,
        ),
    )


def configure_calls(
    project: Project, state: State, spec: str, model: str, counter: EstimatingCounter, terms: RunTerms
) -> CallSettings:
    retries = find_retry_count(spec, project.settings.models)
    return CallSettings(
        template=load_template(state.task.type, project.templates),
        tools=TOOLS,
        counter=counter,
        calibration=load_calibration(project, model, state.task.id),
        cache=find_cache_rates(model),
        compaction=configure_compaction(project, spec),
        stall=project.settings.no_progress,
        retries=MAX_REPLY_RETRIES if retries is None else min(retries, MAX_REPLY_RETRIES),
        native=is_provider(spec, project.settings.models),
        mode=terms.mode or ("" if state.dialogue.supervision.mode else project.settings.mode),
    )


def open_task_sandbox(project: Project, workspace: GitWorkspace, allow_none: bool) -> Sandbox:
    """Open the strongest sandbox that works on this machine, with the task's worktree mounted."""
    repository = workspace.repository
    mounts = Mounts(
        tree=workspace.root,
        at=repository.root,
        environments=find_environment_folders(repository),
        readable=tuple(Path(path).expanduser() for path in project.settings.readable),
    )
    sandbox = choose_sandbox(mounts, allow_none=allow_none, cache=project.paths.state / "sandbox-probe")
    if sandbox.root != repository.root:
        workspace.open()
        require_own_tree(sandbox, workspace.root)
    return sandbox


def find_part_origin(project: Project, task: Task) -> PartOrigin | None:
    """Return the parent's tree at the time of the hand-out; a subtask starts from it."""
    return PartOrigin(task.parent, project.store.load(task.parent).workspace.base, task.tree) if task.parent else None


def open_code_insight(project: Project, tree: str, repository: Repository) -> CodeInsight:
    """Open code analysis for a tree. Its caches (code index, commit history, fingerprint) are kept next to the state and may
    be deleted."""
    state = project.paths.state
    told = cache(lambda base: read_commit_history(repository.git, base, state))
    kept, missing = ProfileCache(state / "projects.json"), find_missing_linters(repository)
    return CodeInsight(SqliteCodeIndex(state / "code.db"), tree, told, kept, missing)


def configure_compaction(project: Project, spec: str) -> CompactionSettings:
    """By default only a provider's model writes summaries, where the rules lack space; scripts, mailboxes and the offline
    policy do not expect such a call. The user's settings can change that."""
    said, hooks = project.settings.compaction.model_summary, project.settings.hooks
    hook = CommandHook(hooks.before_compaction, hooks.timeout) if hooks.before_compaction else None
    wanted = is_provider(spec, project.settings.models) if said is None else said
    return CompactionSettings(hook, load_call_template("summary", project.templates) if wanted else None, always=bool(said))


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


def choose_task_model(project: Project, state: State, terms: RunTerms) -> str:
    """Return the model of this run: from the options, the task or the user's settings; fix_violation needs none."""
    chosen = (
        terms.model or state.task.model or project.settings.model or ("offline" if state.task.type == "fix_violation" else "")
    )
    if not chosen:
        raise BadInput(
            "no model is set",
            next="`afresh models` shows what can be used: pass --model with one of these, or mailbox:DIR to answer by hand; "
            f"then `afresh resume {state.task.id}`",
            safe=f"task {state.task.id} is kept",
        )
    return spec_for_part(chosen, state.task.id.removeprefix(f"{state.task.parent}-")) if state.task.parent else chosen


MAX_TASKS_READ = 5
"""How many of the newest tasks are searched for a calibration. If none used the model, it is measured again."""


def load_calibration(project: Project, model: str, task: str) -> TokenCalibration:
    begun = [ticket.task for ticket in project.queue.tickets() if ticket.status is not TaskStatus.READY and ticket.task != task]
    states = sorted(map(project.store.load, begun[-MAX_TASKS_READ:]), key=lambda state: state.times.updated, reverse=True)
    return next(
        (meter for state in states if (meter := find_calibration(state.tokens.calibrations, model)).samples),
        TokenCalibration(model),
    )


SKIP_EXIT_CODE = 10
"""Exit code of a hook that skips the compaction."""


@dataclass(frozen=True, slots=True)
class CommandHook:
    """Runs the user's command with the question as JSON on standard input. Exit 0 allows, 10 skips; any other failure is
    ignored."""

    command: str
    timeout: float = 30.0

    def before_compaction(self, about: Mapping[str, Any]) -> HookAnswer:
        try:
            process = subprocess.Popen(
                ["/bin/sh", "-c", self.command],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,
            )
        except OSError as fault:
            return HookAnswer(True, f"the hook can't be run: {fault.strerror}")
        try:
            _, said = process.communicate(json.dumps(dict(about), ensure_ascii=False), self.timeout)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return HookAnswer(True, f"the hook took longer than {self.timeout:g} s and was stopped")
        if process.returncode in (0, SKIP_EXIT_CODE):
            return HookAnswer(process.returncode == 0)
        return HookAnswer(True, f"the hook ended with {process.returncode}: {to_one_line(said, 200)}".rstrip(": "))
