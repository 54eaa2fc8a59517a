"""The decisions of a task as a tree."""

from collections.abc import Sequence

from afresh.cli.render.widgets import WORD_STYLES
from afresh.core.state import State
from afresh.core.truncate import to_one_line
from afresh.views.decision_log import DecisionLine, is_turning_point
from afresh.views.decision_tree import DecisionNode, DecisionRun, decisions_to_json, group_runs
from afresh.views.page import Page, Span, Tree
from afresh.views.task_facts import format_time, list_next_commands

MAX_REVERTED_SHOWN = 3
MAX_TEXT_CHARACTERS = 300
_MARK_BY_KIND = {
    "asked": ("?", "yellow"), "answered": ("→", "green"), "planned": ("▸", "cyan"), "decided": ("▸", "cyan"),
    "turned": ("▸", "yellow"), "spoke": ("→", "green"), "undone": ("✗", "yellow"),
}  # fmt: skip
_VERDICT_WORDS = {"PASS": "verified", "FAIL": "completion rejected", "BLOCKED": "could not be verified"}


def build_decisions(state: State, branches: Sequence[DecisionNode]) -> Page:
    started, word = _format_minute(format_time(state.times.started)), state.status.value
    head = [
        (to_one_line(state.task.id, 40), "bold"),
        (f"  {word}", WORD_STYLES.get(word, "dim")),
        (f"  started {started} UTC", "dim"),
    ]
    tree = Tree([*head, (f"\n{to_one_line(state.task.goal, MAX_TEXT_CHARACTERS)}", "")], _list_branches(branches))
    commands = [[(f"  {command}", "cyan")] for command in list_next_commands(state)[:1]]
    shown = tree if branches else Tree(tree.line, [Tree([("no decisions yet", "dim")])])
    return Page(decisions_to_json(state, branches), [shown, "", *commands])


def _list_branches(branches: Sequence[DecisionNode]) -> list[Tree]:
    answered, last, trees = any(branch.line["kind"] == "answered" for branch in branches), "", list[Tree]()
    for part in group_runs(branches):
        if isinstance(part, DecisionRun):
            trees.append(_make_run(part))
        elif is_turning_point(part.line):
            trees.append(Tree(_describe_turn(part), [*_list_options(part), *_list_branches(part.followed)]))
        elif part.line["text"] == "blocked":
            waits = f"{'waited' if answered else 'waits'} for an answer since {_format_minute(part.line['at'])}"
            trees.append(Tree([(waits, "dim")]))
        else:
            trees.append(Tree(_describe_outcome(part.line, last)))
            last = part.line["why"]
    return trees


def _make_run(run: DecisionRun) -> Tree:
    style = "" if run.reverted else "dim"
    line = [(f"{run.steps}: {run.told}" if run.steps else run.told, style)]
    if run.reverted and not run.steps.startswith("steps"):
        return Tree([*line, _describe_reason(run.reverted[0])])
    below = [
        Tree([(f"step {values['step']} undone", "red"), _describe_reason(values)])
        for values in run.reverted[-MAX_REVERTED_SHOWN:]
    ]
    if len(run.reverted) > MAX_REVERTED_SHOWN:
        below.append(Tree([(f"and {len(run.reverted) - MAX_REVERTED_SHOWN:,} earlier", "dim")]))
    return Tree(line, below)


def _describe_reason(line: DecisionLine) -> Span:
    return to_one_line(f": {line['why']}", MAX_TEXT_CHARACTERS) if line["why"] else "", "dim"


def _describe_turn(branch: DecisionNode) -> list[Span]:
    """Describe a decision, question or answer: text, then author, time and confidence."""
    line = branch.line
    mark, style = _MARK_BY_KIND[line["kind"]]
    subject = f"{to_one_line(line['subject'], 60)}: " if line.get("subject") else ""
    spans = [(f"{mark} ", style), (subject, "bold"), (_describe_decision(line), "dim" if branch.superseded else "")]
    spans.append((f"\n  {_describe_author(line)}", "dim"))
    if branch.superseded:
        spans.append((f", superseded at step {branch.superseded['step']}", "yellow"))
    if line["why"]:
        spans.append((f"\n  why: {to_one_line(line['why'], MAX_TEXT_CHARACTERS)}", "dim"))
    return spans


def _describe_decision(line: DecisionLine) -> str:
    if line["kind"] == "answered" and line.get("option"):
        return f"{to_one_line(line['text'], MAX_TEXT_CHARACTERS)} (option {line['option']})"
    return to_one_line(line["text"], MAX_TEXT_CHARACTERS)


def _describe_author(line: DecisionLine) -> str:
    who = f"{to_one_line(line['who'], 40)} (person)" if "who" in line else line["by"]
    sure = f", {line['confidence']:.0%} sure" if line["kind"] == "decided" and line["confidence"] is not None else ""
    verb = {"asked": "asked", "answered": "answered", "planned": "planned"}.get(line["kind"], "decided")
    return f"{_format_minute(line['at'])}  {verb} by {who} at step {line['step']}{sure}"


def _list_options(branch: DecisionNode) -> list[Tree]:
    """List the options of a question; the chosen one is marked."""
    chosen, trees = (
        next((node.line.get("option") for node in branch.followed if node.line["kind"] == "answered"), None),
        list[Tree](),
    )
    for number, option in enumerate(branch.line.get("options", ()), 1):
        means = f": {to_one_line(option['means'], MAX_TEXT_CHARACTERS)}" if option["means"] else ""
        text = f"{'✓' if number == chosen else '·'} {number} {to_one_line(option['option'], 100)}{means}"
        trees.append(Tree([(text, "green" if number == chosen else "dim")]))
    return trees


def _describe_outcome(line: DecisionLine, last: str) -> list[Span]:
    """Describe a verdict, an end or a waiver, with its reason unless the line before gave it."""
    status = line["text"].partition(" ")[0]
    first = (status, WORD_STYLES.get(status, ""))
    if line["kind"] == "decided":
        first = (to_one_line(line["text"], MAX_TEXT_CHARACTERS), "yellow")
    elif line["kind"] == "verified":
        first = (_VERDICT_WORDS[line["text"]], WORD_STYLES[line["text"]])
    why = f": {to_one_line(line['why'], MAX_TEXT_CHARACTERS)}" if line["why"] and line["why"] != last else ""
    return [first, (f"{why} ({_format_minute(line['at'])}, step {line['step']})", "dim")]


def _format_minute(at: str) -> str:
    """Format a journal time to the minute."""
    return at[:16].replace("T", " ")
