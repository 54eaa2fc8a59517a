"""Dollars, with and without caching."""

from afresh.replay.measure_run import StepMeasurement
from afresh.replay.report import InputCost, estimate_input_cost
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
    assert estimate_input_cost([], PRICE) == InputCost() == InputCost() + InputCost()
    assert InputCost(1, 2, 3) + InputCost(4, 5, 6) == InputCost(5, 7, 9)
