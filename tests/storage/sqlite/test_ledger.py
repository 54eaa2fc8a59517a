"""The books: what is booked, paid, refused, reset, and told."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from afresh.core.spending import (
    CallBooking,
    CallPurpose,
    LimitScope,
    LimitUnit,
    SpendingAccount,
    SpendingLimit,
    SpendingLimits,
    TrippedLimit,
)
from afresh.core.usage import Usage
from afresh.spending.payments import CallPayment, PricedBooking
from afresh.spending.reports import SpendingFilter, SpendingGroup, sum_all_calls, sum_calls_by_group
from afresh.storage.sqlite.ledger import LOST_REPLY_NOTE, SqliteLedger

DAY = 86_400.0
NOON = 1_760_000_000.0
CALL = CallBooking(task="t", project="shop", kind=CallPurpose.WORK, model="m", step=1, ceiling=4_000, tokens=900, reserve=100)


@pytest.fixture
def ledger(tmp_path: Path) -> SqliteLedger:
    return SqliteLedger(tmp_path / "user" / "ledger.db")


def limited(**most: int) -> tuple[SpendingLimit, ...]:
    """In nano-dollars, without the limits that hold unless told."""
    return tuple(SpendingLimit(LimitScope(name), LimitUnit.MONEY, amount) for name, amount in most.items())


def order(
    worst: int, limits: Sequence[SpendingLimit] = (), *, task: str = "t", project: str = "p", at: float = NOON
) -> PricedBooking:
    return PricedBooking(replace(CALL, task=task), SpendingAccount(project, task, at), worst, "known", "worker", limits)


def pay(amount: int, tokens: int = 1_000) -> CallPayment:
    return CallPayment(Usage(tokens, 0), True, amount, amount)


def booked(ledger: SqliteLedger, *args: object, **more: object) -> int:
    number = ledger.book(order(*args, **more))  # pyright: ignore[reportArgumentType]
    assert isinstance(number, int)
    return number


def refused(ledger: SqliteLedger, *args: object, **more: object) -> TrippedLimit:
    breaker = ledger.book(order(*args, **more))  # pyright: ignore[reportArgumentType]
    assert isinstance(breaker, TrippedLimit)
    return breaker


def test_a_call_that_is_booked_counts_at_its_worst_and_a_paid_one_as_it_was(ledger: SqliteLedger):
    number = booked(ledger, 70)
    assert sum_all_calls(ledger, SpendingFilter()).money == 70
    ledger.settle(number, pay(30), ())
    assert sum_all_calls(ledger, SpendingFilter()).money == 30
    assert ledger.spent(SpendingAccount("p", "t", NOON), limited(task=1)[0]) == 30


def test_the_worst_of_a_call_must_fit_and_one_that_does_not_trips_the_limit_for_good(ledger: SqliteLedger):
    limits = limited(day=100)
    ledger.settle(booked(ledger, 90, limits), pay(40), limits)
    assert refused(ledger, 61, limits).words.startswith("the limit of $0.0000001 a day is reached")
    assert refused(ledger, 1, limits).asked == 61, "small ones are stopped, too"
    assert refused(ledger, 1, limits, task="other", project="another", at=NOON + 40 * DAY), "and those of other days and projects"


@pytest.mark.parametrize(
    ("scope", "others"),
    [("task", {"task": "u"}), ("project", {"project": "q"}), ("call", {"task": "u"})],
)
def test_a_narrow_limit_stops_only_its_own(ledger: SqliteLedger, scope: str, others: dict[str, str]):
    limits = limited(**{scope: 100})
    assert refused(ledger, 101, limits)
    assert refused(ledger, 1, limits), "it is latched"
    assert booked(ledger, 100, limits, **others)


def test_days_and_months_are_counted_apart(ledger: SqliteLedger):
    limits = limited(day=100, month=250)
    for day in range(2):
        ledger.settle(booked(ledger, 100, limits, at=NOON + day * DAY), pay(100), limits)
    assert refused(ledger, 60, limits, at=NOON + 2 * DAY).limit.scope is LimitScope.MONTH


def test_a_reset_allows_as_much_again_and_what_is_still_open_goes_on_to_count(ledger: SqliteLedger):
    limits = limited(day=100)
    ledger.settle(booked(ledger, 60, limits), pay(60), limits)
    open_call = booked(ledger, 40, limits)
    assert refused(ledger, 1, limits)
    assert [breaker.limit.scope for breaker in ledger.reset(SpendingAccount("p", "", NOON), LimitScope.DAY)] == [LimitScope.DAY]
    assert refused(ledger, 61, limits), "40 are still booked"
    ledger.reset(SpendingAccount("p", "", NOON), LimitScope.DAY)
    ledger.settle(open_call, pay(10), limits)
    assert booked(ledger, 90, limits) and refused(ledger, 1, limits)


def test_what_a_task_took_is_known_whatever_was_reset(ledger: SqliteLedger):
    ledger.settle(booked(ledger, 60), pay(50), ())
    ledger.reset(SpendingAccount("p", "t", NOON), LimitScope.TASK)
    booked(ledger, 7)
    assert ledger.task_money(SpendingAccount("p", "t", NOON)) == 57 and ledger.task_money(SpendingAccount("p", "u", NOON)) == 0


def test_a_breaker_of_yesterday_is_ended_by_a_reset_of_today(ledger: SqliteLedger):
    limits = limited(day=100)
    refused(ledger, 101, limits)
    ledger.reset(SpendingAccount("p", "", NOON + DAY), LimitScope.DAY)
    assert booked(ledger, 100, limits, at=NOON + DAY) and ledger.breakers() == []


def test_a_raised_limit_lets_calls_through_as_far_as_it_goes(ledger: SqliteLedger):
    ledger.settle(booked(ledger, 90, limited(day=100)), pay(90), limited(day=100))
    assert refused(ledger, 20, limited(day=100))
    assert refused(ledger, 20, limited(day=90)), "lower is not higher"
    assert booked(ledger, 20, limited(day=110)) and refused(ledger, 1, limited(day=110))
    assert booked(ledger, 1, ()), "a limit that is gone stops nothing"


def test_a_model_that_nobody_pays_for_goes_on_and_does_not_end_a_breaker_of_money(ledger: SqliteLedger):
    refused(ledger, 101, limited(day=100))
    tokens = (SpendingLimit(LimitScope.DAY, LimitUnit.TOKENS, 1_500),)
    assert booked(ledger, 0, tokens)
    assert refused(ledger, 1, limited(day=100)), "still tripped"
    assert refused(ledger, 0, tokens).limit.unit is LimitUnit.TOKENS


def test_a_call_that_cost_more_than_expected_trips_what_it_broke(ledger: SqliteLedger):
    limits = limited(call=50, day=100)
    ledger.settle(booked(ledger, 10, limits), pay(120), limits)
    assert {breaker.limit.scope for breaker in ledger.breakers()} == {LimitScope.CALL, LimitScope.DAY}
    assert refused(ledger, 1, limits, task="other").limit.scope is LimitScope.DAY


def test_a_call_that_failed_costs_nothing(ledger: SqliteLedger):
    limits = limited(day=100)
    ledger.cancel(booked(ledger, 100, limits), "no answer")
    assert sum_all_calls(ledger, SpendingFilter()).calls == 0 and booked(ledger, 100, limits)


def test_only_what_is_booked_can_be_paid(ledger: SqliteLedger):
    number = booked(ledger, 100)
    ledger.settle(number, pay(10), ())
    ledger.settle(number, pay(99), ())
    ledger.cancel(number, "too late")
    ledger.settle(77, pay(99), ())
    assert sum_all_calls(ledger, SpendingFilter()).money == 10


def test_a_delegate_spends_what_its_parent_may(ledger: SqliteLedger):
    limits = limited(task=100)
    part = replace(order(80, limits, task="part"), account=SpendingAccount("p", "t", NOON))
    assert isinstance(ledger.book(replace(part, call=replace(part.call, parent="t"))), int)
    assert refused(ledger, 21, limits, task="t")
    assert [(line.name, line.money) for line in sum_calls_by_group(ledger, SpendingGroup.TASK, SpendingFilter())] == [("t", 80)]


def test_alerts_come_once_each_for_a_limit_and_a_period(ledger: SqliteLedger):
    limits = limited(day=100)

    def spend(amount: int, at: float = NOON, under: Sequence[SpendingLimit] = limits) -> list[int]:
        return [alert.percent for alert in ledger.settle(booked(ledger, amount, under, at=at), pay(amount), under)]

    assert [spend(40), spend(9), spend(1), spend(1), spend(30), spend(19)] == [[], [], [50], [], [80], [100]]
    assert spend(85, NOON + DAY) == [50, 80], "the next day"
    assert spend(0, under=limited(day=190)) == [50], "another limit"
    ledger.reset(SpendingAccount("p", "", NOON), LimitScope.DAY)
    assert spend(60) == [50], "after a reset"


def test_a_dead_process_leaves_its_call_at_the_worst(ledger: SqliteLedger):
    number = booked(ledger, 70)
    assert [lost.number for lost in ledger.unpaid("p", lambda worker: worker == "worker")] == [number]
    assert not ledger.unpaid("p", lambda worker: False) and not ledger.unpaid("q", lambda worker: True)
    ledger.write_off(number)
    assert not ledger.unpaid("p", lambda worker: True), "it is looked for once"
    assert sum_all_calls(ledger, SpendingFilter()).money == 70 and sum_all_calls(ledger, SpendingFilter()).odd == 1
    with ledger.reading() as connection:
        assert connection.execute("SELECT note FROM call").fetchall() == [(LOST_REPLY_NOTE,)]


def test_sections_share_what_was_paid_for_input_and_the_reply_has_the_rest(ledger: SqliteLedger):
    call = replace(CALL, sections=(("system", 100), ("files", 300)))
    number = ledger.book(replace(order(1_000), call=call))
    assert isinstance(number, int)
    ledger.settle(number, CallPayment(Usage(800, 50), True, 1_000, 400), ())
    lines = sum_calls_by_group(ledger, SpendingGroup.SECTION, SpendingFilter())
    assert [(line.name, line.input, line.output, line.money) for line in lines] == [
        ("(the reply)", 0, 50, 600), ("files", 600, 0, 300), ("system", 200, 0, 100),
    ]  # fmt: skip
    assert sum(line.money for line in lines) == sum_all_calls(ledger, SpendingFilter()).money


def test_sums_are_by_whatever_is_asked(ledger: SqliteLedger):
    for day, task, kind, model in (
        (0, "a", CallPurpose.WORK, "m"),
        (0, "b", CallPurpose.SUMMARY, "m"),
        (1, "b", CallPurpose.WORK, "n"),
    ):
        one = order(10, task=task, at=NOON + day * DAY)
        number = ledger.book(replace(one, call=replace(one.call, kind=kind, model=model)))
        assert isinstance(number, int)
        ledger.settle(number, pay(10), ())
    found = {by: {line.name: line.money for line in sum_calls_by_group(ledger, by, SpendingFilter())} for by in SpendingGroup}
    assert sorted(found[SpendingGroup.DAY].values()) == [10, 20] and found[SpendingGroup.TASK] == {"a": 10, "b": 20}
    assert found[SpendingGroup.KIND] == {"work": 20, "summary": 10} and found[SpendingGroup.MODEL] == {"m": 20, "n": 10}
    assert found[SpendingGroup.PROJECT] == {"shop": 30}
    assert (
        sum_all_calls(ledger, SpendingFilter(NOON + 1)).money == 10
        and sum_all_calls(ledger, SpendingFilter(project="q")).money == 0
    )


def test_the_user_s_limits_are_told_from_those_that_hold_anyway():
    found = {limit.key: (limit.most, limit.own) for limit in SpendingLimits(day=0.5, total_tokens=7)}
    assert found["day"] == (500_000_000, True) and found["total_tokens"] == (7, True)
    assert found["task"] == (5_000_000_000, False) and found["month"][1] is False
    assert "project" not in found and "day_tokens" not in found
