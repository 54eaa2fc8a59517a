"""Sums over the calls of a ledger."""

from dataclasses import replace
from pathlib import Path

import pytest

from afresh.core.cache_rates import CacheRates
from afresh.core.ledger import LOST_REPLY_NOTE, CallPayment, SpendingFilter
from afresh.core.spending import CallPurpose, SpendingAccount, SpendingLimits
from afresh.core.usage import Usage
from afresh.spending.reports import PaidInput, SpendingGroup, list_prompt_sizes, sum_calls, sum_calls_by_group, weigh_calls
from afresh.storage.sql.ledger import SqlLedger
from afresh.storage.sqlite.storage import open_sqlite_ledger
from support.ledger_contract import DAY_SECONDS, NOON, book_call, make_order, make_payment, pay_call


@pytest.fixture
def ledger(tmp_path: Path) -> SqlLedger:
    return open_sqlite_ledger(tmp_path / "ledger.db")


def test_sections_share_what_was_paid_for_input_and_the_reply_has_the_rest(ledger: SqlLedger):
    number = book_call(ledger, make_order(1_000))
    ledger.settle(number, CallPayment(Usage(800, 50), True, 1_000, 400), ())
    calls = ledger.calls(SpendingFilter())
    lines = sum_calls_by_group(calls, SpendingGroup.SECTION)
    assert [(line.name, line.input, line.output, line.money) for line in lines] == [
        ("(the reply)", 0, 50, 600), ("files", 600, 0, 300), ("system", 200, 0, 100),
    ]  # fmt: skip
    assert sum(line.money for line in lines) == sum_calls(calls).money


def test_sums_are_by_whatever_is_asked(ledger: SqlLedger):
    for day, task, kind, model in (
        (0, "a", CallPurpose.WORK, "m"),
        (0, "b", CallPurpose.SUMMARY, "m"),
        (1, "b", CallPurpose.WORK, "n"),
    ):
        one = make_order(10, task=task, at=NOON + day * DAY_SECONDS)
        pay_call(ledger, replace(one, call=replace(one.call, kind=kind, model=model)))
    calls = ledger.calls(SpendingFilter())
    found = {by: {line.name: line.money for line in sum_calls_by_group(calls, by)} for by in SpendingGroup}
    assert list(found[SpendingGroup.DAY].values()) == [20, 10] and found[SpendingGroup.TASK] == {"a": 10, "b": 20}
    assert found[SpendingGroup.KIND] == {"work": 20, "summary": 10} and found[SpendingGroup.MODEL] == {"m": 20, "n": 10}
    assert found[SpendingGroup.PROJECT] == {"shop": 30}
    assert [line.name for line in sum_calls_by_group(calls, SpendingGroup.TASK)] == ["b", "a"], "the dearest first"


def test_projects_of_one_name_are_told_apart(ledger: SqlLedger):
    pay_call(ledger, make_order(10, project="p"))
    pay_call(ledger, make_order(20, project="q"))
    lines = sum_calls_by_group(ledger.calls(SpendingFilter()), SpendingGroup.PROJECT)
    assert [(line.name, line.money) for line in lines] == [("shop", 20), ("shop", 10)]


def test_a_part_is_summed_under_the_task_that_pays(ledger: SqlLedger):
    part = make_order(80, task="part")
    book_call(ledger, replace(part, call=replace(part.call, parent="t"), account=SpendingAccount("p", "t", NOON)))
    lines = sum_calls_by_group(ledger.calls(SpendingFilter()), SpendingGroup.TASK)
    assert [(line.name, line.money) for line in lines] == [("t", 80)]


def test_what_is_booked_counts_as_estimated_and_a_lost_reply_is_odd(ledger: SqlLedger):
    ledger.cancel(book_call(ledger, make_order(70)), LOST_REPLY_NOTE, refund=False)
    whole = sum_calls(ledger.calls(SpendingFilter()))
    assert (whole.calls, whole.input, whole.output, whole.money, whole.odd) == (1, 900, 100, 70, 1)


RATES = CacheRates(read=0.1, write=1.25, minimum=200)


def test_reported_usage_is_weighed_by_the_rates_of_its_model(ledger: SqlLedger):
    for model in ("m", "n"):
        one = make_order(10)
        number = book_call(ledger, replace(one, call=replace(one.call, model=model)))
        ledger.settle(number, CallPayment(Usage(800, 50, cached=600, written=100), True, 10, 5), ())
    calls = ledger.calls(SpendingFilter())
    weighed = weigh_calls(calls, {"m": RATES, "n": CacheRates(read=0.5, write=1.0)}.__getitem__)
    assert [weighed[call.number] for call in calls] == [
        PaidInput(100 + 60 + 125, estimated=False), PaidInput(100 + 300 + 100, estimated=False),
    ]  # fmt: skip
    whole = sum_calls(calls, weighed=weighed)
    assert (whole.input, whole.paid, whole.estimated) == (1_600, 785, 0)


def test_without_a_report_sections_that_come_again_are_taken_for_cached(ledger: SqlLedger):
    for task, last in (("a", 100), ("b", 100), ("a", 300)):
        one = make_order(10, task=task)
        sections = (("system", 400), ("turn", 200), ("turn", last), ("footer", 1_400 - last))
        number = book_call(ledger, replace(one, call=replace(one.call, sections=sections)))
        ledger.settle(number, CallPayment(Usage(1_000, 50), False, 0, 0), ())
    calls = ledger.calls(SpendingFilter())
    assert calls[-1].booking.call.sections[1:3] == (("turn", 200), ("turn", 300)), "none of one name is lost"
    weighed = weigh_calls(calls, lambda model: RATES)
    assert [weighed[call.number].tokens for call in calls] == [1_250, 1_250, 60 + 500]
    lines = sum_calls_by_group(calls, SpendingGroup.TASK, weighed)
    assert {line.name: (line.paid, line.estimated) for line in lines} == {"a": (1_810, 2), "b": (1_250, 1)}


def test_prompt_sizes_are_of_calls_that_were_answered(ledger: SqlLedger):
    book_call(ledger, make_order(70))
    ledger.settle(book_call(ledger, make_order(70)), make_payment(30, tokens=850), ())
    assert list_prompt_sizes(ledger.calls(SpendingFilter())) == {"work": [("p/t", 1, 850)]}


def test_the_user_s_limits_are_told_from_those_that_hold_anyway():
    found = {limit.key: (limit.most, limit.own) for limit in SpendingLimits(day=0.5, total_tokens=7)}
    assert found["day"] == (500_000_000, True) and found["total_tokens"] == (7, True)
    assert found["task"] == (5_000_000_000, False) and found["month"][1] is False
    assert "project" not in found and "day_tokens" not in found
