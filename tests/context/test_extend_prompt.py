"""The last prompt with one step more: the same text before it, a result for each action, never over the bound."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from item_samples import excerpt

from afresh.actions.tools.registry import TOOLS
from afresh.config.templates.load_template import load_template
from afresh.context.build_prompt import build_from_inputs, make_prompt_inputs
from afresh.context.extend_or_rebuild import ExtensionDecision
from afresh.context.extend_prompt import build_turn, extend_prompt, find_obstacle
from afresh.context.limit import fix_limit
from afresh.context.prepare_call import PreparedCall
from afresh.context.rebuild_call import audit_call, reassemble_request, rebuild_prompt
from afresh.context.record_call import make_prompt_origin
from afresh.core.action import Action, Observation
from afresh.core.cache_rates import DEFAULT_CACHE_RATES, NO_CACHE
from afresh.core.change import Hunk
from afresh.core.event import CallRequested, ChangeKeptOrReverted, MemoryCompacted, QuestionAnswered
from afresh.core.project_facts import FactCorrection
from afresh.core.prompt import Prompt
from afresh.core.reducer import apply_event
from afresh.core.reply import (
    MAX_ARGUMENT_CHARACTERS,
    MAX_THINKING_CHARACTERS,
    Reply,
    ReturnedReply,
    Thinking,
    make_returned_reply,
)
from afresh.core.state import State
from afresh.core.states.memory_state import MemoryState
from afresh.core.states.supervision_state import PersonSpoke
from afresh.core.states.verification_state import VerificationState
from afresh.core.states.work_state import WorkState
from afresh.core.states.workspace_state import WorkspaceState
from afresh.core.step_history import Summary
from afresh.core.step_record import StepRecord
from afresh.core.task import Check, Task
from afresh.core.tokens import EstimatingCounter
from afresh.core.usage import Usage
from afresh.core.verdict import Baseline, CheckRun, Ruling, Verdict
from afresh.errors import OverCeiling
from afresh.memory.gathered_context import GatheredContext, TraceCache
from afresh.memory.user_corrections import Corrections, apply_corrections
from afresh.models.mailbox import render_mailbox_message
from afresh.runtime import CallSettings
from support.fakes import MemoryStore

COUNTER, STYLE = EstimatingCounter(), load_template("fix_bug")
SETTINGS = CallSettings(template=STYLE, tools=TOOLS, counter=COUNTER, cache=DEFAULT_CACHE_RATES)
SEARCH, EDIT = Action("search", {"text": "weight"}), Action("edit", {"path": "a.py", "old": "x = 1", "new": "x = 2"})
SIGNED = (Thinking("The sum is wrong where it is rounded.", "c2lnbmVk"), Thinking("b3BhcXVl", redacted=True))
START = State(
    task=Task(id="t", goal="Mend the weight in a.py", checks=(Check("pytest"),)),
    workspace=WorkspaceState(first_snapshot="tree"),
    work=WorkState(limit=60),
    verification=VerificationState(baseline=Baseline((CheckRun("pytest", 0, passed=3),))),
)


class Run:
    """Calls of a task, one after another, without a loop around them."""

    def __init__(self, thinking: int = 0, items=()) -> None:
        phases = tuple(replace(phase, thinking=thinking) for phase in STYLE.phases)
        self.settings = replace(SETTINGS, template=replace(STYLE, thinking=thinking, phases=phases))
        self.blocks: dict[str, str] = {}
        self.store = MemoryStore()
        self.state, self.items, self.requests, self.calls = START, items, list[Prompt](), list[tuple[State, CallRequested]]()

    def ask(self, extend: bool, budget: int = 4_000) -> Prompt:
        memory = GatheredContext(self.state, () if extend else self.items)
        inputs = make_prompt_inputs(memory, self.settings, fix_limit(budget, 1_000))
        prompt = extend_prompt(inputs, self.blocks.__getitem__) if extend else build_from_inputs(inputs)
        audit, blocks = audit_call(prompt, memory, self.settings, "m")
        self.blocks |= {block.id: block.text for block in blocks}
        prepared = PreparedCall(prompt, inputs, self.settings, ExtensionDecision(extend, "it pays"))
        call = CallRequested(self.state.work.step + 1, audit, make_prompt_origin(prepared, "m"))
        self.calls.append((self.state, call))
        self.state = apply_event(call, self.state)
        return prompt

    def act(self, *deeds: tuple[Action, str], kept: bool = True, thinking=()) -> None:
        step = self.state.work.step + 1
        said = Reply(f"Thought {step}.", tuple(action for action, _ in deeds), thinking=thinking, usage=Usage(9, 200))
        seen = tuple(Observation(action, True, text, f"{number:032x}", len(text)) for number, (action, text) in enumerate(deeds))
        self.state = replace(
            self.state,
            work=replace(self.state.work, step=step, returned_reply=make_returned_reply(step, said)),
            memory=MemoryState(recent=(StepRecord(step, said.thought, seen, "", kept),)),
        )


def started(*deeds: tuple[Action, str], **how) -> Run:
    run = Run()
    run.ask(extend=False)
    run.act(*(deeds or ((SEARCH, "a.py:3: weight"),)), **how)
    return run


def test_that_the_checks_are_running_is_said_of_the_first_call_only():
    run = Run()
    measured = run.state
    run.state = replace(measured, verification=VerificationState())
    assert "checks are running" in run.ask(extend=False).request.footer
    run.state = replace(run.state, verification=measured.verification)
    run.act((SEARCH, "a.py:3: weight"))
    request = run.ask(extend=True).request
    assert "checks are running" not in request.body and "pytest: 3 passed" not in request.message


def test_what_comes_before_the_new_turn_is_the_same_to_the_byte_and_the_footer_is_sent_once():
    run = Run(items=(excerpt("a.py", 1, "x = 1\n", "a.py"),))
    prompts = [run.ask(extend=False)]
    for number in range(3):
        run.act((SEARCH, f"a.py:{number}: weight"))
        prompts.append(run.ask(extend=True, budget=8_000))
    first, last = prompts[0].request, prompts[-1].request
    assert all(one.request.message == first.message and one.request.breaks == first.breaks for one in prompts)
    assert all(later.request.turns[:-1] == before.request.turns for before, later in pairwise(prompts))
    assert [turn.results[0].text for turn in last.turns] == [f"a.py:{number}: weight" for number in range(3)]
    assert last.body.count("[Context: ") == 1 and "step 4 of 60" in last.footer
    assert [section.name for section in prompts[-1].sections][-4:] == ["turn", "turn", "turn", "footer"]


def test_an_edit_goes_back_with_all_that_it_wrote_and_checks_with_how_they_went():
    run = started((EDIT, "a.py: line 1 replaced"))
    verdict = Verdict(Ruling.FAIL, "pytest: 1 failed", (CheckRun("pytest", 1, passed=2),))
    run.state = replace(run.state, verification=replace(run.state.verification, verdict=verdict, verdict_step=1))
    [turn] = run.ask(extend=True, budget=8_000).request.turns
    assert turn.reply.actions == (EDIT,) and "pytest: 1 failed" in turn.text
    undone = started((EDIT, "a.py: line 1 replaced"), kept=False)
    assert undone.ask(extend=True, budget=8_000).request.turns[0].text == "The whole reply was reverted."
    undone = started((EDIT, "a.py: line 1 replaced"), kept=False)
    undone.state = replace(undone.state, verification=run.state.verification)
    told = undone.ask(extend=True, budget=8_000).request.turns[0].text
    assert told.startswith("The whole reply was reverted.\nAfter step 1") and "see Verification" not in told


def test_a_prompt_without_room_for_the_turn_is_refused():
    run = started((SEARCH, "word " * 2_000))
    with pytest.raises(OverCeiling):
        run.ask(extend=True, budget=run.state.tokens.prompt.tokens + 200)


def test_every_call_is_built_again_from_its_record_and_its_archived_text_is_what_was_sent():
    run = Run(items=(excerpt("a.py", 1, "x = 1\n", "a.py"),))
    hashes = [run.ask(extend=False).request.hash]
    for number in range(3):
        run.act((SEARCH, f"a.py:{number}: weight"), (EDIT, "a.py: line 1 replaced"))
        hashes.append(run.ask(extend=True, budget=8_000).request.hash)

    class Store:
        read = staticmethod(run.blocks.__getitem__)

    again = [rebuild_prompt(state, call.audit, Store(), TraceCache()).request.hash for state, call in run.calls]  # pyright: ignore
    assert again == hashes == [reassemble_request(call.audit, Store()).hash for _, call in run.calls]  # pyright: ignore
    assert [call.origin.base for _, call in run.calls] == [0, 1, 1, 1]


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (PersonSpoke("Leave it."), "a person said something"),
        (QuestionAnswered("yes"), "a person said something"),
        (MemoryCompacted(1, "", (), Summary(), 0), "memory was compacted"),
        (ChangeKeptOrReverted(1, True, "s", ("b.py",), hunks=(Hunk("b.py", 1, 1, 1, 900),)), "a command changed b.py"),
    ],
    ids=["words", "answer", "compaction", "command"],
)
def test_what_the_kept_text_does_not_know_of_asks_for_a_new_prompt(event, why):
    run = started((EDIT, "a.py: line 1 replaced"))
    assert not find_obstacle(run.state, run.settings)
    assert find_obstacle(apply_event(event, run.state), run.settings) == why


def test_lines_that_a_command_changed_are_named_in_its_turn():
    run = started((Action("run", {"command": "sed -i s/a/b/ b.py"}), "exit 0"))
    run.state = apply_event(ChangeKeptOrReverted(1, True, "s", ("b.py",), hunks=(Hunk("b.py", 3, 1, 3, 2),)), run.state)
    assert not find_obstacle(run.state, run.settings)
    assert "Changed by commands: lines b.py 3-4." in run.ask(extend=True, budget=8_000).request.turns[0].text
    run.act((SEARCH, "x"))
    assert "Changed by commands" not in run.ask(extend=True, budget=8_000).request.turns[-1].text


def test_a_turn_names_the_files_whose_lines_further_up_it_has_changed_and_no_others():
    run = started((EDIT, "a.py: line 1 replaced"))
    assert "Earlier messages" not in run.ask(extend=True, budget=8_000).request.turns[0].text, "no section shows lines of it"
    base = GatheredContext(run.state)
    memory = replace(
        base, state=apply_event(ChangeKeptOrReverted(1, True, "s", ("b.py",), hunks=(Hunk("b.py", 3, 1, 3, 2),)), run.state)
    )
    shown = "## Files\nb.py\n    3 b = 1\na.py:7-9 f\n    7 def f():"
    turn = build_turn(memory, COUNTER, [shown])
    assert "Earlier messages show a.py, b.py as before this reply's changes." in turn.text


def test_a_change_that_the_reply_shows_asks_for_no_new_prompt():
    run = started((EDIT, "a.py: line 1 replaced"))
    kept = ChangeKeptOrReverted(1, True, "s", ("a.py",), hunks=(Hunk("a.py", 1, 1, 1, 1),))
    assert not find_obstacle(apply_event(kept, run.state), run.settings)


def test_it_is_extended_only_where_a_cache_and_the_policy_allow_it():
    run = started()
    assert find_obstacle(START, run.settings) == "the first call"
    assert find_obstacle(run.state, replace(run.settings, cache=NO_CACHE))
    long = started((Action("write", {"path": "a.py", "content": "x" * MAX_ARGUMENT_CHARACTERS}), "written"))
    assert "too long" in find_obstacle(long.state, long.settings)


def test_thinking_goes_back_while_it_is_on_and_a_reply_without_signed_thinking_is_not_extended():
    run = Run(thinking=2_000)
    run.ask(extend=False, budget=6_000)
    run.act((SEARCH, "x"), thinking=SIGNED)
    assert not find_obstacle(run.state, run.settings)
    request = run.ask(extend=True, budget=9_000).request
    assert request.turns[0].reply.thinking == SIGNED and request.thinking == 2_000
    run.act((SEARCH, "x"), thinking=(Thinking("unsigned"),))
    assert "thinking" in find_obstacle(run.state, run.settings)
    plain = started((SEARCH, "x"), thinking=SIGNED)
    assert not plain.ask(extend=True, budget=8_000).request.turns[0].reply.thinking


lines = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=300)
deeds = st.lists(st.tuples(st.sampled_from([SEARCH, EDIT, Action("plan", {"items": ["a"]})]), lines), min_size=1, max_size=4)


@given(st.lists(deeds, min_size=1, max_size=4), st.booleans(), st.integers(2_400, 9_000))
def test_whatever_is_appended_the_bound_holds_and_every_call_has_a_result(steps, kept, bound):
    run = Run()
    run.ask(extend=False)
    for done in steps:
        run.act(*done, kept=kept)
        try:
            prompt = run.ask(extend=True, budget=bound)
        except OverCeiling:
            return
        assert COUNTER.whole(prompt.request) + prompt.request.reserve <= bound
        for turn in prompt.request.turns:
            assert len(turn.results) == len(turn.reply.actions) and all(result.text for result in turn.results)


def test_only_a_bounded_reply_is_kept():
    assert make_returned_reply(1, Reply("t", (SEARCH,))) == ReturnedReply(1, Reply("", (SEARCH,)))
    assert make_returned_reply(1, Reply("t", ())) is None
    assert make_returned_reply(1, Reply("t", (Action("write", {"content": "x" * MAX_ARGUMENT_CHARACTERS}),))) is None
    assert make_returned_reply(1, Reply("t", (SEARCH,), thinking=(Thinking("x", "y" * MAX_THINKING_CHARACTERS),))) is None


def test_what_a_person_wants_forgotten_does_not_go_back():
    state = started((Action("search", {"text": "the secret word of old"}), "x")).state
    edits = Corrections((FactCorrection("id", "the secret word of old", ""),))
    assert state.work.returned_reply and apply_corrections(state, edits).work.returned_reply is None
    assert apply_corrections(state, Corrections((FactCorrection("id", "something else entirely", ""),))).work.returned_reply


def test_whoever_plays_the_model_sees_what_a_model_is_sent_in_the_order_of_the_wire():
    page = render_mailbox_message(started().ask(extend=True, budget=8_000).request, "0001-abc")
    places = [page.index(text) for text in ("<!-- tools -->", "## Task", "You did: search", "[Context: ")]
    assert places == sorted(places)


def test_the_footer_says_how_old_the_sections_are():
    run = started()
    assert "The sections at the top are as of step 1;" in run.ask(extend=True, budget=8_000).request.footer
