from typing import Any

import pytest

from afresh.replay.formats import codex
from afresh.replay.run import MESSAGE_USER_TOOL, RecordedRun


def item(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "t", "type": "response_item", "payload": {"type": kind, **payload}}


def person(*words: str) -> dict[str, Any]:
    return item("message", role="user", content=[{"type": "input_text", "text": word} for word in words])


def call(name: str, arguments: str = "{}") -> dict[str, Any]:
    return item("function_call", name="shell", arguments=arguments, call_id=name)


def output(name: str, text: Any = "ok") -> dict[str, Any]:
    return item("function_call_output", call_id=name, output=text)


def counted(last: int, total: int) -> dict[str, Any]:
    info = {"total_token_usage": {"input_tokens": total}, "last_token_usage": {"input_tokens": last}}
    return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}


def meta(name: str) -> dict[str, Any]:
    return {"type": "session_meta", "payload": {"id": name}}


@pytest.fixture
def read(entries_of):
    def runs(*entries: Any) -> list[RecordedRun]:
        return list(codex.read(entries_of(entries), "rollout.jsonl"))

    return runs


def test_a_whole_rollout(shipped):
    run = shipped("codex.jsonl")
    assert (run.id, run.agent, run.model) == ("019c8a4c-ed82-79a1-aa28-7738fc5ab61a", "Codex", "gpt-5.3-codex")
    assert run.task == "The harvest report counts pears twice. Mend it."
    tools = ["exec_command", "exec_command", "apply_patch", "web_search", "local_shell", MESSAGE_USER_TOOL, "exec_command"]
    assert [step.tool for step in run.steps] == tools
    assert run.steps[0].thought == "**Looking for the sum**\n\nI'll look for the place that adds up."
    assert run.steps[1].observation == 'def total(rows):\n\trows = rows + [row for row in rows if row.kind == "pear"]'
    assert run.steps[2].action.startswith("*** Begin Patch\n*** Update File: src/report.py\n")
    assert run.steps[2].observation == "Success. Updated the following files:\nM src/report.py\n"
    assert run.steps[4].action.startswith('{"command": ["bash", "-lc", "pytest -q"]')
    assert run.steps[4].observation == "1 failed\n\n(exit code 1)"
    assert run.steps[6].said == "Change the test then."
    assert run.problems == ()


def test_a_bare_rollout(shipped):
    run = shipped("codex_bare.jsonl")
    assert (run.id, run.task) == ("5973b6c0-94b8-487b-a530-2aeb6098ae0e", "Which file is largest?")
    assert [(step.tool, step.thought) for step in run.steps] == [
        ("shell", "List by size."),
        ("shell", ""),
        (MESSAGE_USER_TOOL, ""),
    ]
    assert [step.observation for step in run.steps] == ["apples.csv\n", "9012 apples.csv", ""]


def test_a_rollout_in_one_document(read):
    inner = [entry["payload"] for entry in (person("go"), call("a"), output("a"))]
    [run] = read({"session": {"id": "x", "timestamp": "t"}, "items": [*inner, "odd"]})
    assert (run.id, run.task, len(run.steps)) == ("x", "go", 1)


def test_each_call_has_its_count_and_repeated_counts_do_no_harm(shipped):
    found = [(step.tokens, step.same_call) for step in shipped("codex.jsonl").steps]
    assert found == [
        (9_100, False),
        (9_100, True),
        (9_800, False),
        (10_100, False),
        (10_100, True),
        (10_400, False),
        (10_600, False),
    ]


def test_counts_that_were_written_before_their_call_are_told_from_those_after_it(read):
    before = [
        person("go"),
        counted(10, 10),
        call("a"),
        output("a"),
        counted(20, 30),
        call("b"),
        call("c"),
        output("b"),
        output("c"),
    ]
    after = [
        person("go"),
        call("a"),
        counted(10, 10),
        output("a"),
        call("b"),
        call("c"),
        counted(20, 30),
        output("b"),
        output("c"),
    ]
    for entries in (before, after):
        [run] = read(*entries)
        assert [(step.tokens, step.same_call) for step in run.steps] == [(10, False), (20, False), (20, True)]


def test_without_counts_a_call_ends_where_an_answer_comes(read):
    [run] = read(person("go"), call("a"), call("b"), output("a"), output("b"), call("c"), output("c"))
    assert [step.same_call for step in run.steps] == [False, True, False]


@pytest.mark.parametrize(
    "word", ["<environment_context>x", "<user_instructions>x", "# AGENTS.md instructions for x", "\n<turn_aborted>"]
)
def test_what_the_program_tells_the_model_is_not_said_by_a_person(read, word: str):
    [run] = read(person(word, "real words"), call("a"), output("a"))
    assert run.task == "real words"


def test_another_session_of_the_file_is_another_run(read):
    runs = read(meta("x"), person("one"), call("a"), output("a"), meta("y"), person("two"), call("b"), output("b"))
    assert [(run.id, run.task) for run in runs] == [("x", "one"), ("y", "two")]


def test_the_session_that_a_run_was_forked_from_is_not_another_run(read):
    [run] = read(meta("child"), meta("parent"), person("one"), call("a"), output("a"))
    assert run.id == "child"


def test_broken_arguments_are_kept_as_they_were_written(read):
    [run] = read(person("go"), call("a", '{"command": ["ls"'), output("a"))
    assert run.steps[0].action == '{"command": ["ls"'


def test_tool_names_keep_their_namespace(read):
    [run] = read(item("function_call", name="get", namespace="mcp__shop", arguments="{}", call_id="a"), output("a"))
    assert run.steps[0].tool == "mcp__shop.get"


def test_an_output_that_happens_to_be_an_object_is_left_as_it_is(read):
    [run] = read(
        call("a"), output("a", '{"content": "of a file"}'), call("b"), output("b", {"content": "inner", "success": True})
    )
    assert [step.observation for step in run.steps] == ['{"content": "of a file"}', "inner"]


def test_lost_calls_and_results_are_named(read):
    [run] = read(output("lost"), call("a"), item(""), {"type": "response_item", "payload": [1]})
    assert run.problems == (
        "line 1: the result of a call that is not there (lost), left out",
        "line 3: an item without a type, left out",
        "line 4: an item without a type, left out",
        "step 1: shell was never answered",
    )
