"""`--set thinking=N`: refused where it would do nothing or less than was asked for; what `afresh context show` tells of it."""

from pathlib import Path

import pytest
from person import COMPLETE, MEND, Person

from afresh.app.project import open_project
from afresh.core.action import Action
from afresh.core.reply import Reply, Thinking
from afresh.core.usage import Usage
from support.model_server import ModelServer

OWN = """
[models.quiet]
provider = "anthropic"
model = "claude-haiku-4-5"
thinking = false
[models.loud]
provider = "anthropic"
model = "claude-haiku-4-5"
"""


@pytest.fixture
def config(person: Person, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(person.folder / "config"))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-test")
    path = person.folder / "config" / "afresh" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(OWN)
    return path


def order(*more: str) -> tuple[str, ...]:
    return ("add", "double is wrong", "--type", "fix_bug", "--check", "true", *more, "--json")


@pytest.mark.parametrize(
    ("more", "what", "next"),
    [
        (("--set", "thinking=2000", "--model", "offline"), "offline does not support thinking", "another --model"),
        (("--set", "thinking=2000", "--model", "mailbox:box"), "mailbox does not support thinking", "omit thinking"),
        (("--set", "thinking=1023", "--model", "loud"), "thinking 1,023 is too small", "--set thinking=1024, or 0 for none"),
        (("--set", "thinking=1023"), "thinking 1,023 is too small", "--set thinking=1024"),
        (("--set", "thinking=2000", "--model", "quiet"), "[models.quiet] has thinking = false", "omit thinking"),
        (("--set", "thinking=3000", "--set", "budget=6000", "--model", "loud"), "can't hold 3,000 for thinking", "budget=7000"),
        (("--set", "thinking=many",), "", ""),
        (("--set", "thinking=-1",), "", ""),
    ],
)  # fmt: skip
def test_what_would_not_be_thought_with_is_refused_before_a_task_is_made(
    person: Person, config: Path, more: tuple[str, ...], what: str, next: str
) -> None:
    told = person.types(*order(*more))
    assert told.code == 2 and person.types("status", "--json").json["tasks"] == []
    if what:
        assert what in told.error["what"] and next in told.error["next"] and told.error["safe"]


@pytest.mark.parametrize(
    ("more", "thinking", "budget"),
    [
        (("--set", "thinking=0", "--model", "mailbox:box"), 0, 4_000),
        (("--set", "thinking=0", "--model", "quiet"), 0, 4_000),
        (("--set", "thinking=1024", "--model", "loud"), 1_024, 5_024),
        (("--set", "thinking=2000", "--set", "budget=6000", "--model", "loud"), 2_000, 6_000),
        (("--model", "mailbox:box"), None, 4_000),
    ],
)
def test_what_can_be_thought_with_comes_on_top_of_the_ceiling(
    person: Person, config: Path, more: tuple[str, ...], thinking: int | None, budget: int
) -> None:
    told = person.types(*order(*more))
    assert told.code == 0, told.err
    project = open_project(person.repo)
    task = project.store.load(told.json["task"]).task
    project.storage.close()
    assert (task.thinking, task.budget) == (thinking, budget)


def test_a_call_tells_what_was_thought_and_what_the_cache_took_and_gave(person: Person, config: Path, monkeypatch) -> None:
    hidden, open_ = Thinking("ZW5jcnlwdGVk", redacted=True), Thinking("It adds; it should multiply.", "c2ln")
    actions = Action(*MEND), Action(*COMPLETE)
    mend = Reply("", actions, Usage(2_000, 300, 900, 600, 250), thinking=(open_, hidden))
    with ModelServer([mend]) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.anthropic_url)
        person.adds("double is wrong", "--model", "loud", "--set", "thinking=1500")
        assert person.types("work", "--no-sandbox", "--json").code == 0
    told = person.types("context", "show", "--json").json
    assert told["thinking"]["budget"] == 1_500 and told["thinking"]["tokens"] == 250
    assert told["thinking"]["blocks"] == [
        {"text": "It adds; it should multiply.", "signed": True, "redacted": False},
        {"text": "", "signed": False, "redacted": True},
    ]
    assert told["cache"] == {"read": 900, "written": 600} and told["beginning"]["share"] == 0
    words = person.types("context", "show", "--omitted").words
    assert "from the provider's cache: 900 read, 600 written" in words
    assert "budget 1,500 tokens, 250 used" in words and "[thinking, signed] It adds; it should multiply." in words
    assert "[thinking that the provider keeps to itself, 12 characters]" in words and "ZW5jcnlwdGVk" not in words
