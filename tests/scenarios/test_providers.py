"""A task from the command line to a verified commit, through the real SDKs over real HTTP, in both wire formats."""

import json

import pytest
from person import COMPLETE, MEND, Person

from afresh.core.action import Action
from afresh.core.reply import Reply
from afresh.core.usage import Usage
from support.model_server import ModelServer
from support.provider_faults import (
    EMPTY_REPLY,
    CutStream,
    HttpFault,
    StreamError,
    call_unknown_tool,
    call_with_long_arguments,
    make_retry_headers,
    report_usage,
)

KEY = "sk-ant-api03-canary-7f3a9c"
LOOK = ("read", {"path": "calc.py"})
PROVIDERS = ("anthropic", "openai")


def reply(*steps) -> Reply:
    return Reply("As asked.", tuple(Action(tool, dict(args)) for tool, args in steps), Usage(1_900, 40))


@pytest.fixture(params=["anthropic", pytest.param("openai", marks=pytest.mark.journey)])
def provider(request, requires_sandbox, monkeypatch) -> str:
    requires_sandbox()
    for name in PROVIDERS:
        monkeypatch.setenv(f"{name.upper()}_API_KEY", KEY)
    return request.param


def serve(monkeypatch, provider: str, *script) -> ModelServer:
    server = ModelServer(script)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server.anthropic_url)
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
    return server


def test_a_user_with_a_key_runs_a_task(person: Person, provider: str, monkeypatch) -> None:
    script = [reply(LOOK), HttpFault(529), reply(MEND), reply(COMPLETE)]
    with serve(monkeypatch, provider, *script) as server:
        told = person.runs(f"{provider}:some-model", "--json")
    assert told.code == 0 and (told.json["verdict"], told.json["steps"]) == ("PASS", 3)
    assert told.json["tokens"]["input"] == 3 * 1_900
    asked = [json.dumps(received.body) for received in server.received]
    assert len(asked) == 4, "the overloaded call was tried again"
    assert "double" in asked[1] and '"max_' in asked[0], "the window and the reply's limit were sent"
    assert not [path for path in person.state.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def test_a_wrong_key_stops_with_what_to_do_and_the_task_is_kept(person: Person, provider: str, monkeypatch) -> None:
    with serve(monkeypatch, provider, HttpFault(401, "no such key"), reply(MEND, COMPLETE)):
        refused = person.runs(f"{provider}:some-model", "--json")
        assert refused.code == 4 and f"{provider.upper()}_API_KEY" in refused.err and KEY not in refused.err
        assert person.types("resume", "--json").json["verdict"] == "PASS"


def test_a_night_of_faults_ends_in_a_verified_commit(person: Person, provider: str, monkeypatch) -> None:
    """The provider is busy, breaks off, talks nonsense and miscounts; each fault costs no more than its own call."""
    script = [
        HttpFault(429, headers=make_retry_headers(milliseconds=20)),
        HttpFault(529),
        HttpFault(500),
        call_unknown_tool("fly"),
        reply(LOOK),
        call_with_long_arguments(900_000, tool="edit", argument="new"),
        EMPTY_REPLY,
        CutStream(4, reply(MEND)),
        StreamError(4, reply(MEND)),
        report_usage(reply(MEND), input_tokens=-1, prompt_tokens=-1),
        reply(COMPLETE),
    ]
    with serve(monkeypatch, provider, *script) as server:
        told = person.runs(f"{provider}:some-model")
    assert len(server.received) == len(script), told.words
    assert told.code == 0, told.words
    for word in ("(429)", "(529)", "(500)", "retry 3 of 6"):
        assert word in told.words
    assert person.shown()["status"] == "done"
    assert person.types("spend", "--json").json["whole"]["calls"] == 6 + 2, "what broke off is in the books too"
    windows = [json.dumps(received.body) for received in server.received]
    assert "there is no tool 'fly'" in windows[4] and "cut off at its limit" in windows[6]
    sizes = [path.stat().st_size for path in person.state.rglob("*") if path.is_file()]
    assert max(sizes) < 800_000, "a megabyte of arguments is not kept"


def test_a_provider_that_stays_away_leaves_a_task_that_can_be_resumed(person: Person, provider: str, monkeypatch) -> None:
    hour = HttpFault(429, "come back later", make_retry_headers(seconds=3_600))
    with serve(monkeypatch, provider, reply(LOOK), hour, reply(MEND), reply(COMPLETE)):
        away = person.runs(f"{provider}:some-model", "--json")
        assert away.code == 4 and away.error["kind"] == "TryAgain" and "for 3,600 s" in away.error["what"]
        assert person.types("resume", "--json").json["verdict"] == "PASS"
