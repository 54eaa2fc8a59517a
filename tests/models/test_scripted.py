import json
from dataclasses import replace
from pathlib import Path

import pytest

from afresh.core.action import Action
from afresh.core.prompt import REVIEW_REQUEST
from afresh.core.reply import Reply
from afresh.core.usage import Usage
from afresh.errors import BadInput, NeedsPerson
from afresh.models.scripted import ScriptedModel, read_script
from support.model_contract import make_sample_request

READ = {"thought": "look", "actions": [{"tool": "read", "args": {"path": "a.py"}}]}
DONE = {"actions": [{"tool": "complete", "args": {"summary": "all good"}}]}


def test_the_nth_call_gets_the_nth_reply() -> None:
    model = ScriptedModel([READ, Reply("own", usage=Usage(7, 3))])
    assert model.propose(make_sample_request()).actions == (Action("read", {"path": "a.py"}),)
    assert model.propose(make_sample_request()).thought == "own"
    assert [request.hash for request in model.requests] == [make_sample_request().hash] * 2


def test_a_review_is_answered_by_its_words_and_shifts_no_reply() -> None:
    model = ScriptedModel([READ, {"review": "test_half", "how": "neither"}, DONE])
    review = replace(make_sample_request(), kind=REVIEW_REQUEST, message="tests/test_half.py: test_half was altered")
    assert model.propose(make_sample_request()).actions[0].tool == "read"
    assert model.propose(review).thought == '{"how": "neither"}'
    with pytest.raises(NeedsPerson, match="no answer to this review"):
        model.propose(replace(review, message="another test"))
    assert model.propose(make_sample_request()).actions[0].tool == "complete"


def test_a_restarted_process_goes_on_where_it_was() -> None:
    assert ScriptedModel([READ, DONE], start=1).propose(make_sample_request()).actions[0].tool == "complete"


def test_running_out_says_so_and_what_to_do() -> None:
    with pytest.raises(NeedsPerson, match="has 1 replies and this is call 2") as caught:
        ScriptedModel([READ], start=1).propose(make_sample_request())
    assert "--model" in caught.value.next


def test_a_script_is_read_from_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "script.jsonl"
    path.write_text(
        "\n".join((json.dumps(READ), "", json.dumps({"thought": "a\u2028b"}, ensure_ascii=False), "")), encoding="utf-8"
    )
    replies = read_script(path)
    assert [reply.thought for reply in replies] == ["look", "a\u2028b"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "Expecting"),
        ("[]", "must be a JSON object"),
        ('{"thoughts": "x"}', "unknown field thoughts; fields are thought, actions"),
        ('{"thought": 1}', "thought: should be string"),
        ('{"actions": {}}', "actions: should be array"),
        ('{"actions": [{"args": {}}]}', "actions 1: missing field tool"),
        ('{"actions": [{"tool": "read", "args": []}]}', "actions 1: args: should be object"),
        ('{"usage": {"input": -1}}', "whole numbers"),
    ],
)
def test_a_bad_line_is_named_with_its_problem(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "script.jsonl"
    path.write_text(f"{json.dumps(READ)}\n{line}\n", encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        read_script(path)
    assert f"{path}:2" in caught.value.what and problem in caught.value.what
    assert '"tool"' in caught.value.next
