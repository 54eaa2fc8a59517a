"""The composition root: the only place where engine and adapters meet."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from afresh.adapters.hooks import CommandHook
from afresh.adapters.models import is_provider, known_framing, known_retries, make_model, part_of
from afresh.adapters.models.settings import Settings as ModelSettings
from afresh.adapters.queue.keep import keep
from afresh.adapters.queue.worker import worker_id
from afresh.adapters.sandbox import Mounts, choose, require_own_tree
from afresh.adapters.store.code import SqliteCode
from afresh.adapters.templates import call_template, template
from afresh.adapters.time import SystemClock
from afresh.adapters.tools import TOOLS
from afresh.adapters.workspace.environment import environment_folders
from afresh.adapters.workspace.history import history
from afresh.adapters.workspace.moved import unpack
from afresh.adapters.workspace.part import Origin
from afresh.adapters.workspace.past import GitPast
from afresh.adapters.workspace.repository import Repository
from afresh.adapters.workspace.worktree import GitWorkspace
from afresh.app.acceptance import refuse_large
from afresh.app.books import books_for, spent_up
from afresh.app.calibration import learnt
from afresh.app.delegates import Delegates
from afresh.app.fingerprint import Kept
from afresh.app.knowledge import library, settle
from afresh.app.tasks import Desk, block
from afresh.domain.attended import AUTONOMOUS
from afresh.domain.spend import Kind
from afresh.domain.state import State
from afresh.domain.task import Task
from afresh.engine.agent import Agent, Upkeep
from afresh.engine.buy import BROKEN_OFF
from afresh.engine.compaction.written import Ask
from afresh.engine.loop import work_on
from afresh.engine.person import Person
from afresh.engine.tokens import Counter
from afresh.errors import BadInput, BadInstructions, OverCeiling, OverLimit
from afresh.insight.python import PythonInsight
from afresh.ports import Sandbox, Watcher


@dataclass(frozen=True, slots=True)
class Terms:
    """How the user wants a run to go."""

    model: str = ""
    no_sandbox: bool = False
    watchers: tuple[Watcher, ...] = ()
    alert: Callable[[str], None] = lambda text: None
    """Told when a limit of spending is nearly used up."""
    mode: str = ""
    person: Person | None = None


def work(desk: Desk, task: str | None, terms: Terms) -> State | None:
    """Claim a task (the next ready one if none is named) and take it as far as it will go. None when nothing is ready."""
    worker = worker_id()
    claimed = desk.queue.claim(worker, task)
    if claimed is None:
        return None
    try:
        settle(desk)
        with keep(desk.queue, worker, claimed):
            return attempt(desk, claimed, terms)
    finally:
        desk.queue.release(worker, claimed)


def attempt(desk: Desk, task: str, terms: Terms) -> State:
    """As far as it will go. What no window can hold is for a person."""
    try:
        agent = agent_for(desk, desk.store.load(task), terms)
        work_on(task, worker_id(), agent)
        settle(desk, wording(desk, agent, desk.store.load(task)), task)
        return desk.store.load(task)
    except OverCeiling as fault:
        return block(desk, task, str(fault))
    except OverLimit as fault:
        question = spent_up(desk, fault)
        if not question or desk.store.load(task).task.parent:  # its parent pays, so its parent asks
            raise
        return block(desk, task, fault.what, question)
    except BadInstructions as fault:
        return block(desk, task, f"{fault.what} ({fault.next}). Mend the file and answer; then it goes on")


def agent_for(desk: Desk, state: State, terms: Terms) -> Agent:
    task, clock, spec = state.task, SystemClock(), which_model(desk, state, terms)
    counter = Counter(framing=known_framing(spec, desk.settings.models))
    repository = Repository.find(desk.project.root)
    unpack(repository, task.id)
    workspace = GitWorkspace(repository, task.id, clock, origin(desk, task))
    model = make_model(spec, state.calls, ModelSettings(count=counter, named=desk.settings.models, task=task.id))
    refuse_large(task.budget, model.window)
    known = insight(desk, task.id, repository)
    alone = replace(terms, mode=AUTONOMOUS, person=None)  # a person follows the whole, not its parts
    return Agent(
        model=model,
        store=desk.store,
        workspace=workspace,
        files=workspace.files,
        sandbox=confined(desk, workspace, terms.no_sandbox),
        insight=known,
        tools=TOOLS,
        template=template(task.type, desk.templates),
        clock=clock,
        counter=counter,
        watchers=(desk.lore, desk.projections, *terms.watchers),
        learnt=learnt(desk, model.name, task.id),
        upkeep=upkeep(desk, spec),
        lore=desk.lore,
        instructions=desk.instructions,
        library=library(desk, workspace.root),
        past=GitPast(repository),
        ledger=books_for(desk, spec, terms.alert),
        patience=desk.settings.no_progress,
        mode=terms.mode or ("" if state.attendance.mode else desk.settings.mode),
        person=terms.person,
        delegates=Delegates(desk, workspace, known, lambda part: attempt(desk, part, alone)) if task.parts else None,
        retries=BROKEN_OFF if (told := known_retries(spec, desk.settings.models)) is None else min(told, BROKEN_OFF),
        native=is_provider(spec, desk.settings.models),
    )


def confined(desk: Desk, workspace: GitWorkspace, allow_none: bool) -> Sandbox:
    """The best that holds on this machine, with the task's own tree in it."""
    repository = workspace.repository
    mounts = Mounts(
        tree=workspace.root,
        at=repository.root,
        environments=environment_folders(repository),
        readable=tuple(Path(path).expanduser() for path in desk.settings.readable),
    )
    sandbox = choose(mounts, allow_none=allow_none, cache=desk.project.state / "sandbox-probe")
    if sandbox.root != repository.root:
        workspace.open()
        require_own_tree(sandbox, workspace.root)
    return sandbox


def origin(desk: Desk, task: Task) -> Origin | None:
    """A part begins with the tree that its parent had when it was handed out."""
    return Origin(task.parent, desk.store.load(task.parent).base, task.tree) if task.parent else None


def insight(desk: Desk, tree: str, repository: Repository) -> PythonInsight:
    """What it reads is kept beside the state, and may be lost: the index of code, the commits before a task, the fingerprint."""
    state = desk.project.state
    told = cache(lambda base: history(repository.git, base, state))
    return PythonInsight(SqliteCode(state / "code.db"), tree, told, Kept(state / "projects.json"))


def upkeep(desk: Desk, spec: str) -> Upkeep:
    """A provider's model sums up where rules have no room for all; others only if the user says so: a script, a mailbox and
    the offline policy have nobody who expects such a call."""
    said, hooks = desk.settings.compaction.model_summary, desk.settings.hooks
    hook = CommandHook(hooks.before_compaction, hooks.timeout) if hooks.before_compaction else None
    wanted = is_provider(spec, desk.settings.models) if said is None else said
    return Upkeep(hook, call_template("summary", desk.templates) if wanted else None, always=bool(said))


def wording(desk: Desk, agent: Agent, state: State) -> Ask | None:
    """A paid call that the work itself does not need: only if the user's own settings say so."""
    if not desk.settings.knowledge.model_wording:
        return None
    return Ask(agent.till, call_template("lesson", desk.templates), agent.counter, Kind.MEMORY, state.task, state.step)


def which_model(desk: Desk, state: State, terms: Terms) -> str:
    """As asked for now, as ordered with the task, as set by the user; fix_violation needs none."""
    chosen = terms.model or state.task.model or desk.settings.model or ("offline" if state.task.type == "fix_violation" else "")
    if not chosen:
        raise BadInput(
            "no model is set",
            next="`afresh models` shows what can be used: pass --model with one of these, or mailbox:DIR to answer by hand; "
            f"then `afresh resume {state.task.id}`",
            safe=f"task {state.task.id} is kept",
        )
    return part_of(chosen, state.task.id.removeprefix(f"{state.task.parent}-")) if state.task.parent else chosen
