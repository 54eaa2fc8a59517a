"""Dollars, with and without caching."""

from dataclasses import replace

import pytest

from afresh.core.cache_rates import CacheRates
from afresh.replay.measure_run import StepMeasurement, count_common_characters
from afresh.replay.report import InputCost, PaidTokens, add_up, count_paid_tokens, estimate_input_cost
from afresh.replay.run import RecordedStep
from afresh.spending.price_list import Price

PRICE = Price(input=10.0, cached=1.0)
STEP = RecordedStep("", "bash", "", "")


def moments(*sizes: tuple[int, int], calls: tuple[bool, ...] = ()) -> list[StepMeasurement]:
    marks = calls or (True,) * len(sizes)
    return [
        StepMeasurement(number, STEP, "", theirs, ours, 0, call=call)
        for number, ((theirs, ours), call) in enumerate(zip(sizes, marks, strict=True), 1)
    ]


def test_nothing_cached_is_all_at_the_full_price():
    made = estimate_input_cost(moments((100_000, 4_000), (300_000, 4_000), (600_000, 4_000)), PRICE)
    assert (round(made.theirs, 6), round(made.ours, 6)) == (10.0, 0.12)


def test_perfect_caching_reads_the_call_before_cheaply_and_what_is_new_in_full():
    made = estimate_input_cost(moments((100_000, 0), (300_000, 0), (600_000, 0)), PRICE)
    assert round(made.theirs_cached, 6) == 1.0 + (0.1 + 2.0) + (0.3 + 3.0)


def test_a_short_run_costs_more_with_us_and_the_bill_says_so():
    made = estimate_input_cost(moments((3_900, 4_000), (4_000, 4_000), (4_100, 4_000)), PRICE)
    assert made.ours > made.theirs_cached


def test_steps_of_one_call_are_not_paid_again():
    assert estimate_input_cost(moments((100, 50), (900, 50), calls=(True, False)), PRICE) == estimate_input_cost(
        moments((100, 50)), PRICE
    )


def test_the_likelier_count_scales_every_sum():
    whole, half = (
        estimate_input_cost(moments((100, 50), (200, 60)), PRICE),
        estimate_input_cost(moments((100, 50), (200, 60)), PRICE, 0.5),
    )
    assert (half.theirs, half.theirs_cached, half.ours) == (whole.theirs / 2, whole.theirs_cached / 2, whole.ours / 2)


def test_no_calls_cost_nothing_and_bills_add_up():
    assert estimate_input_cost([], PRICE) == InputCost() == add_up(InputCost, [])
    assert add_up(InputCost, [InputCost(1, 2, 3, 4), InputCost(4, 5, 6, 7)]) == InputCost(5, 7, 9, 11)


def test_ours_is_cached_as_far_as_two_contexts_begin_alike():
    made = estimate_input_cost([replace(one, same=1_000) for one in moments((9_000, 4_000))], PRICE)
    assert made.ours - made.ours_cached == pytest.approx(1_000 * (PRICE.input - PRICE.cached) / 1_000_000)


def test_paid_tokens_are_weighed_on_both_sides_by_the_same_rates():
    rates, seen = CacheRates(read=0.1, write=1.25), moments((1_000, 400), (3_000, 500))
    paid = count_paid_tokens([seen[0], replace(seen[1], same=200)], rates)
    assert paid == PaidTokens(1_250 + 100 + 2_500, 500 + 20 + 375)
    assert count_paid_tokens(moments((1_000, 400), (9_000, 900), calls=(True, False)), rates) == PaidTokens(1_250, 500)
    assert PaidTokens(100, 120).saving == pytest.approx(-0.2) and PaidTokens().saving == 0


@pytest.mark.parametrize(("one", "other", "length"), [("", "abc", 0), ("abc", "abd", 2), ("abc", "abc", 3), ("ab", "abc", 2)])
def test_two_texts_share_a_beginning(one: str, other: str, length: int):
    assert count_common_characters(one, other) == count_common_characters(other, one) == length
