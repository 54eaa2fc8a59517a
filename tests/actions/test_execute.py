"""Policies decide whether an action is done; tools may be made at run time."""

from dataclasses import replace

import pytest
from yard import PLAN, Step, Yard

from afresh.actions.execute import WAITS_FOR_APPROVAL
from afresh.actions.tools.function_tool import FunctionTool, make_tool_schema
from afresh.actions.tools.registry import TOOLS
from afresh.core.action import Action
from afresh.core.action_policy import ApprovalNeeded, ProposedAction, Refusal, find_approval
from afresh.core.event import ActionsExecuted
from afresh.core.progress_event import (
    ActionBegan,
    ActionEnded,
    CallBegan,
    CallEnded,
    ChangeMade,
    CheckBegan,
    CheckEnded,
    ProgressEvent,
)
from afresh.core.step_history import PassageVoice
from afresh.core.step_result import ToolOutcome
from afresh.core.tool_traits import TRAITS_BY_TOOL, ToolTrait, has_trait
from afresh.loop import advance_task
from support.states import replace_in_parts

QUESTION = "May it run commands?"


def run_always(step: int) -> list[Step]:
    return [("run", {"command": "make"}), PLAN]


def outcomes(yard: Yard) -> list[tuple[bool, str]]:
    return [(seen.ok, seen.text.partition("\n")[0]) for event in yard.events(ActionsExecuted) for seen in event.observations]


def refuse_commands(proposed: ProposedAction) -> Refusal | None:
    return Refusal("no commands here") if ToolTrait.RUNS in proposed.traits else None


def ask_before_commands(proposed: ProposedAction) -> Refusal | ApprovalNeeded | None:
    if ToolTrait.RUNS not in proposed.traits:
        return None
    approved = find_approval(proposed.state, QUESTION)
    return ApprovalNeeded(QUESTION) if approved is None else None if approved else Refusal("the user does not want that")


def test_without_policies_of_the_users_what_the_harness_allows_is_done() -> None:
    yard = Yard(run_always)
    advance_task("t", "worker", yard.runtime, at_most=1)
    assert [ok for ok, _ in outcomes(yard)] == [True, True]


def test_two_ticks_of_the_plan_in_one_reply_both_count() -> None:
    replies: list[list[Step]] = [
        [("plan", {"items": ["look", "mend", "check"]})],
        [("plan", {"items": ["[x] 1"]}), ("plan", {"items": ["[x] 2"]})],
    ]
    yard = Yard(lambda step: replies[min(step, 2) - 1])
    state = advance_task("t", "worker", yard.runtime, at_most=2)
    assert [item.done for item in state.work.plan] == [True, True, False]


def test_a_policy_refuses_an_action_and_the_model_reads_why() -> None:
    yard = Yard(run_always)
    before = yard.runtime.sandbox
    state = advance_task("t", "worker", replace_in_parts(yard.runtime, policies=(refuse_commands,)), at_most=1)
    assert outcomes(yard)[0] == (False, "no commands here") and state.status == "running"
    advance_task("t", "worker", replace_in_parts(yard.runtime, policies=(refuse_commands,), sandbox=before), at_most=1)
    assert "no commands here" in yard.model.requests[-1].text


def test_a_policy_has_a_person_asked_and_heeds_the_answer() -> None:
    yard = Yard(run_always)
    yard.runtime = replace_in_parts(yard.runtime, policies=(ask_before_commands,))
    state = advance_task("t", "worker", yard.runtime)
    assert (state.status, state.dialogue.question, state.work.step) == ("blocked", QUESTION, 1)
    assert outcomes(yard)[0] == (False, WAITS_FOR_APPROVAL)
    yard.runtime = replace(yard.runtime, model=yard.model)
    yard.say("approve: it may be done")
    advance_task("t", "worker", yard.runtime, at_most=1)
    assert outcomes(yard)[-2][0], "it was done after that"


def test_a_refused_question_is_not_put_again() -> None:
    yard = Yard(run_always)
    yard.runtime = replace_in_parts(yard.runtime, policies=(ask_before_commands,))
    advance_task("t", "worker", yard.runtime)
    yard.say("refuse: it is left undone")
    state = advance_task("t", "worker", yard.runtime, at_most=1)
    assert outcomes(yard)[-2] == (False, "the user does not want that") and not state.dialogue.question


def test_a_tool_that_is_made_at_run_time_needs_a_schema_and_traits_only() -> None:
    yard = Yard(lambda step: [("fetch", {"what": "news"})])

    def fetch(args, context) -> ToolOutcome:
        context.files.write("news.txt", args["what"])
        return ToolOutcome("fetched")

    made = FunctionTool(
        make_tool_schema("fetch", "Fetch something.", what=""), fetch, frozenset({ToolTrait.CHANGES, ToolTrait.WRITES})
    )
    template = yard.runtime.settings.template
    phases = tuple(replace(phase, tools=(*phase.tools, "fetch")) for phase in template.phases)
    template = replace(template, tools=(*template.tools, "fetch"), phases=phases)
    state = advance_task("t", "worker", replace_in_parts(yard.runtime, tools=(*TOOLS, made), template=template), at_most=1)
    assert outcomes(yard) == [(True, "fetched")] and state.workspace.changed == ("news.txt",)
    action = state.memory.recent[-1].observations[0].action
    assert action.traits == (ToolTrait.CHANGES, ToolTrait.WRITES) and has_trait(action, ToolTrait.WRITES)
    assert PassageVoice.OUTPUT not in {one.voice for one in state.memory.passages}, "what it wrote is in the file"


def test_every_tool_that_comes_with_afresh_has_traits() -> None:
    assert {tool.schema.name for tool in TOOLS} == set(TRAITS_BY_TOOL)
    assert all(tool.traits == TRAITS_BY_TOOL[tool.schema.name] for tool in TOOLS)


@pytest.mark.parametrize(
    ("action", "traits"),
    [
        (Action("read", {"path": "@1a2b3c4d"}), {ToolTrait.READS, ToolTrait.ARRANGES}),
        (Action("search", {"path": "@notes", "text": "x"}), {ToolTrait.READS, ToolTrait.ARRANGES}),
        (Action("search", {"path": "src", "text": "x"}), {ToolTrait.PRINTS, ToolTrait.SEARCHES}),
    ],
)
def test_steps_in_the_archive_have_other_traits(action: Action, traits: set[ToolTrait]) -> None:
    assert all(has_trait(action, trait) for trait in traits)
    assert ToolTrait.ARRANGES in traits or not has_trait(action, ToolTrait.ARRANGES)
    assert ToolTrait.ARRANGES not in traits or not has_trait(action, ToolTrait.PRINTS)


class Follower:
    def __init__(self) -> None:
        self.events: list[ProgressEvent] = []

    def saw(self, state, entries) -> None: ...

    def follow(self, event: ProgressEvent) -> None:
        self.events.append(event)


def test_calls_actions_and_checks_are_followed_from_begin_to_end() -> None:
    yard, follower = Yard(lambda step: [("edit", {"path": "new.py", "new": "x = 1\n"})]), Follower()
    advance_task("t", "worker", replace_in_parts(yard.runtime, watchers=(follower,)), at_most=1)
    kinds = [type(event) for event in follower.events]
    assert kinds[kinds.index(CallBegan) :] == [CallBegan, CallEnded, ActionBegan, ActionEnded, ChangeMade, CheckBegan, CheckEnded]
