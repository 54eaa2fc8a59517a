"""What a step leaves behind to judge by whether the work moves."""

import re
from collections.abc import Iterator

from afresh.domain.action import subject
from afresh.domain.course import NAMED, Act, Edit, Ending, Glance, Mark
from afresh.domain.delegated import HandedOut
from afresh.domain.state import State
from afresh.domain.text import one_line
from afresh.domain.verdict import CheckRun
from afresh.engine.act import Deed, Deeds
from afresh.engine.digest import TELLING
from afresh.engine.judge import Judgement
from afresh.engine.stall.signature import key, result, signature, steady

LOOKING = ("read", "recall")
"""Judged by the lines that they show, not by their arguments."""
HEADER = re.compile(r"diff --git |index |--- |\+\+\+ |@@ |new file |deleted file |old mode |new mode |\\\\ ")
TOLD = 80
LINES = 12


def mark(state: State, deeds: Deeds, judged: Judgement) -> Mark:
    tokens, money = spent(state, deeds)
    return Mark(
        step=state.step + 1,
        acts=tuple(act(deed, state.snapshot) for deed in deeds.done if deed.action.tool not in LOOKING)[:NAMED],
        edits=tuple(edits(state.snapshot, deeds))[:NAMED],
        endings=tuple(endings(deeds, judged))[:NAMED],
        glances=tuple(glance for deed in deeds.done for glance in glances(deed))[:NAMED],
        worked=any(deed.outcome.ok for deed in deeds.done),
        tools=tuple(deed.action.tool for deed in deeds.done)[:NAMED],
        tokens=tokens,
        money=money,
    )


def spent(state: State, deeds: Deeds) -> tuple[int, int | None]:
    """Tokens and money, with those of the parts that came back in this step."""
    reply = state.pending.reply if state.pending else None
    parts = [event.result.metrics for event in deeds.events if isinstance(event, HandedOut)]
    costs = [reply.cost if reply else 0, *[part.money for part in parts]]
    known = [cost for cost in costs if cost is not None]
    tokens = (reply.usage.tokens if reply else 0) + sum(part.usage.tokens for part in parts)
    return tokens, sum(known) if len(known) == len(costs) else None


def act(deed: Deed, tree: str) -> Act:
    told = one_line(f"{deed.action.tool} {subject(deed.action)}".strip(), TOLD)
    return Act(key(deed.action, tree), "" if deed.outcome.refused else result(deed.outcome.text), told)


def edits(tree: str, deeds: Deeds) -> Iterator[Edit]:
    """Every file by the lines that changed, and the tree as a whole; also those that are then undone."""
    if len(deeds.changes) > 1:
        yield Edit("the tree", tree[:12], deeds.snapshot[:12])
    for change in deeds.changes:
        yield Edit(change.path, *(sides(change.patch) if change.patch else (tree[:12], deeds.snapshot[:12])))


def sides(patch: str) -> tuple[str, str]:
    """What was there and what came in its place, wherever in the file that is by now."""
    lines = [line for line in patch.splitlines() if not HEADER.match(line)]
    old = [line[1:] for line in lines if line[:1] in ("-", " ")]
    new = [line[1:] for line in lines if line[:1] in ("+", " ")]
    return signature("\n".join(old)), signature("\n".join(new))


def endings(deeds: Deeds, judged: Judgement) -> Iterator[Ending]:
    """Of the commands that the model ran, and of the checks that the harness ran after it."""
    for deed in deeds.done:
        if deed.action.tool in ("run", "test") and not deed.outcome.refused:
            source = signature(deed.action.tool, dict(deed.action.args))
            yield Ending(source, "") if deed.outcome.ok else failed(source, deed.outcome.text)
    for verdict in judged.verdicts:
        for run in verdict.runs:
            yield checked(run)


def failed(source: str, text: str) -> Ending:
    """By the lines that tell what went wrong, and by the last one if none does."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines[1:] if TELLING.search(line)] or lines[-1:]
    return Ending(source, signature(steady("\n".join(telling[-LINES:]))), one_line(telling[-1] if telling else "", TOLD))


def checked(run: CheckRun) -> Ending:
    source = signature(run.command, run.scope)
    if not run.exit and not run.failures:
        return Ending(source, "")
    found = sorted(f"{failure.test} {steady(failure.message)}" for failure in run.failures)
    first = run.failures[0] if run.failures else None
    told = f"{first.test} {first.message}" if first else f"{run.command} exits {run.exit}"
    return Ending(source, signature(f"{run.exit}", *found), one_line(told, TOLD))


def glances(deed: Deed) -> Iterator[Glance]:
    if deed.action.tool == "recall" and deed.outcome.ok:
        yield Glance(one_line(f"{deed.action.args.get('id', '')} {deed.action.args.get('about', '')}".strip(), TOLD))
    for region in deed.outcome.regions:
        if not region.changed:
            yield Glance(region.path, region.start, region.end)
