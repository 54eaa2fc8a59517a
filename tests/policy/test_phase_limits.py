"""A window is laid out by the phase of its task: tools, shares, caps, what stays out, and how many steps are left."""

from dataclasses import replace
from pathlib import Path

import pytest
from item_samples import excerpt, repo_map, sample_item

from afresh.actions.tools.registry import TOOLS
from afresh.app.demo import SAMPLE_FOLDER
from afresh.code.code_insight import CodeInsight
from afresh.config.templates.load_template import list_task_types, load_template
from afresh.context.build_prompt import build_prompt, draft_sections, select_offered_tools
from afresh.core.action import Action, Observation
from afresh.core.context_item import Item, Note
from afresh.core.decision import Decision
from afresh.core.fact import Fact, FactKind
from afresh.core.prompt import Prompt, Tier
from afresh.core.report_path import choose_report_path
from afresh.core.state import State
from afresh.core.states.memory_state import MemoryState
from afresh.core.states.strategy_state import PlanItem
from afresh.core.states.verification_state import VerificationState
from afresh.core.states.work_state import WorkState
from afresh.core.states.workspace_state import WorkspaceState
from afresh.core.step_record import StepRecord
from afresh.core.task import Check, Task
from afresh.core.template import (
    LOOKING_PHASES,
    REQUIRED_SECTIONS,
    SECTION_ORDER,
    PhaseTemplate,
    SectionShare,
    Template,
)
from afresh.core.tokens import EstimatingCounter, render_tool_schemas
from afresh.core.verdict import Baseline, CheckRun, Ruling, Verdict
from afresh.memory.gathered_context import GatheredContext
from afresh.policy.phase_limits import ALL_PASS_CUE, PhasePressure, phase_pressure_from_state
from afresh.workspace.files import TreeFiles
from support.states import replace_in_parts

GREEN = CheckRun("pytest -q", 0, passed=29)
GOAL = "Look into src/parcel/pricing.py"
FILES = TreeFiles(
    SAMPLE_FOLDER, lambda: sorted(path.relative_to(SAMPLE_FOLDER).as_posix() for path in SAMPLE_FOLDER.rglob("*.py"))
)


INSIGHT = CodeInsight()
"""One for all tests: it holds only caches, and the sample project stays the same."""


def at_work(type: str, phase: str) -> State:
    """A task of the sample project in the middle of a phase."""
    report = choose_report_path(type, GOAL, (SAMPLE_FOLDER / "x").with_name("x").exists)
    checks = () if report else (Check("pytest -q"),)
    step = Observation(Action("run", {"command": "pytest -q"}), True, "29 passed")
    state = State(
        task=Task(id="t", goal=GOAL, type=type, checks=checks, report=report, budget=load_template(type).ceiling),
        workspace=WorkspaceState(first_snapshot="s"),
        work=WorkState(limit=60, step=3, phase_steps=(("understand", 3),), plan=(PlanItem("read pricing"),)),
        verification=VerificationState(baseline=Baseline(() if report else (GREEN,))),
        memory=MemoryState(
            recent=(StepRecord(3, "hm", (step,), "ran it", True),),
            facts=(Fact(FactKind.NOTE, "zones", "are in pricing.py:12"), Fact(FactKind.FAILED_APPROACH, "edit a", "broke b")),
        ),
    )
    if phase == "scan":
        return replace(state, work=replace(state.work, plan=()))
    if phase in LOOKING_PHASES:
        return state
    verdict = Verdict(Ruling.FAIL, "it must exit 0", (GREEN,), final=True) if phase == "verify" else None
    return replace(
        state,
        workspace=replace(state.workspace, changed=(report or "src/parcel/pricing.py",)),
        verification=replace(state.verification, verdict=verdict, verdict_step=3),
    )


def window(state: State, style: Template, *more: Item) -> Prompt:
    files = [excerpt(path, 1, FILES.read(path), "f", last=60) for path in FILES.paths()[:6]]
    memory = GatheredContext(state, (*INSIGHT.looks(state, FILES), *files, *more))
    return build_prompt(memory, style, select_offered_tools(style.at(state.phase), TOOLS), state.task.budget, EstimatingCounter())


PLACES = [(type, phase.name) for type in list_task_types() for phase in load_template(type).phases]


@pytest.mark.parametrize(("type", "phase"), PLACES)
def test_every_type_builds_a_window_on_the_sample_project_in_each_of_its_phases(type: str, phase: str):
    state, style = at_work(type, phase), load_template(type)
    assert state.phase == phase
    made, layout = window(state, style), style.at(phase)
    assert made.request.system == style.system and layout.guidance in made.sections[-1].text
    assert {tool.name for tool in made.request.tools} == set(layout.tools)
    assert made.request.reserve == int(style.ceiling * layout.reserve)
    assert made.tokens + made.request.reserve <= made.budget == style.ceiling
    assert made.tokens > style.ceiling // 3, "what is there to show is shown"
    shown = {section.name for section in made.sections}
    always = {"task", "failed", "verification", "files", *(["plan"] if state.work.plan else [])}
    assert always <= shown and "changes" not in shown, "nothing is changed yet"
    assert not shown & {share.section for share in layout.shares if share.tier is Tier.NEVER}
    assert GOAL in made.request.body and "broke b" in made.request.body


@pytest.mark.parametrize("type", [type for type in list_task_types() if choose_report_path(type, "", lambda _: False)])
def test_a_report_is_told_what_is_verified_of_it_and_what_is_not(type: str):
    message = window(at_work(type, "report"), load_template(type)).request.body
    assert "and no other file. Finished when:" in message and "`path:line` in it exists" in message
    assert "Not checked: whether it is true" in message and "nothing can be verified" not in message


def style(*shares: SectionShare, steps: int = 3) -> Template:
    return Template("mine", "You work.", ("read",), phases=(PhaseTemplate("understand", "Look.", ("read",), shares, 0.2, steps),))


MANY = repo_map("\n".join(f"line {number} of the outline" for number in range(2_000)))


def outline(made: Prompt) -> int:
    return sum(section.tokens for section in made.sections if section.name == "outline")


def test_a_cap_holds_even_when_room_is_left():
    state = at_work("fix_bug", "understand")
    free = window(state, style(SectionShare("files", 0.1, 0.1), SectionShare("outline", 0.1)), MANY)
    capped = window(state, style(SectionShare("files", 0.1, 0.1), SectionShare("outline", 0.1, 0.2)), MANY)
    room = 4_000 * 0.8
    assert outline(free) > 0.4 * room > 0.25 * room > outline(capped) > 0.05 * room
    assert capped.headroom > 0.3 * room


def test_what_a_section_leaves_goes_to_the_next_in_the_order_of_the_template():
    state = at_work("fix_bug", "understand")
    source = Note("test", "test_a.py::test_b", "\n".join(f"    line_{number} = compute({number})" for number in range(2_000)))
    first = window(state, style(SectionShare("failing", 0.0), SectionShare("files", 0.0)), source)
    second = window(state, style(SectionShare("files", 0.0), SectionShare("failing", 0.0)), source)
    failing = [sum(part.tokens for part in made.sections if part.name == "failing") for made in (first, second)]
    assert failing[0] > failing[1]


def test_a_section_that_is_never_shown_is_written_down_as_such_and_so_is_the_tier_of_the_others():
    made = window(
        at_work("fix_bug", "understand"), style(SectionShare("files", 0.5, tier=Tier.NEVER), SectionShare("outline", 0.5))
    )
    assert {omission.reason for omission in made.omissions if omission.section == "files"} == {"not shown in this phase"}
    assert {section.name: section.tier for section in made.sections}["outline"] is Tier.DEMAND
    assert "files" not in {section.name for section in made.sections}


def test_the_foot_counts_the_steps_of_the_phase_and_urges_when_they_are_used_up():
    state = at_work("fix_bug", "understand")
    early, late = (
        window(replace(state, work=replace(state.work, phase_steps=(("understand", spent),))), style(), MANY).request.body
        for spent in (1, 2)
    )
    assert "| phase understand, step 2 of 3]" in early
    assert "| phase understand, step 3 of 3]\nThe 3 steps of this phase are used up: make the first change now" in late


def test_whoever_made_changes_that_were_undone_may_look_for_the_cause():
    template, state = load_template("fix_bug"), at_work("fix_bug", "understand")
    late = replace(state, work=replace(state.work, phase_steps=(("understand", 19),)))
    tried = replace(late, workspace=replace(late.workspace, reverted=3, tried=True))
    refused, free = (window(one, template).request.body.rpartition("[Context:")[2] for one in (late, tried))
    assert "Refused now: read, search, run" in refused and "make the first change now" in refused
    assert "Refused now" not in free and "phase change, step 1 of 40" in free
    urged = replace(tried, work=replace(tried.work, phase_steps=(("change", 41),)))
    assert "every change so far was undone: find out why" in window(urged, template).request.body
    spent = replace(tried, work=replace(tried.work, phase_steps=(("change", 60),)))
    assert phase_pressure_from_state(spent, template.at("change"), template.pace) is PhasePressure.SPENT


def test_after_a_reverted_change_the_phase_is_that_of_changes_and_its_guidance_shown():
    template, state = load_template("fix_bug"), at_work("fix_bug", "understand")
    tried = replace(state, workspace=replace(state.workspace, reverted=1, tried=True))
    assert tried.phase == "change" and template.at("change").guidance in window(tried, template).request.body
    report = at_work("code_review", "understand")
    assert replace(report, workspace=replace(report.workspace, reverted=1, tried=True)).phase == "understand", (
        "there is no file yet"
    )


def test_a_scan_ends_with_a_plan_and_is_urged_but_never_cut_off():
    style, state = load_template("discovery"), at_work("discovery", "scan")
    late = replace(state, work=replace(state.work, phase_steps=(("scan", 60),)))
    assert phase_pressure_from_state(late, style.at("scan"), style.pace) is PhasePressure.URGED
    assert "used up: list the parts in the plan, and go on part by part" in window(late, style).request.body
    assert replace(late, work=replace(late.work, plan=(PlanItem("who calls it?"),))).phase == "analyse"


def test_a_report_that_is_not_begun_in_time_is_asked_for_by_name():
    state = replace(
        at_work("code_review", "understand"),
        work=replace(at_work("code_review", "understand").work, phase_steps=(("understand", 40),)),
    )
    assert "used up: write REVIEW.md now" in window(state, load_template("code_review")).request.body


@pytest.mark.parametrize("type", list_task_types())
def test_tools_and_system_text_are_the_same_in_all_phases_and_what_a_phase_says_stands_at_the_foot(type: str):
    style = load_template(type)
    states = [at_work(type, phase.name) for phase in style.phases]
    late = replace_in_parts(states[0], step=9, phase_steps=((style.phases[0].name, 40),))
    made = [window(state, style) for state in (*states, late)]
    assert len({f"{one.request.system}{render_tool_schemas(one.request.tools)}" for one in made}) == 1
    for phase, one in zip((*style.phases, style.phases[0]), made, strict=True):
        guidance = phase.guidance
        assert one.sections[-1].name == "footer" and one.sections[-1].text.startswith(f"{guidance}\n[Context: ".lstrip())
        assert not guidance or one.request.body.count(guidance) == 1


def test_a_tool_that_a_phase_does_not_have_is_offered_and_the_foot_says_that_it_is_refused():
    phases = (PhaseTemplate("understand", "Look.", ("read", "search")), PhaseTemplate("change", "Change.", ("read", "edit")))
    style = Template("mine", "You work.", ("read",), phases=phases)
    looking, changing = (window(at_work("fix_bug", phase), style) for phase in ("understand", "change"))
    assert looking.request.tools == changing.request.tools and len(looking.request.tools) == 3
    assert looking.request.body.endswith("\nRefused now: edit.") and changing.request.body.endswith("\nRefused now: search.")


def test_the_names_of_sections_and_which_are_always_shown_are_those_that_the_builder_uses(tmp_path: Path):
    verdict = Verdict(Ruling.FAIL, "x", (GREEN,))
    state = replace(
        at_work("fix_violation", "change"),
        verification=replace(at_work("fix_violation", "change").verification, verdict=verdict),
        memory=replace(at_work("fix_violation", "change").memory, decisions=(Decision("use a table", "model"),)),
    )
    kinds = ("instructions", "violations", "suggestion", "test", "change", "output", "memory", "rule", "decision", "failed")
    made = draft_sections(GatheredContext(state, (*CodeInsight().looks(state, FILES), *(sample_item(kind) for kind in kinds))))
    assert {draft.name for draft in made} <= set(SECTION_ORDER)
    assert {draft.name for draft in made if draft.tier is Tier.ALWAYS} == set(REQUIRED_SECTIONS)


def test_completion_is_suggested_after_a_kept_change_with_passing_checks():
    state, template = at_work("implement_feature", "change"), load_template("implement_feature")
    green = replace_in_parts(state, verdict=Verdict(Ruling.PASS, "3 passed", (GREEN,)), plan=())
    assert ALL_PASS_CUE.format("") in window(green, template).request.body
    busy = replace_in_parts(green, plan=(PlanItem("write the docs"),))
    red = replace_in_parts(green, verdict=Verdict(Ruling.FAIL, "1 failed", (GREEN,)))
    assert all(ALL_PASS_CUE.format("") not in window(one, template).request.body for one in (busy, red))


MAX_FIXED_TOKENS = {"implement_feature": 800, "bridge": 850, "refactor": 765}
"""Tokens of tools and system text, by our own count: more than 715 where `delegate` or `apply` is among the tools."""


@pytest.mark.parametrize("type", list_task_types())
def test_tools_and_system_text_leave_the_ceiling_to_the_work(type: str):
    made = window(at_work(type, "understand"), load_template(type))
    fixed = EstimatingCounter()(made.request.system) + next(one.tokens for one in made.sections if one.name == "tools")
    assert fixed <= MAX_FIXED_TOKENS.get(type, 715)


FRAME = ("system", "tools", "task", "failed", "changes", "verification", "plan", "footer")


@pytest.mark.parametrize("type", ["fix_bug", "implement_feature", "refactor"])
def test_of_the_first_4000_tokens_at_least_2000_are_left_for_code(type: str):
    first = replace_in_parts(at_work(type, "understand"), step=0, plan=(), recent=(), facts=())
    made = window(first, load_template(type))
    frame = sum(section.tokens for section in made.sections if section.name in FRAME)
    assert made.budget == 4_000 and made.budget - made.request.reserve - frame >= 2_000
