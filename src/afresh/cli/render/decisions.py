"""Renders the decisions of a task as a tree."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from afresh.cli.render.parts import render_text, render_word
from afresh.cli.render.widgets import WORD_STYLES
from afresh.core.state import State
from afresh.core.truncate import to_one_line
from afresh.views.decision_log import DecisionLine, is_turning_point
from afresh.views.decision_tree import DecisionNode, DecisionRun, group_runs
from afresh.views.task_facts import format_time, list_next_commands

MAX_REVERTED_SHOWN = 3
MAX_TEXT_CHARACTERS = 300
_MARK_BY_KIND = {
    "asked": ("?", "yellow"), "answered": ("→", "green"), "planned": ("▸", "cyan"), "decided": ("▸", "cyan"),
    "turned": ("▸", "yellow"), "spoke": ("→", "green"), "undone": ("✗", "yellow"),
}  # fmt: skip
_VERDICT_WORDS = {"PASS": "verified", "FAIL": "completion rejected", "BLOCKED": "could not be verified"}


def render_decisions(state: State, branches: Sequence[DecisionNode]) -> RenderableType:
    head = Text.assemble((to_one_line(state.task.id, 40), "bold"), "  ", render_word(state.status.value))
    head.append(f"  started {_format_minute(format_time(state.times.started))} UTC", "dim")
    root = Tree(head.append("\n").append_text(render_text(state.task.goal, limit=MAX_TEXT_CHARACTERS)), guide_style="dim")
    _add_branches(root, branches)
    if not branches:
        root.add(Text("no decisions yet", style="dim"))
    return Group(root, Text(), *(render_text(f"  {command}", "cyan") for command in list_next_commands(state)[:1]))


def _add_branches(node: Tree, branches: Sequence[DecisionNode]) -> None:
    answered, told = any(branch.line["kind"] == "answered" for branch in branches), ""
    for part in group_runs(branches):
        if isinstance(part, DecisionRun):
            _add_run(node, part)
        elif is_turning_point(part.line):
            _add_branches(_add_decision(node, part), part.followed)
        elif part.line["text"] == "blocked":
            node.add(
                render_text(f"{'waited' if answered else 'waits'} for an answer since {_format_minute(part.line['at'])}", "dim")
            )
        else:
            node.add(_render_outcome(part.line, told))
            told = part.line["why"]


def _add_run(node: Tree, run: DecisionRun) -> None:
    told = Text(f"{run.steps}: {run.told}" if run.steps else run.told, style="" if run.reverted else "dim")
    if run.reverted and not run.steps.startswith("steps"):
        node.add(told.append_text(_render_reason(run.reverted[0])))
        return
    grown = node.add(told)
    for line in run.reverted[-MAX_REVERTED_SHOWN:]:
        grown.add(Text(f"step {line['step']} undone", "red").append_text(_render_reason(line)))
    if len(run.reverted) > MAX_REVERTED_SHOWN:
        grown.add(Text(f"and {len(run.reverted) - MAX_REVERTED_SHOWN:,} earlier", style="dim"))


def _render_reason(line: DecisionLine) -> Text:
    return render_text(f": {line['why']}" if line["why"] else "", "dim", MAX_TEXT_CHARACTERS)


def _add_decision(node: Tree, branch: DecisionNode) -> Tree:
    """Add a decision, question or answer: text, then author, time and confidence."""
    line = branch.line
    mark, style = _MARK_BY_KIND[line["kind"]]
    subject = f"{to_one_line(line['subject'], 60)}: " if line.get("subject") else ""
    text = Text.assemble(
        (f"{mark} ", style), (subject, "bold"), render_text(_describe_decision(line), "strike" if branch.superseded else "")
    )
    text.append("\n").append_text(render_text(f"  {_describe_author(line)}", "dim"))
    if branch.superseded:
        text.append(f", superseded at step {branch.superseded['step']}", "yellow")
    if line["why"]:
        text.append("\n  why: ", "dim").append_text(render_text(line["why"], "dim", MAX_TEXT_CHARACTERS))
    grown = node.add(text)
    return _add_options(grown, branch)


def _describe_decision(line: DecisionLine) -> str:
    if line["kind"] == "answered" and line.get("option"):
        return f"{to_one_line(line['text'], MAX_TEXT_CHARACTERS)} (option {line['option']})"
    return to_one_line(line["text"], MAX_TEXT_CHARACTERS)


def _describe_author(line: DecisionLine) -> str:
    who = f"{to_one_line(line['who'], 40)} (person)" if "who" in line else line["by"]
    sure = f", {line['confidence']:.0%} sure" if line["kind"] == "decided" and line["confidence"] is not None else ""
    verb = {"asked": "asked", "answered": "answered", "planned": "planned"}.get(line["kind"], "decided")
    return f"{_format_minute(line['at'])}  {verb} by {who} at step {line['step']}{sure}"


def _add_options(node: Tree, branch: DecisionNode) -> Tree:
    """Add the options of a question; the chosen one is marked."""
    chosen = next((one.line.get("option") for one in branch.followed if one.line["kind"] == "answered"), None)
    for number, option in enumerate(branch.line.get("options", ()), 1):
        style = "green" if number == chosen else "dim"
        means = f": {to_one_line(option['means'], MAX_TEXT_CHARACTERS)}" if option["means"] else ""
        node.add(Text(f"{'✓' if number == chosen else '·'} {number} {to_one_line(option['option'], 100)}{means}", style=style))
    return node


def _render_outcome(line: DecisionLine, told: str) -> Text:
    """Render a verdict, an end or a waiver, with its reason unless the line before gave it."""
    if line["kind"] == "decided":
        first = render_text(line["text"], "yellow", MAX_TEXT_CHARACTERS)
    elif line["kind"] == "verified":
        first = Text(_VERDICT_WORDS[line["text"]], style=WORD_STYLES[line["text"]])
    else:
        status = line["text"].partition(" ")[0]
        first = Text(status, style=WORD_STYLES.get(status, ""))
    why = f": {to_one_line(line['why'], MAX_TEXT_CHARACTERS)}" if line["why"] and line["why"] != told else ""
    return first.append_text(render_text(f"{why} ({_format_minute(line['at'])}, step {line['step']})", "dim"))


def _format_minute(at: str) -> str:
    """Format a journal time to the minute."""
    return at[:16].replace("T", " ")
