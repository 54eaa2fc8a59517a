"""The tree holds every line of the log once and in order, and tells long runs of steps in one line."""

from collections.abc import Sequence

from hypothesis import given
from journals import commits

from afresh.core import event as happened
from afresh.core.change import Hunk
from afresh.core.decision import SANDBOX_WAIVER, UNSANDBOXED_DECISION, Decision
from afresh.core.event import Event, JournalEntry, JournalHead, is_in_decision_log
from afresh.core.hash_chain import link_events
from afresh.core.states import ceiling_state
from afresh.core.states.strategy_state import PlanItem
from afresh.core.step_history import Summary
from afresh.core.task import Task, TaskStatus
from afresh.core.verdict import Ruling, Verdict
from afresh.views.decision_log import list_decisions
from afresh.views.decision_tree import DecisionNode, DecisionRun, build_decision_tree, flatten_tree, group_runs

BEGINNING = happened.TaskCreated(Task(id="one", goal="goal"))
PLAN = happened.PlanSet((PlanItem("look"), PlanItem("mend")))


def journal(*events: Event) -> Sequence[JournalEntry]:
    return link_events("one", JournalHead(), 1_700_000_000.0, [BEGINNING, *events])


def grown(*events: Event) -> tuple[DecisionNode, ...]:
    return build_decision_tree(list_decisions(journal(*events)))


def decided(subject: str, text: str, by: str = "model") -> Event:
    return happened.DecisionMade(Decision(text, by, "so", 1, subject, 0.8))


def settled(step: int, kept: bool = True, changed: bool = True) -> Event:
    hunks = (Hunk("a.py", 1, 1, 1, 2),) if kept and changed else ()
    return happened.ChangeKeptOrReverted(step, kept, f"s{step}", ("a.py",), "" if kept else f"test {step} fails", hunks)


def outline(branches: Sequence[DecisionNode]) -> list[object]:
    """Kinds, nested as they follow from each other."""
    return [[branch.line["kind"], *outline(branch.followed)] if branch.followed else branch.line["kind"] for branch in branches]


@given(commits("one"))
def test_every_line_of_the_log_is_in_the_tree_once_and_in_order(done: list[list[Event]]) -> None:
    entries = link_events("one", JournalHead(), 1.0, [event for commit in done for event in commit])
    lines = list(list_decisions(entries))
    assert [line["seq"] for line in lines] == [entry.seq for entry in entries if is_in_decision_log(entry.event)]
    assert list(flatten_tree(build_decision_tree(lines))) == lines and [line["n"] for line in lines] == [
        *range(1, len(lines) + 1)
    ]
    for line in lines:
        assert all(number < line["n"] for number in line["follows"]) and line["follows"] == sorted(line["follows"])


@given(commits("one"))
def test_collapsing_steps_loses_none(done: list[list[Event]]) -> None:
    def lines(branches: Sequence[DecisionNode]) -> list[int]:
        found: list[int] = []
        for part in group_runs(branches):
            found += (
                [one.line["n"] for one in part.branches]
                if isinstance(part, DecisionRun)
                else [part.line["n"], *lines(part.followed)]
            )
        return found

    entries = link_events("one", JournalHead(), 1.0, [event for commit in done for event in commit])
    made = build_decision_tree(list_decisions(entries))
    assert lines(made) == [line["n"] for line in flatten_tree(made)]


def test_what_followed_stands_under_its_decision_and_an_answer_under_its_question() -> None:
    branches = grown(
        settled(1),
        decided("parser", "a table"),
        settled(2),
        happened.QuestionAsked("which?", ("a: x", "b: y")),
        settled(3),
        happened.TaskEnded(TaskStatus.BLOCKED, "asks"),
        happened.QuestionAnswered("a: x", "Anna", 1),
        PLAN,
        settled(4),
        decided("names", "short"),
        happened.VerdictReached(5, Verdict(Ruling.PASS, "all pass", final=True)),
        happened.TaskEnded(TaskStatus.DONE, "all pass"),
    )
    assert outline(branches) == [
        "settled",
        ["decided", "settled"],
        ["asked", "settled", "ended", ["answered", ["planned", "settled"], ["decided", "verified", "ended"]]],
    ]
    answer = branches[2].followed[2].line
    assert (answer["who"], answer["by"], answer["option"], answer["type"]) == ("Anna", "person", 1, "override")


def test_a_superseded_decision_names_the_one_that_took_its_place() -> None:
    first, other, second = grown(
        decided("parser", "a table"), decided("parser", "keep it", "person"), decided("Parser", "by hand")
    )
    assert first.superseded == second.line and other.superseded is second.superseded is None


def test_a_waived_sandbox_and_notes_of_the_harness_are_no_turns_in_the_work() -> None:
    waived = happened.DecisionMade(Decision(UNSANDBOXED_DECISION, "person", waiver=SANDBOX_WAIVER))
    noted = happened.DecisionMade(Decision("the hook failed", "harness"))
    assert outline(grown(decided("parser", "a table"), waived, noted, settled(1))) == [
        ["decided", "decided", "decided", "settled"]
    ]


def test_a_plan_is_logged_when_it_is_new_and_not_at_every_tick() -> None:
    ticked = happened.PlanSet((PlanItem("look", True), PlanItem("mend")))
    (line,) = list_decisions(journal(PLAN, ticked, happened.PlanSet(())))
    assert (line["kind"], line["type"], line["text"]) == ("planned", "approach", "plan: look; mend")


def test_a_long_run_of_steps_is_told_in_one_line() -> None:
    steps = [settled(step, kept=step % 7 != 0, changed=step % 2 == 1) for step in range(12, 32)]
    (decision,) = grown(
        decided("parser", "a table"),
        *steps[:9],
        ceiling_state.CeilingChanged(20, 4_000, 8_000, "why"),
        happened.MemoryCompacted(20, "loop", (1, 2), Summary(), 90),
        *steps[9:],
        ceiling_state.CeilingChanged(31, 8_000, 4_000, "calm"),
    )
    (run,) = group_runs(decision.followed)
    assert isinstance(run, DecisionRun) and run.steps == "steps 12–31"
    assert run.told == "9 kept, 3 undone, 8 without a change; token limit 8,000 → 4,000 (calm); 1 compaction"
    assert [line["why"] for line in run.reverted] == ["test 14 fails", "test 21 fails", "test 28 fails"]


def test_thousands_of_entries_are_read_once() -> None:
    read: list[int] = []

    def entries():
        for entry in journal(*[event for n in range(3_000) for event in (decided(f"s{n % 40}", f"d{n}"), settled(n + 1))]):
            read.append(entry.seq)
            yield entry

    assert sum(1 for _ in flatten_tree(build_decision_tree(list_decisions(entries())))) == 6_000
    assert read == [*range(1, 6_002)]
