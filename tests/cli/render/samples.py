"""One run, told by its events, with hostile text where a repository or a model could put it."""

import io
from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console

from afresh.cli.render.draw_page import draw_blocks
from afresh.cli.render.widgets import draw_lines
from afresh.core import event as happened
from afresh.core.action import Action, Observation
from afresh.core.change import Change
from afresh.core.decision import Decision
from afresh.core.event import Event, JournalEntry, JournalHead
from afresh.core.fact import Fact, FactKind
from afresh.core.hash_chain import link_events
from afresh.core.prompt import CallAudit, Omission, Section, SectionRef, Tier
from afresh.core.reducer import fold_entries
from afresh.core.reply import Reply
from afresh.core.state import State
from afresh.core.states.strategy_state import PlanItem
from afresh.core.task import Check, Task, TaskStatus
from afresh.core.usage import Usage
from afresh.core.verdict import Baseline, CheckRun, FailedTest, Ruling, Verdict
from afresh.views.page import Page

HOSTILE = "x\x1b]0;owned\x07\u202e[red]y[/red]"
TASK = Task(
    id="t-7f3a", goal="Reduce the complexity of shop/cart.py without changing what it does", type="fix_violation",
    checks=(Check("pytest -q"), Check("ruff check --select C901 shop")),
)  # fmt: skip
BEFORE = (CheckRun("pytest -q", 0, passed=41), CheckRun("ruff check --select C901 shop", 1))
AFTER = (CheckRun("pytest -q", 0, passed=41), CheckRun("ruff check --select C901 shop", 0))
RED = CheckRun(
    "pytest -q",
    1,
    scope="targeted: tests/test_cart.py",
    passed=12,
    failed=1,
    failures=(FailedTest("test_total", "assert 3 == 4"),),
)

GREEN = replace(RED, exit=0, passed=13, failed=0, failures=())


def audit(step: int) -> CallAudit:
    sections = (SectionRef("task", Tier.ALWAYS, "b1", 180), SectionRef("facts", Tier.PHASE, "b2", 420))
    left = (Omission("facts", "4 old notes", 260, "over the cap of the section"),)
    return CallAudit("c0ffee" * 10, 4_000, 2_400 + 90 * (step % 4), sections, (), left, reserve=800, counter="estimate")


def step(number: int, tool: str, path: str, *rest: Event, ok: bool = True) -> list[list[Event]]:
    action = Action(tool, {"path": path})
    reply = Reply("a thought", (action,), Usage(2_500, 120, 1_800), "offline")
    seen = (Observation(action, ok, "a digest", "b" * 32, 900),)
    return [
        [happened.CallRequested(number, audit(number)), happened.ReplyReceived(number, reply)],
        [happened.ActionsExecuted(number, seen), *rest],
    ]


COMMITS: list[list[Event]] = [
    [happened.TaskCreated(TASK)],
    [happened.TaskClaimed("worker-1")],
    [
        happened.WorkspaceOpened("1234567890abcdef", "afresh/t-7f3a", "s0"),
        happened.BaselineMeasured(Baseline(BEFORE, ("test_clock",), 3)),
    ],
    *step(1, "read", "shop/cart.py", happened.ChangeKeptOrReverted(1, True, "s0"), happened.StepFinished(1, "read 120 lines")),
    *step(
        2,
        "apply",
        "extract total() lines 40-58",
        happened.PlanSet((PlanItem("extract total", True), PlanItem("extract discount"))),
        happened.DecisionMade(Decision("keep the public names", "model", "other packages import them", 2)),
        happened.VerdictReached(2, Verdict(Ruling.FAIL, "1 regression", (RED,), ("test_total",))),
        happened.OutputDigested(
            (Fact(FactKind.FAILED_APPROACH, "extract total() lines 40-58", "test_total fails: 3 == 4", step=2),)
        ),
        happened.ChangeKeptOrReverted(2, False, "s0", why="test_total failed"),
        happened.StepFinished(2, "reverted"),
    ),
    *step(
        3,
        "apply",
        f"extract discount() {HOSTILE}",
        happened.VerdictReached(3, Verdict(Ruling.PASS, "targeted tests pass", (GREEN,))),
        happened.ChangeKeptOrReverted(3, True, "s1", ("shop/cart.py",), why="no regression"),
        happened.StepFinished(3, "kept"),
    ),
    *step(
        4,
        "complete",
        "done",
        happened.VerdictReached(4, Verdict(Ruling.PASS, "all criteria hold", AFTER, final=True)),
        happened.ChangeKeptOrReverted(4, True, "s1", ("shop/cart.py",)),
        happened.StepFinished(4, "verified"),
    ),
    [happened.TaskEnded(TaskStatus.DONE, "all criteria hold", "feedfacefeedface")],
]


def told(commits: Sequence[Sequence[Event]] = COMMITS) -> list[tuple[State, tuple[JournalEntry, ...]]]:
    """What a Watcher sees."""
    seen: list[tuple[State, tuple[JournalEntry, ...]]] = []
    state = None
    for number, events in enumerate(commits):
        entries = link_events(TASK.id, state.head if state else JournalHead(), 1_700_000_000.0 + number, events)
        state = fold_entries(state, entries)
        seen.append((state, entries))
    return seen


DONE = told()[-1][0]
BLOCKED = told(
    [
        *COMMITS[:5],
        [happened.QuestionAsked(f"Which name? {HOSTILE}", ("total", "sum")), happened.TaskEnded(TaskStatus.BLOCKED, "asked")],
    ]
)[-1][0]
AUDITS = [audit(number) for number in range(1, 5)]
PATCH = """--- a/shop/cart.py
+++ b/shop/cart.py
@@ -40,6 +40,4 @@ def checkout(cart):
     lines = cart.lines
-    if cart.coupon and cart.coupon.valid:
-        lines = reduced(lines, cart.coupon)
-    lines = rounded(lines)
+    lines = discount(cart, lines)
     return lines
"""
CHANGES = [Change("shop/cart.py", "modified", 9, 7, PATCH), Change(f"shop/{HOSTILE}.py", "added", 12, 0, "+++ b/x\n+pass\n")]
SECTIONS = [
    Section("task", Tier.ALWAYS, "Goal: reduce the complexity\nof shop/cart.py", 180),
    Section("facts", Tier.PHASE, f"- extract total() failed\n- {HOSTILE}", 420),
]
LATER = [
    SECTIONS[0],
    Section("facts", Tier.PHASE, "- extract total() failed\n- discount() kept", 470),
    Section("recall", Tier.DEMAND, "a block", 90),
]


def rendered(renderable: object, width: int = 80, colour: bool = False) -> str:
    """`renderable`: a page, its blocks, for rich, or a function of the width that gives lines."""
    if isinstance(renderable, Page):
        renderable = [renderable.blocks] if isinstance(renderable.blocks, str) else renderable.blocks
    if isinstance(renderable, list):
        return draw_lines(draw_blocks(renderable, width), colour)
    if callable(renderable):
        return draw_lines(renderable(width), colour)
    console = Console(file=io.StringIO(), width=width, record=True, highlight=False, force_terminal=colour, no_color=not colour)
    console.print(renderable)
    return console.file.getvalue()  # type: ignore[attr-defined]
