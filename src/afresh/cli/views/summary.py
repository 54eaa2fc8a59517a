"""The end of a run: the verdict first, then what it rests on."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from afresh.cli.views.parts import STYLES, diff, fields, gauge, heading, listing, runs_json, said, sparkline, spread, word
from afresh.domain.change import Change
from afresh.domain.fact import UNCONFINED
from afresh.domain.option import offered
from afresh.domain.state import State
from afresh.domain.text import one_line
from afresh.domain.window import Audit
from afresh.projections.standing import commands, counted, failed_approaches

if TYPE_CHECKING:
    from rich.console import RenderableType

DIFF_LINES = 80


def summary_json(state: State, changes: Sequence[Change], audits: Sequence[Audit], accumulating: int = 0) -> dict[str, Any]:
    """`accumulating` is what an agent that keeps its history would have sent over the same steps."""
    sent = [audit.tokens for audit in audits]
    verdict, baseline = state.verdict, state.baseline
    ceiling = max((audit.budget for audit in audits), default=state.budget)
    return {
        "task": state.task.id,
        "goal": state.task.goal,
        "status": state.status.value,
        "verdict": verdict.ruling.value if verdict else None,
        "reason": state.outcome or (verdict.reason if verdict else ""),
        "question": state.question,
        "options": list(state.options),
        "unconfined": state.unconfined,
        "branch": state.branch,
        "commit": state.commit,
        "changes": [
            {"path": c.path, "kind": c.kind, "added": c.added, "removed": c.removed, "patch": c.patch} for c in changes
        ],
        "tests": {"before": runs_json(baseline.runs if baseline else ()), "after": runs_json(verdict.runs if verdict else ())},
        "measure": {"before": baseline.measure if baseline else 0, "after": verdict.measure if verdict else None},
        "steps": state.step,
        "kept": state.kept,
        "reverted": state.reverted,
        "tokens": {
            "calls": state.calls, "input": state.usage.input, "output": state.usage.output, "cached": state.usage.cached,
            "per_call": sent, **spread(sent), "ceiling": ceiling, "sent": sum(sent), "accumulating": accumulating,
        },
        "knowledge": {"used": list(state.knowledge.used), "left": state.knowledge.left},
        "failed_approaches": [{"step": f.step, "subject": f.subject, "text": f.text} for f in failed_approaches(state)],
        "next": list(commands(state)),
    }  # fmt: skip


def summary(
    state: State,
    changes: Sequence[Change],
    audits: Sequence[Audit],
    accumulating: int = 0,
    diff_lines: int = DIFF_LINES,
    cost: str = "",
) -> "RenderableType":
    """`cost`: the money that it took, in words; empty where nobody pays."""
    from rich.console import Group

    data = summary_json(state, changes, audits, accumulating)
    return Group(
        _verdict(data),
        fields(_facts(state, data | {"cost": cost}, audits)),
        *_changes(state, changes, diff_lines),
        *_reverted(data),
        *_next(data),
    )


def _verdict(data: dict[str, Any]) -> "RenderableType":
    from rich import box
    from rich.panel import Panel
    from rich.text import Text

    first = data["verdict"] if data["status"] not in ("failed", "blocked") else data["status"]
    style = STYLES.get(first or data["status"], "dim")
    body = Text.assemble((f"{first or data['status']}", f"bold {style}"), f"  {one_line(data['reason'], 400)}\n")
    body.append(one_line(data["goal"], 300), "dim")
    return Panel(body, title=said(data["task"], "bold", limit=40), title_align="left", box=box.ROUNDED, border_style=style)


def _facts(state: State, data: dict[str, Any], audits: Sequence[Audit]) -> list[tuple[str, Any]]:
    tests, tokens, measure = data["tests"], data["tokens"], data["measure"]
    rows: list[tuple[str, Any]] = [("asks", _asks(state))] if state.question else []
    if state.unconfined:
        rows.append(("sandbox", said(f"NONE: {UNCONFINED}", "bold red")))
    rows += [("tests", f"{tests['before']['words']} → {tests['after']['words']}")]
    if measure["before"] or measure["after"]:
        rows.append(("violations", f"{measure['before']} → {'not counted' if measure['after'] is None else measure['after']}"))
    if state.baseline and state.baseline.flaky:
        rows.append(("flaky", said(", ".join(state.baseline.flaky), "yellow", limit=200)))
    rows.append(("steps", f"{data['steps']}: {counted(data['kept'], 'change')} kept, {data['reverted']} reverted"))
    if audits:
        largest = max(audits, key=lambda audit: audit.tokens)
        rows.append(("largest call", gauge(largest.tokens, largest.budget, largest.reserve)))
        rows.append(("every call", _every_call(tokens)))
    spent = f"{counted(tokens['calls'], 'call')}, {tokens['input']:,} tokens in, {tokens['output']:,} out"
    rows.append(("spent", f"{data['cost']}: {spent}" if data["cost"] else spent))
    if tokens["accumulating"]:
        rows.append(("sent in all", _saved(tokens)))
    return rows + _knowledge(data["knowledge"])


def _knowledge(data: dict[str, Any]) -> list[tuple[str, Any]]:
    """What it drew on, and what it leaves for others."""
    told = [f"drew on {', '.join(data['used'])}"] if data["used"] else []
    told += [f"afresh knowledge show {data['left']}"] if data["left"] else []
    return [("learnt", said("; ".join(told)))] if told else []


def _asks(state: State) -> "RenderableType":
    """The question, and what can be answered by a number."""
    options = [f"\n  {one.number} {one_line(one.words, 200)}" for one in offered(state.options)]
    return said(state.question, "yellow").append("".join(options), "default")


def _every_call(tokens: dict[str, Any]) -> str:
    line = sparkline(tokens["per_call"], tokens["ceiling"])
    return f"{line} min {tokens['min']:,}, median {tokens['median']:,}, max {tokens['max']:,}"


def _saved(tokens: dict[str, Any]) -> str:
    share = 1 - tokens["sent"] / tokens["accumulating"]
    fewer = f", {share:.0%} fewer" if share > 0 else ""
    return f"{tokens['sent']:,} tokens; with the history kept it would have been {tokens['accumulating']:,}{fewer}"


def _changes(state: State, changes: Sequence[Change], diff_lines: int) -> list["RenderableType"]:
    if not changes:
        return [heading("No file was changed.")]
    table = listing("file", "kind", ">+", ">−")
    for change in changes:
        table.add_row(said(change.path), word(change.kind), f"{change.added:,}", f"{change.removed:,}")
    shown, left = diff(changes, diff_lines)
    parts: list[RenderableType] = [heading("Changed"), table, heading("Diff"), shown]
    if left:
        parts.append(said(f"… {left:,} more lines: git diff {state.base[:12]} {state.branch}", "dim"))
    return parts if diff_lines else parts[:2]


def _reverted(data: dict[str, Any]) -> list["RenderableType"]:
    if not data["failed_approaches"]:
        return []
    rows = [(f"step {it['step']}", said(f"{it['subject']}: {it['text']}", limit=300)) for it in data["failed_approaches"]]
    return [heading("Tried and reverted"), fields(rows)]


def _next(data: dict[str, Any]) -> list["RenderableType"]:
    what = {"apply": "take the branch into your checkout", "discard": "drop branch and worktree", "resume": "go on",
            "show": "all that is known of the task", "answer": "answer its question"}  # fmt: skip
    rows = [(it, "take it over all the same" if it.endswith("--unverified") else what[it.split()[1]]) for it in data["next"]]
    return [heading("Next"), fields((said(it, "cyan").plain, meaning) for it, meaning in rows)]
