"""The decision log as a tree: under each decision, question and answer the lines that follow from it. One pass over the
journal."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from afresh.core.decision import has_same_subject
from afresh.core.state import State
from afresh.core.text import format_count
from afresh.core.truncate import to_one_line
from afresh.views.decision_log import DecisionLine, is_turning_point
from afresh.views.timeline import UPKEEP_TYPE


@dataclass(frozen=True, slots=True)
class DecisionNode:
    """A log line and the lines that follow from it."""

    line: DecisionLine
    followed: tuple["DecisionNode", ...] = ()
    superseded: DecisionLine | None = None
    """The later decision that replaced this one."""


@dataclass(frozen=True, slots=True)
class DecisionRun:
    """Consecutive lines about steps and upkeep, shown together."""

    branches: tuple[DecisionNode, ...]

    @property
    def steps(self) -> str:
        numbers = [branch.line["step"] for branch in self.branches if branch.line["kind"] == "settled"]
        return f"step {numbers[0]}" if len(numbers) == 1 else f"steps {numbers[0]}–{numbers[-1]}" if numbers else ""

    @property
    def told(self) -> str:
        changes = [branch.line["change"] for branch in self.branches if "change" in branch.line]
        fates = {"kept": "kept", "put back": "put back", "reverted": "undone", "none": "without a change"}
        counts = [f"{changes.count(change):,} {fate}" for change, fate in fates.items() if change in changes]
        text = (
            {"none": "no change"}.get(changes[0], fates.get(changes[0], changes[0])) if len(changes) == 1 else ", ".join(counts)
        )
        upkeep = dict.fromkeys(
            _describe_upkeep_lines([branch.line for branch in self.branches if branch.line["type"] == UPKEEP_TYPE])
        )
        return "; ".join(part for part in (text, *upkeep) if part)

    @property
    def reverted(self) -> list[DecisionLine]:
        return [branch.line for branch in self.branches if branch.line.get("change") == "reverted"]


def build_decision_tree(lines: Iterable[DecisionLine]) -> tuple[DecisionNode, ...]:
    """Build the tree; reading it from top to bottom gives the log."""
    known, children = list[DecisionLine](), dict[int, list[DecisionLine]]()
    for line in lines:
        known.append(line)
        children.setdefault(line["follows"][-1] if line["follows"] else 0, []).append(line)
    later = dict(_find_superseded(known))

    def grown(number: int) -> tuple[DecisionNode, ...]:
        return tuple(DecisionNode(line, grown(line["n"]), later.get(line["n"])) for line in children.get(number, ()))

    return grown(0)


def flatten_tree(branches: Iterable[DecisionNode]) -> Iterator[DecisionLine]:
    for branch in branches:
        yield branch.line
        yield from flatten_tree(branch.followed)


def group_runs(branches: Sequence[DecisionNode]) -> Iterator[DecisionNode | DecisionRun]:
    """Group consecutive steps, whether kept, reverted or read-only; turning points are separate."""
    nodes = list[DecisionNode]()
    for branch in branches:
        if branch.line["kind"] == "settled" or (branch.line["type"] == UPKEEP_TYPE and not branch.followed):
            nodes.append(branch)
            continue
        if nodes:
            yield DecisionRun(tuple(nodes))
        nodes = []
        yield branch
    if nodes:
        yield DecisionRun(tuple(nodes))


def _find_superseded(lines: Sequence[DecisionLine]) -> Iterator[tuple[int, DecisionLine]]:
    """Return each model decision that a later one on the same subject replaced, and the later one."""
    newest = list[DecisionLine]()
    for line in lines:
        if line["kind"] != "decided" or line["by"] != "model" or not line.get("subject"):
            continue
        for old in [old for old in newest if has_same_subject(old["subject"], line["subject"])]:
            newest.remove(old)
            yield old["n"], line
        newest.append(line)


def _describe_upkeep_lines(lines: Sequence[DecisionLine]) -> Iterator[str]:
    """Summarise: ceiling changes with the last reason, findings with evidence, counts of the rest."""
    if changes := [line for line in lines if line["kind"] == "rebudgeted"]:
        ceilings = [line["text"].split()[-1] for line in changes]
        yield f"token limit {' → '.join(ceilings[-3:])} ({to_one_line(changes[-1]['why'], 120)})"
    yield from (f"{line['text']}, {to_one_line(line['why'], 120)}".rstrip(", ") for line in lines if line["kind"] == "noticed")
    for kind, noun in (("compacted", "compaction"), ("checkpointed", "checkpoint")):
        if number := sum(line["kind"] == kind for line in lines):
            yield format_count(number, noun)
    for kind, what in (
        ("breached", "over the token limit by the provider's count"),
        ("doubted", "with a count that is not believed"),
    ):
        if number := sum(line["kind"] == kind for line in lines):
            yield f"{format_count(number, 'call')} {what}"
    yield from (to_one_line(line["text"], 200) for line in lines if line["kind"] == "decided")


def decisions_to_json(state: State, branches: Sequence[DecisionNode]) -> dict[str, Any]:
    return {
        "task": state.task.id,
        "goal": state.task.goal,
        "status": state.status.value,
        "decisions": [_branch_to_json(branch) for branch in branches],
    }


def _branch_to_json(branch: DecisionNode) -> dict[str, Any]:
    """Convert a branch with every line."""
    superseded = {"superseded_by": branch.superseded["n"]} if branch.superseded else {}
    followed = {"followed": [_branch_to_json(node) for node in branch.followed]} if is_turning_point(branch.line) else {}
    return {**branch.line, **superseded, **followed}
