"""The one door to a model: whatever the call is for, it is booked before it is made and paid for after it."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from afresh.domain.action import Aside, Reply
from afresh.domain.spend import Kind, Purchase
from afresh.domain.state import State
from afresh.domain.window import Request, Window
from afresh.errors import AfreshError, OverCeiling, TryAgain
from afresh.ports import Hear, Ledger, Model, unheard

BROKEN_OFF = 2


@dataclass(frozen=True, slots=True)
class Till:
    """Who answers, who keeps the books, and who is told of a reply while it comes in."""

    model: Model
    ledger: Ledger
    hear: Hear = unheard
    retries: int = BROKEN_OFF
    """For a reply that has broken off: each time is booked as a call of its own, since it may have cost as much as one."""
    sleep: Callable[[float], None] = time.sleep


def buy(request: Request, purchase: Purchase, till: Till) -> Reply:
    """OverLimit before anything is sent, if a limit of the user's does not allow the worst that the call may cost."""
    if purchase.tokens + request.reserve > purchase.ceiling:
        need = purchase.tokens + request.reserve
        raise OverCeiling(f"a call of kind {purchase.kind} needs {need:,} tokens, {purchase.ceiling:,} is its ceiling")
    for again in range(till.retries):
        try:
            return _bought(request, purchase, till)
        except TryAgain as fault:
            if fault.usage is None:
                raise
            wait = 2.0**again if fault.wait is None else fault.wait
            till.hear(Aside(f"{fault}; asking again in {wait:.0f} s"))
            till.sleep(wait)
    return _bought(request, purchase, till)


def _bought(request: Request, purchase: Purchase, till: Till) -> Reply:
    booked = till.ledger.book(purchase)
    try:
        reply = till.model.propose(request, till.hear)
    except AfreshError as fault:
        till.ledger.cancel(booked, fault)
        raise
    return replace(reply, cost=till.ledger.settle(booked, reply))


def purchase(window: Window, state: State, model: str) -> Purchase:
    """The next step of a task."""
    return Purchase(
        task=state.task.id, project=state.task.project, kind=Kind.DELEGATE if state.task.parent else Kind.WORK, model=model,
        step=state.step + 1, parent=state.task.parent,
        ceiling=window.budget, tokens=window.tokens, reserve=window.request.reserve,
        sections=tuple((section.name, section.tokens) for section in window.sections),
    )  # fmt: skip


def counting(tell: Callable[[str], None], name: str) -> Hear:
    """Says how far a reply has come, a few times in it."""
    heard = 0

    def hear(piece: str) -> None:
        nonlocal heard
        if isinstance(piece, Aside):
            heard = 0
            return tell(piece)
        before, heard = heard, heard + len(piece)
        if heard // 200 > before // 200:
            tell(f"{name} answers: about {heard // 4:,} tokens so far")

    return hear
