import json
from typing import Any

import pytest

from afresh.replay.formats import mini_swe_agent
from afresh.replay.formats.mini_swe_agent import BASH_TOOL, NO_ACTION_TOOL
from afresh.replay.run import RecordedRun

FENCE = "```"


def block(command: str, word: str = "bash") -> str:
    return f"{FENCE}{word}\n{command}\n{FENCE}"


def reply(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, **more}


def told(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **more}


@pytest.fixture
def read(entries_of):
    def run(*messages: Any, **more: Any) -> RecordedRun:
        [found] = mini_swe_agent.read(entries_of([{"messages": list(messages), "info": {}, **more}]), "x/loom-7.traj.json")
        return found

    return run


def test_a_whole_trajectory(shipped):
    run = shipped("mini_swe_agent.traj.json")
    assert (run.id, run.agent, run.model) == ("loom__loom-204", "mini-swe-agent", "gemini/gemini-3-pro")
    assert run.task.startswith("<pr_description>\nConsider the following")
    assert [step.tool for step in run.steps] == [BASH_TOOL, BASH_TOOL, NO_ACTION_TOOL, BASH_TOOL, BASH_TOOL]
    assert run.steps[1].action == "cat > repro.py <<'EOF'\nfrom loom.warp import weave\nweave([])\nEOF\ntimeout 5 python repro.py"
    assert run.steps[1].thought == "THOUGHT: Reproduce it."
    assert run.steps[2].observation.startswith("Please always give exactly one action")
    assert run.steps[4].observation == "diff --git a/loom/warp.py b/loom/warp.py\n"
    assert [step.tokens for step in run.steps] == [1_500, 1_900, 2_300, 2_700, 3_100]
    assert run.problems == ()


def test_a_whole_trajectory_with_tool_calls(shipped):
    run = shipped("mini_swe_agent_2.traj.json")
    assert (run.id, run.model) == ("mini_swe_agent_2", "anthropic/claude-sonnet-4-5")
    assert [(step.tool, step.same_call) for step in run.steps] == [
        (BASH_TOOL, False),
        (BASH_TOOL, True),
        (NO_ACTION_TOOL, False),
        (BASH_TOOL, False),
        (BASH_TOOL, False),
    ]
    assert run.steps[0].thought == "Start with the files.\n\nI'll look around."
    assert run.steps[1].observation == "<returncode>0</returncode>\n<output>\nSTEP = -1\n</output>"
    assert (run.steps[2].thought, run.steps[2].tokens) == ("STEP should be 1.", 2_700)
    assert run.steps[4].said == "Leave the test alone, it is wrong."
    assert run.problems == ()


def test_the_bare_list_of_messages(entries_of):
    messages = [told("do it"), reply(block("ls", "mswea_bash_command")), told("a.py"), reply(block("exit"))]
    [run] = mini_swe_agent.read(entries_of(messages), "loom-7.json")
    assert [(step.action, step.observation) for step in run.steps] == [("ls", "a.py"), ("exit", "")]
    assert (run.id, run.problems) == ("loom-7", ("step 2: bash was never answered",))


def test_messages_of_the_responses_api(read):
    response = {
        "object": "response",
        "model": "gpt-5.3",
        "usage": {"input_tokens": 900},
        "output": [
            {"type": "message", "content": [{"type": "output_text", "text": "Look."}]},
            {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": json.dumps({"command": "ls"})},
        ],
    }
    run = read(told("go"), response, {"type": "function_call_output", "call_id": "c1", "output": "a.py"})
    [step] = run.steps
    assert (step.thought, step.action, step.observation, step.tokens, run.model) == ("Look.", "ls", "a.py", 900, "gpt-5.3")


def test_content_in_blocks_is_read(read):
    run = read(
        told([{"type": "text", "text": "go"}]),
        reply([{"type": "text", "text": block("ls")}]),
        told([{"type": "text", "text": "x"}]),
    )
    assert (run.task, run.steps[0].action, run.steps[0].observation) == ("go", "ls", "x")


def test_two_blocks_are_no_action(read):
    run = read(told("go"), reply(block("ls") + "\n" + block("pwd")), told("just one, please"), reply(block("ls")), told("a.py"))
    assert [(step.tool, step.observation) for step in run.steps] == [(NO_ACTION_TOOL, "just one, please"), (BASH_TOOL, "a.py")]


def test_words_while_nothing_is_awaited_are_a_persons(read):
    run = read(told("go"), reply(block("ls")), told("a.py"), told("and now?"), reply(block("pwd")), told("/"))
    assert run.steps[1].said == "and now?"


@pytest.mark.parametrize("wrong", ["text", 7, None, {"role": "ghost", "content": "boo"}, {"content": "no role"}])
def test_a_message_of_a_wrong_shape_is_named(read, wrong: Any):
    run = read(told("go"), wrong, reply(block("ls")), told("a.py"))
    assert (len(run.steps), len(run.problems)) == (1, 1)
    assert run.problems[0].startswith("message 2: ")


@pytest.mark.parametrize(
    "extra", [7, {"actions": 7}, {"actions": [7]}, {"response": []}, {"response": {"usage": {"prompt_tokens": -1}}}]
)
def test_wrong_types_in_the_extras_do_no_harm(read, extra: Any):
    run = read(told("go"), reply(block("ls"), extra=extra), told("a.py"))
    assert len(run.steps) == 1
    assert run.steps[0].tokens == 0


def test_a_chat_without_a_command_is_no_run(entries_of):
    [run] = mini_swe_agent.read(entries_of([told("hello"), reply("hi"), told("bye"), reply("bye")]), "chat.json")
    assert run.steps == ()
