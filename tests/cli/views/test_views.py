import json
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import AUDITS, BLOCKED, CHANGES, DONE, HOSTILE, LATER, SECTIONS, TASK, rendered, told

from afresh.cli.views.context import context_diff, context_diff_json, context_show, context_show_json
from afresh.cli.views.decisions import decisions, decisions_json
from afresh.cli.views.doctor import doctor, doctor_json
from afresh.cli.views.glance import Glance, look
from afresh.cli.views.inbox import ago, inbox, inbox_json
from afresh.cli.views.parts import gauge, sparkline
from afresh.cli.views.progress import panel
from afresh.cli.views.show import show, show_json
from afresh.cli.views.status import status, status_json
from afresh.cli.views.summary import summary, summary_json
from afresh.cli.views.why import context_why, context_why_json
from afresh.domain.event import Answered, Asked, Created, Decided, Settled
from afresh.domain.fact import UNCONFINED, Decision
from afresh.domain.health import Finding
from afresh.domain.task import Status
from afresh.domain.text import visible
from afresh.domain.why import Chance, Copy, Place, Why
from afresh.domain.window import Omission
from afresh.ports import Ticket
from afresh.projections.decision_tree import tree
from afresh.projections.decisions import told as lines

TICKETS = [
    Ticket(DONE.task.id, DONE.task.goal, "fix_violation", Status.DONE, 0, (), False),
    Ticket("t-2", HOSTILE, "write_tests", Status.BLOCKED, 0, (), False),
    Ticket("t-3", "held", "write_tests", Status.RUNNING, 0, (), False, owner=f"host{HOSTILE}"),
    Ticket("t-4", "waits", "write_tests", Status.READY, 0, ("t-3",), False),
    Ticket("t-5", "crashed", "write_tests", Status.RUNNING, 0, (), True),
]
STATES = {DONE.task.id: DONE, "t-2": BLOCKED}
FINDINGS = [
    Finding("git", "ok", "2.39"),
    Finding("sandbox", "warn", f"Landlock only {HOSTILE}", "install bubblewrap"),
    Finding("database", "fail", "schema 9 is newer", "update afresh"),
]


WHY = Why(
    f"name{HOSTILE}", "t-1", 9, (Place("work", 3, HOSTILE, f"output of step 4 {HOSTILE}"),), 2, 7, HOSTILE,
    (Omission("files", HOSTILE, 90, "no room left"),),
    (Chance(HOSTILE, "name", 4, "output", 5, 1, 2, 0.25, (("bias", -2.0), ("age", -1.5))),),
    (Copy("1a2b3c4d" * 4, 4, "run", HOSTILE, 6),),
)  # fmt: skip


OPTIONS = (f"keep: {HOSTILE}", f"{HOSTILE}: drop it " + "and all that belongs to it " * 6)
ANSWERED = [
    entry
    for _, entries in told(
        [[Created(TASK)], [Asked(f"Which? {HOSTILE}", OPTIONS)], [Answered(HOSTILE, HOSTILE, 2)],
         [Decided(Decision(HOSTILE, "model", HOSTILE, 3, HOSTILE, 0.5)), Settled(3, False, "s", why=HOSTILE)],
         [Decided(Decision(f"not {HOSTILE}", "model", "", 4, HOSTILE))], [Decided(Decision(UNCONFINED, "person"))]]
    )
    for entry in entries
]  # fmt: skip


def glance() -> Glance:
    seen = Glance(1_700_000_000.0, doing=HOSTILE)
    for state, entries in told():
        seen, _ = look(seen, state, entries)
    return seen


VIEWS = {
    "panel": lambda: panel(glance(), 1_700_000_075.0),
    "summary": lambda: summary(DONE, CHANGES, AUDITS, accumulating=94_000),
    "unfinished summary": lambda: summary(BLOCKED, [], []),
    "status": lambda: status(TICKETS, STATES),
    "inbox": lambda: inbox([BLOCKED, replace(BLOCKED, options=OPTIONS)], BLOCKED.updated + 7_300),
    "empty inbox": lambda: inbox([], 0.0),
    "decisions": lambda: decisions(DONE, tree(lines([entry for _, entries in told() for entry in entries]))),
    "decisions of a question": lambda: decisions(BLOCKED, tree(lines(ANSWERED))),
    "no tasks": lambda: status([], {}),
    "show": lambda: show(BLOCKED),
    "show done": lambda: show(DONE),
    "new task": lambda: show(told()[0][0]),
    "context": lambda: context_show(AUDITS[0], SECTIONS, AUDITS[0].omissions, 1),
    "context diff": lambda: context_diff(SECTIONS, LATER, (1, 2)),
    "why": lambda: context_why(WHY),
    "doctor": lambda: doctor(FINDINGS),
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("width", [80, 120])
def test_every_view_fits_its_width_and_hides_nothing(name: str, width: int) -> None:
    text = rendered(VIEWS[name](), width)
    assert text.strip() and visible(text) == text
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
    for expected in ("41 passed, 1 check failing → 41 passed", "3 → 0", "test_clock", "1 change kept, 1 reverted", "89% fewer"):
        assert expected in " ".join(text.split()), expected


def test_a_long_diff_is_cut_with_a_hint() -> None:
    text = rendered(summary(DONE, CHANGES, AUDITS, diff_lines=3))
    assert "… 8 more lines: git diff 1234567890ab afresh/t-7f3a" in text and "discount(cart, lines)" not in text


def test_a_failed_or_blocked_task_is_not_headed_by_an_old_pass() -> None:
    failed = replace(DONE, status=Status.FAILED, outcome="a protected test was weakened")
    assert "failed  a protected test was weakened" in rendered(summary(failed, [], []))
    text = rendered(summary(BLOCKED, [], []))
    assert "blocked" in text.splitlines()[1] and "Which name?" in text and "afresh answer" in text


def test_status_names_the_next_command_that_can_work() -> None:
    rows = {row["task"]: row for row in status_json(TICKETS, STATES)["tasks"]}
    assert rows["t-7f3a"]["next"] == "afresh apply t-7f3a"
    assert rows["t-2"]["next"].startswith("afresh answer t-2")
    assert rows["t-3"]["next"] == "afresh show t-3" and rows["t-4"]["next"] == "afresh show t-4"
    assert rows["t-5"]["next"] == "afresh resume t-5"
    text = rendered(status(TICKETS, STATES))
    assert "interrupted" in text and "after t-3" in text and "asks: Which" in text


def test_a_call_is_accounted_for_to_the_last_token() -> None:
    data = context_show_json(AUDITS[0], SECTIONS, AUDITS[0].omissions, 1)
    assert sum(row["tokens"] for row in data["sections"]) + data["framing"] == data["tokens"]
    assert data["tokens"] + data["reserve"] + data["headroom"] == data["budget"]
    text = rendered(VIEWS["context"]())
    assert "over the cap of the section" in text and "of shop/cart.py" in text


def test_two_calls_are_compared_section_by_section() -> None:
    data = context_diff_json(SECTIONS, LATER, (1, 2))
    assert [(row["name"], row["compared"], row["delta"]) for row in data["sections"]] == [
        ("task", "unchanged", 0),
        ("facts", "changed", 50),
        ("recall", "added", 90),
    ]
    assert context_diff_json(LATER, SECTIONS)["sections"][2]["compared"] == "removed"
    assert "+- discount() kept" in rendered(VIEWS["context diff"]())


def test_doctor_says_what_to_do_for_all_that_is_not_well() -> None:
    text = rendered(doctor(FINDINGS))
    assert "→ install bubblewrap" in text and "→ update afresh" in text and "1 to mend, 1 to know about" in text
    assert doctor_json(FINDINGS)["ok"] is False and doctor_json(FINDINGS[:2])["ok"] is True


def test_every_twin_is_plain_json() -> None:
    twins = [
        summary_json(DONE, CHANGES, AUDITS, 94_000),
        summary_json(BLOCKED, [], []),
        status_json(TICKETS, STATES),
        show_json(DONE),
        context_show_json(AUDITS[0], SECTIONS, AUDITS[0].omissions),
        context_diff_json(SECTIONS, LATER),
        doctor_json(FINDINGS),
    ]
    for twin in twins:
        assert json.loads(json.dumps(twin)) == twin


@given(st.integers(0, 10_000), st.integers(0, 8_000), st.integers(0, 4_000), st.integers(4, 60))
def test_a_gauge_is_always_as_wide_as_asked(tokens: int, budget: int, reserve: int, width: int) -> None:
    bar = gauge(tokens, budget, min(reserve, budget), width).plain.split(" ")[0]
    assert len(bar) == width


@given(st.lists(st.integers(0, 4_000), max_size=200))
def test_a_sparkline_is_never_wider_than_its_room(values: list[int]) -> None:
    assert len(sparkline(values, 4_000)) == min(32, len(values))


def test_importing_the_views_does_not_import_rich() -> None:
    code = (
        "import sys, afresh.cli.views.summary, afresh.cli.views.progress, afresh.cli.views.status, afresh.cli.views.show\n"
        "import afresh.cli.views.context, afresh.cli.views.doctor, afresh.cli.views.terminal, afresh.projections.rebuild\n"
        "assert 'rich' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{code}"], check=True)


def test_a_call_shows_each_section_with_its_share_as_a_length():
    rows = [line for line in rendered(VIEWS["context"](), 120).splitlines() if "%" in line and "█" in line]
    task, facts = (row.count("█") for row in rows if row.startswith(("task ", "facts ")))
    assert 0 < task < facts


def test_a_call_tells_headroom_estimate_report_omissions_and_hash():
    data = context_show_json(AUDITS[0], SECTIONS, AUDITS[0].omissions, 1, 2_600)
    assert {"headroom", "tokens", "reported", "omitted", "hash", "budget", "reserve", "counter", "pressure"} <= data.keys()
    text = rendered(context_show(AUDITS[0], SECTIONS, AUDITS[0].omissions, 1, False, 2_600), 120)
    for said in ("tokens free", "reported 2,600", "over the cap of the section", AUDITS[0].hash[:16], "Left out"):
        assert said in text


def test_why_says_what_brings_a_name_back_and_where_memory_lost_it():
    text, plain = rendered(context_why(WHY), 160), context_why_json(WHY)
    assert "until step 6" in text and 'recall(id="1a2b3c4d"' in text and "bias -2.00" in text
    assert json.loads(json.dumps(plain))["chances"][0]["parts"] == {"age": -1.5, "bias": -2.0}


def test_status_begins_with_what_needs_a_person_and_only_counts_what_is_settled() -> None:
    settled = [Ticket(f"old-{n}", "was once", "write_tests", Status.APPLIED, 0, (), False) for n in range(50)]
    text = rendered(status([*settled, *TICKETS], STATES, now=DONE.updated + 7_200))
    lines = [line.rstrip() for line in text.splitlines()]
    assert [line for line in lines if line in ("Needs you", "At work", "To come", "Over")] == [
        "Needs you", "At work", "To come", "Over",
    ]  # fmt: skip
    assert text.index("t-2") < text.index("t-5") < text.index("At work") < text.index("t-3 ") < text.index("t-4")
    assert "2 hours ago" in text and "50 applied" in text and text.count("was once") == 5


def test_the_inbox_numbers_options_and_tells_how_to_answer() -> None:
    waiting = replace(BLOCKED, options=("total: as in the docs", "sum"), changed=tuple(f"f{n}.py" for n in range(9)), kept=2)
    text = " ".join(rendered(inbox([waiting], waiting.updated + 7_300), 120).split())
    assert "asked 2 hours ago by the model, after step 1" in text and "1 total as in the docs 2 sum" in text
    assert "9 files changed: f0.py, f1.py, f2.py, f3.py, f4.py, f5.py and 3 more (2 kept, 0 reverted in 1 step)" in text
    assert "afresh answer t-7f3a 1 the number of an option" in text and 'afresh answer t-7f3a "…" or your own words' in text
    (row,) = inbox_json([waiting])
    assert row["options"] == [
        {"number": 1, "option": "total", "means": "as in the docs"}, {"number": 2, "option": "sum", "means": ""},
    ]  # fmt: skip
    assert row["commands"][0] == 'afresh answer t-7f3a "…"' and row["commands"][-1] == "afresh discard t-7f3a"


@pytest.mark.parametrize(("seconds", "words"), [(0, "just now"), (-5, "just now"), (60, "1 minute ago"), (200_000, "2 days ago")])
def test_how_long_ago_is_told_in_the_largest_unit(seconds: float, words: str) -> None:
    assert ago(seconds) == words


def test_the_tree_tells_who_chose_what_how_sure_and_what_came_of_it() -> None:
    grown = tree(lines(ANSWERED))
    text = " ".join(rendered(decisions(BLOCKED, grown), 300).split())
    assert "✓ 2" in text and "50% sure" in text and "superseded at step 4" in text and "step 3: reverted: x" in text
    assert "2023-11-14 22:13" in text and UNCONFINED in text
    data = decisions_json(BLOCKED, grown)["decisions"]
    assert data[0]["followed"][0]["followed"][0]["superseded_by"] == 5
