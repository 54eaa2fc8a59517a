import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.errors import BadInput
from afresh.replay.run import RecordedRun, RecordedStep, render_arguments, run_from_trajectory, to_trajectory, truncate_problems

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
steps = st.builds(RecordedStep, words, words, words, words, words, st.integers(0, 10**6), st.booleans())
runs = st.builds(
    RecordedRun, words, words, words, words, st.lists(steps, max_size=4).map(tuple), st.lists(words).map(tuple), words
)


@given(runs)
def test_a_run_comes_back_from_the_neutral_form_as_it_was(run: RecordedRun):
    assert run_from_trajectory(json.loads(json.dumps(to_trajectory(run)))) == run


def test_the_neutral_form_has_only_the_agreed_keys_where_nothing_more_is_known():
    plain = to_trajectory(
        RecordedRun("a", "agent", "model", "do it", (RecordedStep("why", "bash", "ls", "a.py"),), path="here.jsonl")
    )
    assert plain == {
        "id": "a",
        "source": "here.jsonl",
        "agent": "agent",
        "model": "model",
        "task": "do it",
        "n_steps": 1,
        "steps": [{"thought": "why", "action": {"tool": "bash", "text": "ls"}, "observation": "a.py"}],
    }


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"command": 'echo "a"\nls'}, '{"command": "echo "a"\nls"}'),
        ({"path": "Köln"}, '{"path": "Köln"}'),
        (["ls", "-l"], '["ls", "-l"]'),
        ("as written", "as written"),
        ({}, ""),
        (None, ""),
    ],
)
def test_arguments_are_written_as_an_agent_would(arguments: object, text: str):
    assert render_arguments(arguments) == text


def test_text_wins_over_arguments():
    step = {"action": {"tool": "bash", "text": "ls", "args": {"command": "pwd"}}}
    assert run_from_trajectory({"steps": [step]}).steps[0].action == "ls"


def test_halves_of_surrogate_pairs_are_replaced():
    step = {"thought": "a\ud800b", "action": {"tool": "x\udfff", "args": {"c": "\ud83d"}}, "observation": "\udc00"}
    found = run_from_trajectory({"task": "\ud800", "steps": [step]})
    json.dumps(to_trajectory(found), ensure_ascii=False).encode()
    assert found.steps[0].thought == "a\ufffdb"


def test_steps_of_a_wrong_shape_are_named_and_the_others_are_read():
    good = {"action": {"tool": "bash", "text": "ls"}, "thought": None, "observation": 7, "tokens": "many"}
    found = run_from_trajectory({"id": 5, "task": "t", "steps": [good, "no step", {"action": "ls"}, good]})
    assert [step.action for step in found.steps] == ["ls", "ls"]
    assert found.problems == ("step 2: no action, left out", "step 3: no action, left out")
    assert (found.id, found.steps[0].thought, found.steps[0].observation, found.steps[0].tokens) == ("", "", "", 0)


def test_without_steps_there_is_no_run():
    with pytest.raises(BadInput, match="list of steps"):
        run_from_trajectory({"task": "t", "steps": {}})


def test_many_problems_are_counted_instead_of_named():
    assert truncate_problems(["a"] * 100) == ("a",) * 100
    assert truncate_problems(["a"] * 1_200)[-2:] == ("a", "and 1,100 more")
