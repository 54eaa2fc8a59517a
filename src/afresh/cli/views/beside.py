"""What someone beside the work is shown between two steps."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from afresh.cli.views.inbox import options
from afresh.cli.views.parts import diff, fields, said
from afresh.domain.action import Action, subject
from afresh.domain.change import Change
from afresh.domain.state import State
from afresh.domain.text import one_line
from afresh.projections.standing import counted, tally

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

LINES = 60
ITEMS = 12
PART = 8
COMMAND = 200
"""Lines of a diff, items of a plan, lines of each side of a change that waits, characters of a command."""


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
    """A pause tells its plan below, item by item, and not twice."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    asked = state.question.partition(" Plan: ")[0] if state.attendance.paused and state.plan else state.question
    parts: list[RenderableType] = [Text(), said(asked, "yellow")]
    if len(state.options) > 1:
        parts.append(options(state))
    return Group(*parts, Padding(fields(_rows(state)), (0, 0, 0, 2)))


def _rows(state: State) -> list[tuple[str, Any]]:
    plan = [f"[{'x' if item.done else ' '}] {item.text}" for item in state.plan[:ITEMS]]
    rows: list[tuple[str, Any]] = [("plan", said("\n".join(plan)))] if plan else []
    if state.pending:
        rows.append(("about to", about(state.pending.reply.actions)))
        if state.pending.reply.thought:
            rows.append(("because", said(one_line(state.pending.reply.thought, 300))))
    rows.append(("changed", said(", ".join(state.changed) or "nothing yet")))
    return [*rows, ("spent", said(spent(state)))]


def about(actions: Sequence[Action]) -> "Text":
    """What would be done: of a change its lines, since that is what is to be agreed to."""
    from rich.text import Text

    lines = list[Text]()
    for action in actions:
        lines.append(said(_named(action)))
        for sign, name, style in (("-", "old", "red"), ("+", "new", "green"), ("+", "content", "green")):
            lines += [said(line, style) for line in _signed(sign, action.args.get(name))]
    return Text("\n").join(lines)


def _named(action: Action) -> str:
    """Of a command all of it, of anything else what it is about."""
    return one_line(f"{action.tool} {action.args.get('command') or subject(action)}".strip(), COMMAND)


def _signed(sign: str, text: Any) -> list[str]:
    lines = text.splitlines() if isinstance(text, str) else []
    more = [f"{sign} … {counted(len(lines) - PART, 'more line')}"] if len(lines) > PART + 1 else []
    return [f"{sign} {line}" for line in (lines[:PART] if more else lines)] + more


def ways(state: State) -> "Text":
    """What can be typed now."""
    if state.question:
        return said(_answers(state), "dim")
    return said(
        "enter: next step · a number: so many steps · words: told to it · /new WORDS: another direction\n"
        "/undo [STEPS] [WHY]: take back the last change · /diff · /help · /stop: it waits for you",
        "dim",
    )


def _answers(state: State) -> str:
    enter = "enter: approve · " if state.attendance.paused else "enter: go on · " if state.asked_by == "harness" else ""
    number = "a number: that option · " if len(state.options) > 1 else ""
    words = "words: told to it, none of this is done" if state.pending else "words: told to it"
    return (
        f"{enter}{number}{words} · /new WORDS: another direction\n/undo [STEPS] [WHY] · /diff · /help · /stop: it waits for you"
    )


def changed(changes: Sequence[Change]) -> "Text":
    shown, left = diff(changes, LINES)
    if not shown:
        return said("nothing is changed", "dim")
    return shown.append(f"\n… {left:,} more lines", "dim") if left else shown
