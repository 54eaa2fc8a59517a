"""A context is kept byte for byte and appended to, as long as that fits and is cheaper; otherwise it is built anew."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from afresh.core.cache_rates import CacheRates
from afresh.core.context_policy import ContextPolicy
from afresh.replay.extend_contexts import extend_contexts

POLICY = ContextPolicy(max_growth=1.5, max_turn_tokens=300)


def count(text: str) -> int:
    return (len(text) + 3) // 4


def make_run(outputs: list[int]) -> dict:
    """One step for each output, which has so many different lines."""
    steps = [
        {
            "thought": f"look at part {number}",
            "action": {"tool": "bash", "text": f"cat src/part_{number}.py"},
            "observation": "\n".join(f"value_{number}_{line} = compute_value({line})" for line in range(length)),
        }
        for number, length in enumerate(outputs)
    ]
    return {"id": "r", "task": "find the wrong value", "steps": steps}


def test_steps_are_appended_as_turns_until_the_bound_is_reached():
    found = list(extend_contexts(make_run([12] * 40), 1_000, count, POLICY))
    kept = [later.startswith(former) for former, later in pairwise(found)]
    assert kept.count(False) > 1 and kept.count(True) > 2 * kept.count(False)
    assert all(count(text) <= 1_500 for text in found)
    rebuilt = [text for text, same in zip(found[1:], kept, strict=True) if not same]
    assert all(count(text) <= 1_000 for text in rebuilt)


def test_a_turn_says_what_was_thought_done_and_printed_with_the_id_of_the_output():
    first, second, *_ = extend_contexts(make_run([3, 3]), 1_000, count, POLICY)
    turn = second.removeprefix(first)
    assert turn.startswith("\n1: look at part 0\n1> cat src/part_0.py\n1= ")
    assert turn.endswith("value_0_1 = compute_value(1)\nvalue_0_2 = compute_value(2)")


def test_of_a_long_output_the_lines_most_likely_needed_are_appended_and_gaps_are_marked():
    run = make_run([2, 400])
    run["steps"].append({"thought": "", "action": {"tool": "bash", "text": "ls"}, "observation": ""})
    *_, second, third = extend_contexts(run, 2_000, count, POLICY)
    turn = third.removeprefix(second)
    assert turn != third and "value_1_0 =" in turn
    assert "\n[… not all is shown: `read` @" in turn
    assert count(turn) <= POLICY.max_turn_tokens


def test_lines_that_are_shown_already_are_folded_in_a_turn():
    run = make_run([6, 6, 6])
    run["steps"][1]["observation"] = f"{run['steps'][0]['observation']}\none new line at the end of it"
    *_, second, third = extend_contexts(run, 2_000, count, POLICY)
    assert third.removeprefix(second).endswith("\n[… 6 lines as shown above]\none new line at the end of it")


def test_a_report_that_repeats_the_file_of_an_edit_is_left_out_of_a_turn():
    steps = [
        {"action": {"tool": "Edit", "text": "file `src/parts.py`"}, "observation": "The file src/parts.py has been updated."},
        {"action": {"tool": "Write", "text": "value = 1"}, "observation": "File created successfully at: src/value.py"},
        {"action": {"tool": "bash", "text": "ls"}, "observation": ""},
    ]
    *_, last = extend_contexts({"task": "t", "steps": steps}, 2_000, count, POLICY)
    assert "1 ok> file `src/parts.py`\n2 ok> value = 1\n2= " in last
    assert last.endswith("File created successfully at: src/value.py")


@given(st.lists(st.integers(0, 120), max_size=12), st.integers(0, 12))
def test_no_context_depends_on_later_steps_or_passes_the_bound(outputs, cut):
    run = make_run(outputs)
    whole = list(extend_contexts(run, 800, count, POLICY))
    assert list(extend_contexts({**run, "steps": run["steps"][:cut]}, 800, count, POLICY)) == whole[:cut]
    assert all(count(text) <= 1_200 for text in whole)


def test_without_a_cheaper_cache_no_context_is_longer_than_a_new_one():
    found = list(extend_contexts(make_run([12] * 12), 1_000, count, POLICY, CacheRates(read=1.0, write=1.0)))
    assert all(count(text) <= 1_000 for text in found)
    assert any(not later.startswith(earlier) for earlier, later in pairwise(found))
