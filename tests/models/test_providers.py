"""The real SDKs over real HTTP, against a provider on the loopback."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from afresh.core.action import Action
from afresh.core.prompt import Request
from afresh.core.reply import Reply
from afresh.core.usage import Usage
from afresh.errors import Broken, NeedsPerson, TryAgain
from afresh.models.choose_model import make_model
from afresh.models.model_settings import ModelSettings
from afresh.models.providers.anthropic_messages import AnthropicModel
from afresh.models.providers.connection import ProviderConnection
from afresh.models.providers.openai_chat import OpenAIModel
from support.model_contract import make_sample_request
from support.model_server import ModelServer
from support.provider_faults import (
    GarbageAnswer,
    HttpFault,
    ScriptStep,
    SlowStart,
    call_with_long_arguments,
)
from support.wire_formats import ScriptedTurn

KEY = "sk-test-0123456789"
READ = Action("read", {"path": "a.py"})
PLAIN = Reply("look", (READ,), Usage(120, 30, 80))
NO_WAIT = {"retry-after-ms": "5"}


def anthropic(server: ModelServer, **options: Any) -> AnthropicModel:
    return AnthropicModel("claude-test", ProviderConnection(key=KEY, base_url=server.anthropic_url, **options))


def openai(server: ModelServer, **options: Any) -> OpenAIModel:
    return OpenAIModel("gpt-test", ProviderConnection(key=KEY, base_url=server.openai_url, **options))


Make = Callable[..., AnthropicModel | OpenAIModel]
both = pytest.mark.parametrize("make", [anthropic, openai])


def ask(make: Make, *script: ScriptStep, request: Request | None = None, **options: Any) -> tuple[Reply, ModelServer]:
    with ModelServer(script) as server:
        return make(server, **options).propose(request or make_sample_request()), server


@both
def test_thought_calls_and_usage_arrive(make: Make) -> None:
    two = Reply("look twice", (READ, Action("complete", {"summary": "é"})), Usage(120, 30, 80))
    reply, server = ask(make, two)
    assert (reply.thought, reply.actions, reply.usage) == (two.thought, two.actions, two.usage)
    assert reply.model in ("anthropic:claude-test", "openai:gpt-test")
    assert len(server.received) == 1


def test_anthropic_is_sent_the_request_and_nothing_else() -> None:
    request = make_sample_request()
    _, server = ask(anthropic, PLAIN, request=request)
    assert server.received[0].path.startswith("/v1/messages")
    assert server.received[0].body == {
        "model": "claude-test",
        "max_tokens": 800,
        "system": [{"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": request.message}]}],
        "stream": True,
        "tools": [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters} for tool in request.tools
        ],
    }


@both
def test_a_reply_cut_by_its_limit_is_not_acted_on(make: Make) -> None:
    reply, _ = ask(make, ScriptedTurn(PLAIN, cut=True))
    assert reply.actions == () and reply.thought.startswith("look\n")
    assert "cut off at its limit of 800 tokens" in reply.thought
    assert reply.usage == PLAIN.usage


@both
def test_of_a_reply_cut_by_its_limit_all_calls_but_the_last_are_taken(make: Make) -> None:
    """The last may be half of one, also where the server has closed its brackets; the others were whole before it began."""
    begun = (READ, Action("read", {"path": "b.py"}), Action("edit", {"path": "c.py", "new": "half of"}))
    reply, _ = ask(make, ScriptedTurn(Reply("look", begun, Usage(120, 30)), cut=True))
    assert reply.actions == begun[:2] and reply.cramped
    assert "its first 2 tool calls were carried out, the rest was not" in reply.thought
    broken, _ = ask(openai, ScriptedTurn(Reply("look", begun, Usage(120, 30)), cut=True, arguments='{"path": "a.p'))
    assert broken.actions == (), "nothing that can't be read is taken for whole"
    assert not ask(make, PLAIN)[0].cramped


@pytest.mark.parametrize("arguments", ['{"path": "a.p', "[1]", '"text"', "[" * 10_000])
def test_arguments_that_are_no_json_object_are_shown_to_the_model(arguments: str) -> None:
    (action,) = ask(openai, ScriptedTurn(PLAIN, arguments=arguments))[0].actions
    assert action.tool == "read"
    assert action.args == {"_invalid": f"the arguments are not a JSON object: {arguments[:200]}"}


@both
def test_a_call_with_too_long_arguments_says_so_to_the_model(make: Make) -> None:
    room = make_sample_request(reserve=20_000)
    (action,) = ask(make, call_with_long_arguments(300_000), request=room)[0].actions
    assert "300,011 characters, 200,000 are allowed" in action.args["_invalid"]
    big = Action("read", {"path": "x" * 150_000})
    assert ask(make, Reply("", (big,)), request=room)[0].actions == (big,)


@both
@pytest.mark.parametrize("status", [429, 500, 529])
def test_passing_faults_are_retried(make: Make, status: int) -> None:
    reply, server = ask(make, *[HttpFault(status)] * 6, PLAIN)
    assert reply.actions == (READ,) and len(server.received) == 7


@both
@pytest.mark.parametrize("status", [429, 500, 529])
def test_faults_that_stay_are_for_a_later_try(make: Make, status: int) -> None:
    with pytest.raises(TryAgain, match=f"{status}.*after 6 retries"):
        ask(make, *[HttpFault(status)] * 7)


@both
def test_a_slow_answer_is_for_a_later_try(make: Make) -> None:
    with pytest.raises(TryAgain, match=r"at http://127.0.0.1.*timed out"):
        ask(make, SlowStart(5.0, ScriptedTurn(PLAIN)), timeout=0.2, retries=0)


@both
def test_nobody_at_the_address_is_for_a_later_try(make: Make) -> None:
    with ModelServer([]) as server:
        pass
    with pytest.raises(TryAgain, match=r"at http://127.0.0.1.*Connection error"):
        make(server, retries=0).propose(make_sample_request())


@both
@pytest.mark.parametrize("body", ["not json {", "{}", "[]", '"text"', "", "<html>busy</html>", '{"content": 5, "choices": 5}'])
def test_an_answer_that_is_none_is_for_a_later_try(make: Make, body: str) -> None:
    with pytest.raises(TryAgain):
        ask(make, GarbageAnswer(body), retries=0)


@both
@pytest.mark.parametrize("content_type", ["text/html", "text/plain"])
def test_a_page_in_place_of_an_answer_is_for_a_later_try(make: Make, content_type: str) -> None:
    with pytest.raises(TryAgain):
        ask(make, GarbageAnswer("<html>log in</html>", content_type), retries=0)


@both
@pytest.mark.parametrize(("status", "advice"), [(401, "_API_KEY"), (403, "mailbox:DIR"), (404, "model's name"), (400, "--model")])
def test_a_refusal_needs_a_person(make: Make, status: int, advice: str) -> None:
    with pytest.raises(NeedsPerson, match=str(status)) as caught:
        ask(make, HttpFault(status, f"refused for key {KEY}"))
    assert advice in caught.value.next
    assert KEY not in repr(caught.value) + caught.value.next and caught.value.__cause__ is None


@both
@pytest.mark.parametrize(
    ("status", "message"),
    [(402, "pay"), (400, "Your credit balance is too low"), (429, "insufficient_quota: you exceeded your current quota")],
)
def test_an_empty_account_needs_a_person(make: Make, status: int, message: str) -> None:
    with pytest.raises(NeedsPerson, match="requires payment first"):
        ask(make, *[HttpFault(status, message, NO_WAIT)] * 5)


@both
@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, "prompt is too long: 205000 tokens > 200000 maximum"),
        (400, "This model's maximum context length is 8192"),
        (413, "big"),
    ],
)
def test_too_long_is_our_own_fault(make: Make, status: int, message: str) -> None:
    with pytest.raises(Broken, match="too long"):
        ask(make, HttpFault(status, message))


def test_the_address_comes_from_the_users_settings_or_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer([PLAIN] * 4) as server:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.anthropic_url)
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        settings = ModelSettings(base_urls={"openai": server.openai_url})
        make_model("anthropic:claude-test").propose(make_sample_request())
        make_model("openai:local", settings=settings).propose(make_sample_request())
    assert [held.body["model"] for held in server.received] == ["claude-test", "local"]
    assert KEY in str(server.received[0].headers) and KEY not in str(server.received[1].headers)


def test_nothing_about_the_call_reaches_the_log(caplog: pytest.LogCaptureFixture) -> None:
    for make in (anthropic, openai):
        with caplog.at_level("DEBUG"):
            ask(make, PLAIN)
    assert KEY not in caplog.text
    assert json.dumps(KEY) not in caplog.text


@both
def test_a_rate_limit_is_told_with_what_matters_first(make: Make) -> None:
    heard: list[str] = []
    with ModelServer([HttpFault(429, "a long story", NO_WAIT), PLAIN]) as server:
        make(server).propose(make_sample_request(), heard.append)
    assert heard[0].startswith("rate limited (429), retry 1 of 6 in 0.0 s; ") and "a long story" in heard[0]
