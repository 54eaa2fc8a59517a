from collections.abc import Callable
from typing import Any

import pytest

from afresh.replay.formats import openhands
from afresh.replay.run import MESSAGE_USER_TOOL, RecordedRun


@pytest.fixture
def read(entries_of) -> Callable[..., list[RecordedRun]]:
    def runs(*values: Any, path: str = "x/kiln.json") -> list[RecordedRun]:
        return list(openhands.read(entries_of(values), path))

    return runs


def said(number: int, words: str) -> dict[str, Any]:
    return {"id": number, "source": "user", "action": "message", "args": {"content": words}}


def act(number: int, command: str, **more: Any) -> dict[str, Any]:
    return {
        "id": number,
        "source": "agent",
        "action": "run",
        "args": {"command": command, "thought": "why", "hidden": False},
        **more,
    }


def seen(cause: Any, content: str, kind: str = "run") -> dict[str, Any]:
    return {"id": 99, "source": "agent", "cause": cause, "observation": kind, "content": content}


def event(kind: str, source: str = "agent", **more: Any) -> dict[str, Any]:
    return {"id": "e", "source": source, "kind": kind, **more}


def action(call: str, response: str = "r", **more: Any) -> dict[str, Any]:
    asked = {"id": call, "name": "terminal", "arguments": '{"command": "ls"}'}
    return (
        event("ActionEvent", thought=[], tool_name="terminal", tool_call_id=call, tool_call=asked, llm_response_id=response)
        | more
    )


def observed(call: str, text: str) -> dict[str, Any]:
    return event("ObservationEvent", "environment", tool_call_id=call, observation={"content": [{"type": "text", "text": text}]})


def test_a_whole_trajectory_of_the_older_program(shipped):
    run = shipped("openhands_app.json")
    assert (run.id, run.agent, run.model) == ("openhands_app", "OpenHands", "claude-sonnet-4-20250514")
    assert run.task == "The kiln always says 1000 degrees."
    assert [step.tool for step in run.steps] == ["execute_bash", "think", "edit", MESSAGE_USER_TOOL, "execute_bash", "finish"]
    assert run.steps[0].thought == "Where does it come from?"
    assert run.steps[0].observation == "kiln/heat.py:8: def degrees(self):"
    assert run.steps[2].action.startswith(
        '{"command": "str_replace", "path": "/workspace/kiln/heat.py", "old_str": "return 1000"'
    )
    assert "security_risk" not in run.steps[2].action
    assert run.steps[3].action == "It now follows the cone."
    assert run.steps[4].said == "And the tests?"
    assert [step.tokens for step in run.steps] == [3_400, 3_600, 0, 0, 4_100, 4_200]
    assert run.problems == ()


def test_a_whole_trajectory_of_the_newer_program(shipped):
    run = shipped("openhands_sdk.jsonl")
    assert (run.id, run.model, run.task) == (
        "openhands_sdk",
        "litellm_proxy/minimax-m2",
        "The bell rings twelve times at one o'clock.",
    )
    assert [step.tool for step in run.steps] == [
        "terminal",
        "terminal",
        "file_editor",
        "terminal",
        MESSAGE_USER_TOOL,
        "file_editor",
    ]
    assert run.steps[0].thought == "<think>Find the strike.</think>\n\nI'll look for the strike."
    assert run.steps[0].action == '{"command": "grep -rn strike bell", "security_risk": "LOW"}'
    assert run.steps[2].thought == "One should ring once.\n\nIt ignores the hour."
    assert [step.observation for step in run.steps[2:4]] == ["old_str is not unique", "Action rejected: no!"]
    assert run.steps[5].said == "Give more lines around it."
    assert [(step.tokens, step.same_call) for step in run.steps[:4]] == [
        (5_200, False),
        (5_200, True),
        (5_800, False),
        (6_400, False),
    ]
    assert run.problems == ()


def test_outputs_of_benchmarks_hold_a_run_each(read):
    pairs = [[act(1, "ls"), seen(1, "a.py")]]
    first = {"instance_id": "one", "instruction": "do it", "history": pairs, "metadata": {"llm_config": {"model": "m"}}}
    second = {"instance_id": "two", "instruction": "x", "history": [said(0, "said"), act(1, "ls"), seen(1, "b.py")]}
    runs = read(first, {"junk": 1}, second, path="output.jsonl")
    assert [(run.id, run.task, run.model, run.steps[0].observation) for run in runs] == [
        ("one", "do it", "m", "a.py"),
        ("two", "said", "", "b.py"),
    ]
    assert runs[1].problems == ("line 2: no run, left out",)


def test_the_answer_of_the_server_is_a_run(read):
    [run] = read({"trajectory": [said(0, "go"), act(1, "ls"), seen(1, "a.py")]})
    assert (run.task, run.steps[0].action, run.steps[0].observation) == ("go", '{"command": "ls"}', "a.py")


def test_what_a_person_ran_is_no_step(read):
    [run] = read(said(0, "go"), {**act(1, "ls"), "source": "user"}, seen(1, "a.py"), act(2, "pwd"), seen(2, "/"))
    assert [(step.action, step.observation) for step in run.steps] == [('{"command": "pwd"}', "/")]
    assert run.problems == ()


def test_the_state_beside_a_folder_of_events_has_model_and_counts(read):
    usages = [{"response_id": "r1", "prompt_tokens": 700}, {"response_id": "r2", "prompt_tokens": 900}]
    state = {"agent": {"llm": {"model": "m"}}, "stats": {"usage_to_metrics": {"agent": {"token_usages": usages}}}}
    [run] = read(state, action("a", "r1"), observed("a", "x"), action("b", "r2"), observed("b", "y"), path="runs/8f2c/events")
    assert (run.id, run.model, [step.tokens for step in run.steps]) == ("8f2c", "m", [700, 900])


def test_lost_calls_and_results_are_named(read):
    [run] = read(observed("lost", "x"), action("a"))
    assert run.problems == (
        "line 1: the result of a call that is not there (lost), left out",
        "step 1: terminal was never answered",
    )
    [run] = read(seen(7, "x"), act(1, "ls"))
    assert run.problems == (
        "line 1: the result of a call that is not there (event 7), left out",
        "step 1: run was never answered",
    )


@pytest.mark.parametrize(
    "wrong",
    [
        action("a", tool_call=7, action=[]),
        action("a", thought=7, thinking_blocks={}, reasoning_content=[]),
        action("a", tool_name=None, llm_response_id={}),
        {**act(1, "ls"), "tool_call_metadata": {"model_response": {"choices": [7], "usage": []}}},
        {**act(1, "ls"), "tool_call_metadata": 7, "args": {}},
    ],
)
def test_wrong_types_in_an_event_do_no_harm(read, wrong: dict[str, Any]):
    [run] = read(said(0, "go"), wrong, act(5, "ls"), seen(5, "a.py"))
    assert [step.observation for step in run.steps] == ["", "a.py"]
