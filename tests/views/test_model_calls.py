"""Whether calls grow with the steps of their task."""

from hypothesis import given
from hypothesis import strategies as st

from afresh.views.model_calls import MIN_STEPS_FOR_SLOPE, measure_token_growth


def test_a_flat_context_has_no_slope_however_tasks_differ():
    calls = [("small", step, 1_000) for step in range(1, 50)] + [("large", step, 3_000) for step in range(1, 200)]
    assert measure_token_growth(calls).slope == 0


def test_a_history_that_is_kept_shows():
    found = measure_token_growth([("t", step, 2_000 + 30 * step) for step in range(1, 101)])
    assert found.slope and round(found.slope) == 3_000 and found.average == 3_515


def test_a_few_steps_tell_nothing():
    assert measure_token_growth([("t", step, 900 * step) for step in range(1, MIN_STEPS_FOR_SLOPE + 1)]).slope is None
    assert measure_token_growth([]).average == 0


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 500), st.integers(1, 10**6)), max_size=60))
def test_whatever_was_called_it_can_be_told(calls: list[tuple[str, int, int]]):
    found = measure_token_growth(calls)
    assert found.calls == len(calls) and (not calls or found.average >= 1)
