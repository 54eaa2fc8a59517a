from pathlib import Path

import pytest

from afresh.app.settings import Settings
from afresh.config.settings_file import read_settings_file
from afresh.core.rate_limit import RateLimit
from afresh.errors import BadInput
from afresh.models.choose_model import (
    MODEL_KINDS,
    check_model_names,
    choose_model,
    find_context_window,
    is_paid,
    is_provider,
    make_model,
    split_mailbox_spec,
)
from afresh.models.model_settings import ModelSettings, NamedModel

NAMED = {
    "fast": NamedModel(provider="ollama", model="qwen3:8b", window=16_000),
    "sonnet": NamedModel(provider="anthropic", model="claude-sonnet-4-5"),
    "box": NamedModel(provider="mailbox", model="~/box", timeout=600),
}


def test_a_name_of_the_user_s_stands_for_provider_and_model() -> None:
    fast = choose_model("fast", NAMED)
    assert (fast.kind, fast.argument, fast.name, fast.spec) == ("ollama", "qwen3:8b", "fast", "ollama:qwen3:8b")
    assert find_context_window("fast", NAMED) == 16_000 and find_context_window("sonnet", NAMED) == 200_000
    assert make_model("fast", 0, ModelSettings(named=NAMED)).name == "ollama:qwen3:8b"


@pytest.mark.parametrize("spec", ["fst", "ollam:x", "", "fast:", "offline:", "ollama"])
def test_a_name_that_is_gone_or_mistyped_tells_what_there_is(spec: str) -> None:
    with pytest.raises(BadInput, match="no such model") as caught:
        choose_model(spec, NAMED)
    assert "yours are box, fast, sonnet" in caught.value.next and "afresh models" in caught.value.next
    if spec == "fst":
        assert "did you mean 'fast'?" in caught.value.what


def test_who_is_paid() -> None:
    assert [is_paid(spec, NAMED) for spec in ("sonnet", "openrouter:x", "fast", "vllm:x", "box", "offline")] == [True] * 2 + [
        False
    ] * 4
    assert is_provider("fast", NAMED) and not is_provider("box", NAMED)


@pytest.mark.parametrize(
    ("argument", "folder", "seconds"),
    [("/b", "/b", 0), ("/b?timeout=600", "/b", 600), ("/b?x=1", "/b?x=1", 0), ("/a?b?timeout=0.5", "/a?b", 0.5),
     ("/b?timeout=-1", "/b?timeout=-1", 0)],
)  # fmt: skip
def test_a_mailbox_is_told_how_long_to_wait(argument: str, folder: str, seconds: float) -> None:
    assert split_mailbox_spec(argument) == (Path(folder), seconds)


@pytest.mark.parametrize("name", [*MODEL_KINDS, "a:b", "a b", "", "x" * 41, "-x"])
def test_a_name_that_could_mean_something_else_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="a name is made of"):
        check_model_names({name: NAMED["fast"]})


def test_a_provider_that_there_is_not_is_refused_with_a_hint() -> None:
    with pytest.raises(
        ValueError, match=r"models.x.provider is 'olama' \(did you mean 'ollama'\?\); it may be anthropic, openai"
    ):
        check_model_names({"x": NamedModel(provider="olama", model="y")})


@pytest.mark.parametrize(
    ("provider", "more", "named"),
    [
        ("mailbox", {"base_url": "http://localhost"}, "base_url"),
        ("mailbox", {"key": "MY_KEY", "tools": False}, "key, tools"),
        ("scripted", {"timeout": 3.0}, "timeout"),
        ("scripted", {"retries": 0}, "retries"),
    ],
)
def test_a_setting_that_would_do_nothing_is_refused(provider: str, more: dict, named: str) -> None:
    with pytest.raises(ValueError, match=f"models.x: {named} would do nothing for {provider}"):
        check_model_names({"x": NamedModel(provider=provider, model="y", **more)})
    check_model_names({"x": NamedModel(provider="vllm", model="y", **more)})


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("[rates.antropic]\nrequests = 5", "did you mean .anthropic"),
        ('[rates."scripted:x"]\nrequests = 5', "a rate limit is of a provider"),
        ('[rates."openai:"]\nrequests = 5', "a rate limit is of a provider"),
        ("[rates.openai]", "should set requests or tokens"),
        ("[rates.openai]\nrequests = 0", "a whole number above 0"),
    ],
)
def test_a_rate_limit_that_would_never_apply_is_refused(tmp_path: Path, table: str, words: str) -> None:
    (tmp_path / "config.toml").write_text(table)
    with pytest.raises(BadInput, match=words):
        read_settings_file(tmp_path / "config.toml", Settings)


def test_rate_limits_are_read_for_providers_and_models(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[rates.openai]\nrequests = 5\n[rates."openai:gpt-5"]\ntokens = 9\n')
    read = Settings(**read_settings_file(tmp_path / "config.toml", Settings))
    assert read.rate_limits == (RateLimit("openai", requests=5), RateLimit("openai:gpt-5", tokens=9))
