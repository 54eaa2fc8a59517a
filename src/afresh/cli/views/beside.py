"""What someone beside the work is shown between two steps."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from afresh.cli.views.inbox import options
from afresh.cli.views.parts import fields, said
from afresh.domain.change import Change
from afresh.domain.state import State
from afresh.domain.text import one_line
from afresh.projections.standing import counted, tally

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

LINES, ITEMS = 60, 12


def standing(state: State) -> "Text":
    """One line: where it is, what is changed, how the tests stand, what it has cost so far."""
    runs = state.verdict.runs if state.verdict and state.verdict.runs else state.baseline.runs if state.baseline else ()
    parts = [
        f"after step {state.step}" if state.step else "before the first step",
        f"phase {state.phase}",
        f"{counted(len(state.changed), 'file')} changed",
        tally(runs).words if runs else "no checks run",
        spent(state),
    ]
    thought = one_line(state.recent[-1].thought, 200) if state.recent else ""
    return said((f"      {thought}\n" if thought else "") + " · ".join(parts), "dim")


def spent(state: State) -> str:
    return f"{counted(state.calls, 'call')}, {state.usage.tokens:,} tokens"


def question(state: State) -> "RenderableType":
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    parts: list[RenderableType] = [Text(), said(state.question, "yellow")]
    if len(state.options) > 1:
        parts.append(options(state))
    return Group(*parts, Padding(fields(_rows(state)), (0, 0, 0, 2)))


def _rows(state: State) -> list[tuple[str, Any]]:
    plan = [f"[{'x' if item.done else ' '}] {item.text}" for item in state.plan[:ITEMS]]
    rows: list[tuple[str, Any]] = [("plan", said("\n".join(plan)))] if plan else []
    if state.pending:
        rows.append(("about to", said(", ".join(_action(one.tool, one.args) for one in state.pending.reply.actions))))
        if state.pending.reply.thought:
            rows.append(("because", said(one_line(state.pending.reply.thought, 300))))
    rows.append(("changed", said(", ".join(state.changed) or "nothing yet")))
    return [*rows, ("spent", said(spent(state)))]


def _action(tool: str, args: Any) -> str:
    return one_line(f"{tool} {args.get('path') or args.get('command') or ''}".strip(), 80)


def ways(state: State) -> "Text":
    """What can be typed now."""
    if state.question:
        go = "enter: go on · " if state.asked_by == "harness" else ""
        number = "a number: that option · " if len(state.options) > 1 else ""
        return said(f"{go}{number}words: told to it first · /undo · /diff · /stop: it waits for you", "dim")
    return said(
        "enter: next step · a number: so many steps · words: told to it · /new WORDS: another direction\n"
        "/undo [STEPS] [WHY]: take back the last change · /diff · /help · /stop: it waits for you",
        "dim",
    )


def diff(changes: Sequence[Change]) -> "Text":
    lines = [line for change in changes for line in change.patch.splitlines()]
    if not lines:
        return said("nothing is changed", "dim")
    more = [f"… {len(lines) - LINES:,} more lines"] if len(lines) > LINES else []
    return said("\n".join([*lines[:LINES], *more]))
