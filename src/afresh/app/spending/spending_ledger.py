"""Opens the ledger for a run, and restores missing calls from the journals."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from afresh.app.project import Project, open_project
from afresh.app.queue.read_tasks import SystemClock
from afresh.app.settings import Settings
from afresh.app.spending.read_spending import hash_project_root, open_user_ledger
from afresh.config.settings_file import find_user_config, read_settings_file
from afresh.core.context_alert import DEFAULT_THRESHOLDS, ContextThresholds
from afresh.core.event import CallRequested, MemoryCompacted, QuestionAsked, ReplyReceived
from afresh.core.leave import ChangeReviewed
from afresh.core.ledger import (
    LOST_REPLY_NOTE,
    RESTORED_NOTE,
    UNKNOWN_PRICE,
    CallPayment,
    CallStatus,
    PricedBooking,
    SpendingFilter,
)
from afresh.core.lesson import LessonWorded
from afresh.core.prompt import CallAudit
from afresh.core.reply import Reply
from afresh.core.spending import CallBooking, CallPurpose, LimitScope, SpendingAccount, SpendingLimits
from afresh.core.state import State
from afresh.core.states.supervision_state import PersonAct, PersonRequest
from afresh.core.task import Task
from afresh.errors import AfreshError, BadInput, Damaged, OverLimit
from afresh.models.choose_model import LOCAL_PROVIDERS, choose_model, is_paid
from afresh.policy.questions import GO_ON, ask_person, say_discard
from afresh.ports.storage import LedgerStore
from afresh.runtime import Supervisor
from afresh.spending.ledger import SpendingLedger, SpendingTerms, correct_usage
from afresh.spending.price_list import FREE_PRICE, SAMPLE_TOKENS, FreePrices, Price, PriceTable
from afresh.storage.renew_lease import is_worker_dead


@dataclass(frozen=True, slots=True)
class OpenLedger:
    """The user's ledger, with the current project if there is one."""

    ledger: LedgerStore
    limits: SpendingLimits
    now: float
    project: Project | None = None
    thresholds: ContextThresholds = DEFAULT_THRESHOLDS

    @property
    def account(self) -> SpendingAccount:
        return SpendingAccount(hash_project_root(self.project.paths.root) if self.project else "", "", self.now)


def open_ledger_at(path: Path) -> OpenLedger:
    try:
        return open_ledger_of_project(open_project(path))
    except BadInput:
        own = Settings(**read_settings_file(find_user_config(), Settings))
        return OpenLedger(open_user_ledger(), own.limits, SystemClock().now(), thresholds=own.alerts)


def open_ledger_of_project(project: Project) -> OpenLedger:
    return OpenLedger(project.ledger, project.settings.limits, project.clock.now(), project, project.settings.alerts)


def open_run_ledger(project: Project, spec: str, tell: Callable[[str], None], worker: str) -> SpendingLedger:
    """Open the ledger for one run. Bookings of dead workers are settled first."""
    free = not is_paid(spec, project.settings.models, project.settings.prices)
    prices = FreePrices() if free else PriceTable(project.settings.prices)
    root_hash, own = hash_project_root(project.paths.root), project.settings
    terms = SpendingTerms(root_hash, prices, own.limits, free, str(find_user_config()), worker, own.rate_limits)
    try:
        reconcile_ledger(project)
    except AfreshError as fault:
        tell(f"the spending ledger can't be read: {fault}")
    return SpendingLedger(project.ledger, terms, project.clock, tell)


def describe_unpriced_limits(project: Project, spec: str) -> str:
    """Describe the limits that apply because the price of the model is unknown; empty if it is known or nobody pays."""
    own = project.settings
    name = choose_model(spec, own.models).spec
    if not is_paid(spec, own.models, own.prices) or PriceTable(own.prices).of(name):
        return ""
    task, day = (own.limits.tokens_without_price(scope) for scope in (LimitScope.TASK, LimitScope.DAY))
    return f"the price of {name} is unknown: limits are {task:,} tokens for this task and {day:,} a day, not dollars"


def make_task_account(project: Project, task: str = "") -> SpendingAccount:
    return SpendingAccount(hash_project_root(project.paths.root), task, project.clock.now())


def ask_about_limit(task: str, fault: OverLimit) -> QuestionAsked | None:
    """Return the question for a limit of a single task; None for limits that also stop other tasks."""
    if fault.scope == LimitScope.TASK:
        return ask_person(
            f"{fault.what}. Answer to allow as much again; {say_discard(task)}.", f"{GO_ON}: it may spend as much once more"
        )
    if fault.scope == LimitScope.CALL:
        return ask_person(f"{fault.what} ({fault.next})", "try again: you have raised the limit, or name a cheaper model")
    return None


def reset_task_limits(project: Project, task: str) -> None:
    """Reset the limits that stopped only this task, after a person has answered."""
    with suppress(AfreshError):  # an unreadable ledger stops the next call, not the answer
        for breaker in project.ledger.tripped(make_task_account(project, task)):
            if breaker.limit.scope in (LimitScope.TASK, LimitScope.CALL):
                project.ledger.reset(make_task_account(project, task), breaker.limit.scope)


@dataclass(frozen=True, slots=True)
class PersonWithLimits:
    """A Supervisor whose answers reset the limits that stopped the task, as `afresh answer` does."""

    project: Project
    person: Supervisor

    def at_pause(self, state: State) -> PersonRequest | None:
        word = self.person.at_pause(state)
        if word and state.dialogue.question and word.act not in (PersonAct.STOP, PersonAct.UNDO):
            reset_task_limits(self.project, state.task.id)
        return word


def reconcile_ledger(project: Project) -> None:
    """Settle bookings of dead processes from the journal; without a reply they keep their worst-case cost."""
    table = PriceTable(project.settings.prices)
    for lost in project.ledger.calls(SpendingFilter(project=hash_project_root(project.paths.root), only_booked=True)):
        if not lost.is_open or not is_worker_dead(lost.booking.worker):
            continue
        call = lost.booking.call
        if reply := _find_journaled_reply(project, call):
            project.ledger.settle(lost.number, payment_from_reply(call, reply, _find_booking_price(call, table)), ())
        else:
            project.ledger.cancel(lost.number, LOST_REPLY_NOTE, refund=False)


def _find_journaled_reply(project: Project, call: CallBooking) -> Reply | None:
    """Return the reply in the journal, unless the step was called again and is already paid."""
    if call.kind not in (CallPurpose.WORK, CallPurpose.DELEGATE) or _key_call(call) in _list_paid_steps(project, call.task):
        return None
    try:
        entries = list(project.store.journal(call.task))
    except BadInput:
        return None
    replies = [e.event.reply for e in entries if isinstance(e.event, ReplyReceived) and e.event.step == call.step]
    return replies[-1] if replies else None


def _key_call(call: CallBooking) -> tuple[str, CallPurpose, int]:
    return call.task, call.kind, call.step


def _list_paid_steps(project: Project, task: str = "") -> set[tuple[str, CallPurpose, int]]:
    calls = project.ledger.calls(SpendingFilter(project=hash_project_root(project.paths.root), task=task))
    return {_key_call(call.booking.call) for call in calls if call.status is CallStatus.SETTLED}


def restore_missing_calls(project: Project) -> int:
    """Write calls that are in the journals but not in the ledger; return their number."""
    count = 0
    for call in find_missing_calls(project):
        project.ledger.enter(call)
        count += len(call)
    return count


def find_missing_calls(project: Project) -> Iterator[list[tuple[PricedBooking, CallPayment]]]:
    """Calls of each task that are in its journal but not in the ledger."""
    table, known = PriceTable(project.settings.prices), _list_paid_steps(project)
    for ticket in project.queue.tickets():
        made: list[tuple[PricedBooking, CallPayment]] = []
        with suppress(Damaged):  # of a damaged task nothing is believed
            made = [call for call in _read_journaled_calls(project, ticket.task, table) if _key_call(call[0].call) not in known]
        if made:
            yield made


def _read_journaled_calls(project: Project, task: str, table: PriceTable) -> Iterator[tuple[PricedBooking, CallPayment]]:
    """Yield each call that has a reply in the journal."""
    order, model, step, audit = project.store.load(task).task, "", 0, None
    for entry in project.store.journal(task):
        made: tuple[CallBooking, Reply] | None = None
        match entry.event:
            case CallRequested(_, audit):
                model = audit.model
            case ReplyReceived(step, reply):
                made = _make_step_booking(order, step, audit, model or reply.model), reply
            case MemoryCompacted(step=at, reply=reply) if reply:
                made = _make_side_booking(order, CallPurpose.SUMMARY, at, reply, model), reply
            case ChangeReviewed(step=at, reply=reply) if reply:
                made = _make_side_booking(order, CallPurpose.REVIEW, at, reply, model), reply
            case LessonWorded(reply=reply) if reply:
                made = _make_side_booking(order, CallPurpose.MEMORY, step, reply, model), reply
            case _:
                pass
        if made:
            yield _make_ledger_entry(project, *made, entry.at, table)


def _make_step_booking(task: Task, step: int, audit: CallAudit | None, model: str) -> CallBooking:
    parent = getattr(task, "parent", "")
    sections = audit.sections if audit else ()
    return CallBooking(
        task=task.id,
        project=task.project,
        kind=CallPurpose.DELEGATE if parent else CallPurpose.WORK,
        model=model,
        step=step,
        parent=parent,
        ceiling=audit.budget if audit else 0,
        tokens=audit.tokens if audit else 0,
        reserve=audit.reserve if audit else 0,
        sections=tuple((section.name, section.tokens) for section in sections),
    )


def _make_side_booking(task: Task, kind: CallPurpose, step: int, reply: Reply, model: str) -> CallBooking:
    """Make the booking of a call beside the steps; the journal has only its reply."""
    usage = reply.usage
    whole = usage.tokens
    call = _make_step_booking(task, step, None, model or reply.model)
    return replace(call, kind=kind, ceiling=whole, tokens=usage.input, reserve=usage.output)


def _make_ledger_entry(
    project: Project, call: CallBooking, reply: Reply, at: float, table: PriceTable
) -> tuple[PricedBooking, CallPayment]:
    price = _find_booking_price(call, table)
    known = "free" if price is FREE_PRICE else "known" if price or reply.cost is not None else UNKNOWN_PRICE
    payment = payment_from_reply(call, reply, price)
    noted = replace(payment, note="; ".join(part for part in (RESTORED_NOTE, payment.note) if part))
    return PricedBooking(call, SpendingAccount(hash_project_root(project.paths.root), call.payer, at), 0, known, ""), noted


def find_model_price(model: str, table: PriceTable, size: int = SAMPLE_TOKENS) -> Price | None:
    """Find a price by model name; provider models have a `provider:` prefix."""
    kind, colon, _ = model.partition(":")
    if not colon or (kind in LOCAL_PROVIDERS and model not in table.own):
        return FREE_PRICE
    return table.of(model, size)


def _find_booking_price(call: CallBooking, table: PriceTable) -> Price | None:
    return find_model_price(call.model, table, call.tokens + call.reserve)


def payment_from_reply(call: CallBooking, reply: Reply, price: Price | None) -> CallPayment:
    """Return the payment from the journaled cost, or at today's price if none was recorded."""
    usage, note = correct_usage(reply, call)
    read, said = (price.read(usage), price.said(usage)) if price else (0, 0)
    whole = read + said if reply.cost is None else reply.cost
    return CallPayment(usage, reply.counted, whole, min(read, whole), note)
