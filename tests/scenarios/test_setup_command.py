"""`afresh setup`: a new user chooses a model once. Over real HTTP, and at a real terminal."""

import json
from pathlib import Path

import pytest
from person import CHECK, COMPLETE, MEND, Person
from terminal import Terminal

from afresh.core.action import Action
from afresh.core.reply import Reply
from afresh.core.usage import Usage
from support.model_server import ModelServer
from support.provider_faults import HttpFault

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
        assert 'wrote model = "my-compatible"' in told.words and "checks: " in told.words
        assert person.types("run", "double is wrong", "--type", "fix_bug", "--check", CHECK).code == 0
        assert len(server.received) == 2
    again = person.types("setup", "--provider", "compatible", "--base-url", server.openai_url, "--model", "tiny", "--no-try")
    assert again.code == 0 and 'kept model = "my-compatible"' in again.words


def test_other_settings_and_comments_stay(person: Person, config: Path) -> None:
    config.parent.mkdir(parents=True)
    config.write_text("# mine\n[limits]\nday = 3  # dollars\n")
    told = person.types("setup", "--provider", "ollama", "--model", "qwen3:8b", "--no-try")
    assert told.code == 0 and config.read_text() == 'model = "ollama:qwen3:8b"\n\n# mine\n[limits]\nday = 3  # dollars\n'


def test_a_key_is_named_and_never_written(person: Person, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOX_KEY", KEY)
    with ModelServer([SAYS]) as server:
        given = ("--provider", "openai", "--base-url", server.openai_url, "--model", "tiny", "--key-env", "BOX_KEY")
        told = person.types("setup", *given)
    assert told.code == 0 and 'key = "BOX_KEY"' in config.read_text()
    assert KEY not in config.read_text() + told.out + told.err


def test_the_key_of_one_server_is_not_kept_for_the_next(person: Person, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOX_KEY", KEY)
    for more in (("--key-env", "BOX_KEY"), ()):
        with ModelServer([SAYS]) as server:
            address = ("--provider", "compatible", "--base-url", server.openai_url, "--model", "tiny")
            assert person.types("setup", *address, *more).code == 0
            assert ('key = "BOX_KEY"' in config.read_text()) == bool(more)
    assert server.openai_url in config.read_text()


def test_a_model_that_does_not_answer_is_not_written(person: Person, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOX_KEY", KEY)
    with ModelServer([HttpFault(401, "no such key")]) as server:
        given = ("--provider", "openai", "--base-url", server.openai_url, "--model", "tiny", "--key-env", "BOX_KEY")
        told = person.types("setup", *given)
    assert told.code == 4 and "refused the request (401)" in told.words and "nothing was written" in told.words
    assert not config.exists()


@pytest.mark.journey
def test_at_a_terminal_it_asks_again_and_lists_what_the_server_has(person: Person, config: Path) -> None:
    server = ModelServer([HttpFault(401, "no such key"), SAYS], models=("large", "tiny"))
    with server, Terminal(person.repo, "setup") as at:
        for question, answer, said in (
            ("Provider, a number", "9", "there are 7"),
            ("Provider, a number", "compatible", ""),
            ("Address of the server [", "localhost:8765", "not a valid address: it begins with http"),
            ("Address of the server [", server.openai_url, ""),
            ("Variable that holds its key", KEY, "never the key itself"),
            ("Variable that holds its key", "", "1 large 2 tiny"),
            ("Model, a number", "3", "there are 2"),
            ("Model, a number", "2", f"tiny at {server.openai_url} can't be used"),
            ("Answer again?", "", "Provider, a number"),
            ("[7]", "", "Address of the server"),
            (f"[{server.openai_url}]", "", "Variable that holds its key"),
            (":", "", "Model, a number"),
            ("[tiny]", "", f"tiny at {server.openai_url} answered in"),
        ):
            at.sees(question)
            at.types(answer)
            at.sees(said)
        at.sees("next:")
        assert at.process.wait(600) == 0
    assert 'model = "my-compatible"' in config.read_text() and json.dumps(server.openai_url) in config.read_text()


def test_the_context_that_ollama_gives_is_told_and_kept(person: Person, config: Path) -> None:
    with ModelServer([SAYS], loaded={"qwen3:8b": 4_096}) as server:
        told = person.types("setup", "--provider", "ollama", "--base-url", server.openai_url, "--model", "qwen3:8b")
    assert told.code == 0 and "the server gives it 4,096 tokens" in told.words and "OLLAMA_CONTEXT_LENGTH" in told.words
    assert "window = 4096" in config.read_text()


def test_the_context_that_another_server_tells_is_kept_and_else_little_is_assumed(
    person: Person, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOX_KEY", KEY)
    for loaded, said in (({"tiny": 40_960}, "the server gives it 40,960 tokens"), ({}, "32,768 are assumed")):
        with ModelServer([SAYS], models=("tiny",), loaded=loaded) as server:
            address = ("--base-url", server.openai_url, "--model", "tiny", "--key-env", "BOX_KEY")
            assert said in person.types("setup", "--provider", "compatible", *address).words
        assert ("window = 40960" in config.read_text()) == bool(loaded)
        (listed,) = person.types("models", "--json").json["models"]
        assert listed["window"] == (40_960 if loaded else 32_768)


def test_a_wrong_model_is_not_looked_for_in_a_table_that_is_not_written(person: Person, config: Path) -> None:
    with ModelServer([HttpFault(404, "no such model")]) as server:
        told = person.types("setup", "--provider", "compatible", "--base-url", server.openai_url, "--model", "tiny")
    assert "check the model's name, and --base-url" in told.words and "[models." not in told.words


@pytest.mark.parametrize("command", [("run", "double is wrong", "-m", KEY), ("setup", "--provider", "openai", "--model", KEY)])
def test_a_key_in_place_of_a_model_is_not_repeated(person: Person, config: Path, command: tuple[str, ...]) -> None:
    told = person.types(*command)
    assert told.code == 2 and "looks like a key" in told.words and KEY not in told.out + told.err
