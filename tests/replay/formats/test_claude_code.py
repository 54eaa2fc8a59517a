from typing import Any

import pytest

from afresh.replay.formats import claude_code
from afresh.replay.run import MESSAGE_USER_TOOL, RecordedRun


def reply(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A reply of the model; `id` names its message."""
    held = {"role": "assistant", "model": more.pop("model", "m"), "content": list(blocks), "id": more.pop("id", "")}
    return {"type": "assistant", "sessionId": "s", "message": held | {"usage": more.pop("usage", None)}, **more}


def person(content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "user", "sessionId": "s", "message": {"role": "user", "content": content}, **more}


def tool(call: str, name: str = "Bash", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": name, "input": arguments}


def result(call: str, content: Any = "ok") -> dict[str, Any]:
    return person([{"type": "tool_result", "tool_use_id": call, "content": content}])


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


@pytest.fixture
def read(entries_of):
    def runs(*entries: Any) -> list[RecordedRun]:
        return list(claude_code.read(entries_of(entries), "session.jsonl"))

    return runs


def test_a_whole_session(shipped):
    run = shipped("claude_code.jsonl")
    assert (run.id, run.agent, run.model) == ("7d1f0c52-3f0e-4a53-9d8b-5f5a1c1b2e01", "Claude Code", "claude-opus-4-6")
    assert run.task == "High water at Wilhelmshaven is an hour late since Sunday. Find out why."
    assert [step.tool for step in run.steps] == ["Grep", "Read", "Bash", "Edit", MESSAGE_USER_TOOL, "Read", MESSAGE_USER_TOOL]
    assert run.steps[0].thought == "An hour, since Sunday: daylight saving.\n\nI'll look for the place where times are made."
    assert run.steps[2].action.startswith('{"command": "python -m pytest -q tests/test_clock.py\necho "exit $?""')
    assert run.steps[2].observation == "1 failed, 3 passed in 0.04s\nexit 1"
    assert run.problems == ("sub-agents: 2 entries left out",)


def test_what_people_say_stands_before_the_step_that_follows(shipped):
    said = {number: step.said for number, step in enumerate(shipped("claude_code.jsonl").steps) if step.said}
    assert said == {3: "keep the signature of local() as it is", 5: "Thanks. Does the test cover autumn, too?\n\n[image]"}


def test_tokens_are_all_that_a_call_was_sent_and_calls_in_one_reply_share_them(shipped):
    found = [(step.tokens, step.same_call) for step in shipped("claude_code.jsonl").steps]
    assert found[:4] == [(15_204, False), (15_616, False), (15_616, True), (16_235, False)]


def test_a_reply_over_several_entries_is_one_call_even_with_results_in_between(read):
    [run] = read(
        person("do it"),
        reply(tool("a"), id="1", usage={"input_tokens": 10}),
        result("a"),
        reply(tool("b"), id="1", usage={"input_tokens": 10}),
        result("b"),
        reply(tool("c"), id="2", usage={"input_tokens": 30}),
        result("c"),
    )
    assert [(step.tokens, step.same_call) for step in run.steps] == [(10, False), (10, True), (30, False)]


def test_words_before_a_call_are_its_thought_and_words_alone_are_a_step(read):
    [run] = read(
        person("hello"), reply(text("Hi!"), id="1"), person("go"), reply(text("I'll look."), tool("a"), id="2"), result("a")
    )
    assert [(step.tool, step.thought, step.action) for step in run.steps] == [
        (MESSAGE_USER_TOOL, "", "Hi!"),
        ("Bash", "I'll look.", ""),
    ]


def test_words_of_another_reply_are_not_the_thought_of_this_one(read):
    [run] = read(
        person("go"), reply(text("All done."), id="1"), person("by a hook", isMeta=True), reply(tool("a"), id="2"), result("a")
    )
    assert [(step.tool, step.thought) for step in run.steps] == [(MESSAGE_USER_TOOL, ""), ("Bash", "")]


def test_what_the_program_puts_in_is_not_said_by_a_person(read):
    [run] = read(
        person("<command-name>/clear</command-name>"),
        person("<local-command-stdout></local-command-stdout>"),
        person(
            "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>12</command-args>"
        ),
        person("the text of the review command", isMeta=True),
        person("<system-reminder>be kind</system-reminder>please"),
        reply(tool("a"), id="1"),
        result("a"),
        person("<task-notification><status>completed</status></task-notification>"),
        reply(tool("b"), id="2"),
        result("b"),
    )
    assert run.task == "/review 12\n\nplease"
    assert run.steps[1].said == ""


def test_an_error_of_the_provider_is_no_word_of_the_model(read):
    [run] = read(person("go"), reply(text("API Error"), model="<synthetic>"), reply(tool("a"), id="1"), result("a"))
    assert (len(run.steps), run.steps[0].thought, run.model) == (1, "", "m")


def test_entries_that_were_written_twice_count_once(read):
    call = {**reply(tool("a"), id="1"), "uuid": "u1"}
    [run] = read(person("go"), call, call, result("a"))
    assert (len(run.steps), run.problems) == (1, ())


def test_each_session_of_a_file_is_a_run(read):
    other = {"sessionId": "t"}
    runs = read(
        person("one"), reply(tool("a"), id="1"), {**person("two"), **other}, {**reply(tool("b"), id="2"), **other}, result("a")
    )
    assert [(run.id, run.task, len(run.steps)) for run in runs] == [("s", "one", 1), ("t", "two", 1)]
    assert runs[0].steps[0].observation == "ok"


def test_a_session_that_was_resumed_under_another_id_is_one_run(read):
    first = {**person("one"), "uuid": "u1", "parentUuid": None}
    second = {**reply(tool("a"), id="1"), "uuid": "u2", "parentUuid": "u1", "sessionId": "t"}
    [run] = read(first, second, {**result("a"), "sessionId": "t"})
    assert (run.id, run.task, len(run.steps)) == ("s", "one", 1)


def test_a_file_of_sub_agents_only_gives_their_runs(read):
    aside = {"isSidechain": True, "agentId": "a17"}
    [run] = read({**person("look"), **aside}, {**reply(tool("a"), id="1"), **aside}, {**result("a"), **aside})
    assert (run.id, run.task, len(run.steps), run.problems) == ("a17", "look", 1, ())


def test_a_result_without_its_call_and_a_call_without_its_result_are_named(read):
    [run] = read(person("go"), result("lost"), reply(tool("a"), tool("b", "Read"), id="1"), result("b"), result("b"))
    assert [step.observation for step in run.steps] == ["", "ok"]
    assert run.problems == (
        "line 2: the result of a call that is not there (lost), left out",
        "line 5: a second result of the call b, left out",
        "step 1: Bash was never answered",
    )


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "user", "message": "words"},
        {"type": "assistant", "message": None},
        {"type": "user", "message": {"role": "user", "content": 7}},
        {"type": "assistant", "message": {"content": [{"type": "hologram"}]}},
        ["no", "object"],
    ],
)
def test_an_entry_of_a_wrong_type_is_named_and_the_rest_is_read(read, wrong: Any):
    [run] = read(person("go"), wrong, reply(tool("a"), id="1"), result("a"))
    assert (len(run.steps), len(run.problems)) == (1, 1)
    assert run.problems[0].startswith("line 2: ")


@pytest.mark.parametrize("wrong", [{"uuid": 7}, {"sessionId": []}, {"isSidechain": "yes"}, {"parentUuid": {}}, {"isMeta": 1}])
def test_wrong_types_around_a_message_do_no_harm(read, wrong: dict[str, Any]):
    [run] = read(person("go"), {**reply(tool("a"), id="1", usage={"input_tokens": "many"}), **wrong}, result("a"))
    assert [(step.tool, step.tokens, step.observation) for step in run.steps] == [("Bash", 0, "ok")]


def test_tools_of_the_provider_answer_in_the_same_reply(read):
    search = {"type": "server_tool_use", "id": "a", "name": "web_search", "input": {"query": "tides"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "a", "content": [{"type": "web_search_result", "text": "high"}]}
    [run] = read(person("go"), reply(search, found, text("High."), id="1"))
    assert [(step.tool, step.observation) for step in run.steps] == [("web_search", "high"), (MESSAGE_USER_TOOL, "")]


def test_what_was_said_last_is_named_since_no_step_follows(read):
    [run] = read(person("go"), reply(tool("a"), id="1"), result("a"), person("thanks"))
    assert run.problems == ("the end: 6 characters were said after the last step",)
