"""What afresh would have sent in a recorded run: never over the budget, never ahead of its time, the same twice."""

import math
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from afresh.context.sources.task_and_messages import NEWEST_MESSAGE_HEADING
from afresh.core.tokens import EstimatingCounter
from afresh.errors import BadInput
from afresh.replay.build_contexts import build_contexts
from afresh.replay.run import MESSAGE_USER_TOOL, run_from_trajectory, to_trajectory

TEXTS = st.one_of(
    st.sampled_from(
        ["", "cat src/parcel/pricing.py", "```python\ndef first_name():\n    pass\n```", "\n\n", "x" * 9_000, "漢字 " * 400]
    ),
    st.text(max_size=60),
    st.tuples(st.sampled_from(["value_{0} = {0}", "src/mod_{0}.py:12: E501 too long", "{0} words"]), st.integers(1, 300)).map(
        lambda drawn: "\n".join(drawn[0].format(number) for number in range(drawn[1]))
    ),
)
STEPS = st.fixed_dictionaries(
    {
        "thought": TEXTS,
        "action": st.fixed_dictionaries({"tool": st.sampled_from(["bash", "edit", MESSAGE_USER_TOOL]), "text": TEXTS}),
        "observation": TEXTS,
    },
    optional={"said": TEXTS},
)
RUNS = st.fixed_dictionaries({"id": st.just("one"), "task": TEXTS, "steps": st.lists(STEPS, max_size=8)})
COUNTS = st.sampled_from([EstimatingCounter(), lambda text: math.ceil(len(text) / 4), lambda text: len(text.encode()) // 3])


def step(text: str, observation: str = "", thought: str = "") -> dict[str, Any]:
    return {"thought": thought, "action": {"tool": "bash", "text": text}, "observation": observation}


def built(run: dict[str, Any], budget: int = 1_000, count=EstimatingCounter()) -> list[str]:  # noqa: B008
    return list(build_contexts(run, budget, count))


@given(RUNS, st.integers(600, 9_000), COUNTS)
@example({"task": "", "steps": []}, 600, EstimatingCounter())
def test_no_context_is_over_the_budget_whatever_was_recorded(run, budget, count):
    found = built(run, budget, count)
    assert len(found) == len(run["steps"])
    assert all(count(context) <= budget for context in found)


@settings(max_examples=settings.default.max_examples * 3 // 5)
@given(RUNS, st.integers(600, 4_000), st.integers(0, 8))
def test_a_context_does_not_look_ahead(run, budget, cut):
    assert built({**run, "steps": run["steps"][:cut]}, budget) == built(run, budget)[:cut]


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(RUNS, st.integers(600, 4_000))
def test_the_same_run_gives_the_same_contexts(run, budget):
    assert built(run, budget) == built(run, budget)


def test_a_context_is_made_before_its_step_is_read():
    def steps():
        yield step("ls src/parcel", "pricing.py")
        raise AssertionError("looked ahead")

    class Lazy(Sequence):
        def __getitem__(self, at):
            raise AssertionError("not by place")

        def __len__(self):
            return 2

        def __iter__(self):
            return steps()

    first = next(iter(build_contexts({"task": "t", "steps": Lazy()}, 1_000, EstimatingCounter())))
    assert "pricing" not in first


def test_any_sequence_of_steps_will_do():
    steps = [step("ls src/parcel", "pricing.py"), step("cat src/parcel/pricing.py", "def first_name(): pass"), step("done")]
    assert built({"task": "t", "steps": tuple(steps)}) == built({"task": "t", "steps": steps})


WRONG = [
    None,
    "text",
    7,
    [],
    {},
    {"action": "ls"},
    {"action": None, "observation": 3},
    {"thought": 5, "action": {"text": {"a": [1]}}},
]


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_a_step_of_a_wrong_shape_says_nothing_and_the_others_are_told(wrong):
    found = built({"task": "t", "steps": [step("cat src/parcel/pricing.py"), wrong, step("done")]})
    assert len(found) == 3 and "src/parcel/pricing.py" in found[1] and "src/parcel/pricing.py" in found[2]


@pytest.mark.parametrize("task", [None, 5, ["a"], ""])
def test_a_task_of_a_wrong_shape_is_no_reason_to_fail(task):
    assert len(built({"task": task, "steps": [step("ls")]})) == 1


def test_an_empty_run_has_no_contexts():
    assert built({"task": "t", "steps": []}) == []


def test_a_run_without_steps_is_refused_where_it_is_read():
    with pytest.raises(BadInput, match="list of steps"):
        run_from_trajectory({"task": "t"})


@pytest.mark.parametrize("line", ["line {0} of src/mod_{0}.py says value_{0}\n", "x_y {0} and "], ids=["lines", "one line"])
def test_a_huge_observation_is_counted_a_few_times_only_and_shown_in_part(line):
    counted = list[int]()

    def count(text: str) -> int:
        counted.append(len(text))
        return len(text) // 4 + 1

    huge = "".join(line.format(number) for number in range(2_000_000 // len(line)))
    steps = [step("cat all.txt", huge), step("cat b.py"), step("cat b.py")]
    found = built({"task": "t", "steps": steps}, 4_000, count)
    assert sum(counted) < 20 * len(huge)
    assert all(len(context) // 4 + 1 <= 4_000 for context in found)
    assert len(found[1]) > 2_000, "as much as there is room for"


def test_what_the_person_said_last_stands_in_their_words_and_the_task_stays():
    steps = [step("ls"), {**step("cat a.py"), "said": "no, in the other file"}, step("cat b.py")]
    found = built({"task": "mend it please", "steps": steps})
    assert all("mend it please" in context for context in found)
    assert ["no, in the other file" in context for context in found] == [False, True, True]


def test_an_answer_to_the_agent_is_a_word_of_the_person():
    talk = {"thought": "", "action": {"tool": MESSAGE_USER_TOOL, "text": "which one?"}, "observation": "the left one"}
    assert f"{NEWEST_MESSAGE_HEADING}\nthe left one" in built({"task": "t", "steps": [talk, step("ls")]})[1]


def test_a_notice_of_the_program_is_not_a_word_of_the_person():
    talk = {"thought": "", "action": {"tool": MESSAGE_USER_TOOL, "text": "which one?"}, "observation": "the left one"}
    notice = {**talk, "observation": "<task-notification>all is done</task-notification>"}
    assert f"{NEWEST_MESSAGE_HEADING}\nthe left one" in built({"task": "t", "steps": [talk, notice, step("ls")]})[2]


def test_a_name_of_long_ago_is_still_there():
    noise = [step(f"cat notes/note_{number}.txt", f"remark_{number} " * 30) for number in range(40)]
    used = [step("grep -rn billable_kilograms src", "src/parcel/pricing.py:12: def billable_kilograms")] * 3
    found = built({"task": "t", "steps": [*used, *noise, step("end")]}, 2_000)
    assert "billable_kilograms" in found[-1] and "src/parcel/pricing.py" in found[-1]


def test_recorded_sessions_fit(shipped):
    for name in ("claude_code.jsonl", "codex.jsonl", "mini_swe_agent.traj.json"):
        plain = to_trajectory(shipped(name))
        assert all(EstimatingCounter()(context) <= 900 for context in built(plain, 900))


def test_the_name_stays_a_function_after_it_was_called():
    from afresh import replay

    run = {"id": "r", "task": "t", "steps": [{"thought": "", "action": {"tool": "bash", "text": "ls"}, "observation": ""}]}
    assert list(replay.contexts(run, 1_000, len)) == list(replay.contexts(run, 1_000, len))
