"""A prompt is extended while that fits, is true and costs less than a new one."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.context.extend_or_rebuild import (
    MAX_FORECAST_STEPS,
    MIN_READ_RATE,
    ExtensionCosts,
    decide_extension,
    estimate_extended_cost,
    estimate_rebuilt_cost,
)
from afresh.context.limit import compute_extension_bound
from afresh.core.cache_rates import CacheRates
from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY

RATES = CacheRates()
WARM = ExtensionCosts(base=5_000, fixed=1_300, prefix=5_500, turn=400, room=1_000, steps_left=10)


@st.composite
def any_costs(draw):
    fixed = draw(st.integers(0, 3_000))
    base = fixed + draw(st.integers(0, 20_000))
    prefix = base + draw(st.integers(0, 20_000))
    return ExtensionCosts(
        base=base,
        fixed=fixed,
        prefix=prefix,
        turn=draw(st.integers(0, 5_000)),
        room=draw(st.integers(-5_000, 20_000)),
        steps_left=draw(st.integers(0, 200)),
        expired=draw(st.booleans()),
    )


ANY_RATES = st.builds(CacheRates, read=st.floats(0, 2), write=st.floats(0.5, 2), minimum=st.integers(0, 5_000))


def extends(costs: ExtensionCosts, rates: CacheRates = RATES) -> bool:
    return decide_extension(costs, rates).extend


def test_a_warm_prefix_with_a_small_turn_is_extended_and_the_decision_names_both_costs():
    decision = decide_extension(WARM, RATES)
    assert decision.extend
    assert decision.reason == "costs like 9,290 new tokens in 10 steps, 11,570 with a new prompt"


def test_what_is_sent_again_counts_more_than_its_price():
    """A long prompt takes time and attention however cheap its cached tokens are, so it is rebuilt sooner."""
    cheap, counted = CacheRates(read=0.01), CacheRates(read=MIN_READ_RATE)
    assert decide_extension(WARM, cheap) == decide_extension(WARM, counted) != decide_extension(WARM, CacheRates(read=0.3))


@pytest.mark.parametrize(
    ("changes", "rates", "reason"),
    [
        ({"room": -1}, RATES, "1 tokens over the bound"),
        ({"expired": True}, RATES, "the cache has expired, and a new prompt is shorter by 500 tokens"),
        ({}, CacheRates(read=1.0, write=1.0), "the model has no cheaper cache, and a new prompt is shorter by 500 tokens"),
        ({}, CacheRates(minimum=6_000), "under 6,000 tokens nothing is cached, and a new prompt is shorter by 500 tokens"),
        ({"turn": 4_000}, RATES, "costs like 18,650 new tokens in 10 steps, 11,570 with a new prompt"),
    ],
)
def test_a_prompt_is_rebuilt_and_the_decision_says_why(changes, rates, reason):
    decision = decide_extension(replace(WARM, **changes), rates)
    assert (decision.extend, decision.reason) == (False, reason)


def test_a_large_turn_is_appended_when_the_work_is_about_to_end():
    assert extends(replace(WARM, turn=3_000, steps_left=1))
    assert not extends(replace(WARM, turn=3_000, steps_left=10))


@given(any_costs(), ANY_RATES)
def test_nothing_is_extended_over_the_bound(costs, rates):
    assert not extends(replace(costs, room=min(-1, costs.room)), rates)


@given(any_costs(), ANY_RATES, st.integers(0, 10_000))
def test_more_room_never_turns_an_extension_into_a_new_prompt(costs, rates, more):
    assert not extends(costs, rates) or extends(replace(costs, room=costs.room + more), rates)


@given(any_costs(), ANY_RATES, st.floats(0, 1))
def test_a_cheaper_cache_never_turns_an_extension_into_a_new_prompt(costs, rates, share):
    assert not extends(costs, rates) or extends(costs, replace(rates, read=rates.read * share))


@given(any_costs(), ANY_RATES, st.integers(0, 5_000))
def test_less_to_append_never_turns_an_extension_into_a_new_prompt(costs, rates, turn):
    smaller = replace(costs, turn=min(turn, costs.turn))
    assert not extends(costs, rates) or extends(smaller, rates)


@given(any_costs(), ANY_RATES)
def test_what_is_extended_costs_no_more_than_a_new_prompt(costs, rates):
    if extends(costs, rates):
        steps = max(1, min(costs.steps_left, MAX_FORECAST_STEPS))
        assert estimate_extended_cost(costs, rates, steps) <= estimate_rebuilt_cost(costs, rates, steps)


def test_the_default_lets_a_prompt_grow_to_more_than_twice():
    assert compute_extension_bound(4_000, DEFAULT_CONTEXT_POLICY) == 12_000
