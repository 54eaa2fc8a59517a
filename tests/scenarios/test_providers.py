"""A task from the command line to a verified commit, through the real SDKs over real HTTP, in both wire formats."""

import json

import pytest
from person import COMPLETE, MEND, Person

from afresh.domain.action import Action, Reply, Usage
from afresh.testing.faults import Fault
from afresh.testing.server import ModelServer

KEY = "sk-ant-api03-canary-7f3a9c"
PROVIDERS = ("anthropic", "openai")


def reply(*steps) -> Reply:
    return Reply("As asked.", tuple(Action(tool, dict(args)) for tool, args in steps), Usage(1_900, 40))


@pytest.fixture(params=PROVIDERS)
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
    script = [reply(("read", {"path": "calc.py"})), Fault(529), reply(MEND), reply(COMPLETE)]
    with serve(monkeypatch, provider, *script) as server:
        told = person.runs(f"{provider}:some-model", "--json")
    assert told.code == 0 and (told.json["verdict"], told.json["steps"]) == ("PASS", 3)
    assert told.json["tokens"]["input"] == 3 * 1_900
    asked = [json.dumps(received.body) for received in server.received]
    assert len(asked) == 4, "the overloaded call was tried again by the SDK"
    assert "double" in asked[1] and '"max_' in asked[0], "the window and the reply's limit were sent"
    assert not [path for path in person.state.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def test_a_wrong_key_stops_with_what_to_do_and_the_task_is_kept(person: Person, provider: str, monkeypatch) -> None:
    with serve(monkeypatch, provider, Fault(401, "no such key"), reply(MEND, COMPLETE)):
        refused = person.runs(f"{provider}:some-model", "--json")
        assert refused.code == 1 and f"{provider.upper()}_API_KEY" in refused.err and KEY not in refused.err
        assert person.types("resume", "--json").json["verdict"] == "PASS"
