"""Prompts that are large or grow give an alert, each once a task; what is known of a task stays small."""

from hypothesis import given
from hypothesis import strategies as st

from afresh.core.context_alert import CALLS_COMPARED, CallSize, ContextThresholds, SizeRecord, find_context_alerts

THRESHOLDS = ContextThresholds(call_tokens=8_000, growth=50)


def make_calls(*sent: int, task: str = "a", reserve: int = 1_000) -> list[CallSize]:
    return [CallSize(task, step, tokens, reserve, float(step)) for step, tokens in enumerate(sent, 1)]


def test_a_large_call_is_told_once_with_its_step():
    [alert] = find_context_alerts(make_calls(2_000, 7_000, 7_500, 2_000, 7_000), THRESHOLDS)
    assert alert.task == "a" and alert.at == 2.0
    assert alert.words == "a call of task a took 8,000 tokens in step 2; the alert is at 8,000"


def test_calls_that_grow_are_told_once_by_the_mean_of_ten():
    steady = [2_000, 5_000] + [2_000] * 40
    assert find_context_alerts(make_calls(*steady), THRESHOLDS) == [], "a single larger one is no growth"
    growing = [2_000 + 100 * step for step in range(60)]
    [alert] = find_context_alerts(make_calls(*growing, reserve=0), THRESHOLDS)
    assert alert.words == "calls of task a have grown by 53 %: 2,450 tokens at first, 3,750 at step 23"


def test_nothing_is_told_where_the_user_has_turned_it_off():
    growing = make_calls(*[2_000 + 1_000 * step for step in range(60)])
    assert len(find_context_alerts(growing, ContextThresholds())) == 2
    assert find_context_alerts(growing, ContextThresholds(call_tokens=0, growth=0)) == []


def test_each_task_is_compared_with_its_own_beginning():
    small, large = make_calls(*[1_000] * 15), make_calls(*[5_000] * 15, task="b")
    assert find_context_alerts([*small, *large], THRESHOLDS) == []


@given(st.lists(st.integers(0, 50_000), max_size=80))
def test_a_record_is_bounded_and_gives_each_alert_at_most_once(sent: list[int]):
    record, told = SizeRecord(), list[str]()
    for size in make_calls(*sent):
        record, alerts = record.add(size, THRESHOLDS)
        told += [one.words for one in alerts]
        assert len(record.first) <= CALLS_COMPARED and len(record.last) <= CALLS_COMPARED
    assert len(told) <= 2
    assert any("took" in words for words in told) == any(tokens + 1_000 >= 8_000 for tokens in sent)
