import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import state, tangled, tree

from afresh.code.batch_suggestions import MAX_BATCH, choose_batch, find_failed_batches
from afresh.code.code_insight import CodeInsight
from afresh.code.refactoring.suggest_extractions import Suggestion
from afresh.core.fact import Fact, FactKind
from afresh.core.state import State
from afresh.core.task import Task
from afresh.errors import Cancelled
from support.states import make_state

TEXTS = {"a.py": "".join(f"old_{n}.\n" for n in range(40))}


def offer(id: str, function: str = "", new: str = "") -> Suggestion:
    edits = json.dumps([{"path": "a.py", "old": f"old_{id}.", "new": new or f"new_{id}."}])
    return Suggestion(id, f"change {id}\n{edits}", "a.py", function or f"f{id}", 12, 8, tuple(re.findall(r"def (\w+)", new)))


def with_facts(*facts: Fact) -> State:
    return make_state(Task(id="t", goal="lower the complexity", type="fix_violation"), facts=facts)


def test_a_batch_has_one_suggestion_of_each_function() -> None:
    assert choose_batch([offer("1", "f"), offer("2", "g"), offer("3", "f")], [], TEXTS) == ["1", "2"]
    assert len(choose_batch([offer(f"{n}") for n in range(40)], [], TEXTS)) == MAX_BATCH


def test_a_batch_does_not_define_one_name_twice_and_leaves_what_no_longer_applies() -> None:
    one, other = offer("1", new="def _read(): ..."), offer("2", new="def _read(): ...")
    assert choose_batch([one, other, offer("3")], [], TEXTS) == ["1", "3"]
    assert choose_batch([offer("1"), offer("99")], [], TEXTS) == ["1"]


def test_a_batch_that_failed_is_halved_until_one_is_left() -> None:
    offers = [offer(f"{n}") for n in range(5)]
    assert choose_batch(offers, [("0", "1", "2", "3", "4")], TEXTS) == ["0", "1"]
    assert choose_batch(offers, [("0", "1", "2", "3", "4"), ("0", "1")], TEXTS) == ["0"]
    assert choose_batch(offers[2:], [("2", "3", "4")], TEXTS) == ["2"]
    assert choose_batch(offers, [("3",)], TEXTS) == ["3"]


@given(st.integers(1, 30), st.sets(st.integers(0, 29)))
def test_bisection_keeps_what_is_right_and_undoes_what_is_wrong(count: int, wrong: set[int]) -> None:
    """The facts as a run leaves them: kept ones are no suspects, and one that fails alone ends a search."""
    left, kept, alone, groups = [f"{n}" for n in range(count)], set[str](), set[str](), list[tuple[str, ...]]()
    runs = 0
    while True:
        runs += 1
        if not (batch := choose_batch([offer(one) for one in left], groups, TEXTS)):
            break
        if not {int(one) for one in batch} & wrong:
            kept |= {*batch}
            groups = [tuple(one for one in group if one not in batch) for group in groups]
            groups = [group for group in groups if group]
        elif len(batch) == 1:
            alone |= {*batch}
            groups = []
        else:
            groups.append(tuple(batch))
        left = [one for one in left if one not in kept | alone]
    assert alone == {f"{n}" for n in wrong if n < count} and len(kept) == count - len(alone)
    assert runs <= count / MAX_BATCH + 2 + 7 * len(alone), "a run for each batch, and a few for each culprit"


def test_only_what_failed_alone_is_not_offered_again() -> None:
    files, insight = tree(src__a=tangled("f"), src__b=tangled("g")), CodeInsight()
    first, second = [look.subject for look in insight.looks(state(), files) if look.kind == "batch"]
    together = Fact(FactKind.FAILED_APPROACH, f"apply {first}; apply {second}", "tests failed", batch=(first, second))
    current = with_facts(together)
    assert find_failed_batches(current) == [(first, second)]
    assert [look.subject for look in insight.looks(current, files) if look.kind == "batch"] == [first]
    alone = with_facts(Fact(FactKind.FAILED_APPROACH, f"apply {first}", "tests failed", suggestion=first))
    assert first not in [look.subject for look in insight.looks(alone, files) if look.kind == "suggestion"]


def test_a_function_that_no_change_brings_within_the_limit_is_left_alone_with_a_reason() -> None:
    flat = "def f(number):\n    note(locals())\n" + "".join(
        f"    if number == {n}:\n        return note({n})\n" for n in range(40)
    )
    files, insight = tree(src__a=flat), CodeInsight()
    assert not [look for look in insight.looks(state(), files) if look.kind == "suggestion"]
    [left] = insight.explain_unfixed(state(), files)
    assert left.place == "f src/a.py:1" and left.complexity == 41 and left.reason


def test_what_was_tried_and_undone_is_the_reason() -> None:
    files, insight, failed = tree(src__a=tangled("f")), CodeInsight(), list[Fact]()
    while offers := [look for look in insight.looks(with_facts(*failed), files) if look.kind == "suggestion"]:
        failed.append(Fact(FactKind.FAILED_APPROACH, f"apply {offers[0].subject}", "2 tests fail", suggestion=offers[0].subject))
    [left] = insight.explain_unfixed(with_facts(*failed), files)
    assert left.reason == "tried and undone: 2 tests fail"
    [offered] = insight.explain_unfixed(state(), files)
    assert offered.reason == ""


def test_a_stop_is_noticed_before_the_next_function_is_looked_at() -> None:
    insight, asked = CodeInsight(), list[int]()

    def stop_at_second() -> None:
        asked.append(1)
        if len(asked) == 2:
            raise Cancelled("stopped")

    insight.check_cancelled = stop_at_second
    with pytest.raises(Cancelled):
        insight.looks(state(), tree(a=tangled("f"), b=tangled("g"), c=tangled("h")))
    assert len(asked) == 2
