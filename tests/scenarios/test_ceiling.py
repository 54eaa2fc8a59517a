"""The ceiling over real HTTP: what the provider counts is learnt, what went over is recorded, more room is given for a reason."""

import json
import re
import shutil
import signal
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from person import CHECK, COMPLETE, MEND, Person, read_last_checkpoint
from survived import drive, nothing_lost, same_windows

from afresh.app.inspect.inspect_calls import verify_calls
from afresh.app.orders.tasks import TaskOrder, add_task
from afresh.app.project import open_project, rebuild_views
from afresh.context.limit import AS_ORDERED
from afresh.core.action import Action
from afresh.core.event import CallRequested, CheckpointWritten, ReplyReceived
from afresh.core.prompt import Request, ToolSchema
from afresh.core.reply import Reply
from afresh.core.states.ceiling_state import CeilingChanged
from afresh.core.token_calibration import CeilingBreached, UsageReportDoubted
from afresh.core.tokens import EstimatingCounter
from afresh.core.usage import Usage
from support.model_server import ModelServer
from support.wire_formats import ScriptedTurn

MODEL = "openai:some-model"
LOOK = ("read", {"path": "wide.py"})
LOST = ("read", {"path": "nowhere.py"})
GOAL = "double is wrong, see wide.py"
"""What a goal names is shown from the first call on, as far as there is room: so the first call is full."""
WIDE = "".join(f"def remark_{n}():\n    return '{n}{' and so on' * 14}'\n\n" for n in range(40))


NO_CACHE = "".join(f'[prices."openai:{name}-model"]\ninput = 1\noutput = 1\n' for name in ("some", "other"))
"""So that every prompt is built anew."""


def reply(*steps) -> Reply:
    return Reply("As asked.", tuple(Action(tool, dict(args)) for tool, args in steps), Usage(0, 40))


def asked(body: Mapping[str, Any]) -> Request:
    """The request as it arrived in the wire format of OpenAI."""
    system, message = body["messages"]
    tools = [ToolSchema(**tool["function"]) for tool in body["tools"]]
    return Request(system["content"], message["content"], tuple(tools), body["max_tokens"])


def thirty_percent_more(body: Mapping[str, Any]) -> int:
    """Than we estimate as long as nothing has been learnt."""
    return int(EstimatingCounter().whole(asked(body)) * 1.3)


@pytest.fixture
def provider(requires_sandbox, monkeypatch, person: Person):
    """Starts a provider that reports as input what `count` makes of a request."""
    requires_sandbox()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(person.folder / "config"))
    config = person.folder / "config" / "afresh" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(NO_CACHE)
    person.write("wide.py", WIDE)
    person.commit("a long file")

    def start(script: Sequence[Reply], count=thirty_percent_more) -> ModelServer:
        server = ModelServer(script, count)
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        return server

    return start


def events(person: Person, task: str, *kinds: type) -> list[Any]:
    return [entry.event for entry in open_project(person.repo).store.journal(task) if isinstance(entry.event, kinds)]


def calls(person: Person, task: str) -> list[tuple[Any, int]]:
    """The audit of every call, with the tokens that the provider reported."""
    told = events(person, task, CallRequested, ReplyReceived)
    return [(asked.audit, answered.reply.usage.input) for asked, answered in zip(told[::2], told[1::2], strict=True)]


def log(person: Person, task: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (person.state / "decisions" / f"{task}.jsonl").read_text().splitlines()]


def test_a_provider_that_counts_more_breaches_once_and_from_then_on_the_ceiling_holds(person: Person, provider) -> None:
    with provider([reply(LOOK)] * 4 + [reply(MEND, COMPLETE)]):
        task = person.runs(MODEL, "--set", "max_budget=4000", "--json", goal=GOAL, check=CHECK).json["task"]
    made = calls(person, task)
    assert [reported + audit.reserve > audit.budget for audit, reported in made] == [True, False, False, False, False]
    used = [audit.tokens for audit, _ in made]
    assert min(used) > 2_400 and sum(used) > 2_650 * len(used), "the room is used, before and after"
    assert all(1 <= audit.tokens / reported <= 1.05 for audit, reported in made[1:])
    audit, reported = made[0]
    assert events(person, task, CeilingBreached) == [CeilingBreached(1, audit.tokens, reported, audit.reserve, 4_000)]
    line = next(line for line in log(person, task) if line["kind"] == "breached")
    assert line["by"] == "harness" and f"{reported:,} tokens reported, {audit.tokens:,} estimated" in line["why"]
    assert person.shown(task)["limits"]["breaches"] == 1
    shown = person.types("context", "show", task, "--step", "1", "--omitted").words
    assert f"estimated {audit.tokens:,} tokens, reported {reported:,} (+30 %)" in shown
    assert person.types("context", "verify", task).code == 0
    assert "1 call over the limit, by the provider's count" in person.types("show", task).words


@pytest.mark.journey
def test_a_reply_that_is_cut_off_keeps_what_was_whole_and_the_next_gets_twice_as_much(person: Person, provider) -> None:
    """Under a ceiling that can't be raised: what is sent and what may come back never exceed it together."""
    cut = ScriptedTurn(reply(MEND, ("edit", {"path": "long.py", "new": "half of"})), cut=True)
    with provider([cut, *[reply(LOOK)] * 4, reply(COMPLETE)], None) as server:
        task = person.runs(MODEL, "--set", "max_budget=4000", "--json", goal=GOAL).json["task"]
    made = [audit for audit, _ in calls(person, task)]
    reserves = [audit.reserve for audit in made]
    assert reserves[:3] == [1_000, 2_000, 1_000]
    assert [one.body["max_tokens"] for one in server.received] == reserves, "the provider is told"
    assert all(audit.budget == 4_000 >= audit.tokens + audit.reserve for audit in made)
    assert (person.repo / "calc.py").read_text() != "" and person.shown(task)["status"] == "done", "the first call of it was made"
    assert not list(person.repo.rglob("long.py"))
    assert person.types("context", "verify", task).code == 0, "each call can be built again"


@pytest.mark.journey
def test_a_mad_report_is_not_believed_and_teaches_nothing(person: Person, provider) -> None:
    reports = iter([190_000, 3])
    with provider([reply(LOOK), reply(MEND, COMPLETE)], lambda body: next(reports)):
        task = person.runs("openai:liar", "--json", goal=GOAL).json["task"]
    assert {audit.counter for audit, _ in calls(person, task)} == {"{}"}
    assert len(events(person, task, UsageReportDoubted)) == 2 and not events(person, task, CeilingBreached)
    assert "2 reports not believed" in person.types("show", task).words


def test_a_goal_that_does_not_fit_gets_more_room_with_the_reason_and_a_checkpoint(person: Person, provider) -> None:
    goal = "double is wrong. " + "It must be right for every number there is. " * 270
    with provider([reply(MEND), reply(COMPLETE)], None):
        task = person.runs(MODEL, "--json", goal=goal).json["task"]
    raised = events(person, task, CeilingChanged)
    assert raised[0].before == 4_000 and all(change.budget > 4_000 for change in raised)
    said = re.fullmatch(r"what is never left out takes ([\d,]+) of 4,000 tokens", raised[0].reason)
    assert said and int(said[1].replace(",", "")) > EstimatingCounter()(goal), raised[0].reason
    first, second = (audit for audit, _ in calls(person, task))
    assert first.demand / first.budget < 0.85, "a fifth is left for what may be cut"
    assert second.budget == first.budget
    assert events(person, task, CheckpointWritten)
    checkpoint = read_last_checkpoint(person, task)
    assert "## Summary" in checkpoint and "## Archived outputs" in checkpoint and "Written because" in checkpoint
    assert f"{second.budget:,} tokens a call now; set to 4,000, at most 6,553" in person.types("show", task).words
    assert "what is never left out" in (person.state / "sessions" / "archive" / f"{task}.md").read_text()
    assert [line["text"] for line in log(person, task)][:2] == [f"token limit 4,000 → {first.budget:,}", "checkpoint"]
    assert person.types("context", "verify", task).code == 0
    assert person.types("doctor", "--rebuild").code == 0
    assert read_last_checkpoint(person, task) == checkpoint


def test_room_is_given_for_what_was_read_until_it_is_used_or_three_steps_old(person: Person, provider) -> None:
    part, little = ("read", {"path": "wide.py", "lines": 90}), ("run", {"command": "echo so far so good"})
    with provider([reply(part), reply(little), reply(LOST), reply(LOST), reply(MEND), reply(COMPLETE)], None):
        task = person.runs(MODEL, "--json", goal=GOAL).json["task"]
    up, *_, down = events(person, task, CeilingChanged)
    assert (up.step, up.before) == (1, 4_000) and 4_000 < up.budget <= 8_000
    assert re.fullmatch(r"[\d,]+ tokens more for what was read or edited lately", up.reason)
    assert (down.step, down.budget, down.reason) == (4, 4_000, AS_ORDERED)
    first, *raised, fifth, sixth = [audit.budget for audit, _ in calls(person, task)]
    assert first == fifth == sixth == 4_000 < min(raised) <= max(raised) <= up.budget, "it was read for an edit"
    assert person.types("context", "verify", task).code == 0
    assert "4,000 tokens a call now; set to 4,000, at most 6,553" in person.types("show", task).words


def test_a_killed_run_goes_on_with_the_same_factor_and_ceiling_to_the_byte(person: Person, provider) -> None:
    script = [reply(("read", {"path": "wide.py", "lines": 90})), reply(LOOK), reply(MEND), reply(COMPLETE)]
    undisturbed = finished(person, provider(script), "never")
    assert undisturbed[0].budget == 4_000 < undisturbed[1].budget
    assert undisturbed[0].counter not in {audit.counter for audit in undisturbed[1:]}, "the factor was learnt in the first call"
    shutil.rmtree(person.repo / ".afresh/knowledge", ignore_errors=True)  # the second run is not to know of the first
    killed = finished(person, provider(script), "after:Rebudgeted")
    assert [audit.hash for audit in killed] == [audit.hash for audit in undisturbed]


def finished(person: Person, server: ModelServer, point: str) -> list[Any]:
    """The calls of a task that is killed at a point and resumed, in a project that knows of no other."""
    (person.state / "afresh.db").unlink(missing_ok=True)
    (person.folder / "windows").unlink(missing_ok=True)
    project = open_project(person.repo)
    rebuild_views(project)  # the files of the task that the lost database held go, too
    task = add_task(project, TaskOrder(GOAL, "fix_bug", (CHECK,), model=MODEL)).task.id
    project.storage.close()
    with server:
        if drive(person.repo, task, point, 1) == -signal.SIGKILL:
            nothing_lost(person.repo, task, f"ceiling {point}")
            assert drive(person.repo, task) == 0
            same_windows(person.repo, f"ceiling {point}")
    assert all(one.same for one in verify_calls(open_project(person.repo), task))
    return [audit for audit, _ in calls(person, task)]
