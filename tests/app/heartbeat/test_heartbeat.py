"""A heartbeat asks a model only about what has changed, once, in a small call; it never overlaps itself."""

import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.app.heartbeat import heartbeat
from afresh.app.heartbeat.heartbeat import HeartbeatTerms, pause_heartbeat, run_heartbeat
from afresh.app.heartbeat.heartbeat_call import (
    UNREADABLE_ANSWER,
    HeartbeatCaller,
    build_change_request,
    open_heartbeat_caller,
    open_heartbeat_ledger,
    read_announcement,
)
from afresh.app.heartbeat.heartbeat_state import load_heartbeat_state
from afresh.app.project import Project, open_project
from afresh.app.settings import HeartbeatOptions
from afresh.config.heartbeat_file import parse_heartbeat_plan
from afresh.config.templates.load_template import load_call_template
from afresh.core.heartbeat import MAX_HEARTBEAT_TOKENS, HeartbeatBegan, HeartbeatItem
from afresh.core.reply import Reply
from afresh.core.steering_files import find_who_acts
from afresh.core.tokens import EstimatingCounter
from afresh.errors import BadInput
from afresh.models.call import ModelGate
from afresh.models.model_settings import NamedModel
from afresh.storage.renew_lease import identify_worker
from support.fakes import ComputedModel, FakeClock

HALF_HOUR = 1_800.0
TWO_DAYS_OF_HALF_HOURS = 2 * 48
NINE_IN_THE_MORNING = 1_700_038_800.0


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / ".afresh").mkdir()
    watch(root, "- release notes are kept")
    commit(root, "first")
    return replace(open_project(root), clock=FakeClock(NINE_IN_THE_MORNING))


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=root, check=True)


def commit(root: Path, subject: str) -> None:
    git(root, "add", "-A", ":!.afresh/state")
    git(root, "commit", "-q", "--allow-empty", "-m", subject)


def watch(root: Path, text: str) -> None:
    (root / ".afresh" / "HEARTBEAT.md").write_text(text + "\n")


class Listener:
    """A model with one answer for all changes, and what was announced."""

    def __init__(self, answer: str = "OK") -> None:
        self.model = ComputedModel(lambda request: Reply(answer))
        self.heard: list[str] = []

    def terms(self, **more) -> HeartbeatTerms:
        def open_caller(project: Project, plan, alert) -> HeartbeatCaller:
            gate = ModelGate(self.model, open_heartbeat_ledger(project, "offline", alert))
            return HeartbeatCaller(gate, load_call_template("heartbeat"), EstimatingCounter(), "repo", "heartbeat-today")

        return HeartbeatTerms(open_caller, lambda item, check: self.heard.append(check.announcement), **more)


def test_an_unchanged_repository_is_watched_for_days_without_a_call(here: Project):
    listener = Listener()
    for _ in range(TWO_DAYS_OF_HALF_HOURS):
        assert run_heartbeat(here, listener.terms(only_when_due=True)).skipped == ""
        here.clock.move(HALF_HOUR)
    assert listener.model.requests == []
    assert not any(one.changed for one in load_heartbeat_state(here).items.values())


def test_what_needs_attention_is_announced_once_and_booked_as_a_heartbeat(here: Project):
    listener = Listener("ANNOUNCE: the notes are gone")
    for subject in ("", "second", ""):
        if subject:
            commit(here.paths.root, subject)
        run_heartbeat(here, listener.terms())
    assert listener.heard == ["the notes are gone"]
    [known] = load_heartbeat_state(here).items.values()
    assert (known.calls, known.announcement) == (1, "the notes are gone") and known.tokens > 0


@pytest.mark.parametrize("answer", ["", "ok", "OK.", "OK\nand more", "Do as I say", "ANNOUNCE:", "ANNOUNCE:   "])
def test_silence_must_be_said_exactly(answer: str):
    assert read_announcement(answer) == UNREADABLE_ANSWER


@given(st.text(max_size=3_000), st.text(max_size=3_000), st.text(max_size=300))
def test_no_call_passes_two_thousand_tokens(before: str, after: str, text: str):
    caller = HeartbeatCaller(None, load_call_template("heartbeat"), EstimatingCounter(), "", "")  # pyright: ignore[reportArgumentType]
    request = build_change_request(HeartbeatItem(text), before * 30, after * 30, caller)
    assert EstimatingCounter().whole(request) + request.reserve <= MAX_HEARTBEAT_TOKENS


def test_without_a_model_the_change_is_asked_about_next_time(here: Project):
    run_heartbeat(here, HeartbeatTerms())
    commit(here.paths.root, "second")
    [check] = run_heartbeat(here, HeartbeatTerms()).checks
    assert "no model could be asked" in check.note and check.changed
    listener = Listener()
    run_heartbeat(here, listener.terms())
    assert len(listener.model.requests) == 1


def test_it_never_overlaps_itself_and_a_killed_run_is_not_in_the_way(here: Project):
    host = identify_worker().rsplit(":", 2)[0]
    living, killed = identify_worker(), f"{host}:999999999:1"
    here.notebook.append([HeartbeatBegan(living, here.clock.now())])
    here.clock.move(86_400.0)
    assert run_heartbeat(here, Listener().terms()).skipped == "another run is under way", "the clock takes it from no living one"
    here.notebook.append([HeartbeatBegan(killed, here.clock.now())])
    assert run_heartbeat(here, Listener().terms()).skipped == ""


def test_it_waits_for_its_interval_its_hours_and_its_owner(here: Project):
    watch(here.paths.root, "---\nevery: 1h\nactive: 08:00-18:00\n---\n- notes")
    here.clock.at = NINE_IN_THE_MORNING - (time_of_day(here.clock.at) - 9 * 3600)
    terms = Listener().terms(only_when_due=True)
    assert run_heartbeat(here, terms).skipped == ""
    here.clock.move(HALF_HOUR)
    assert run_heartbeat(here, terms).skipped == "not due yet"
    here.clock.move(10 * 3_600.0)
    assert run_heartbeat(here, terms).skipped == "outside of the active hours"
    pause_heartbeat(here, True)
    assert "paused" in run_heartbeat(here, terms).skipped
    pause_heartbeat(here, False)
    assert run_heartbeat(here, Listener().terms()).skipped == "", "when a person asks, the hours do not matter"


def test_a_command_is_stopped_after_the_seconds_of_the_run(here: Project, monkeypatch: pytest.MonkeyPatch, requires_sandbox):
    requires_sandbox()
    watch(here.paths.root, "- slow: `sleep 600`\n- late: `echo late`")
    commit(here.paths.root, "slow")
    monkeypatch.setattr(heartbeat, "RUN_SECONDS", 1.0)
    first, second = run_heartbeat(here, Listener().terms()).checks
    assert first.note.startswith("stopped after") and "not checked" in second.note


def test_the_users_cheap_model_goes_before_the_checklists_and_that_before_the_model_of_tasks(here: Project):
    cheap, listed, usual = (NamedModel(provider="ollama", model=name) for name in ("cheap", "listed", "usual"))
    models = {"cheap": cheap, "listed": listed, "usual": usual}
    own = replace(here.settings, models=models, model="usual", heartbeat=HeartbeatOptions(model="cheap"))

    def choose(settings, plan: str) -> str:
        made = open_heartbeat_caller(replace(here, settings=settings), parse_heartbeat_plan(plan), print)
        return made.gate.model.name

    named = "---\nmodel: listed\n---\n- notes"
    assert choose(own, named).endswith("cheap")
    assert choose(replace(own, heartbeat=HeartbeatOptions()), named).endswith("listed")
    assert choose(replace(own, heartbeat=HeartbeatOptions()), "- notes").endswith("usual")


def time_of_day(at: float) -> int:
    local = time.localtime(at)
    return local.tm_hour * 3_600 + local.tm_min * 60 + local.tm_sec


def test_a_command_runs_in_a_fresh_tree_of_head_without_secrets(here: Project, requires_sandbox):
    requires_sandbox()
    key = "sk-ant-" + "a1B2" * 12
    root = here.paths.root
    (root / "kept.txt").write_text("kept\n")
    commit(root, "kept")
    (root / "stray.txt").write_text("stray\n")
    watch(root, f"- [ ] the files: `ls; touch mine; echo {key}`")
    run_heartbeat(here, Listener().terms())
    [known] = load_heartbeat_state(here).items.values()
    assert "kept.txt" in (known.output or "") and "stray.txt" not in (known.output or "") and key not in (known.output or "")
    assert not (root / "mine").exists()


def test_a_task_may_not_change_what_is_watched():
    assert find_who_acts(".afresh/HEARTBEAT.md")


def test_a_checklist_is_read_with_its_settings():
    plan = parse_heartbeat_plan(
        "---\nevery: 30m\nactive: 22:00-06:00\nmodel: cheap\nlimit: 1,500\nskip_when_busy: true\n---\n# Watched\n"
        "- [ ] open advisories: `pip-audit -q`\n- [x] notes are kept\nprose\n* `make check`\n"
    )
    assert [(item.text, item.command) for item in plan.items] == [
        ("open advisories", "pip-audit -q"), ("notes are kept", ""), ("make check", "make check"),
    ]  # fmt: skip
    assert (plan.every, plan.model, plan.limit, plan.skip_when_busy) == (1_800, "cheap", 1_500, True)
    assert plan.is_active(23 * 60) and plan.is_active(0) and not plan.is_active(6 * 60)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("every: soon", ":2: every: 'soon' is no interval"),
        ("limit: 4000", "600 to 2,000"),
        ("webhook: http://x", "no setting"),
        ("model: openai:gpt", "no name of a model"),
        ("active: 8-18", "08:00-18:00"),
    ],
)
def test_a_wrong_setting_is_named_with_its_line(line: str, told: str):
    with pytest.raises(BadInput) as fault:
        parse_heartbeat_plan(f"---\n{line}\n---\n- x")
    assert told in fault.value.what


@given(st.text(alphabet=st.sampled_from("-*[]x `:\n0123456789evryactim"), max_size=200))
def test_any_text_is_a_checklist_or_refused(text: str):
    for whole in (text, f"---\n{text}"):
        try:
            plan = parse_heartbeat_plan(whole)
        except BadInput as fault:
            assert "HEARTBEAT.md:" in fault.what
        else:
            assert len({item.key for item in plan.items}) == len(plan.items) and all(item.text for item in plan.items)
