"""The books of a project: opened for a run, put right after a crash, written again from the journals, and reset by a person."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

from afresh.adapters.books import Books, Terms, sensible
from afresh.adapters.models import is_paid
from afresh.adapters.models.choose import OWN
from afresh.adapters.prices import AtNoCost, PriceTable
from afresh.adapters.queue.worker import known_dead
from afresh.adapters.store.ledger import PUT_BACK, Booked, Order, Payment
from afresh.app.purse import project_id
from afresh.app.settings import users_config
from afresh.app.tasks import Desk
from afresh.domain.action import Reply
from afresh.domain.event import Asked, Compacted, Replied, Requested, Worded
from afresh.domain.limits import Account, Scope
from afresh.domain.price import FREE, Price
from afresh.domain.spend import Kind, Purchase
from afresh.domain.task import Task
from afresh.domain.window import Audit
from afresh.engine.questions import ON, harness
from afresh.errors import AfreshError, BadInput, OverLimit


def books_for(desk: Desk, spec: str, tell: Callable[[str], None]) -> Books:
    """For the calls of one run. What a dead process has left unpaid is put right first."""
    free = not is_paid(spec, desk.settings.models, desk.settings.prices)
    prices = AtNoCost() if free else PriceTable(desk.settings.prices)
    terms = Terms(project_id(desk.project.root), prices, desk.settings.limits, free, str(users_config()))
    books = Books(desk.ledger, terms, desk.clock, tell)
    if desk.ledger.kept():
        try:
            reconcile(desk)
        except AfreshError as fault:
            tell(f"the books can't be read: {fault}")
    return books


def account(desk: Desk, task: str = "") -> Account:
    return Account(project_id(desk.project.root), task, desk.clock.now())


def spent_up(desk: Desk, fault: OverLimit) -> Asked | None:
    """What a person is asked when one task alone may spend no more; nothing for limits that stop others too."""
    if fault.scope == Scope.TASK:
        return harness(
            f"{fault.what}. Answer to allow as much again, or discard the task.", f"{ON}: it may spend as much once more"
        )
    if fault.scope == Scope.CALL:
        return harness(f"{fault.what} ({fault.next})", "try again: you have raised the limit, or name a cheaper model")
    return None


def allowed(desk: Desk, task: str) -> None:
    """A person has answered: a limit that has stopped this task alone counts anew."""
    with suppress(AfreshError):  # books that can't be read stop the next call, not the answer
        for breaker in desk.ledger.stopping(account(desk, task)) if desk.ledger.kept() else ():
            if breaker.limit.scope in (Scope.TASK, Scope.CALL):
                desk.ledger.reset(account(desk, task), breaker.limit.scope)


def reconcile(desk: Desk) -> None:
    """A call whose process died before it was paid is settled from the journal, or stays on the books at its worst."""
    project = project_id(desk.project.root)
    for lost in desk.ledger.unpaid(project, known_dead):
        if reply := _reply(desk, lost):
            call = Purchase(
                task=lost.task, project="", kind=Kind(lost.kind), model=lost.model, step=lost.step,
                ceiling=lost.estimated + lost.reserve, tokens=lost.estimated, reserve=lost.reserve,
            )  # fmt: skip
            desk.ledger.settle(lost.number, paid(call, reply, _price(call, PriceTable(desk.settings.prices))), ())
        else:
            desk.ledger.write_off(lost.number)


def _reply(desk: Desk, lost: Booked) -> Reply | None:
    """What the journal holds of it: but a step that was bought again is paid already."""
    if lost.kind not in (Kind.WORK, Kind.DELEGATE) or (lost.kind, lost.step) in _paid(desk, lost.task):
        return None
    try:
        entries = list(desk.store.journal(lost.task))
    except BadInput:
        return None
    found = [e.event.reply for e in entries if isinstance(e.event, Replied) and e.event.step == lost.step]
    return found[-1] if found else None


def _paid(desk: Desk, task: str) -> set[tuple[str, int]]:
    return desk.ledger.paid_steps(project_id(desk.project.root), task)


def put_back(desk: Desk) -> int:
    """Calls that the journals of the project know and the books do not, written again; how many."""
    table, count = PriceTable(desk.settings.prices), 0
    for ticket in desk.queue.tickets():
        known = desk.ledger.paid_steps(project_id(desk.project.root), ticket.task) if desk.ledger.kept() else set()
        made = [one for one in _recorded(desk, ticket.task, table) if (one[0].call.kind, one[0].call.step) not in known]
        if made:
            desk.ledger.enter(made)
        count += len(made)
    return count


def _recorded(desk: Desk, task: str, table: PriceTable) -> Iterator[tuple[Order, Payment]]:
    """Every call that the journal has a reply of."""
    order, model, step, audit = desk.store.load(task).task, "", 0, None
    for entry in desk.store.journal(task):
        made: tuple[Purchase, Reply] | None = None
        match entry.event:
            case Requested(_, audit):
                model = audit.model
            case Replied(step, reply):
                made = _purchase(order, step, audit, model or reply.model), reply
            case Compacted(step=at, reply=reply) if reply:
                made = _other(order, Kind.SUMMARY, at, reply, model), reply
            case Worded(reply=reply) if reply:
                made = _other(order, Kind.MEMORY, step, reply, model), reply
            case _:
                pass
        if made:
            yield _entered(desk, *made, entry.at, table)


def _purchase(task: Task, step: int, audit: Audit | None, model: str) -> Purchase:
    parent = getattr(task, "parent", "")
    sections = audit.sections if audit else ()
    return Purchase(
        task=task.id, project=task.project, kind=Kind.DELEGATE if parent else Kind.WORK, model=model, step=step, parent=parent,
        ceiling=audit.budget if audit else 0, tokens=audit.tokens if audit else 0, reserve=audit.reserve if audit else 0,
        sections=tuple((section.name, section.tokens) for section in sections),
    )  # fmt: skip


def _other(task: Task, kind: Kind, step: int, reply: Reply, model: str) -> Purchase:
    """Not the work itself: of such a call the journal has only the reply."""
    usage = reply.usage
    whole = usage.tokens
    call = _purchase(task, step, None, model or reply.model)
    return replace(call, kind=kind, ceiling=whole, tokens=usage.input, reserve=usage.output)


def _entered(desk: Desk, call: Purchase, reply: Reply, at: float, table: PriceTable) -> tuple[Order, Payment]:
    price = _price(call, table)
    known = "free" if price is FREE else "known" if price or reply.cost is not None else "unknown"
    payment = paid(call, reply, price)
    noted = replace(payment, note="; ".join(part for part in (PUT_BACK, payment.note) if part))
    return Order(call, Account(project_id(desk.project.root), call.payer, at), 0, known, "", ()), noted


def _price(call: Purchase, table: PriceTable) -> Price | None:
    """By its name alone: that of a provider's model has the provider before a colon."""
    kind, colon, _ = call.model.partition(":")
    if not colon or (kind in OWN and call.model not in table.own):
        return FREE
    return table.of(call.model, call.tokens + call.reserve)


def paid(call: Purchase, reply: Reply, price: Price | None) -> Payment:
    """As the journal says what it cost; as it would cost today, where it does not."""
    usage, note = sensible(reply, call)
    read, said = (price.read(usage), price.said(usage)) if price else (0, 0)
    whole = read + said if reply.cost is None else reply.cost
    return Payment(usage, reply.counted, whole, min(read, whole), note)
