"""Sums of money in words, and what a limit is called."""

import pytest

from afresh.domain.limits import NANO, Account, Alert, Breaker, Limit, Scope, Unit, dollars, passed

DAY = Limit(Scope.DAY, Unit.MONEY, 20 * NANO)


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (0, "$0.00"),
        (NANO, "$1.00"),
        (1_234 * NANO, "$1,234.00"),
        (NANO // 20, "$0.0500"),
        (123_000, "$0.0001"),
        (1_000, "$0.0000010"),
    ],
)
def test_small_sums_can_be_seen(amount: int, words: str):
    assert dollars(amount) == words


def test_a_limit_has_the_name_of_its_setting():
    assert DAY.key == "day" and Limit(Scope.TASK, Unit.TOKENS, 5).key == "task_tokens"
    assert DAY.words == "$20.00 a day" and Limit(Scope.TASK, Unit.TOKENS, 5_000).words == "5,000 tokens for one task"


@pytest.mark.parametrize(
    ("spent", "told"), [(0, []), (9, []), (10, [50]), (16, [50, 80]), (20, [50, 80, 100]), (99, [50, 80, 100])]
)
def test_alerts_are_at_half_at_four_fifths_and_at_the_limit(spent: int, told: list[int]):
    assert passed(DAY, spent * NANO) == told


def test_nothing_spent_is_no_alert_even_where_nothing_is_allowed():
    assert passed(Limit(Scope.DAY, Unit.MONEY, 0), 0) == []


def test_a_breaker_tells_what_was_spent_and_what_was_asked_for():
    assert Breaker(DAY, "2026-01-01", 0.0, 19 * NANO, 2 * NANO).words == (
        "the limit of $20.00 a day is reached: $19.00 spent or booked, and the next call may take $2.00"
    )
    call = Limit(Scope.CALL, Unit.MONEY, NANO)
    assert Breaker(call, "p/t", 0.0, 3 * NANO, 3 * NANO).words.endswith("a call may take $3.00")
    assert Breaker(call, "p/t", 0.0, 3 * NANO).words.endswith("a call took $3.00")
    assert "(task t)" in Alert(Limit(Scope.TASK, Unit.MONEY, NANO), "p/t", 50, NANO // 2).words


def test_calls_of_one_local_day_share_a_sum():
    one, later = Account("p", "t", 1_760_000_000.0), Account("p", "u", 1_760_000_000.0 + 40 * 86_400)
    assert one.key(Scope.DAY) != later.key(Scope.DAY) and one.key(Scope.MONTH) != later.key(Scope.MONTH)
    assert one.key(Scope.TASK) != later.key(Scope.TASK) and one.key(Scope.PROJECT) == later.key(Scope.PROJECT)
