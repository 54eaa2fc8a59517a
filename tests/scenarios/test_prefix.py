"""Successive calls of a task begin alike, to the byte, up to what has really changed; and the provider's own count is heeded."""

import re
from itertools import pairwise, takewhile
from pathlib import Path

import pytest
from handed import DOUBLE, TRIPLE, Step, make
from long_run import Printing, StillWorkspace

from afresh.actions.tools.registry import TOOLS
from afresh.app.compose import RunTerms, run_task
from afresh.app.inspect.inspect_calls import list_audits, load_sections, verify_calls
from afresh.app.inspect.measure_calls import list_call_prices
from afresh.app.project import open_project
from afresh.config.templates.load_template import load_template
from afresh.context.cache_prefix import compare_prefix, order_as_sent
from afresh.context.rebuild_call import rebuild_all_calls
from afresh.core.action import Action
from afresh.core.cache_rates import DEFAULT_CACHE_RATES, NO_CACHE
from afresh.core.event import CallRequested, TaskCreated
from afresh.core.prompt import Request, Section
from afresh.core.reply import Reply, Thinking
from afresh.core.task import Task
from afresh.core.token_calibration import TokensCounted
from afresh.core.tokens import EstimatingCounter, render_tool_schemas
from afresh.core.usage import Usage
from afresh.loop import advance_task
from afresh.ports.model import ignore_piece
from afresh.runtime import Runtime
from afresh.storage.sqlite.storage import open_sqlite_journal
from support.fakes import DictFiles, EmptyInsight, FakeClock, MemoryStore
from support.sample_journals import append_events
from support.states import make_runtime

FILES = {"pkg/one.py": "".join(f"def one_{n}():\n    return {n}\n\n\n" for n in range(30)), "pkg/two.py": "TWO = 2\n" * 50}
SCRIPT = [
    [("plan", {"items": ["[ ] see one", "[ ] see two"]})],
    [("read", {"path": "pkg/one.py"})],
    [("run", {"command": "python job_3.py"})],
    [("note", {"subject": "job 3", "text": "prints record_3_1"})],
    [("run", {"command": "python job_5.py"})],
    [("read", {"path": "pkg/two.py"})],
    [("search", {"text": "TWO"})],
    [("run", {"command": "python job_8.py"})],
    [("ask", {"question": "Is that all?"})],
]


class Provider:
    """Plays the script, thinks if it may, and counts as it is told."""

    name, window = "provider", 200_000

    def __init__(self, factor: float = 1.0, at: int = 0) -> None:
        self.factor, self.requests, self.weighed, self.at = factor, list[Request](), list[Request](), at

    def count(self, request: Request) -> int:
        return int(EstimatingCounter().whole(request) * self.factor)

    def weigh(self, request: Request) -> int:
        self.weighed.append(request)
        return self.count(request)

    def propose(self, request: Request, hear=ignore_piece) -> Reply:
        self.requests.append(request)
        actions = tuple(Action(tool, dict(args)) for tool, args in SCRIPT[self.at + len(self.requests) - 1])
        thought = (Thinking("I think.", "signed"),) if request.thinking else ()
        return Reply("Now this.", actions, Usage(self.count(request), 40), self.name, counted=True, thinking=thought)


def agent(store, model: Provider, native: bool) -> Runtime:
    return make_runtime(
        model=model,
        store=store,
        workspace=StillWorkspace(),
        files=DictFiles(**FILES),
        sandbox=Printing(),
        code=EmptyInsight(),
        tools=TOOLS,
        template=load_template("discovery"),
        clock=FakeClock(),
        counter=EstimatingCounter(),
        native=native,
        cache=DEFAULT_CACHE_RATES if native else NO_CACHE,
    )


def played(folder: Path, native: bool = True, factor: float = 1.0, **order):
    store, model = open_sqlite_journal(folder / "store.db"), Provider(factor)
    append_events(store, None, [TaskCreated(Task(id="t", goal="See pkg/one.py", max_steps=50, **order))])
    advance_task("t", "worker", agent(store, model, native))
    return store, model.requests, model


def wire(request: Request) -> str:
    return f"{render_tool_schemas(request.tools)}\n\n{request.system}\n\n{request.body}"


def sections(store, step: int) -> list[Section]:
    audits = [entry.event.audit for entry in store.journal("t") if isinstance(entry.event, CallRequested)]
    return [Section(ref.name, ref.tier, ref.text(store.read), ref.tokens) for ref in audits[step].sections]


@pytest.mark.parametrize("native", [True, False])
def test_the_first_byte_that_differs_lies_in_a_section_that_has_changed(tmp_path: Path, native: bool):
    store, requests, _ = played(tmp_path, native)
    assert any(request.turns for request in requests) is native
    for step in range(1, len(requests)):
        before, after = sections(store, step - 1), sections(store, step)
        pairs = zip(wire(requests[step - 1]), wire(requests[step]), strict=False)
        at = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        for section, earlier in zip(order_as_sent(after), order_as_sent(before), strict=False):
            at -= len(section.text) + 2
            if at < 0:
                break
            assert (earlier.name, earlier.text) == (section.name, section.text)
        assert (earlier.name, earlier.text) != (section.name, section.text)
        assert section.name == compare_prefix(step + 1, before, after).changed


def marks(*numbers: int) -> Step:
    return "plan", {"items": [f"[x] {number}" for number in numbers]}


THREE = """import unittest


class Three(unittest.TestCase):
    def test_three(self):
        from three import THREE

        self.assertEqual(THREE, 3)
"""
PHASES: list[list[Step]] = [
    [("read", {"path": "one.py"})],
    [("plan", {"items": ["double", "triple", "look", "complete"]})],
    [DOUBLE, marks(1)],
    [("delegate", {"goal": " "}), ("note", {"subject": "room", "text": "to see both"})],
    [TRIPLE, marks(2)],
    [("read", {"path": "two.py"})],
    [marks(3, 4)],
    [("search", {"text": "double"})],
    [("edit", {"path": "test_three.py", "new": THREE}), ("plan", {"items": ["test", "code", "texts"]})],
    [("delegate", {"goal": "texts"}), marks(1, 3)],
    [("delegate", {"goal": "code"}), ("edit", {"path": "three.py", "new": "THREE = 3\n"}), marks(2)],
    [("complete", {"summary": "Multiply\n\nThey added."})],
]
"""There and back through the phases, with three open items and more, fewer, more again, and none."""
STABLE = ["tools", "system", "fingerprint", "task"]
ALLOWED: set[str] = set()
"""Sections up to the first break in which two calls of such a run may differ."""


def test_through_all_phases_every_call_begins_as_the_one_before_it_to_the_end_of_what_is_stable(tmp_path: Path):
    repo, task = make(tmp_path, PHASES, {"10-1": [[("ask", {"question": "Which?"})]]})
    project = open_project(repo)
    run_task(project, task, RunTerms(no_sandbox=True))
    calls = [load_sections(project, audit) for _, audit in list_audits(project, task)]
    assert len(calls) == len(PHASES)
    feet = [found[1] for call in calls if (found := re.search(r"\| phase (\w+),", call[-1].text))]
    assert {"understand", "change", "verify"} == {*feet}
    assert "change" in feet[feet.index("verify") :], "and back"
    seen = project.store.load(task).memory.recent
    refused = [one.text for step in seen for one in step.observations if one.action.tool == "delegate" and not one.ok]
    assert any("a part pays from 3 on" in text for text in refused)
    for before, after in pairwise(calls):
        assert [section.name for section in order_as_sent(after)[:4]] == STABLE
        differing = {
            one.name
            for one, other in zip(order_as_sent(after)[:4], order_as_sent(before)[:4], strict=True)
            if one.text != other.text
        }
        assert differing <= ALLOWED
    fixed = sum(section.tokens for section in order_as_sent(calls[0])[:4])
    assert all(one.beginning.cacheable >= fixed > 800 for one in list_call_prices(project, task)[1:])
    assert all(call.same for call in verify_calls(project, task))


def test_every_call_with_turns_and_thinking_is_built_again_to_the_byte(tmp_path: Path):
    store, requests, _ = played(tmp_path, thinking=1_024, budget=8_000)
    assert all(request.thinking == 1_024 for request in requests)
    assert any(turn.reply.thinking for request in requests for turn in request.turns)
    assert [one.same for one in rebuild_all_calls("t", store)] == [True] * len(requests)


def test_what_the_provider_itself_counts_over_the_ceiling_is_never_sent(tmp_path: Path):
    store, requests, model = played(tmp_path, factor=1.6, budget=3_200, max_budget=3_200)
    assert all(model.count(one) + one.reserve <= 3_200 for one in requests)
    counts = [entry.event for entry in store.journal("t") if isinstance(entry.event, TokensCounted)]
    assert counts and counts[0].over and not counts[-1].over and len(counts) == len(model.weighed) <= 4
    assert all(one.same for one in rebuild_all_calls("t", store))


def test_a_run_that_dies_after_the_count_goes_on_with_the_same_window():
    class Dying(Provider):
        def propose(self, request: Request, hear=ignore_piece) -> Reply:
            self.requests.append(request)
            raise KeyboardInterrupt

    store, first, second = MemoryStore(), Dying(1.6), Provider(1.6)
    append_events(store, None, [TaskCreated(Task(id="t", goal="See pkg/one.py", max_steps=50, budget=3_200, max_budget=3_200))])
    with pytest.raises(KeyboardInterrupt):
        advance_task("t", "worker", agent(store, first, True))
    advance_task("t", "worker", agent(store, second, True))
    assert first.weighed and second.requests[0] == first.requests[0] and not any(one in first.weighed for one in second.weighed)
