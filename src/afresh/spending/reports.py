"""Sums over the calls of a ledger: what was spent, by whom, for what."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile

from afresh.core.cache_rates import CacheRates
from afresh.core.context_alert import CallSize
from afresh.core.ledger import RESTORED_NOTE, UNKNOWN_PRICE, CallStatus, LedgerCall
from afresh.core.reply import OFFLINE_MODEL
from afresh.core.spending import CallPurpose

REPLY_SECTION = "(the reply)"
"""Named among the sections for what was not sent but answered."""
WORK_KINDS = (CallPurpose.WORK, CallPurpose.DELEGATE)
UNKNOWN_SECTION = "(not told apart)"


class SpendingGroup(StrEnum):
    DAY = "day"
    TASK = "task"
    KIND = "kind"
    SECTION = "section"
    MODEL = "model"
    PROJECT = "project"


@dataclass(frozen=True, slots=True)
class UnpricedCalls:
    """Calls of unknown price."""

    calls: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class SpendingLine:
    """Calls under one name. What is booked and not paid yet counts at its worst."""

    name: str
    calls: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    written: int = 0
    money: int = 0
    """Nano-dollars, of the calls whose price is known."""
    unpriced: UnpricedCalls = UnpricedCalls()
    odd: int = 0
    """Number of calls whose usage makes no sense, or that were never paid."""
    last: float = 0.0
    paid: int = 0
    """Input tokens, weighed by what they cost."""
    estimated: int = 0
    """Number of calls whose provider did not report what it cached."""


@dataclass(frozen=True, slots=True)
class PaidInput:
    """The price of a call's prompt, in tokens at the full price of input."""

    tokens: int
    estimated: bool


def list_model_calls(calls: Iterable[LedgerCall]) -> list[LedgerCall]:
    """Without those that the rules of the offline policy answered: nothing was sent to anybody."""
    return [call for call in calls if call.booking.call.model.partition("?")[0] != OFFLINE_MODEL]


NOTHING_WEIGHED: Mapping[int, PaidInput] = {}


def weigh_calls(calls: Iterable[LedgerCall], find_rates: Callable[[str], CacheRates]) -> dict[int, PaidInput]:
    """What each call is paid, by its number in the ledger. Where no provider has counted, sections of the call before that come
    again in the same place with the same size are taken for cached."""
    paid_inputs, before = dict[int, PaidInput](), dict[tuple[str, ...], Sequence[tuple[str, int]]]()
    rates = dict[str, CacheRates]()
    for call in sorted(calls, key=lambda ledger_call: ledger_call.number):
        booked = call.booking.call
        if booked.model not in rates:
            rates[booked.model] = find_rates(booked.model)
        task = call.booking.account.project, booked.task, booked.kind.value
        same = _count_same_tokens(before.get(task, ()), booked.sections)
        paid_inputs[call.number] = _weigh_call(call, same, rates[booked.model])
        before[task] = booked.sections
    return paid_inputs


def _weigh_call(call: LedgerCall, same: int, rates: CacheRates) -> PaidInput:
    if call.status is CallStatus.SETTLED and call.payment.counted:
        return PaidInput(rates.count_paid_tokens(call.payment.usage), estimated=False)
    return PaidInput(rates.count_paid_tokens(rates.estimate_usage(_count_prompt_tokens(call), same)), estimated=True)


def _count_same_tokens(before: Sequence[tuple[str, int]], after: Sequence[tuple[str, int]]) -> int:
    same = takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))
    return sum(tokens for _, (_, tokens) in same)


def sum_calls(calls: Iterable[LedgerCall], name: str = "", weighed: Mapping[int, PaidInput] = NOTHING_WEIGHED) -> SpendingLine:
    ledger_calls = list(calls)
    paid = [weighed[call.number] for call in ledger_calls if call.number in weighed]
    usages, charges = [call.payment.usage for call in ledger_calls], [call.charge for call in ledger_calls]
    return SpendingLine(
        name=name,
        calls=len(ledger_calls),
        input=sum(map(_count_prompt_tokens, ledger_calls)),
        output=sum(map(_count_reply_tokens, ledger_calls)),
        cached=sum(usage.cached for usage in usages),
        written=sum(usage.written for usage in usages),
        money=sum(charge.money for charge in charges),
        unpriced=UnpricedCalls(
            sum(call.booking.price == UNKNOWN_PRICE for call in ledger_calls), sum(charge.unpriced for charge in charges)
        ),
        odd=sum(call.payment.note not in ("", RESTORED_NOTE) for call in ledger_calls),
        last=max((call.booking.account.at for call in ledger_calls), default=0.0),
        paid=sum(paid_input.tokens for paid_input in paid),
        estimated=sum(paid_input.estimated for paid_input in paid),
    )


def sum_calls_by_group(
    calls: Iterable[LedgerCall], by: SpendingGroup, weighed: Mapping[int, PaidInput] = NOTHING_WEIGHED
) -> list[SpendingLine]:
    """Days in order, the rest by what it cost."""
    if by is SpendingGroup.SECTION:
        return _sum_by_section(calls)
    groups: dict[tuple[str, ...], list[LedgerCall]] = {}
    for call in calls:
        groups.setdefault(GROUP_KEYS[by](call), []).append(call)
    lines = [sum_calls(members, key[-1], weighed) for key, members in groups.items()]
    if by is SpendingGroup.DAY:
        return sorted(lines, key=lambda line: line.name)
    return sorted(lines, key=lambda line: (-line.money, -line.input, line.name))


GROUP_KEYS: dict[SpendingGroup, Callable[[LedgerCall], tuple[str, ...]]] = {
    SpendingGroup.DAY: lambda call: (time.strftime("%Y-%m-%d", time.localtime(call.booking.account.at)),),
    SpendingGroup.TASK: lambda call: (call.booking.call.payer,),
    SpendingGroup.KIND: lambda call: (call.booking.call.kind.value,),
    SpendingGroup.MODEL: lambda call: (call.booking.call.model,),
    SpendingGroup.PROJECT: lambda call: (call.booking.account.project, call.booking.call.project),
}
"""The key of a group of calls; its last part is the group's name."""


def list_prompt_sizes(calls: Iterable[LedgerCall]) -> dict[str, list[tuple[str, int, int]]]:
    """Task, step and tokens of the prompt of each answered call, by kind."""
    prompt_sizes: dict[str, list[tuple[str, int, int]]] = {}
    for call in calls:
        booked, sent = call.booking.call, call.payment.usage.input
        if call.status is CallStatus.SETTLED and sent > 0:
            task = f"{call.booking.account.project}/{booked.task}"
            prompt_sizes.setdefault(booked.kind.value, []).append((task, booked.step, sent))
    return prompt_sizes


def list_call_sizes(calls: Iterable[LedgerCall]) -> list[CallSize]:
    """The sizes of calls for work on tasks, as they were booked."""
    booked = [(call.booking.call, call.booking.account.at) for call in calls]
    return [
        CallSize(booking.task, booking.step, booking.tokens, booking.reserve, at)
        for booking, at in booked
        if booking.kind in WORK_KINDS
    ]


def _count_prompt_tokens(call: LedgerCall) -> int:
    return call.booking.call.tokens if call.status is CallStatus.BOOKED else call.payment.usage.input


def _count_reply_tokens(call: LedgerCall) -> int:
    return call.booking.call.reserve if call.status is CallStatus.BOOKED else call.payment.usage.output


def _sum_by_section(calls: Iterable[LedgerCall]) -> list[SpendingLine]:
    """The price of the input, split by the estimated tokens of the sections."""
    found: dict[str, list[float]] = {}
    for call in calls:
        paid, unknown = call.charge.money, call.booking.price == UNKNOWN_PRICE
        paid_input = paid if call.status is CallStatus.BOOKED else call.payment.paid_input
        sections = call.booking.call.sections or ((UNKNOWN_SECTION, 1),)
        estimated = sum(tokens for _, tokens in sections) or 1
        for name, tokens in sections:
            share = tokens / estimated
            _add_to_section(found, name, (_count_prompt_tokens(call) * share, 0, paid_input * share), unknown)
        _add_to_section(found, REPLY_SECTION, (0, _count_reply_tokens(call), paid - paid_input), unknown)
    lines = [
        SpendingLine(
            name, round(count), round(sent), round(said), money=round(money), unpriced=UnpricedCalls(round(calls), round(tokens))
        )
        for name, (count, sent, said, money, calls, tokens) in found.items()
    ]
    return sorted(lines, key=lambda line: (-line.money, -line.input - line.output, line.name))


def _add_to_section(found: dict[str, list[float]], name: str, amounts: tuple[float, float, float], unknown: bool) -> None:
    """Add tokens sent, tokens replied and nano-dollars of a call."""
    sent, said, _ = amounts
    sums = found.setdefault(name, [0] * 6)
    for place, amount in enumerate((1, *amounts, unknown, (sent + said) * unknown)):
        sums[place] += amount
