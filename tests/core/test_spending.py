"""Sums of money in words, and what a limit is called."""

import pytest

from afresh.core.spending import (
    LimitAlert,
    LimitScope,
    LimitUnit,
    SpendingAccount,
    SpendingLimit,
    TrippedLimit,
    find_passed_alerts,
)
from afresh.core.usage import NANO_PER_DOLLAR, format_dollars

DAY = SpendingLimit(LimitScope.DAY, LimitUnit.MONEY, 20 * NANO_PER_DOLLAR)


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (0, "$0.00"),
        (NANO_PER_DOLLAR, "$1.00"),
        (1_234 * NANO_PER_DOLLAR, "$1,234.00"),
        (NANO_PER_DOLLAR // 20, "$0.0500"),
        (123_000, "$0.0001"),
        (1_000, "$0.0000010"),
    ],
)
def test_small_sums_can_be_seen(amount: int, words: str):
    assert format_dollars(amount) == words


def test_a_limit_has_the_name_of_its_setting():
    assert DAY.key == "day" and SpendingLimit(LimitScope.TASK, LimitUnit.TOKENS, 5).key == "task_tokens"
    assert (
        DAY.words == "$20.00 a day"
        and SpendingLimit(LimitScope.TASK, LimitUnit.TOKENS, 5_000).words == "5,000 tokens for one task"
    )


@pytest.mark.parametrize(
    ("spent", "told"), [(0, []), (9, []), (10, [50]), (16, [50, 80]), (20, [50, 80, 100]), (99, [50, 80, 100])]
)
def test_alerts_are_at_half_at_four_fifths_and_at_the_limit(spent: int, told: list[int]):
    assert find_passed_alerts(DAY, spent * NANO_PER_DOLLAR) == told


def test_nothing_spent_is_no_alert_even_where_nothing_is_allowed():
    assert find_passed_alerts(SpendingLimit(LimitScope.DAY, LimitUnit.MONEY, 0), 0) == []


def test_a_breaker_tells_what_was_spent_and_what_was_asked_for():
    assert TrippedLimit(DAY, "2026-01-01", 0.0, 19 * NANO_PER_DOLLAR, 2 * NANO_PER_DOLLAR).words == (
        "the limit of $20.00 a day is reached: $19.00 spent or booked, and the next call may take $2.00"
    )
    call = SpendingLimit(LimitScope.CALL, LimitUnit.MONEY, NANO_PER_DOLLAR)
    assert TrippedLimit(call, "p/t", 0.0, 3 * NANO_PER_DOLLAR, 3 * NANO_PER_DOLLAR).words.endswith("a call may take $3.00")
    assert TrippedLimit(call, "p/t", 0.0, 3 * NANO_PER_DOLLAR).words.endswith("a call took $3.00")
    assert (
        "(task t)"
        in LimitAlert(SpendingLimit(LimitScope.TASK, LimitUnit.MONEY, NANO_PER_DOLLAR), "p/t", 50, NANO_PER_DOLLAR // 2).words
    )


def test_calls_of_one_local_day_share_a_sum():
    one, later = SpendingAccount("p", "t", 1_760_000_000.0), SpendingAccount("p", "u", 1_760_000_000.0 + 40 * 86_400)
    assert one.key(LimitScope.DAY) != later.key(LimitScope.DAY) and one.key(LimitScope.MONTH) != later.key(LimitScope.MONTH)
    assert one.key(LimitScope.TASK) != later.key(LimitScope.TASK) and one.key(LimitScope.PROJECT) == later.key(LimitScope.PROJECT)
