"""`afresh models`: what a new user needs first. Nothing here needs a sandbox."""

import io
import sys
from pathlib import Path

import pytest
from person import Person
from ring import install

from afresh.core.action import Action
from afresh.core.reply import Reply
from afresh.core.usage import Usage
from support.model_server import ModelServer
from support.provider_faults import HttpFault

KEY = "sk-canary-51f0aa"
CONFIG = """
model = "sonnet"
[models.sonnet]
provider = "anthropic"
model = "claude-sonnet-4-5"
[models.gpu]
provider = "vllm"
model = "Qwen/Qwen3-Coder-30B-A3B-Instruct"
base_url = "https://gpu.example/v1"
key = "GPU_KEY"
window = 65536
tools = false
[models.odd]
provider = "openai"
model = "nobody-knows-this"
[models.box]
provider = "mailbox"
model = "~/box"
timeout = 600
"""


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("ANTHROPIC", "OPENAI", "OPENROUTER"):
        monkeypatch.delenv(f"{name}_API_KEY", raising=False)
        monkeypatch.delenv(f"{name}_BASE_URL", raising=False)
    path = tmp_path / "config" / "afresh" / "config.toml"
    path.parent.mkdir(parents=True)
    return path


def test_each_model_tells_its_window_price_and_where_its_key_is(person: Person, config: Path, monkeypatch) -> None:
    config.write_text(CONFIG)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    told = person.types("models", "--json")
    assert told.code == 0 and KEY not in told.out
    models = {one["name"]: one for one in told.json["models"]}
    sonnet, gpu, odd, box = (models[name] for name in ("sonnet", "gpu", "odd", "box"))
    assert (sonnet["window"], sonnet["ceiling"], sonnet["key"], sonnet["default"]) == (200_000, 40_000, "ANTHROPIC_API_KEY", True)
    assert sonnet["usable"] and sonnet["price"]["output"] > sonnet["price"]["input"] > sonnet["price"]["cached"] > 0
    assert (gpu["host"], gpu["ceiling"], gpu["tools"], gpu["problem"]) == (
        "gpu.example",
        13_107,
        False,
        "no key for the server at https://gpu.example/v1: GPU_KEY is not set",
    )
    assert odd["price"] is None and box["timeout"] == 600
    assert {one["provider"] for one in told.json["providers"] if one["usable"]} == {
        "anthropic",
        "openai",
        "ollama",
        "vllm",
        "llamacpp",
    }


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_a_small_real_call_tells_what_works(person: Person, config: Path, monkeypatch, provider: str) -> None:
    reply = Reply("Here.", (Action("say", {"word": "afresh"}),), Usage(120, 9))
    with ModelServer([reply, Reply("I can't.", (), Usage(120, 9)), HttpFault(401, f"no such key {KEY}")]) as server:
        address = server.anthropic_url if provider == "anthropic" else server.openai_url
        config.write_text(f'[models.mine]\nprovider = "{provider}"\nmodel = "x"\nbase_url = "{address}"\nkey = "MINE"\n')
        monkeypatch.setenv("MINE", KEY)
        works, mute, refused = (person.types("models", "check", "mine", "--json") for _ in range(3))
    found = {one["name"]: one["level"] for one in works.json["checks"]}
    window = {"context": "warn"} if provider == "openai" else {}  # at an address of one's own: it does not say how much it takes
    assert works.code == 0 and found == {"call": "ok", "tools": "ok", "streaming": "ok", "usage": "ok"} | window
    assert mute.code == 4 and "tools = false" in {one["name"]: one["remedy"] for one in mute.json["checks"]}["tools"]
    assert refused.code == 4 and KEY not in works.out + refused.out + refused.err
    spent = person.types("spend", "--by", "kind", "--since", "all", "--json")
    assert [line["name"] for line in spent.json["lines"]] == ["check"], "it goes through the books, and is no heartbeat"


def test_a_call_that_costs_says_so_first(person: Person, config: Path, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with ModelServer([Reply("", (Action("say", {"word": "afresh"}),), Usage(120, 9))]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        told = person.types("models", "check", "openai:gpt-4o-mini")
    assert "Test call to openai:gpt-4o-mini" in told.err and "at most $0.0" in told.err


def test_a_key_goes_to_the_keyring_unseen_and_comes_back_out(person: Person, config: Path, tmp_path: Path, monkeypatch) -> None:
    config.write_text('[models.mine]\nprovider = "openai"\nmodel = "x"\nkey = "keyring"\n')
    monkeypatch.syspath_prepend(install(tmp_path))
    monkeypatch.setenv("STAND_IN_RING", str(tmp_path / "ring.json"))
    try:
        monkeypatch.setattr(sys, "stdin", io.StringIO(f"{KEY}\n"))
        stored = person.types("models", "key", "mine")
        assert stored.code == 0 and stored.out == "stored the key for mine in the keyring\n"
        shown = person.types("models", "--json")
        assert [one["key"] for one in shown.json["models"]] == ["keyring, as mine"] and KEY not in shown.out + stored.err
        assert person.types("models", "key", "mine", "--delete").code == 0
        assert "no key for mine is in the keyring" in person.types("models").words
        assert person.types("models", "key", "nobody").code == 2
    finally:
        for name in ("keyring", "keyring.errors"):
            sys.modules.pop(name, None)


def test_a_task_keeps_the_name_and_says_when_it_is_gone(person: Person, config: Path) -> None:
    config.write_text(f'[models.mine]\nprovider = "scripted"\nmodel = "{person.script().partition(":")[2]}"\n')
    task = person.adds("double is wrong", "--model", "mine")
    assert person.types("add", "x", "--model", "mien", "--check", "true").code == 2
    config.write_text("")
    told = person.types("resume", task, "--json")
    assert told.code == 2 and told.error["what"].startswith("no such model: 'mine'") and "afresh models" in told.error["next"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (f'key = "{KEY}"', "looks like a key"),
        (f'api_key = "{KEY}"', "unknown setting api_key"),
        (f'base_url = "https://me:{KEY}@models.example"', "holds a name, a password"),
        ("retries = -1", "whole number of 0 or more"),
        ("window = 0", "whole number above 0"),
    ],
)
def test_a_table_that_can_t_be_used_is_named_and_no_secret_of_it_shown(
    person: Person, config: Path, line: str, problem: str
) -> None:
    config.write_text(f'[models.mine]\nprovider = "openai"\nmodel = "x"\n{line}\n')
    told = person.types("models")
    assert told.code == 2 and "models.mine" in told.err and problem in told.err and KEY not in told.out + told.err
