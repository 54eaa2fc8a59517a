"""Dollars, with and without caching."""

from afresh.domain.price import Price
from afresh.replay.measure import Moment
from afresh.replay.money import Bill, bill
from afresh.replay.run import RunStep

PRICE = Price(input=10.0, cached=1.0)
STEP = RunStep("", "bash", "", "")


def moments(*sizes: tuple[int, int], calls: tuple[bool, ...] = ()) -> list[Moment]:
    marks = calls or (True,) * len(sizes)
    return [
        Moment(number, STEP, "", theirs, ours, 0, call=call)
        for number, ((theirs, ours), call) in enumerate(zip(sizes, marks, strict=True), 1)
    ]


def test_nothing_cached_is_all_at_the_full_price():
    made = bill(moments((100_000, 4_000), (300_000, 4_000), (600_000, 4_000)), PRICE)
    assert (round(made.theirs, 6), round(made.ours, 6)) == (10.0, 0.12)


def test_perfect_caching_reads_the_call_before_cheaply_and_what_is_new_in_full():
    made = bill(moments((100_000, 0), (300_000, 0), (600_000, 0)), PRICE)
    assert round(made.theirs_cached, 6) == 1.0 + (0.1 + 2.0) + (0.3 + 3.0)


def test_a_short_run_costs_more_with_us_and_the_bill_says_so():
    made = bill(moments((3_900, 4_000), (4_000, 4_000), (4_100, 4_000)), PRICE)
    assert made.ours > made.theirs_cached


def test_steps_of_one_call_are_not_paid_again():
    assert bill(moments((100, 50), (900, 50), calls=(True, False)), PRICE) == bill(moments((100, 50)), PRICE)


def test_the_likelier_count_scales_every_sum():
    whole, half = bill(moments((100, 50), (200, 60)), PRICE), bill(moments((100, 50), (200, 60)), PRICE, 0.5)
    assert (half.theirs, half.theirs_cached, half.ours) == (whole.theirs / 2, whole.theirs_cached / 2, whole.ours / 2)


def test_no_calls_cost_nothing_and_bills_add_up():
    assert bill([], PRICE) == Bill() == Bill() + Bill()
    assert Bill(1, 2, 3) + Bill(4, 5, 6) == Bill(5, 7, 9)
