"""A window is laid out by the phase of its task: tools, shares, caps, what stays out, and how many steps are left."""

from dataclasses import replace
from pathlib import Path

import pytest

from afresh.adapters.templates import template, types
from afresh.adapters.tools import TOOLS
from afresh.adapters.workspace.files import TreeFiles
from afresh.app.sample import SAMPLE
from afresh.domain.action import Action, Observation
from afresh.domain.fact import Decision, Fact, FactKind, Look, PlanItem
from afresh.domain.memory import Memory
from afresh.domain.report import place
from afresh.domain.state import State, StepRecord
from afresh.domain.task import Check, Task
from afresh.domain.template import ALWAYS, SECTIONS, Phase, Share, Template
from afresh.domain.verdict import Baseline, CheckRun, Ruling, Verdict
from afresh.domain.window import Tier, Window
from afresh.engine.build import build, offered
from afresh.engine.sections import drafts
from afresh.engine.tokens import Counter, tools_text
from afresh.insight.python import PythonInsight

GREEN = CheckRun("pytest -q", 0, passed=29)
GOAL = "Look into src/parcel/pricing.py"
FILES = TreeFiles(SAMPLE, lambda: sorted(path.relative_to(SAMPLE).as_posix() for path in SAMPLE.rglob("*.py")))


def at_work(type: str, phase: str) -> State:
    """A task of the sample project in the middle of a phase."""
    report = place(type, GOAL, (SAMPLE / "x").with_name("x").exists)
    checks = () if report else (Check("pytest -q"),)
    step = Observation(Action("run", {"command": "pytest -q"}), True, "29 passed")
    state = State(
        task=Task(id="t", goal=GOAL, type=type, checks=checks, report=report, budget=template(type).ceiling),
        opened="s", limit=60, step=3, spent=(("understand", 3),), baseline=Baseline(() if report else (GREEN,)),
        plan=(PlanItem("read pricing"),), recent=(StepRecord(3, "hm", (step,), "ran it", True),),
        facts=(Fact(FactKind.NOTE, "zones", "are in pricing.py:12"), Fact(FactKind.FAILED_APPROACH, "edit a", "broke b")),
    )  # fmt: skip
    if phase == "understand":
        return state
    verdict = Verdict(Ruling.FAIL, "it must exit 0", (GREEN,), final=True) if phase == "verify" else None
    return replace(state, changed=(report or "src/parcel/pricing.py",), verdict=verdict, verdict_step=3)


def window(state: State, style: Template, *more: Look) -> Window:
    files = [Look("file", f"{path}:1-60 f", FILES.read(path)) for path in FILES.paths()[:6]]
    memory = Memory(state, (*PythonInsight().looks(state, FILES), *files, *more))
    return build(memory, style, offered(style.at(state.phase), TOOLS), state.task.budget, Counter())


PLACES = [(type, phase.name) for type in types() for phase in template(type).phases]


@pytest.mark.parametrize(("type", "phase"), PLACES)
def test_every_type_builds_a_window_on_the_sample_project_in_each_of_its_phases(type: str, phase: str):
    state, style = at_work(type, phase), template(type)
    assert state.phase == phase
    made, layout = window(state, style), style.at(phase)
    assert made.request.system == style.system and layout.guidance in made.sections[-1].text
    assert {tool.name for tool in made.request.tools} == set(layout.tools)
    assert made.request.reserve == int(style.ceiling * layout.reserve)
    assert made.tokens + made.request.reserve <= made.budget == style.ceiling
    assert made.tokens > style.ceiling // 3, "what is there to show is shown"
    shown = {section.name for section in made.sections}
    assert {"task", "failed", "changes", "verification", "plan", "files"} <= shown
    assert not shown & {share.section for share in layout.shares if share.tier is Tier.NEVER}
    assert GOAL in made.request.message and "broke b" in made.request.message


@pytest.mark.parametrize("type", [type for type in types() if place(type, "", lambda _: False)])
def test_a_report_is_told_what_is_verified_of_it_and_what_is_not(type: str):
    message = window(at_work(type, "report"), template(type)).request.message
    assert "and no other file. Finished when:" in message and "`path:line` in it exists" in message
    assert "Not verified: whether it is true" in message and "nothing can be verified" not in message


def style(*shares: Share, steps: int = 3) -> Template:
    return Template("mine", "You work.", ("read",), phases=(Phase("understand", "Look.", ("read",), shares, 0.2, steps),))


MANY = Look("outline", "", "\n".join(f"line {number} of the outline" for number in range(2_000)))


def outline(made: Window) -> int:
    return sum(section.tokens for section in made.sections if section.name == "outline")


def test_a_cap_holds_even_when_room_is_left():
    state = at_work("fix_bug", "understand")
    free = window(state, style(Share("files", 0.1, 0.1), Share("outline", 0.1)), MANY)
    capped = window(state, style(Share("files", 0.1, 0.1), Share("outline", 0.1, 0.2)), MANY)
    room = 4_000 * 0.8
    assert outline(free) > 0.4 * room > 0.25 * room > outline(capped) > 0.05 * room
    assert capped.headroom > 0.3 * room


def test_what_a_section_leaves_goes_to_the_next_in_the_order_of_the_template():
    state = at_work("fix_bug", "understand")
    source = Look("test", "test_a.py::test_b", "\n".join(f"    line_{number} = compute({number})" for number in range(2_000)))
    first = window(state, style(Share("failing", 0.0), Share("files", 0.0)), source)
    second = window(state, style(Share("files", 0.0), Share("failing", 0.0)), source)
    failing = [sum(part.tokens for part in made.sections if part.name == "failing") for made in (first, second)]
    assert failing[0] > failing[1]


def test_a_section_that_is_never_shown_is_written_down_as_such_and_so_is_the_tier_of_the_others():
    made = window(at_work("fix_bug", "understand"), style(Share("files", 0.5, tier=Tier.NEVER), Share("outline", 0.5)))
    assert {omission.reason for omission in made.omissions if omission.section == "files"} == {"not shown in this phase"}
    assert {section.name: section.tier for section in made.sections}["outline"] is Tier.DEMAND
    assert "files" not in {section.name for section in made.sections}


def test_the_foot_counts_the_steps_of_the_phase_and_urges_when_they_are_used_up():
    state = at_work("fix_bug", "understand")
    early, late = (window(replace(state, spent=(("understand", spent),)), style(), MANY).request.message for spent in (1, 2))
    assert "| phase understand, step 2 of 3]\nWhat is your next action?" in early
    assert "| phase understand, step 3 of 3]\nThe 3 steps of this phase are used up: make the first change now" in late


def test_a_report_that_is_not_begun_in_time_is_asked_for_by_name():
    state = replace(at_work("code_review", "understand"), spent=(("understand", 40),))
    assert "used up: write REVIEW.md now" in window(state, template("code_review")).request.message


@pytest.mark.parametrize("type", types())
def test_tools_and_system_text_are_the_same_in_all_phases_and_what_a_phase_says_stands_at_the_foot(type: str):
    style = template(type)
    states = [at_work(type, phase.name) for phase in style.phases]
    made = [window(state, style) for state in (*states, replace(states[0], step=9, spent=(("understand", 40),)))]
    assert len({f"{one.request.system}{tools_text(one.request.tools)}" for one in made}) == 1
    for phase, one in zip((*style.phases, style.phases[0]), made, strict=True):
        assert one.sections[-1].name == "footer" and one.sections[-1].text.startswith(f"{phase.guidance}\n[Context: ")
        assert one.request.message.count(phase.guidance) == 1


def test_a_tool_that_a_phase_does_not_have_is_offered_and_the_foot_says_that_it_is_refused():
    phases = (Phase("understand", "Look.", ("read", "search")), Phase("change", "Change.", ("read", "edit")))
    style = Template("mine", "You work.", ("read",), phases=phases)
    looking, changing = (window(at_work("fix_bug", phase), style) for phase in ("understand", "change"))
    assert looking.request.tools == changing.request.tools and len(looking.request.tools) == 3
    assert "]\nRefused now: edit.\nWhat" in looking.request.message and "\nRefused now: search.\n" in changing.request.message


def test_the_names_of_sections_and_which_are_always_shown_are_those_that_the_builder_uses(tmp_path: Path):
    verdict = Verdict(Ruling.FAIL, "x", (GREEN,))
    state = replace(at_work("fix_violation", "change"), verdict=verdict, decisions=(Decision("use a table", "model"),))
    kinds = ("instructions", "violations", "suggestion", "test", "change", "output", "memory", "rule", "decision", "failed")
    made = drafts(Memory(state, (*PythonInsight().looks(state, FILES), *(Look(kind, "a", "b") for kind in kinds))))
    assert {draft.name for draft in made} <= set(SECTIONS)
    assert {draft.name for draft in made if draft.tier is Tier.ALWAYS} == set(ALWAYS)
