"""Runs a heartbeat: compares the output of each item with the last one, and asks a model only about what has changed."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from afresh.app.dialogue.allow_network import load_standing_permissions
from afresh.app.heartbeat.heartbeat_call import HeartbeatCaller, ask_about_change, open_heartbeat_caller, read_announcement
from afresh.app.heartbeat.heartbeat_state import load_heartbeat_state
from afresh.app.open_workspace import make_mounts
from afresh.app.project import Project
from afresh.config.heartbeat_file import load_heartbeat_plan
from afresh.core.heartbeat import (
    HeartbeatBegan,
    HeartbeatEnded,
    HeartbeatItem,
    HeartbeatPaused,
    HeartbeatPlan,
    HeartbeatState,
    ItemCheck,
    ItemState,
)
from afresh.core.network_access import find_network_access
from afresh.core.redaction import redact_secrets
from afresh.core.task import TaskStatus, TicketQuery
from afresh.core.truncate import to_one_line, truncate_middle
from afresh.errors import AfreshError, BadInput
from afresh.sandbox.choose_level import choose_sandbox
from afresh.sandbox.escape_probe import AnySandbox
from afresh.storage.renew_lease import identify_worker, is_worker_dead
from afresh.workspace.environment_files import make_head_tree
from afresh.workspace.git import find_author_name
from afresh.workspace.repository import Repository

RUN_SECONDS = 60.0
"""Of a run: after them no command runs and no call begins. What it leaves out comes first in the next run."""
HOLD_SECONDS = 600.0
"""After which a run on another machine is taken for dead; on this one its process is asked."""
MAX_OUTPUT_CHARACTERS = 20_000
COMMITS_SHOWN = 20
NO_TIME_LEFT = f"not checked: the {RUN_SECONDS:.0f} seconds of the run were over"


@dataclass(frozen=True, slots=True)
class HeartbeatTerms:
    """How a heartbeat is run."""

    open_caller: Callable[[Project, HeartbeatPlan, Callable[[str], None]], HeartbeatCaller] = open_heartbeat_caller
    announce: Callable[[HeartbeatItem, ItemCheck], None] = lambda item, check: None
    """Called for each announcement, after it was recorded."""
    alert: Callable[[str], None] = lambda text: None
    """Called when a spending limit is nearly reached."""
    only_when_due: bool = False
    """Run nothing outside of the active hours, or before the interval is over."""


@dataclass(frozen=True, slots=True)
class HeartbeatResult:
    checks: tuple[ItemCheck, ...] = ()
    skipped: str = ""
    """Why nothing was run."""

    @property
    def changed(self) -> tuple[ItemCheck, ...]:
        return tuple(check for check in self.checks if check.changed)


def require_heartbeat_plan(project: Project) -> HeartbeatPlan:
    plan = load_heartbeat_plan(project.paths.folder)
    if plan is None or not plan.items:
        what = f"{'no checklist' if plan is None else 'the checklist has no items'}: .afresh/HEARTBEAT.md"
        raise BadInput(what, next="write items such as: - tests still pass: `python -m pytest -q`", safe="nothing was run")
    return plan


def run_heartbeat(project: Project, terms: HeartbeatTerms) -> HeartbeatResult:
    """Check all items once, unless it is paused, not due, or running already."""
    plan = require_heartbeat_plan(project)
    state = claim_heartbeat(project, plan, terms.only_when_due)
    if isinstance(state, str):
        return HeartbeatResult(skipped=state)
    checks, note = list[ItemCheck](), "ended early"
    try:
        for check in check_items(project, plan, state, terms):
            checks.append(check)
        note = ""
    except AfreshError as fault:
        note = to_one_line(str(fault), 200)
        raise
    finally:
        project.notebook.append([HeartbeatEnded(project.clock.now(), tuple(checks), note)])
    items = {item.key: item for item in plan.items}
    for check in checks:
        if check.announcement:
            terms.announce(items[check.item], check)
    return HeartbeatResult(tuple(checks))


def claim_heartbeat(project: Project, plan: HeartbeatPlan, only_when_due: bool) -> HeartbeatState | str:
    """Record that a run begins, and return the state before it; or why none may begin. One commit: of two processes only one
    can have it."""
    now = project.clock.now()
    with project.storage.transaction():
        state = load_heartbeat_state(project)
        if why := find_reason_to_skip(project, plan, state, only_when_due):
            return why
        project.notebook.append([HeartbeatBegan(identify_worker(), now)])
    return state


def find_reason_to_skip(project: Project, plan: HeartbeatPlan, state: HeartbeatState, only_when_due: bool) -> str:
    now = project.clock.now()
    if state.paused:
        return "paused; `afresh schedule pause --off` goes on"
    if state.worker and not is_run_dead(state, now):
        return "another run is under way"
    if only_when_due and 0 <= now - state.ran < plan.every:
        return "not due yet"
    local = time.localtime(now)
    if only_when_due and not plan.is_active(local.tm_hour * 60 + local.tm_min):
        return "outside of the active hours"
    if plan.skip_when_busy and any(ticket.owner for ticket in project.queue.tickets(TicketQuery(statuses=(TaskStatus.RUNNING,)))):
        return "a task is running"
    return ""


def is_run_dead(state: HeartbeatState, now: float) -> bool:
    """A living process of this machine keeps its run, whatever the clock says."""
    if is_worker_dead(state.worker):
        return True
    here = identify_worker().rsplit(":", 2)[0] == state.worker.rsplit(":", 2)[0]
    return not here and now - state.began > HOLD_SECONDS


def check_items(project: Project, plan: HeartbeatPlan, state: HeartbeatState, terms: HeartbeatTerms) -> Iterator[ItemCheck]:
    """Check those first that were not checked for longest."""
    order = sorted(plan.items, key=lambda item: state.items.get(item.key, ItemState()).checked)
    with ExitStack() as ends:
        runner = ItemRunner(project, ends)
        judge = ChangeJudge(project, plan, terms)
        for item in order:
            yield check_item(item, state.items.get(item.key, ItemState()), runner, judge)


def check_item(item: HeartbeatItem, known: ItemState, runner: "ItemRunner", judge: "ChangeJudge") -> ItemCheck:
    output, note = runner.read_output(item)
    check = ItemCheck(item.key, item.text, note=note)
    if note or output == known.output:
        return check
    if known.output is None:
        return replace(check, output=output, note="first run: this output is what the next ones are compared with")
    if runner.count_seconds_left() <= 0:
        return replace(check, note=NO_TIME_LEFT)
    return judge.judge(item, known.output, output, replace(check, changed=True))


@dataclass(slots=True)
class ItemRunner:
    """Runs the commands of one run in a fresh tree of HEAD, which is made when the first one needs it."""

    project: Project
    ends: ExitStack
    deadline: float = field(default_factory=lambda: time.monotonic() + RUN_SECONDS)
    sandbox: AnySandbox | None = None

    def count_seconds_left(self) -> float:
        return self.deadline - time.monotonic()

    def read_output(self, item: HeartbeatItem) -> tuple[str, str]:
        """The output, bounded and without secrets; or why there is none that can be compared."""
        if not item.command:
            return read_latest_commits(self.project), ""
        if (left := self.count_seconds_left()) <= 0:
            return "", NO_TIME_LEFT
        if self.sandbox is None:
            self.sandbox = self.ends.enter_context(open_head_sandbox(self.project))
        access = find_network_access(load_standing_permissions(self.project), item.command)
        done = self.sandbox.run(item.command, left, network=access)
        if done.timed_out:
            return "", f"stopped after {RUN_SECONDS:.0f} seconds"
        shown = redact_secrets(f"{done.output.rstrip()}\nexit {done.exit}".lstrip("\n"))
        return truncate_middle(shown, MAX_OUTPUT_CHARACTERS, lambda gone: f"… {gone:,} characters left out …"), ""


@contextmanager
def open_head_sandbox(project: Project) -> Iterator[AnySandbox]:
    repository = Repository.find(project.paths.root)
    with make_head_tree(repository, project.settings.copy) as tree:
        mounts = make_mounts(repository, tree, project.settings)
        yield choose_sandbox(mounts, cache=project.paths.make_state() / "sandbox-probe")


def read_latest_commits(project: Project) -> str:
    git = Repository.find(project.paths.root).git
    return redact_secrets(git.ask("log", f"-{COMMITS_SHOWN}", "--format=%h %s", "HEAD"))


@dataclass(slots=True)
class ChangeJudge:
    """Asks the model about changes. It is opened for the first one, and so never if nothing has changed."""

    project: Project
    plan: HeartbeatPlan
    terms: HeartbeatTerms
    caller: HeartbeatCaller | None = None

    def judge(self, item: HeartbeatItem, before: str, after: str, check: ItemCheck) -> ItemCheck:
        """The check with the model's answer. Without one the old output stays, so that the next run asks again."""
        try:
            if self.caller is None:
                self.caller = self.terms.open_caller(self.project, self.plan, self.terms.alert)
            reply = ask_about_change(item, before, after, self.caller)
        except AfreshError as fault:
            return replace(check, note=to_one_line(f"changed, but no model could be asked: {fault}", 300))
        return replace(
            check, output=after, announcement=read_announcement(reply.thought), tokens=reply.usage.tokens, cost=reply.cost
        )


def pause_heartbeat(project: Project, paused: bool) -> None:
    project.notebook.append([HeartbeatPaused(paused, find_author_name(project.paths.root))])


def list_heartbeat_items(project: Project) -> Sequence[tuple[HeartbeatItem, ItemState]]:
    """The items of the checklist, if there is one, each with what is known of it."""
    state, plan = load_heartbeat_state(project), load_heartbeat_plan(project.paths.folder)
    return [(item, state.items.get(item.key, ItemState())) for item in plan.items] if plan else []
