"""The port `Ledger`: books and settles the calls of a run, with prices and the user's limits."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Protocol

from afresh.core.codec import to_canonical_json
from afresh.core.ledger import UNKNOWN_PRICE, CallPayment, PricedBooking
from afresh.core.rate_limit import IMMEDIATE_TURN, CallTurn, RateLimit
from afresh.core.reply import Reply
from afresh.core.spending import CallBooking, LimitScope, LimitUnit, SpendingAccount, SpendingLimit, SpendingLimits, TrippedLimit
from afresh.core.tokens import estimate_tokens
from afresh.core.usage import Usage
from afresh.errors import AfreshError, NeedsPerson, OverLimit, TryAgain
from afresh.ports.storage import LedgerStore
from afresh.ports.watch import Clock
from afresh.spending.price_list import Price

MAX_CREDIBLE_TOKENS = 10**12
"""Tokens that no call has ever had: more is an error of the provider, and would not fit into a column."""


class PriceLookup(Protocol):
    def of(self, model: str, size: int = ...) -> Price | None: ...


@dataclass(frozen=True, slots=True)
class SpendingTerms:
    """Limits, prices and names for the calls of one run."""

    project: str
    """The project's id in the ledger."""
    prices: PriceLookup
    limits: SpendingLimits
    free: bool = False
    """The calls are free: limits in dollars do not count, and an unwritable ledger stops nothing."""
    config: str = "your config.toml"
    """The file in which the user raises a limit."""
    worker: str = ""
    """The process that makes the calls: if it dies, other processes settle what it has left open."""
    rates: tuple[RateLimit, ...] = ()

    @property
    def counting(self) -> tuple[SpendingLimit, ...]:
        return tuple(limit for limit in self.limits if not (self.free and limit.unit is LimitUnit.MONEY))


@dataclass(slots=True)
class SpendingLedger:
    ledger: LedgerStore
    terms: SpendingTerms
    clock: Clock
    tell: Callable[[str], None]
    """Called with alerts."""
    numbers: Iterator[int] = field(default_factory=count)
    open: dict[str, PricedBooking] = field(default_factory=dict[str, PricedBooking])
    owed: list[tuple[str, CallPayment]] = field(default_factory=list[tuple[str, CallPayment]])
    """What could not be written when it was to be paid; tried again before the next call."""

    def take_turn(self, call: CallBooking) -> CallTurn:
        covering = [limit for limit in self.terms.rates if limit.covers(call.model)]
        try:
            return self.ledger.take_turn(call.model, call.tokens + call.reserve, covering) if covering else IMMEDIATE_TURN
        except (AfreshError, OSError) as fault:
            raise _make_ledger_error(fault) from fault

    def end_turn(self, turn: CallTurn, tokens: int) -> None:
        if turn.number:
            with suppress(AfreshError, OSError):  # then it counts as it was asked for
                self.ledger.end_turn(turn.number, tokens)

    def book(self, call: CallBooking) -> str:
        order = self._order(call)
        try:
            self._pay_debts()
            if self.terms.free and not self.terms.counting:
                return self._keep(f"free {next(self.numbers)}", order)
            booked = self.ledger.book(order)
        except (AfreshError, OSError) as fault:
            if self.terms.free:
                return ""
            raise _make_ledger_error(fault) from fault
        if isinstance(booked, TrippedLimit):
            raise make_over_limit_error(booked, call, self.terms.config)
        return self._keep(str(booked), order)

    def settle(self, booked: str, reply: Reply) -> int | None:
        """The cost of the call. Never fails: the reply is paid for and must be returned."""
        order = self.open.pop(booked, None)
        if order is None:
            return 0 if self.terms.free else None
        usage, note = correct_usage(reply, order.call)
        payment = self._payment(order.call, usage, reply.counted, note)
        self._pay(booked, order, payment)
        return payment.paid if order.price != UNKNOWN_PRICE else None

    def cancel(self, booked: str, fault: AfreshError) -> None:
        order = self.open.pop(booked, None)
        usage: Usage | None = getattr(fault, "usage", None)
        if order is None:
            return
        if usage and (usage.input or usage.output):
            checked, note = correct_usage(Reply(usage=usage, counted=True), order.call)
            text = "; ".join(part for part in ("no reply, paid all the same", note) if part)
            self._pay(booked, order, self._payment(order.call, checked, True, text))
        elif booked.isdigit():
            try:
                self.ledger.cancel(int(booked), str(fault)[:200])
            except (AfreshError, OSError) as trouble:
                self.tell(f"the books can't be written: {trouble}; a call that failed stays booked at its worst")

    def _order(self, call: CallBooking) -> PricedBooking:
        price = self.terms.prices.of(call.model, call.tokens + call.reserve)
        own = [limit for limit in self.terms.counting if limit.own and limit.unit is LimitUnit.MONEY]
        if price is None and own:
            raise make_unpriced_error(call.model, own[0], self.terms.config)
        worst = price.worst(call.tokens, call.reserve) if price else 0
        account = SpendingAccount(self.terms.project, call.payer, self.clock.now())
        known = "free" if self.terms.free else "known" if price else UNKNOWN_PRICE
        limits = self.terms.counting if price else (*self.terms.counting, *self.terms.limits.unpriced)
        return PricedBooking(call, account, worst, known, self.terms.worker, limits)

    def _keep(self, booked: str, order: PricedBooking) -> str:
        self.open[booked] = order
        return booked

    def _payment(self, call: CallBooking, usage: Usage, counted: bool, note: str) -> CallPayment:
        price = self.terms.prices.of(call.model, usage.tokens)
        read, said = (price.read(usage), price.said(usage)) if price else (0, 0)
        return CallPayment(usage, counted, read + said, read, note)

    def _pay(self, booked: str, order: PricedBooking, payment: CallPayment) -> None:
        try:
            alerts = (
                self.ledger.settle(int(booked), payment, order.limits)
                if booked.isdigit()
                else self.ledger.enter([(order, payment)])
            )
        except (AfreshError, OSError) as fault:
            if booked.isdigit():
                self.owed.append((booked, payment))
                self.tell(f"the books can't be written: {fault}; no other call is made before they can")
            return
        for alert in alerts:
            self.tell(alert.words)

    def _pay_debts(self) -> None:
        while self.owed:
            booked, payment = self.owed[0]
            self.ledger.settle(int(booked), payment, self.terms.counting)
            del self.owed[0]


def correct_usage(reply: Reply, call: CallBooking) -> tuple[Usage, str]:
    """Usage for the ledger, and what is odd about it. Impossible counts of a provider are corrected."""
    usage = reply.usage
    if usage.input <= 0 and usage.output <= 0:
        replied = min(call.reserve, estimate_tokens(reply.thought + to_canonical_json(reply.actions)))
        return Usage(call.tokens, replied), "no usage was reported: our estimate"
    values = [
        min(max(0, value), MAX_CREDIBLE_TOKENS)
        for value in (usage.input, usage.output, usage.cached, usage.written, usage.thinking)
    ]
    whole, replied, cached, written, thought = values
    odd: list[str] = []
    if values != [usage.input, usage.output, usage.cached, usage.written, usage.thinking] or cached + written > whole:
        odd.append("the usage that was reported makes no sense")
    if whole + replied > call.ceiling:
        odd.append(f"{whole + replied:,} tokens were reported, {call.ceiling:,} is the limit")
    if not whole:
        whole = call.tokens
        odd.append("no input was reported: our estimate")
    cached = min(cached, whole)
    return Usage(whole, replied, cached, min(written, whole - cached), min(thought, replied)), "; ".join(odd)


def make_over_limit_error(breaker: TrippedLimit, call: CallBooking, config: str) -> OverLimit:
    limit = breaker.limit
    scope = limit.scope
    reset = f"afresh spend --reset {scope}" + (f" {call.payer}" if scope in (LimitScope.TASK, LimitScope.CALL) else "")
    again = f"`{reset}` {'tries it again' if scope is LimitScope.CALL else 'allows as much again'}, or "
    return OverLimit(
        f"{breaker.words}; no {_describe_stopped_calls(limit)}{_describe_scope(scope)} until you allow it",
        next=f"{again}raise `{limit.key}` under [limits] in {config}; then `afresh resume {call.payer}`",
        safe=f"nothing was sent; task {call.payer} and its work are kept",
        scope=scope.value,
    )


def _describe_stopped_calls(limit: SpendingLimit) -> str:
    return "calls of models without a known price" if limit.unit is LimitUnit.UNPRICED else "model calls"


def _describe_scope(scope: LimitScope) -> str:
    return "" if scope.everybody else " in this project" if scope is LimitScope.PROJECT else " for this task"


def make_unpriced_error(model: str, limit: SpendingLimit, config: str) -> OverLimit:
    return OverLimit(
        f"the price of {model} is unknown, and you have set a limit of {limit.words}",
        next=f'set its price in {config}: [prices."{model}"] with input = and output = in dollars per million tokens',
        safe="nothing was sent",
        scope="price",
    )


def _make_ledger_error(fault: AfreshError | OSError) -> AfreshError:
    """No books, no call: but another process that is merely busy with them is waited for."""
    if isinstance(fault, TryAgain):
        return fault
    advice = getattr(fault, "next", "") or "check the folder and the disk"
    return NeedsPerson(
        f"the spending ledger can't be written, so no model is called: {fault}",
        next=f"{advice}. Without the ledger past spending counts as $0 until `afresh doctor --rebuild` restores it",
        safe="nothing was sent; the task and its work are kept",
    )
