import io
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import AUDITS, BLOCKED, CHANGES, DONE, HOSTILE, LATER, SECTIONS, TASK, rendered, told

from afresh.app.doctor import HealthFinding
from afresh.app.spending.read_spending import TaskSpending
from afresh.cli.render.console import choose_stream
from afresh.cli.render.context import (
    build_call,
    build_call_diff,
    build_name_explanation,
    list_section_texts,
)
from afresh.cli.render.context_yield import build_yield
from afresh.cli.render.decisions import build_decisions
from afresh.cli.render.progress import render_live_area
from afresh.cli.render.project import build_findings
from afresh.cli.render.questions import build_inbox
from afresh.cli.render.run_summary import build_run_summary
from afresh.cli.render.status import StatusPage, render_status
from afresh.cli.render.task import render_task
from afresh.cli.render.widgets import Line, draw_gauge, draw_lines, draw_sparkline
from afresh.context.explain import ArchivedCopy, NameExplanation, NameOccurrence
from afresh.context.measure_yield import CallYield, SectionYield
from afresh.core.decision import UNSANDBOXED_DECISION, Decision
from afresh.core.event import (
    BaselineMeasured,
    ChangeKeptOrReverted,
    DecisionMade,
    Event,
    QuestionAnswered,
    QuestionAsked,
    TaskCreated,
    VerdictReached,
)
from afresh.core.prompt import Omission
from afresh.core.state import State, make_ticket_detail
from afresh.core.states.ceiling_state import CallFigures
from afresh.core.task import QueueCounts, QueueTicket, TaskStatus
from afresh.core.text import escape_hidden
from afresh.core.verdict import Baseline, CheckRun, Ruling, Verdict
from afresh.views.decision_log import list_decisions as lines
from afresh.views.decision_tree import build_decision_tree, decisions_to_json
from afresh.views.model_calls import HistoryComparison, call_diff_to_json, call_to_json
from afresh.views.progress import RunProgress, update_run_progress
from afresh.views.task_facts import describe_age, task_to_json
from afresh.views.task_list import QueueOverview, group_tickets, ticket_detail_to_json
from afresh.views.tasks import open_question_to_json, run_summary_to_json
from support.states import replace_in_parts

TICKETS = [
    QueueTicket(DONE.task.id, DONE.task.goal, "fix_violation", TaskStatus.DONE, 0, (), False, detail=make_ticket_detail(DONE)),
    QueueTicket("t-2", HOSTILE, "write_tests", TaskStatus.BLOCKED, 0, (), False, detail=make_ticket_detail(BLOCKED)),
    QueueTicket("t-3", "held", "write_tests", TaskStatus.RUNNING, 0, (), False, owner=f"host{HOSTILE}"),
    QueueTicket("t-4", "waits", "write_tests", TaskStatus.READY, 0, ("t-3",), False),
    QueueTicket("t-5", "crashed", "write_tests", TaskStatus.RUNNING, 0, (), True),
]
FINDINGS = [
    HealthFinding("git", "ok", "2.39"),
    HealthFinding("sandbox", "warn", f"Landlock only {HOSTILE}", "install bubblewrap"),
    HealthFinding("database", "fail", "schema 9 is newer", "update afresh"),
]


WHY = NameExplanation(
    f"name{HOSTILE}", "t-1", 9, (NameOccurrence("work", 3, HOSTILE, f"output of step 4 {HOSTILE}"),), 2, 7, HOSTILE,
    (Omission("files", HOSTILE, 90, "no room left"),),
    (ArchivedCopy("1a2b3c4d" * 4, 4, "run", HOSTILE, 6),),
)  # fmt: skip


OPTIONS = (f"keep: {HOSTILE}", f"{HOSTILE}: drop it " + "and all that belongs to it " * 6)
ANSWERED = [
    entry
    for _, entries in told(
        [
            [TaskCreated(TASK)],
            [QuestionAsked(f"Which? {HOSTILE}", OPTIONS)],
            [QuestionAnswered(HOSTILE, HOSTILE, 2)],
            [
                DecisionMade(Decision(HOSTILE, "model", HOSTILE, 3, HOSTILE, 0.5)),
                ChangeKeptOrReverted(3, False, "s", why=HOSTILE),
            ],
            [DecisionMade(Decision(f"not {HOSTILE}", "model", "", 4, HOSTILE))],
            [DecisionMade(Decision(UNSANDBOXED_DECISION, "person"))],
        ]
    )
    for entry in entries
]


HISTORY = HistoryComparison(len(AUDITS), sum(one.tokens for one in AUDITS), 4_300, 2, 94_000, 21_000)
YIELDS = [
    CallYield(1, (SectionYield(HOSTILE, 900.0, 300.0), SectionYield("system", 300.0)), (SectionYield(HOSTILE, 900.0, 600.0),)),
    CallYield(2, (SectionYield(HOSTILE, 900.0, 300.0), SectionYield("empty"))),
]


def glance() -> RunProgress:
    seen = RunProgress(1_700_000_000.0, doing=HOSTILE)
    for state, entries in told():
        seen, _ = update_run_progress(seen, state, entries)
    return seen


def overview(tickets: Sequence[QueueTicket]) -> QueueOverview:
    asking = sum(bool(ticket.detail and ticket.detail.question) for ticket in tickets)
    return group_tickets(tickets, QueueCounts(Counter(ticket.status for ticket in tickets), asking))


def status(*tickets: QueueTicket, now: float = 0.0) -> Callable[[int], list[Line]]:
    return lambda width: render_status(overview(tickets), StatusPage(now=now, width=width))


def show(state: State) -> Callable[[int], list[Line]]:
    return lambda width: render_task(state, width=width)


VIEWS = {
    "panel": lambda: render_live_area(glance(), 1_700_000_075.0, 60),
    "summary": lambda: build_run_summary(DONE, CHANGES, AUDITS, HISTORY),
    "unfinished summary": lambda: build_run_summary(BLOCKED, [], []),
    "status": lambda: status(*TICKETS),
    "inbox": lambda: build_inbox([BLOCKED, replace_in_parts(BLOCKED, options=OPTIONS)], BLOCKED.times.updated + 7_300),
    "empty inbox": lambda: build_inbox([], 0.0),
    "decisions": lambda: build_decisions(DONE, build_decision_tree(lines([entry for _, entries in told() for entry in entries]))),
    "decisions of a question": lambda: build_decisions(BLOCKED, build_decision_tree(lines(ANSWERED))),
    "no tasks": lambda: status(),
    "show": lambda: show(BLOCKED),
    "show done": lambda: show(DONE),
    "new task": lambda: show(told()[0][0]),
    "context": lambda: [*build_call(AUDITS[0], SECTIONS, AUDITS[0].omissions, 1).blocks, *list_section_texts(SECTIONS)],
    "context yield": lambda: build_yield(YIELDS),
    "no yield": lambda: build_yield([]),
    "context diff": lambda: build_call_diff(SECTIONS, LATER, (1, 2)),
    "why": lambda: build_name_explanation(WHY),
    "doctor": lambda: build_findings(FINDINGS),
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("width", [80, 120])
def test_every_view_fits_its_width_and_hides_nothing(name: str, width: int) -> None:
    text = rendered(VIEWS[name](), width)
    assert text.strip() and escape_hidden(text) == text
    assert max(len(line) for line in text.splitlines()) <= width


@pytest.mark.parametrize("name", VIEWS)
def test_colour_adds_nothing_but_colour(name: str) -> None:
    import re

    plain = re.sub(r"\x1b\[[0-9;]*m", "", rendered(VIEWS[name](), colour=True))
    assert plain == rendered(VIEWS[name]())


def test_markup_in_foreign_text_is_shown_and_not_obeyed() -> None:
    for name in ("context", "show", "summary"):
        assert "\\x1b]0;owned\\x07\\u202e[red]y[/red]" in rendered(VIEWS[name](), 120)


def test_the_summary_gives_the_verdict_first_and_says_what_to_do_last() -> None:
    lines = rendered(VIEWS["summary"]()).strip().splitlines()
    assert "PASS  all criteria hold" in lines[1]
    assert [line.split("  ")[0] for line in lines[-3:]] == ["afresh apply t-7f3a", "afresh discard t-7f3a", "afresh show t-7f3a"]
    text = "\n".join(lines)
    for expected in ("41 passed, 1 check failing → 41 passed", "3 → 0", "test_clock", "1 change kept, 1 undone", "89% saved"):
        assert expected in " ".join(text.split()), expected


def test_a_long_diff_is_cut_with_a_hint() -> None:
    text = rendered(build_run_summary(DONE, CHANGES, AUDITS, diff_lines=3))
    assert "… 8 more lines: afresh diff t-7f3a" in text and "discount(cart, lines)" not in text


def test_of_a_project_that_is_gone_afterwards_no_command_is_named() -> None:
    assert "afresh" not in rendered(build_run_summary(DONE, CHANGES, AUDITS, diff_lines=3, stays=False))


def test_a_failed_or_blocked_task_is_not_headed_by_an_old_pass() -> None:
    failed = replace_in_parts(DONE, status=TaskStatus.FAILED, outcome="a protected test was weakened")
    assert "failed  a protected test was weakened" in rendered(build_run_summary(failed, [], []))
    text = rendered(build_run_summary(BLOCKED, [], []))
    assert "blocked" in text.splitlines()[1] and "Which name?" in text and "afresh answer" in text


def test_status_names_the_next_command_that_can_work() -> None:
    rows = {ticket.task: ticket_detail_to_json(ticket) for ticket in TICKETS}
    assert rows["t-7f3a"]["next"] == "afresh apply t-7f3a"
    assert rows["t-2"]["next"].startswith("afresh answer t-2")
    assert rows["t-3"]["next"] == "afresh show t-3" and rows["t-4"]["next"] == "afresh show t-4"
    assert rows["t-5"]["next"] == "afresh resume t-5"
    text = rendered(status(*TICKETS))
    assert "interrupted" in text and "after t-3" in text and "asks: Which" in text


def test_a_call_is_accounted_for_to_the_last_token() -> None:
    data = call_to_json(AUDITS[0], SECTIONS, AUDITS[0].omissions, 1)
    assert sum(row["tokens"] for row in data["sections"]) + data["framing"] == data["tokens"]
    assert data["tokens"] + data["reserve"] + data["headroom"] == data["budget"]
    text = rendered(VIEWS["context"]())
    assert "over the cap of the section" in text and "of shop/cart.py" in text


def test_two_calls_are_compared_section_by_section() -> None:
    data = call_diff_to_json(SECTIONS, LATER, (1, 2))
    assert [(row["name"], row["compared"], row["delta"]) for row in data["sections"]] == [
        ("task", "unchanged", 0),
        ("facts", "changed", 50),
        ("recall", "added", 90),
    ]
    assert call_diff_to_json(LATER, SECTIONS)["sections"][2]["compared"] == "removed"
    assert "+- discount() kept" in rendered(VIEWS["context diff"]())


def test_calls_counted_by_different_factors_are_compared_by_the_later_one() -> None:
    before = [replace(section, tokens=2 * section.tokens) for section in SECTIONS]
    rows = call_diff_to_json(before, LATER)["sections"]
    assert [(row["name"], row["delta"]) for row in rows] == [("task", 0), ("facts", 50), ("recall", 90)]


def test_doctor_says_what_to_do_for_all_that_is_not_well() -> None:
    text = rendered(build_findings(FINDINGS))
    assert "→ install bubblewrap" in text and "→ update afresh" in text and "1 error, 1 warning" in text
    assert build_findings(FINDINGS).data["ok"] is False and build_findings(FINDINGS[:2]).data["ok"] is True


def test_every_twin_is_plain_json() -> None:
    twins = [
        run_summary_to_json(DONE, CHANGES, AUDITS, HISTORY),
        run_summary_to_json(BLOCKED, [], []),
        build_yield(YIELDS).data,
        build_yield([]).data,
        *(ticket_detail_to_json(ticket) for ticket in TICKETS),
        task_to_json(DONE),
        call_to_json(AUDITS[0], SECTIONS, AUDITS[0].omissions),
        call_diff_to_json(SECTIONS, LATER),
        build_findings(FINDINGS).data,
    ]
    for twin in twins:
        assert json.loads(json.dumps(twin)) == twin


@given(st.integers(0, 10_000), st.integers(0, 8_000), st.integers(0, 4_000), st.integers(4, 60))
def test_a_gauge_is_always_as_wide_as_asked(tokens: int, budget: int, reserve: int, width: int) -> None:
    drawn = draw_gauge(CallFigures(tokens=tokens, budget=budget, reserve=min(reserve, budget)), width)
    bar = "".join(text for text, _ in drawn).split(" ")[0]
    assert len(bar) == width


@given(st.lists(st.integers(0, 4_000), max_size=200))
def test_a_sparkline_is_never_wider_than_its_room(values: list[int]) -> None:
    assert len(draw_sparkline(values, 4_000)) == min(32, len(values))


def test_tokens_and_cost_of_each_call_are_drawn_and_said_in_words() -> None:
    spent = TaskSpending(None, (1_000, 3_000, 2_000, 2_000), (0, 30_000_000, 20_000_000, 20_000_000))
    text = draw_lines(render_task(BLOCKED, spent, 80), colour=False)
    assert "▃▇▅▅ first 1,000, median 2,000, last 2,000, max 3,000" in text
    assert "▁█▆▆ first $0.00, median $0.0200, last $0.0200, max $0.0300" in text
    assert "tokens/call" not in draw_lines(render_task(BLOCKED, TaskSpending(None, (1_000,), (0,)), 80), colour=False)
    plain = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    choose_stream(plain).write(text)
    plain.flush()
    assert b".=-- first 1,000" in plain.buffer.getvalue()  # pyright: ignore[reportAttributeAccessIssue]


def test_a_call_shows_each_section_with_its_share_as_a_length():
    rows = [line for line in rendered(VIEWS["context"](), 120).splitlines() if "%" in line and "█" in line]
    task, facts = (row.count("█") for row in rows if row.startswith(("task ", "facts ")))
    assert 0 < task < facts


def test_a_call_tells_headroom_estimate_report_omissions_and_no_hash():
    data = call_to_json(AUDITS[0], SECTIONS, AUDITS[0].omissions, 1, 2_600)
    assert {"headroom", "tokens", "reported", "omitted", "hash", "budget", "reserve", "counter", "pressure"} <= data.keys()
    text = rendered(build_call(AUDITS[0], SECTIONS, AUDITS[0].omissions, 1, 2_600), 120)
    for said in ("are free", "reported 2,600", "over the cap of the section", "Left out"):
        assert said in text
    assert AUDITS[0].hash[:8] not in text and "pressure" not in text, "for people; --json has them"


def test_a_call_tells_what_replies_drew_on_once_there_is_a_reply():
    drawn = [SectionYield(section.name, 100.0, 37.0) for section in SECTIONS]
    answered = call_to_json(AUDITS[0], SECTIONS, (), 1, 0, drawn)
    assert {row["drawn_on"] for row in answered["sections"]} == {0.37}
    assert "drawn on" in rendered(build_call(AUDITS[0], SECTIONS, (), 1, 0, drawn))
    assert "drawn on" not in rendered(build_call(AUDITS[0], SECTIONS, (), 1))


@pytest.mark.parametrize(("paid", "words"), [(4_300, "80% saved"), (31_500, "this is 50% more"), (21_040, "the same")])
def test_a_run_says_what_a_cached_history_would_have_been_paid(paid: int, words: str):
    text = rendered(build_run_summary(DONE, CHANGES, AUDITS, replace(HISTORY, paid=paid)), 120)
    assert "total sent" in text and "89% saved" in text
    assert f"about {paid:,} tokens; the history, cached, would have been 21,000 ({words})" in text


def test_why_says_what_brings_a_name_back_and_where_memory_lost_it():
    text = rendered(build_name_explanation(WHY), 160)
    assert "until step 6" in text and 'path="@1a2b3c4d"' in text


def test_status_begins_with_what_needs_a_person_and_only_counts_what_is_settled() -> None:
    settled = [QueueTicket(f"old-{n}", "was once", "write_tests", TaskStatus.APPLIED, 0, (), False) for n in range(50)]
    text = rendered(status(*settled, *TICKETS, now=DONE.times.updated + 7_200))
    lines = [line.rstrip() for line in text.splitlines()]
    assert [line for line in lines if line in ("Needs you", "Running", "Waiting", "Over")] == [
        "Needs you", "Running", "Waiting", "Over",
    ]  # fmt: skip
    assert text.index("t-2") < text.index("t-5") < text.index("Running") < text.index("t-3 ") < text.index("t-4")
    assert "2 hours ago" in text and "50 applied" in text and text.count("was once") == 5


def test_the_inbox_numbers_options_and_tells_how_to_answer() -> None:
    waiting = replace_in_parts(
        BLOCKED, options=("total: as in the docs", "sum"), changed=tuple(f"f{n}.py" for n in range(9)), kept=2
    )
    text = " ".join(rendered(build_inbox([waiting], waiting.times.updated + 7_300), 120).split())
    assert "asked 2 hours ago by the model, after step 1" in text and "1 total as in the docs 2 sum" in text
    assert "9 files changed: f0.py, f1.py, f2.py, f3.py, f4.py, f5.py and 3 more (2 kept, 0 undone in 1 step)" in text
    assert "afresh answer t-7f3a 1 choose an option by number" in text and 'afresh answer t-7f3a "…" or in your own words' in text
    row = open_question_to_json(waiting)
    assert row["options"] == [
        {"number": 1, "option": "total", "means": "as in the docs"}, {"number": 2, "option": "sum", "means": ""},
    ]  # fmt: skip
    assert row["commands"][0] == 'afresh answer t-7f3a "…"' and row["commands"][-1] == "afresh discard t-7f3a"


@pytest.mark.parametrize(("seconds", "words"), [(0, "just now"), (-5, "just now"), (60, "1 minute ago"), (200_000, "2 days ago")])
def test_how_long_ago_is_told_in_the_largest_unit(seconds: float, words: str) -> None:
    assert describe_age(seconds) == words


def test_the_tree_tells_who_chose_what_how_sure_and_what_came_of_it() -> None:
    grown = build_decision_tree(lines(ANSWERED))
    text = " ".join(rendered(build_decisions(BLOCKED, grown), 300).split())
    assert "✓ 2" in text and "50% sure" in text and "superseded at step 4" in text and "step 3: undone: x" in text
    assert "2023-11-14 22:13" in text and UNSANDBOXED_DECISION in text
    data = decisions_to_json(BLOCKED, grown)["decisions"]
    assert data[0]["followed"][0]["followed"][0]["superseded_by"] == 5


def folded(*events: Event) -> State:
    return told([events])[-1][0]


def test_a_reverted_change_does_not_decide_how_the_tree_is() -> None:
    task = folded(
        TaskCreated(TASK),
        BaselineMeasured(Baseline((CheckRun("pytest", 1, passed=3, failed=2),))),
        VerdictReached(1, Verdict(Ruling.PASS, "one mended", (CheckRun("pytest", 1, passed=4, failed=1),))),
        ChangeKeptOrReverted(1, True, "s1", ("a.py",)),
        VerdictReached(2, Verdict(Ruling.FAIL, "worse than before", (CheckRun("pytest", 1, passed=1, failed=4),))),
        ChangeKeptOrReverted(2, False, "s1", ("a.py",), why="worse than before"),
        QuestionAsked("Go on?"),
    )
    shown = [" ".join(line.split()) for line in rendered(show(task)).splitlines()]
    assert "now 4 passed, 1 failed" in shown and "verdict PASS at step 1: one mended" in shown
    assert "undone FAIL at step 2: worse than before" in shown, "and what was tried is not forgotten"
    assert open_question_to_json(task)["tests"] == {"before": "3 passed, 2 failed", "now": "4 passed, 1 failed"}
    summary = run_summary_to_json(task, (), ())
    assert (summary["verdict"], summary["tests"]["after"]["words"]) == ("PASS", "4 passed, 1 failed")


def test_while_no_change_was_kept_the_tree_is_as_before_the_first() -> None:
    task = folded(
        TaskCreated(TASK),
        BaselineMeasured(Baseline((CheckRun("pytest", 1, passed=3, failed=2),))),
        VerdictReached(1, Verdict(Ruling.FAIL, "worse than before", (CheckRun("pytest", 1, passed=1, failed=4),))),
        ChangeKeptOrReverted(1, False, "s0", why="worse than before"),
    )
    shown = [" ".join(line.split()) for line in rendered(show(task)).splitlines()]
    assert "now 3 passed, 2 failed" in shown and not any(line.startswith("verdict ") for line in shown)
