import subprocess
import sys
from pathlib import Path

import pytest

from afresh.app.settings import Settings as Users
from afresh.config.settings_file import read_settings_file
from afresh.errors import BadInput, NeedsPerson, TryAgain
from afresh.models.choose_model import find_retry_count, is_paid, make_model
from afresh.models.model_settings import ModelSettings, NamedModel
from support.model_contract import make_sample_request
from support.model_server import ModelServer
from support.provider_faults import HttpFault


def test_each_spec_makes_its_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "a:b.jsonl"
    script.write_text('{"thought": "one"}\n{"thought": "two"}\n')
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-test")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    assert make_model("offline").name == "offline"
    assert make_model(f"scripted:{script}", 1).propose(make_sample_request()).thought == "two"
    assert make_model(f"mailbox:{tmp_path}").name == "mailbox"
    assert make_model("anthropic:claude-sonnet-4-5").name == "anthropic:claude-sonnet-4-5"
    assert make_model("openai:org/some:latest").name == "openai:org/some:latest"


@pytest.mark.parametrize("spec", ["", "gpt", "scripted", "mailbox:", "offline:x", "anthropic:", "Offline", "recorded:x"])
def test_an_unknown_spec_lists_what_there_is(spec: str) -> None:
    with pytest.raises(BadInput) as caught:
        make_model(spec)
    for form in ("offline", "scripted:FILE", "mailbox:DIR", "anthropic:NAME", "openai:NAME"):
        assert form in caught.value.next


@pytest.mark.parametrize(("spec", "variable"), [("anthropic:x", "ANTHROPIC_API_KEY"), ("openai:x", "OPENAI_API_KEY")])
def test_a_missing_key_is_said_at_once_with_the_ways_out(spec: str, variable: str) -> None:
    with pytest.raises(NeedsPerson, match=variable) as caught:
        make_model(spec)
    for way in (variable, "afresh setup", "mailbox:"):
        assert way in caught.value.next


def test_no_sdk_is_imported_before_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    code = (
        f"import sys; sys.path[:0] = {[path for path in sys.path if path]!r}\n"
        "from afresh.models.choose_model import make_model\n"
        "make_model('offline'); make_model('anthropic:x'); make_model('openai:x')\n"
        "assert not {'anthropic', 'openai', 'httpx', 'httpx2'} & set(sys.modules), 'heavy import'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)


@pytest.mark.parametrize(("said", "tries"), [(0, 1), (1, 2)])
def test_a_call_is_repeated_as_often_as_the_user_says_and_0_is_never(
    said: int, tries: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("afresh.models.retry.choose_wait_seconds", lambda retry: 0.0)
    with ModelServer([HttpFault(500, "down")] * 3) as server:
        (tmp_path / "config.toml").write_text(
            f'[models.mine]\nprovider = "vllm"\nmodel = "m"\nbase_url = "{server.openai_url}"\nretries = {said}\n'
        )
        named = read_settings_file(tmp_path / "config.toml", Users)["models"]
        with pytest.raises(TryAgain, match=f"after {said} retries"):
            make_model("mine", 0, ModelSettings(named=named)).propose(make_sample_request())
    assert len(server.received) == tries and find_retry_count("mine", named) == said
    assert find_retry_count("vllm:m", named) is None


def test_a_server_of_the_user_s_own_costs_nothing_unless_the_user_says_what() -> None:
    named = {"mine": NamedModel(provider="vllm", model="m")}
    specs = ("ollama:m", "vllm:m", "llamacpp:m", "mine", "offline", "openai:m", "anthropic:m")
    assert [is_paid(spec, named) for spec in specs] == [False] * 5 + [True] * 2
    assert [is_paid(spec, named, ("vllm:m", "offline")) for spec in specs] == [False, True, False, True, False, True, True]
