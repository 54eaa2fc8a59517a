"""When a call may begin under rate limits."""

from hypothesis import given
from hypothesis import strategies as st

from afresh.core.rate_limit import RateLimit, TakenTurn, find_turn

MODELS = ("a:x", "a:y", "b:x")
LIMITS = (RateLimit("a", requests=5, tokens=2_000), RateLimit("a:x", tokens=900), RateLimit("b", requests=2))


def take_turns(asked: list[tuple[float, str, int]]) -> list[tuple[float, TakenTurn]]:
    """The turns of these calls, each with the time when it was asked for."""
    turns, now = list[tuple[float, TakenTurn]](), 0.0
    for pause, model, tokens in asked:
        now += pause
        at, _ = find_turn(now, [one for _, one in turns], LIMITS, TakenTurn(model, now, tokens))
        turns.append((now, TakenTurn(model, at, tokens)))
    return turns


@given(st.lists(st.tuples(st.floats(0, 30), st.sampled_from(MODELS), st.integers(1, 1_000)), max_size=30))
def test_no_minute_has_more_than_its_limits_allow(asked: list[tuple[float, str, int]]) -> None:
    turns = take_turns(asked)
    for limit in LIMITS:
        own = [one for _, one in turns if limit.covers(one.model)]
        assert own == sorted(own, key=lambda one: one.at), "in the order in which they were asked for"
        for first in own:
            minute = [one for one in own if first.at <= one.at < first.at + 60]
            assert not limit.requests or len(minute) <= limit.requests
            assert not limit.tokens or len(minute) == 1 or sum(one.tokens for one in minute) <= limit.tokens


@given(st.lists(st.tuples(st.floats(0, 30), st.sampled_from(MODELS), st.integers(1, 1_000)), max_size=30))
def test_a_call_waits_only_if_a_moment_earlier_would_be_too_early(asked: list[tuple[float, str, int]]) -> None:
    turns = take_turns(asked)
    for place, (now, turn) in enumerate(turns):
        before = [one for _, one in turns[:place]]
        if turn.at > now and not any(one.at == turn.at for one in before):
            earlier = turn.at - 0.5
            late = [limit for limit in LIMITS if limit.covers(turn.model) and is_full(limit, before, earlier, turn)]
            assert late or earlier < now or any(one.at > earlier for one in before)


def is_full(limit: RateLimit, before: list[TakenTurn], at: float, call: TakenTurn) -> bool:
    recent = [one for one in before if limit.covers(one.model) and at - 61 < one.at <= at]
    over = sum(one.tokens for one in recent) + call.tokens > limit.tokens
    return bool((limit.requests and len(recent) >= limit.requests) or (limit.tokens and recent and over))


def test_a_call_that_is_larger_than_a_whole_minute_begins_alone() -> None:
    small, large = TakenTurn("a:x", 10.0, 100), TakenTurn("a:x", 20.0, 5_000)
    assert find_turn(20.0, [], LIMITS, large) == (20.0, "")
    at, why = find_turn(20.0, [small], LIMITS, large)
    assert at == 71.0 and why in (LIMITS[0].words, LIMITS[1].words)


def test_a_model_without_a_limit_does_not_wait() -> None:
    taken = [TakenTurn("b:x", 1.0, 1)] * 9
    assert find_turn(2.0, taken, LIMITS, TakenTurn("c:x", 2.0, 10**9)) == (2.0, "")
    assert find_turn(2.0, taken, LIMITS, TakenTurn("bb:x", 2.0, 1)) == (2.0, "")
    assert LIMITS[0].words == "5 requests and 2,000 tokens a minute for a"
