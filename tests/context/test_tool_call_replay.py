"""The last step as the model's own calls: within the ceiling, each thing once, and only where it costs little."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from item_samples import excerpt

from afresh.actions.tools.registry import TOOLS
from afresh.config.templates.load_template import load_template
from afresh.context.build_prompt import build_best_prompt, select_offered_tools
from afresh.context.cache_prefix import is_volatile_section
from afresh.core.action import Action, Observation
from afresh.core.codec import to_canonical_json, value_from_json
from afresh.core.context_item import Item
from afresh.core.memory_state import MemoryState, StepRecord
from afresh.core.project_facts import FactCorrection
from afresh.core.prompt import Request, Tier
from afresh.core.reply import (
    MAX_ARGUMENT_CHARACTERS,
    MAX_THINKING_CHARACTERS,
    Reply,
    ReturnedReply,
    Thinking,
    make_returned_reply,
)
from afresh.core.state import State
from afresh.core.strategy_state import PlanItem
from afresh.core.task import Check, Task
from afresh.core.template import MIN_THINKING_TOKENS, Template
from afresh.core.tokens import EstimatingCounter
from afresh.core.usage import Usage
from afresh.core.verdict import Baseline, CheckRun
from afresh.core.verification_state import VerificationState
from afresh.core.work_state import WorkState
from afresh.core.workspace_state import WorkspaceState
from afresh.errors import OverCeiling
from afresh.memory.gathered_context import GatheredContext
from afresh.memory.user_corrections import Corrections, apply_corrections
from afresh.models.mailbox import render_mailbox_message

COUNTER, STYLE = EstimatingCounter(), replace(load_template("fix_bug"), native=True)
SEARCH, READ = Action("search", {"text": "weight"}), Action("read", {"path": "a.py"})
SIGNED = (Thinking("The sum is wrong where it is rounded.", "c2lnbmVk"), Thinking("b3BhcXVl", redacted=True))
EDIT = Action("edit", {"path": "a.py", "old": "x = 1", "new": "x = 2"})


def memory(
    *deeds: tuple[Action, str], kept: bool = True, ok: bool = True, looks: tuple[Item, ...] = (), **reply
) -> GatheredContext:
    """After a step of these actions and outputs."""
    seen = tuple(Observation(action, ok, text, f"{number:032x}", len(text)) for number, (action, text) in enumerate(deeds))
    said = Reply("Now I look.", tuple(action for action, _ in deeds), **reply)
    state = State(
        task=Task(id="t", goal="g", checks=(Check("pytest"),)),
        workspace=WorkspaceState(first_snapshot="tree"),
        work=WorkState(limit=60, step=7, plan=(PlanItem("mend it", False),), returned_reply=make_returned_reply(7, said)),
        verification=VerificationState(baseline=Baseline((CheckRun("pytest", 0, passed=3),))),
        memory=MemoryState(recent=(StepRecord(7, said.thought, seen, "", kept),)),
    )
    return GatheredContext(state, looks)


def made(held: GatheredContext, style: Template = STYLE, budget: int = 4_000):
    return build_best_prompt(held, style, select_offered_tools(style.at("understand"), TOOLS), budget, COUNTER)


def thinking(tokens: int) -> Template:
    phases = tuple(replace(phase, thinking=tokens) for phase in STYLE.phases)
    return replace(STYLE, thinking=tokens, phases=phases)


def test_the_last_step_goes_back_as_calls_with_their_results_and_is_told_nowhere_else():
    window = made(memory((SEARCH, "a.py:3: weight"), (READ, "see Files")))
    [turn] = window.request.turns
    assert turn.reply.thought == "Now I look." and turn.reply.actions == (SEARCH, READ)
    assert [result.text for result in turn.results] == ["a.py:3: weight", "see Files"]
    assert "a.py:3: weight" not in window.request.message + turn.text and "## Last step" not in turn.text
    assert "## Your plan" in turn.text and turn.text.endswith("What is your next action?")
    assert "## Task" in window.request.message and window.request.breaks[-1] == len(window.request.message)


def test_what_goes_back_says_where_lines_that_were_read_stand_and_where_the_present_begins():
    files = (excerpt("a.py", 1, "x_1 = some_name\n" * 2, "of 2"),)
    window = made(memory((READ, "a.py: lines 1-2 of 2"), (Action("read", {"path": "b.py"}), "b.py: lines 1-9 of 9"), looks=files))
    [turn] = window.request.turns
    assert "a.py" in window.request.message and "b.py" not in window.request.message
    assert [result.text for result in turn.results] == ["a.py: lines 1-2 of 2 (above, under Files)", "b.py: lines 1-9 of 9"]
    assert turn.text.startswith("# Current state\n\n## ")


def test_many_changes_of_a_step_are_told_in_a_line_a_few_one_by_one():
    told = replace(STYLE, native=False)
    three = made(memory(*[(EDIT, f"replaced 1 lines at line {n} of a.py with 2\nx") for n in range(3)]), told).request.message
    assert "You did: 3 changes, all made: a.py (3)" in three and "replaced" not in three
    two = made(memory(*[(EDIT, f"replaced 1 lines at line {n} of a.py with 2\nx") for n in range(2)]), told).request.message
    assert two.count("You did: edit: replaced") == 2
    undone = memory(*[(EDIT, "replaced 1 lines\nx") for _ in range(3)], kept=False)
    assert "all of them made" not in made(undone, told).request.message, "what was undone is shown, to learn from"


def test_the_record_names_every_section_in_the_order_in_which_it_is_sent():
    window = made(memory((SEARCH, "a.py:3: weight")))
    names = [section.name for section in window.sections]
    stable = [name for name in names[2:] if not is_volatile_section(name)]
    assert names[: 2 + len(stable)] == ["system", "tools", *stable] and names[2 + len(stable)] == "last" and names[-1] == "footer"
    last = next(section for section in window.sections if section.name == "last")
    assert 'You did: search {"text": "weight"}\na.py:3: weight' in last.text and last.tier is Tier.DEMAND


@pytest.mark.parametrize(
    ("held", "style"),
    [
        (memory((SEARCH, "x")), replace(STYLE, native=False)),
        (memory((EDIT, "changed a.py:1")), STYLE),
        (memory((Action("run", {"command": "echo " + "word " * 200}), "x")), STYLE),
        (memory((Action("fly", {}), "there is no tool")), STYLE),
        (memory(), STYLE),
    ],
    ids=["another model", "what was written stands under Files", "long arguments", "unknown tool", "no action"],
)
def test_otherwise_it_is_told(held: GatheredContext, style: Template):
    window = made(held, style)
    assert not window.request.turns and "What is your next action?" in window.request.message
    assert "## Last step (7)" in window.request.message


def test_a_change_that_was_undone_goes_back_with_the_word_that_it_was():
    [turn] = made(memory((EDIT, "changed a.py:1"), kept=False)).request.turns
    assert turn.reply.actions == (EDIT,) and turn.text.startswith("The whole reply was reverted")


def test_signed_thinking_goes_back_whole_while_thinking_is_on_and_not_at_all_otherwise():
    held = memory((SEARCH, "x"), thinking=SIGNED, usage=Usage(10, 300))
    [turn] = made(held, thinking(2_000), 6_000).request.turns
    assert turn.reply.thinking == SIGNED
    [turn] = made(held, STYLE, 6_000).request.turns
    assert not turn.reply.thinking
    unsigned = memory((SEARCH, "x"), thinking=(Thinking("I saw it."),))
    assert not made(unsigned, thinking(2_000), 6_000).request.turns, "a provider would refuse calls without their thinking"


def test_thinking_counts_for_as_much_as_the_provider_may_hold_of_it():
    held = memory((SEARCH, "x"), thinking=SIGNED, usage=Usage(10, 300))
    [turn] = made(held, thinking(2_000), 6_000).request.turns
    request = Request("", "", (), 0, turns=(turn,))
    assert (
        COUNTER.around(request) - COUNTER.around(replace(request, turns=(replace(turn, reply=Reply(actions=(SEARCH,))),))) == 300
    )
    long = memory((SEARCH, "x"), thinking=SIGNED, usage=Usage(10, 1_900))
    assert not made(long, thinking(2_000), 6_000).request.turns, "more than an eighth of the ceiling"


def test_thinking_lies_on_top_of_the_window_that_the_type_was_made_for():
    held = memory((SEARCH, "x"))
    plain, more = made(held, STYLE, 4_000), made(held, thinking(2_000), 6_000)
    assert more.request.thinking == 2_000 and more.request.reserve == plain.request.reserve + 2_000
    assert made(held, thinking(2_000), 4_000).request.thinking == 0
    assert made(held, thinking(2_000), 4_000 + MIN_THINKING_TOKENS).request.thinking == MIN_THINKING_TOKENS
    assert made(held, thinking(2_000), 4_000 + MIN_THINKING_TOKENS - 1).request.thinking == 0


lines = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=300)
deeds = st.lists(
    st.tuples(st.sampled_from([SEARCH, READ, EDIT, Action("plan", {"items": ["a"]})]), lines), min_size=1, max_size=4
)


@given(deeds, st.booleans(), st.integers(2_400, 9_000), st.sampled_from([0, 1_024, 3_000]), st.integers(0, 60), st.booleans())
def test_whatever_goes_back_the_ceiling_holds_and_every_call_has_a_result(done, kept, budget, tokens, files, signed):
    looks = tuple(excerpt("a.py", n * 9, f"x_{n} = some_name\n" * 9, f"f{n}") for n in range(files))
    more = {"thinking": SIGNED, "usage": Usage(9, 200)} if signed else {}
    held = memory(*done, kept=kept, looks=looks, **more)
    try:
        window = made(held, thinking(tokens), budget)
    except OverCeiling:
        return
    request = window.request
    assert COUNTER.whole(request) + request.reserve <= budget and request.thinking < request.reserve
    assert list(request.breaks) == sorted(set(request.breaks)) and len(request.breaks) <= 3
    assert all(0 < one <= len(request.message) for one in request.breaks)
    for turn in request.turns:
        assert len(turn.results) == len(turn.reply.actions) and all(result.text for result in turn.results)
        assert not request.thinking or turn.reply.thinking
    assert made(loads_again(held), thinking(tokens), budget).request.hash == request.hash


def loads_again(held: GatheredContext) -> GatheredContext:
    return replace(held, state=value_from_json(State, to_canonical_json(held.state)))


def test_only_a_bounded_reply_is_kept():
    assert make_returned_reply(1, Reply("t", (SEARCH,))) == ReturnedReply(1, Reply("", (SEARCH,)))
    assert make_returned_reply(1, Reply("t", ())) is None
    assert make_returned_reply(1, Reply("t", (Action("write", {"content": "x" * MAX_ARGUMENT_CHARACTERS}),))) is None
    assert make_returned_reply(1, Reply("t", (SEARCH,), thinking=(Thinking("x", "y" * MAX_THINKING_CHARACTERS),))) is None


def test_what_a_person_wants_forgotten_does_not_go_back():
    held = memory((Action("search", {"text": "the secret word of old"}), "x"))
    edits = Corrections((FactCorrection("id", "the secret word of old", ""),))
    assert held.state.work.returned_reply and apply_corrections(held.state, edits).work.returned_reply is None
    assert apply_corrections(held.state, Corrections((FactCorrection("id", "something else entirely", ""),))).work.returned_reply


def test_whoever_plays_the_model_sees_what_a_model_is_sent():
    held = memory((SEARCH, "a.py:3: weight"), thinking=SIGNED, usage=Usage(10, 300))
    page = render_mailbox_message(made(held, thinking(2_000), 6_000).request, "0001-abc")
    assert "[thinking, signed] The sum is wrong" in page and 'You did: search {"text": "weight"}\na.py:3: weight' in page
    assert page.index("## Task") < page.index("You did: search") < page.index("## Your plan") < page.index("<!-- tools -->")
    assert "2000 of them for thinking" in page
