"""`afresh setup`: a new user chooses a model once. Over real HTTP, and at a real terminal."""

import json
from pathlib import Path

import pytest
from person import CHECK, COMPLETE, MEND, Person
from terminal import Terminal

from afresh.app.set_up_model import SUGGESTED_MODELS
from afresh.core.action import Action
from afresh.core.reply import Reply
from afresh.core.usage import Usage
from afresh.spending.price_list import find_price
from afresh.testing.model_server import ModelServer
from afresh.testing.provider_faults import HttpFault

KEY = "sk-canary-77aa01"
SAYS = Reply("Here.", (Action("say", {"word": "afresh"}),), Usage(120, 9))
DOES = Reply("As asked.", tuple(Action(tool, dict(args)) for tool, args in (MEND, COMPLETE)), Usage(2_000, 40))


@pytest.fixture
def config(person: Person, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(person.folder / "config"))
    return person.folder / "config" / "afresh" / "config.toml"


def test_after_setup_a_run_needs_no_model(person: Person, config: Path, requires_sandbox) -> None:
    requires_sandbox()
    with ModelServer([SAYS, DOES]) as server:
        told = person.types("setup", "--provider", "compatible", "--base-url", server.openai_url, "--model", "tiny")
        assert told.code == 0, told.err
        assert 'wrote model = "my-compatible"' in told.words and "afresh init" in told.words
        assert person.types("run", "double is wrong", "--type", "fix_bug", "--check", CHECK).code == 0
        assert len(server.received) == 2
    again = person.types("setup", "--provider", "compatible", "--base-url", server.openai_url, "--model", "tiny", "--no-try")
    assert again.code == 0 and 'kept model = "my-compatible"' in again.words


def test_other_settings_and_comments_stay(person: Person, config: Path) -> None:
    config.parent.mkdir(parents=True)
    config.write_text("# mine\n[limits]\nday = 3  # dollars\n")
    told = person.types("setup", "--provider", "ollama", "--model", "qwen3:8b", "--no-try")
    assert told.code == 0 and config.read_text() == 'model = "ollama:qwen3:8b"\n\n# mine\n[limits]\nday = 3  # dollars\n'


def test_the_home_is_not_spelled_out(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("HOME", str(person.folder / "home"))
    told = person.types("setup", "--provider", "ollama", "--model", "qwen3:8b", "--no-try")
    assert told.code == 0 and "in ~/.config/afresh/config.toml" in told.words


def test_a_key_is_named_and_never_written(person: Person, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOX_KEY", KEY)
    with ModelServer([SAYS]) as server:
        given = ("--provider", "openai", "--base-url", server.openai_url, "--model", "tiny", "--key-env", "BOX_KEY")
        told = person.types("setup", *given)
    assert told.code == 0 and 'key = "BOX_KEY"' in config.read_text()
    assert KEY not in config.read_text() + told.out + told.err


def test_a_model_that_does_not_answer_is_not_written(person: Person, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOX_KEY", KEY)
    with ModelServer([HttpFault(401, "no such key")]) as server:
        given = ("--provider", "openai", "--base-url", server.openai_url, "--model", "tiny", "--key-env", "BOX_KEY")
        told = person.types("setup", *given)
    assert told.code == 4 and "refused the request (401)" in told.words and "nothing was written" in told.words
    assert not config.exists()


def test_a_connection_that_is_refused_is_said_at_once(person: Person, config: Path) -> None:
    with ModelServer([]) as server:
        address = server.openai_url
    told = person.types("setup", "--provider", "compatible", "--base-url", address, "--model", "tiny")
    assert told.code == 4 and "after 1 retries" in told.words and not config.exists()


@pytest.mark.parametrize("provider", SUGGESTED_MODELS)
def test_a_suggested_model_has_a_price(provider: str) -> None:
    assert all(find_price(f"{provider}:{name}") for name in SUGGESTED_MODELS[provider])


def test_at_a_terminal_it_asks_and_tries(person: Person, config: Path) -> None:
    with ModelServer([SAYS]) as server, Terminal(person.repo, "setup") as at:
        at.sees("Provider [")
        at.types("compatible")
        at.sees("Address [")
        at.types(server.openai_url)
        at.sees("Variable that holds its key")
        at.types("")
        at.sees("Model")
        at.types("tiny")
        at.sees("next, in your repository")
        assert at.process.wait(600) == 0
    assert 'model = "my-compatible"' in config.read_text() and json.dumps(server.openai_url) in config.read_text()
