"""The decisions of a task as a tree, for someone who was not there."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from afresh.cli.views.parts import STYLES, said, word
from afresh.domain.state import State
from afresh.domain.text import one_line
from afresh.projections.decision_tree import Branch, Run, runs
from afresh.projections.decisions import Line, opens
from afresh.projections.standing import commands, iso

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text
    from rich.tree import Tree

REVERTED = 3
LENGTH = 300
_MARKS = {
    "asked": ("?", "yellow"), "answered": ("→", "green"), "planned": ("▸", "cyan"), "decided": ("▸", "cyan"),
    "turned": ("▸", "yellow"), "spoke": ("→", "green"), "undone": ("✗", "yellow"),
}  # fmt: skip
_VERDICTS = {"PASS": "verified", "FAIL": "completion refused", "BLOCKED": "could not be verified"}


def decisions_json(state: State, branches: Sequence[Branch]) -> dict[str, Any]:
    return {
        "task": state.task.id,
        "goal": state.task.goal,
        "status": state.status.value,
        "decisions": [_branch_json(branch) for branch in branches],
    }


def _branch_json(branch: Branch) -> dict[str, Any]:
    """Every line, none collapsed."""
    superseded = {"superseded_by": branch.superseded["n"]} if branch.superseded else {}
    followed = {"followed": [_branch_json(one) for one in branch.followed]} if opens(branch.line) else {}
    return {**branch.line, **superseded, **followed}


def decisions(state: State, branches: Sequence[Branch]) -> "RenderableType":
    from rich.console import Group
    from rich.text import Text
    from rich.tree import Tree

    head = Text.assemble((one_line(state.task.id, 40), "bold"), "  ", word(state.status.value))
    head.append(f"  begun {_when(iso(state.started))} UTC", "dim")
    root = Tree(head.append("\n").append_text(said(state.task.goal, limit=LENGTH)), guide_style="dim")
    _grow(root, branches)
    if not branches:
        root.add(Text("nothing was decided yet", style="dim"))
    return Group(root, Text(), *(said(f"  {command}", "cyan") for command in commands(state)[:1]))


def _grow(node: "Tree", branches: Sequence[Branch]) -> None:
    answered, told = any(branch.line["kind"] == "answered" for branch in branches), ""
    for part in runs(branches):
        if isinstance(part, Run):
            _add_run(node, part)
        elif opens(part.line):
            _grow(_add_turn(node, part), part.followed)
        elif part.line["text"] == "blocked":
            node.add(said(f"{'waited' if answered else 'waits'} for an answer since {_when(part.line['at'])}", "dim"))
        else:
            node.add(_outcome(part.line, told))
            told = part.line["why"]


def _add_run(node: "Tree", run: Run) -> None:
    from rich.text import Text

    told = Text(f"{run.steps}: {run.told}" if run.steps else run.told, style="" if run.reverted else "dim")
    if run.reverted and not run.steps.startswith("steps"):
        node.add(told.append_text(_why(run.reverted[0])))
        return
    grown = node.add(told)
    for line in run.reverted[-REVERTED:]:
        grown.add(Text(f"step {line['step']} reverted", "red").append_text(_why(line)))
    if len(run.reverted) > REVERTED:
        grown.add(Text(f"and {len(run.reverted) - REVERTED:,} before these", style="dim"))


def _why(line: Line) -> "Text":
    return said(f": {line['why']}" if line["why"] else "", "dim", LENGTH)


def _add_turn(node: "Tree", branch: Branch) -> "Tree":
    """A decision, question or answer: what, then who, when and how sure."""
    from rich.text import Text

    line = branch.line
    mark, style = _MARKS[line["kind"]]
    subject = f"{one_line(line['subject'], 60)}: " if line.get("subject") else ""
    text = Text.assemble((f"{mark} ", style), (subject, "bold"), said(_what(line), "strike" if branch.superseded else ""))
    text.append("\n").append_text(said(f"  {_by(line)}", "dim"))
    if branch.superseded:
        text.append(f", superseded at step {branch.superseded['step']}", "yellow")
    if line["why"]:
        text.append("\n  why: ", "dim").append_text(said(line["why"], "dim", LENGTH))
    grown = node.add(text)
    return _with_options(grown, branch)


def _what(line: Line) -> str:
    if line["kind"] == "answered" and line.get("option"):
        return f"{one_line(line['text'], LENGTH)} (option {line['option']})"
    return one_line(line["text"], LENGTH)


def _by(line: Line) -> str:
    who = f"{one_line(line['who'], 40)} (person)" if "who" in line else line["by"]
    sure = f", {line['confidence']:.0%} sure" if line["kind"] == "decided" and line["confidence"] is not None else ""
    verb = {"asked": "asked", "answered": "answered", "planned": "planned"}.get(line["kind"], "decided")
    return f"{_when(line['at'])}  {verb} by {who} at step {line['step']}{sure}"


def _with_options(node: "Tree", branch: Branch) -> "Tree":
    """The one that was chosen is marked."""
    from rich.text import Text

    chosen = next((one.line.get("option") for one in branch.followed if one.line["kind"] == "answered"), None)
    for number, option in enumerate(branch.line.get("options", ()), 1):
        style = "green" if number == chosen else "dim"
        means = f": {one_line(option['means'], LENGTH)}" if option["means"] else ""
        node.add(Text(f"{'✓' if number == chosen else '·'} {number} {one_line(option['option'], 100)}{means}", style=style))
    return node


def _outcome(line: Line, told: str) -> "Text":
    """What the harness found: a verdict, an end; its reason unless that was just told. Or what a person waived."""
    from rich.text import Text

    if line["kind"] == "decided":
        first = said(line["text"], "yellow", LENGTH)
    elif line["kind"] == "verified":
        first = Text(_VERDICTS[line["text"]], style=STYLES[line["text"]])
    else:
        status, _, commit = line["text"].partition(" ")
        first = Text(f"{status}{f', commit {one_line(commit, 12)}' if commit else ''}", style=STYLES.get(status, ""))
    why = f": {one_line(line['why'], LENGTH)}" if line["why"] and line["why"] != told else ""
    return first.append_text(said(f"{why} ({_when(line['at'])}, step {line['step']})", "dim"))


def _when(at: str) -> str:
    """A time of the journal to the minute."""
    return at[:16].replace("T", " ")
