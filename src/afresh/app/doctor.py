"""Checks this machine and a project, and tests one model with a small call."""

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from afresh.app.code.explore_code import describe_missing_grammars
from afresh.app.list_models import SDK_PACKAGES, find_package_faults, list_configured_models, list_usable_providers
from afresh.app.orders.check_task_limits import USUAL_WINDOW_TOKENS
from afresh.app.project import Project, open_project
from afresh.app.queue.read_tasks import SystemClock
from afresh.app.settings import Settings, load_user_settings
from afresh.app.spending.spending_ledger import OpenLedger, open_ledger_at
from afresh.app.stored_state.lost_state import describe_copy, explain_empty_store
from afresh.config.settings_file import find_user_config
from afresh.core.network_access import FILTERING_LEVEL, NETWORK_NEEDS_BUBBLEWRAP
from afresh.core.progress_event import ProgressEvent, ReplyStreamed
from afresh.core.prompt import Request, ToolSchema
from afresh.core.reply import Reply
from afresh.core.spending import CallBooking, CallPurpose
from afresh.core.states.ceiling_state import MODEL_WINDOW_DIVISOR
from afresh.core.text import format_count
from afresh.core.tokens import EstimatingCounter
from afresh.core.truncate import to_one_line
from afresh.errors import WAY_BACK, AfreshError, BadInput, NeedsPerson, TryAgain, suggest_reinstall
from afresh.models.call import ModelGate, call_model
from afresh.models.choose_model import OFFLINE_SPEC, choose_model, find_framing_tokens, is_paid, make_model
from afresh.models.model_settings import ModelSettings
from afresh.ports.model import Model
from afresh.sandbox.choose_level import describe_bubblewrap_steps, describe_remedies
from afresh.sandbox.escape_probe import probe_level
from afresh.sandbox.landlock import WEAKER
from afresh.sandbox.network_probe import probe_network
from afresh.spending.ledger import SpendingLedger, SpendingTerms
from afresh.spending.price_list import FreePrices, Price, PriceTable
from afresh.storage.choose_storage import describe_store
from afresh.storage.renew_lease import identify_worker
from afresh.workspace.checkout_files import CheckoutFiles
from afresh.workspace.git import find_git, read_git_version
from afresh.workspace.repository import Repository
from afresh.workspace.worktree_location import find_worktrees_folder, is_outside_repository, list_stale_folders

HealthLevel = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class HealthFinding:
    name: str
    level: HealthLevel
    detail: str
    remedy: str = ""


def examine_everything(path: Path) -> Sequence[HealthFinding]:
    return [*examine_machine(), *examine_project(path)]


def examine_machine() -> Iterator[HealthFinding]:
    import sqlite3

    yield HealthFinding("python", "ok", sys.version.split()[0])
    yield HealthFinding("sqlite", "ok", sqlite3.sqlite_version)
    yield from examine_store()
    yield examine_git()
    yield examine_sandbox()
    yield examine_network()
    yield examine_packages()
    yield examine_models()


def examine_packages() -> HealthFinding:
    """Report packages that can't be imported; those of providers are failures."""
    faults = find_package_faults()
    if not faults:
        return HealthFinding("packages", "ok", "providers, prices and languages can be imported")
    level: HealthLevel = "fail" if any(package in faults for package in SDK_PACKAGES) else "warn"
    return HealthFinding("packages", level, "; ".join(faults.values()), suggest_reinstall())


def examine_models() -> HealthFinding:
    """Summarise `afresh models` in one line."""
    try:
        own = load_user_settings()
        names, providers = list_configured_models(own), list_usable_providers(own)
    except NeedsPerson as fault:
        return HealthFinding("models", "fail", fault.what, fault.next)
    if wrong := [model for model in names if model.problem]:
        return HealthFinding("models", "warn", f"{wrong[0].name} can't be used: {wrong[0].problem}", "afresh models")
    if names:
        return HealthFinding("models", "ok", f"configured: {', '.join(model.name for model in names)}")
    if found := [provider for provider in providers if provider.key]:
        return HealthFinding("models", "ok", ", ".join(f"{provider.title} (key: {provider.key})" for provider in found))
    return HealthFinding("models", "warn", "no API key: only local models, offline and mailbox", "afresh setup")


def examine_git() -> HealthFinding:
    try:
        return HealthFinding("git", "ok", f"{'.'.join(map(str, read_git_version()))} ({find_git()})")
    except AfreshError as fault:
        return HealthFinding("git", "fail", str(fault), getattr(fault, "next", ""))


def examine_sandbox() -> HealthFinding:
    """Report the strongest sandbox level that withstood real escape attempts."""
    why: list[str] = []
    for level in ("bubblewrap", "landlock"):
        result = probe_level(level)
        if result.holds:
            weaker = f". Weaker than bubblewrap: {WEAKER}" if level == "landlock" else ""
            return HealthFinding("sandbox", "ok", f"{level}: all {len(result.checks)} escape attempts were blocked{weaker}")
        why.append(f"{level}: {result.why_not}")
    return HealthFinding("sandbox", "fail", "; ".join(why), describe_remedies())


def examine_network() -> HealthFinding:
    """Report whether the network can be opened for single commands."""
    if not (probe := probe_level(FILTERING_LEVEL)).holds:
        remedy = describe_bubblewrap_steps() or f"bubblewrap does not hold: {probe.why_not}"
        return HealthFinding("network", "warn", f"stays closed: {NETWORK_NEEDS_BUBBLEWRAP}", remedy)
    result = probe_network()
    if result.holds:
        return HealthFinding("network", "ok", f"on demand: all {len(result.checks) - 1} attempts to reach more were blocked")
    return HealthFinding("network", "fail", f"allow none: {result.why_not}", "report it, with the output of `afresh doctor`")


def examine_project(path: Path) -> Iterator[HealthFinding]:
    try:
        project = open_project(path)
    except NeedsPerson as fault:
        yield HealthFinding("project", "warn", fault.what, fault.next)
        return
    yield HealthFinding("project", "ok", str(project.paths.root))
    if unread := describe_missing_grammars(CheckoutFiles(project.paths.root).paths()):
        yield HealthFinding("languages", "warn", unread)
    try:
        yield from (journals := [*examine_journals(project)])
        if all(journal.level != "fail" for journal in journals):  # else the same fault would be met again
            yield from [HealthFinding("copy", *found) for found in describe_copy(project.storage, project.queue)]
        yield from examine_worktrees(project)
    except NeedsPerson as fault:
        yield HealthFinding("journals", "fail", fault.what, fault.next)


def examine_store() -> Iterator[HealthFinding]:
    """Name the server that keeps everything, if there is one."""
    try:
        if text := describe_store():
            yield HealthFinding("store", "ok", text)
    except NeedsPerson as fault:
        yield HealthFinding("store", "fail", fault.what, fault.next)


def examine_journals(project: Project) -> Iterator[HealthFinding]:
    """Verify the hash of every entry of every task."""
    tickets, entries, broken = project.queue.tickets(), 0, list[str]()
    for ticket in tickets:
        try:
            entries += sum(1 for _ in project.store.journal(ticket.task))
        except AfreshError as fault:
            broken.append(str(fault) if ticket.task in str(fault) else f"{ticket.task}: {fault}")
    if broken:
        yield HealthFinding("journals", "fail", "; ".join(broken), f"the other tasks are intact; {WAY_BACK}")
    elif (empty := explain_empty_store(project.queue, project.paths.folder / "export")) and empty.lost:
        yield HealthFinding("journals", "fail", empty.what, empty.next)
    elif empty and empty.next:
        yield HealthFinding("journals", "warn", "no tasks here, but there is an export", empty.next)
    else:
        yield HealthFinding("journals", "ok", f"{format_count(len(tickets), 'task')}, {entries:,} entries, all hashes match")


def examine_worktrees(project: Project) -> Iterator[HealthFinding]:
    """Report where the trees of tasks are if test runners may collect them, and those that nobody needs."""
    repository = Repository.find(project.paths.root)
    if not is_outside_repository(repository):
        yield HealthFinding(
            "worktrees", "warn",
            f"in {find_worktrees_folder(repository)}, since your data folder can't be written: test runners may collect them",
            "set HOME or XDG_DATA_HOME to a folder that you can write",
        )  # fmt: skip
    tasks = {ticket.task: not ticket.status.closed for ticket in project.queue.tickets()}
    for stale in list_stale_folders(repository, tasks):
        yield HealthFinding("worktrees", "warn", f"{stale.path} is not needed: {stale.why}", stale.remedy)


RESERVE_TOKENS = 600
WINDOW_REMEDY = "start it with more (Ollama: OLLAMA_CONTEXT_LENGTH=32768), as your memory allows, then afresh setup again"
TRIAL_RETRIES = 1
"""A person waits for the answer: what is wrong is said at once."""
EXPECTED_WORD = "afresh"
SAY_TOOL = ToolSchema(
    "say",
    "Say a word.",
    {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
)
TRIAL_REQUEST = Request(
    "You answer by calling the tool.",
    f"Call the tool `say` with the word {EXPECTED_WORD}. Nothing else.",
    (SAY_TOOL,),
    RESERVE_TOKENS,
)


@dataclass(frozen=True, slots=True)
class ModelTrial:
    """A test call that has not been made yet, with its worst-case cost."""

    model: Model
    tokens: int
    price: Price | None
    gate: ModelGate
    heard: list[ProgressEvent]
    label: str
    """The model, and the address of a server of the user's own."""
    project: str = ""
    is_window_assumed: bool = False
    """The settings say nothing of it, and it is a server that may be anything."""

    @property
    def worst(self) -> int | None:
        """Worst-case cost in nano-dollars; None if the price is unknown."""
        return self.price.worst(self.tokens, RESERVE_TOKENS) if self.price else None

    def find_given_window(self) -> int:
        """The context that the server has given the model for the call; 0: it does not say."""
        return getattr(self.model, "loaded_window", 0)


def find_needless_trial(name: str) -> Sequence[HealthFinding]:
    """What there is to say of rules that call nobody; nothing for a model."""
    return [HealthFinding("call", "ok", "the rules of fix_violation call no model")] if name == OFFLINE_SPEC else []


def prepare_model_trial(name: str, own: Settings, at: Path) -> ModelTrial:
    """Prepare a test call without sending it. Raises NeedsPerson if the key or the package is missing."""
    counter = EstimatingCounter(framing=find_framing_tokens(name, own.models))
    model = make_model(name, 0, ModelSettings(count=counter, named=own.models, task="check", retries=TRIAL_RETRIES))
    tokens, room = counter.whole(TRIAL_REQUEST), model.window // MODEL_WINDOW_DIVISOR
    if tokens + RESERVE_TOKENS > room:
        raise BadInput(
            f"a context window of {model.window:,} tokens leaves only {room:,} for a call, too few even for this one",
            next="set a larger window in [models.NAME], or use another model",
        )
    purse, heard = open_ledger_at(at), list[ProgressEvent]()
    paid = is_paid(name, own.models, own.prices)
    prices = PriceTable(own.prices) if paid else FreePrices()
    gate = ModelGate(model, open_trial_ledger(purse, own, prices, paid), heard.append)
    chosen = choose_model(name, own.models)
    address = chosen.table.base_url if chosen.table else ""
    label = f"{chosen.argument} at {address}" if address else chosen.spec
    assumed = bool(address) and chosen.kind in ("openai", "vllm") and not (chosen.table and chosen.table.window)
    return ModelTrial(model, tokens, prices.of(model.name), gate, heard, label, purse.account.project, assumed)


def open_trial_ledger(purse: OpenLedger, own: Settings, prices: PriceTable | FreePrices, paid: bool) -> SpendingLedger:
    """Open the ledger for the test call; it counts against limits like any other call."""
    config, worker = str(find_user_config()), identify_worker()
    terms = SpendingTerms(purse.account.project, prices, own.limits, not paid, config, worker, own.rate_limits)
    return SpendingLedger(purse.ledger, terms, SystemClock(), lambda text: None)


def run_model_trial(trial: ModelTrial) -> Sequence[HealthFinding]:
    """Make the test call and report the result. Only what a person has to fix is a failure."""
    began = time.monotonic()
    try:
        reply = call_model(TRIAL_REQUEST, _make_trial_booking(trial), trial.gate)
    except AfreshError as fault:
        waiting = (
            "try again later; for a server of your own, check that it runs and that the address is right"
            if isinstance(fault, TryAgain)
            else ""
        )
        return [HealthFinding("call", "fail", to_one_line(str(fault), 400), getattr(fault, "next", "") or waiting)]
    return [*_list_findings(trial, reply, time.monotonic() - began)]


def _make_trial_booking(trial: ModelTrial) -> CallBooking:
    return CallBooking(
        task="check",
        project=trial.project,
        kind=CallPurpose.CHECK,
        model=trial.model.name,
        tokens=trial.tokens,
        reserve=RESERVE_TOKENS,
        ceiling=trial.tokens + RESERVE_TOKENS,
        sections=(("check", trial.tokens),),
    )


def _list_findings(trial: ModelTrial, reply: Reply, seconds: float) -> Iterator[HealthFinding]:
    yield HealthFinding("call", "ok", f"{trial.label} answered in {seconds:.1f} s")
    if window := trial.find_given_window():
        remedy = "" if window >= USUAL_WINDOW_TOKENS else WINDOW_REMEDY
        about = f"the server gives it {window:,} tokens" + (f", and most tasks need {USUAL_WINDOW_TOKENS:,}" if remedy else "")
        yield HealthFinding("context", "warn" if remedy else "ok", about, remedy)
    elif trial.is_window_assumed:
        what = f"the server does not say how many tokens the model takes; {trial.model.window:,} are assumed"
        yield HealthFinding("context", "warn", what, "set `window` in its table [models.NAME] if it takes more or fewer")
    yield _check_tool_call(reply)
    pieces = sum(isinstance(event, ReplyStreamed) for event in trial.heard)
    streamed = f"the reply came in {pieces} pieces" if pieces > 1 else "the reply came in one piece: no progress while you wait"
    yield HealthFinding("streaming", "ok" if pieces > 1 else "warn", streamed)
    used = f"{reply.usage.input:,} tokens in, {reply.usage.output:,} out"
    if reply.counted:
        yield HealthFinding("usage", "ok", f"{used}; afresh expected {trial.tokens:,} in")
    else:
        yield HealthFinding(
            "usage", "warn", f"{used} (our estimate; the provider reports no usage)", "spending limits use the estimate"
        )


def _check_tool_call(reply: Reply) -> HealthFinding:
    called = [action for action in reply.actions if action.tool == SAY_TOOL.name]
    if called and EXPECTED_WORD in str(called[0].args.get("word", "")).lower():
        return HealthFinding("tools", "ok", "tool call received")
    if called:
        return HealthFinding(
            "tools", "warn", f"tool call with the wrong arguments: {to_one_line(str(dict(called[0].args)), 100)}"
        )
    what = f"no tool call; it answered: {to_one_line(reply.thought, 160) or 'nothing'}"
    return HealthFinding(
        "tools", "fail", what, "try tools = false in its table (tool calls are then read from its text), or another model"
    )
