"""When knowledge is looked up, how much of it is shown, and what counts as a use."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.context.sources.lessons import detect_used_lessons, gather_lessons, record_consultation
from afresh.core.action import Action
from afresh.core.context_item import Note
from afresh.core.lesson import (
    INITIAL_LESSON_STATE,
    MAX_LESSONS_REMEMBERED,
    LessonEvent,
    LessonLearnt,
    LessonsLookedUp,
    LessonsUsed,
    apply_lesson_event,
)
from afresh.core.prompt import Prompt, Request, Section, Tier
from afresh.core.reply import Reply
from afresh.core.state import State
from afresh.core.states.verification_state import VerificationState
from afresh.core.states.workspace_state import WorkspaceState
from afresh.core.task import Task
from afresh.core.tokens import EstimatingCounter
from afresh.core.verdict import Baseline
from afresh.memory.gathered_context import GatheredContext
from afresh.memory.lessons.lookup import fit_lessons
from support.states import make_runtime

STATE = State(
    task=Task(id="t", goal="mend it"),
    workspace=WorkspaceState(first_snapshot="s"),
    verification=VerificationState(baseline=Baseline()),
)
KNOWN = Note("knowledge", "KO-1a2b", "KO-1a2b tabs\nWhat worked:\nuse unfold_line, then run `make tables`")
IDS = st.sampled_from(["KO-a", "KO-b", "KO-c", ".claude/skills/x/SKILL.md"]) | st.integers(0, 99).map(lambda n: f"KO-{n}")


class Shelf:
    """Remembers what it was asked for."""

    def __init__(self, *looks: Note) -> None:
        self.looks, self.asked = looks, list[str]()

    def stocked(self) -> bool:
        return bool(self.looks)

    def find(self, questions: Sequence[str], most: int) -> Sequence[Note]:
        self.asked.append(questions[0])
        return self.looks[:most]

    def named(self, keys: Sequence[str]) -> Sequence[Note]:
        return [look for look in self.looks if look.subject in keys]


def agent(shelf: Shelf | None) -> Any:
    return make_runtime(lessons=shelf, template=None, tools=(), counter=EstimatingCounter())


def after(*events: LessonEvent) -> State:
    from afresh.core.reducer import apply_event

    state = STATE
    for event in events:
        state = apply_event(event, state)
    return state


def test_it_is_looked_up_once_for_a_phase_and_again_when_the_phase_changes() -> None:
    shelf = Shelf(KNOWN)
    assert [look.subject for look in gather_lessons(STATE, agent(shelf))] == ["KO-1a2b"]
    seen = after(LessonsLookedUp(1, "understand", ("KO-1a2b",)))
    assert [look.subject for look in gather_lessons(seen, agent(shelf))] == ["KO-1a2b"] and shelf.asked == ["mend it"]
    other = after(LessonsLookedUp(1, "change", ("KO-1a2b",)))
    assert gather_lessons(other, agent(shelf)) and shelf.asked == ["mend it"] * 2


def test_what_fitted_is_recorded_also_when_it_is_nothing_but_not_without_a_library() -> None:
    memory = GatheredContext(STATE, (KNOWN,))
    assert record_consultation(STATE, memory, Shelf(KNOWN)) == [LessonsLookedUp(1, "understand", ("KO-1a2b",))]
    assert record_consultation(STATE, GatheredContext(STATE), Shelf(KNOWN)) == [LessonsLookedUp(1, "understand", ())]
    assert (
        record_consultation(STATE, GatheredContext(STATE), Shelf())
        == record_consultation(STATE, GatheredContext(STATE), None)
        == []
    )
    assert record_consultation(after(LessonsLookedUp(1, "understand", ())), memory, Shelf(KNOWN)) == []


def test_what_was_used_stays_when_the_phase_changes() -> None:
    others = [Note("knowledge", f"KO-{number}", f"KO-{number} x") for number in range(4)]
    used = after(LessonsLookedUp(1, "change", ("KO-1a2b", "KO-3")), LessonsUsed(2, ("KO-1a2b",), ("unfold_line",)))
    assert [look.subject for look in gather_lessons(used, agent(Shelf(*others, KNOWN)))] == ["KO-1a2b", "KO-0", "KO-1"]


@given(st.lists(st.lists(st.text("abc xyz", max_size=60), max_size=30).map("\n".join), max_size=3), st.integers(0, 600))
def test_the_cap_holds_and_whole_lines_from_the_beginning_are_shown(texts: list[str], room: int) -> None:
    counter = EstimatingCounter()
    looks = [Note("knowledge", f"KO-{number}", text) for number, text in enumerate(texts)]
    shown = fit_lessons(looks, room, counter)
    assert sum(counter(look.text) for look in shown) <= room
    for look in shown:
        whole = [line for line in looks[int(look.subject[3:])].text.splitlines() if line.strip()]
        lines = look.text.splitlines()
        assert lines == whole or (lines[-1] == "…" and lines[:-1] == whole[: len(lines) - 1])


def test_a_skill_that_is_cut_says_where_the_rest_is() -> None:
    long = Note("knowledge", ".claude/skills/x/SKILL.md", "\n".join(f"line {number} of the skill" for number in range(200)))
    (shown,) = fit_lessons([long], 100, EstimatingCounter())
    assert shown.text.endswith("\n… `read` .claude/skills/x/SKILL.md")


def window(rest: str) -> Prompt:
    sections = [Section("task", Tier.ALWAYS, rest, 1), Section("knowledge", Tier.PHASE, f"## From\n{KNOWN.text}", 1)]
    return Prompt(Request("", "", (), 0), tuple(sections), (), 4000, 10)


@pytest.mark.parametrize(
    ("reply", "rest", "sign"),
    [
        (Reply("as KO-1a2b says", (Action("read", {"path": "x"}),)), "", "KO-1a2b"),
        (Reply("", (Action("search", {"text": "unfold_line"}),)), "", "unfold_line"),
        (Reply("", (Action("run", {"command": "cd x && make tables"}),)), "", "make tables"),
        (Reply("", (Action("search", {"text": "unfold_line"}),)), "def unfold_line(): ...", ""),
        (Reply("", (Action("search", {"text": "unfold_lines"}),)), "", ""),
        (Reply("as KO-1a2b says", ()), "", ""),
        (Reply("", (Action("read", {"path": "lexer.py"}),)), "", ""),
    ],
    ids=["its id", "a name that only it has", "a command that only it has", "a name that stands elsewhere", "another name",
         "no action", "nothing of it"],
)  # fmt: skip
def test_a_use_is_a_reply_that_draws_on_what_stands_nowhere_else(reply: Reply, rest: str, sign: str) -> None:
    expected = [LessonsUsed(3, ("KO-1a2b",), (sign,))] if sign else []
    assert detect_used_lessons(3, GatheredContext(STATE, (KNOWN,)), window(rest), reply) == expected


def test_what_had_no_room_in_the_window_was_not_used() -> None:
    bare = Prompt(Request("", "", (), 0), (), (), 4000, 10)
    assert detect_used_lessons(3, GatheredContext(STATE, (KNOWN,)), bare, Reply("KO-1a2b", (Action("read", {}),))) == []


STEPS, FEW_IDS = st.integers(1, 50), st.lists(IDS, max_size=3, unique=True).map(tuple)
EVENTS = st.lists(
    st.builds(LessonsLookedUp, STEPS, st.sampled_from(["understand", "change"]), FEW_IDS)
    | st.builds(LessonsUsed, STEPS, FEW_IDS, st.just(("x",))),
    max_size=60,
)  # fmt: skip


@given(EVENTS)
def test_what_a_task_remembers_of_its_lookups_is_bounded_and_true(events: list[LessonEvent]) -> None:
    known = INITIAL_LESSON_STATE
    for event in events:
        known = apply_lesson_event(event, known)
    ids = [one.id for one in known.seen]
    assert len(ids) <= MAX_LESSONS_REMEMBERED and len(set(ids)) == len(ids) and set(known.window) <= set(ids)
    assert set(known.used) <= {id for event in events if isinstance(event, LessonsUsed) for id in event.ids}
    assert not known.learnt and apply_lesson_event(LessonLearnt(""), known).learnt
