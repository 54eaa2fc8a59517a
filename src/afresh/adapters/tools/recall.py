"""Get an archived output back: the part that a question is about, the lines that are named, or what tells most of it."""

import re
from collections.abc import Mapping
from typing import Any

from afresh.adapters.tools.remembered import remembered, withheld
from afresh.adapters.tools.tool import FunctionTool, schema
from afresh.domain.partial import Excerpt, about, between, outline
from afresh.domain.state import State
from afresh.errors import ModelMistake
from afresh.ports import Bench, Outcome

SHOWN = 8
SHORTEST = 6
FRAME = 60
"""Characters of an id as windows show it; fewest that are looked up; and tokens for what is said around the lines."""
RANGE = re.compile(r"\s*(\d+)\s*(?:(?:-|–|to|:|,)\s*(\d+)?)?\s*")


def run(args: Mapping[str, Any], bench: Bench) -> Outcome:
    if known := remembered(args["id"], args.get("about", ""), bench):
        return Outcome(known)
    block = found(args["id"], bench)
    text, room = withheld(bench.store.read(block), bench), max(FRAME, bench.recall - FRAME)
    if args.get("lines", "").strip():
        first, last = ranged(args["lines"], len(text.splitlines()))
        return Outcome(framed(block, between(text, first, last, room, bench.count), "", last))
    question = args.get("about", "").strip()
    part = about(text, question, room, bench.count) if question else outline(text, room, bench.count)
    if part.numbers or not question:
        return Outcome(framed(block, part))
    return Outcome(framed(block, outline(text, room, bench.count), f"no line holds {question[:80]!r}; what tells most:"))


def found(given: str, bench: Bench) -> str:
    """The whole id. Only what this task has archived itself can be had: what it knows by id, and what came with its records."""
    name = given.strip().strip("[]`'\"…. ").lower()
    name = next((word for word in reversed(name.split()) if re.fullmatch(r"[0-9a-f]{6,32}", word)), name)
    if not re.fullmatch(r"[0-9a-f]{6,32}", name):
        raise ModelMistake(f"recall: {given[:60]!r} is no id: ids are {SHOWN} characters like 1a2b3c4d, {where(bench.state)}")
    matching = {block for block in known(bench.state) if block.startswith(name)}
    matching = matching or set(bench.store.find(name, bench.state.task.id))
    if not matching:
        raise ModelMistake(f"recall: this task has archived no block {name!r}; ids stand {where(bench.state)}")
    if len(matching) > 1:
        fitting = ", ".join(block[: max(SHOWN, len(name) + 4)] for block in sorted(matching)[:4])
        raise ModelMistake(f"recall: {name!r} fits {len(matching)} blocks ({fitting}); give more of the id")
    return matching.pop()


def known(state: State) -> set[str]:
    """Outputs that a window may name."""
    seen = [one.block for record in state.recent for one in record.observations]
    runs = [run.block for run in (state.verdict.runs if state.verdict else ())]
    return {*[line.block for line in state.index], *[one.block for one in state.passages], *seen, *runs} - {""}


def where(state: State) -> str:
    latest = ", ".join(f"{line.block[:SHOWN]} ({line.subject[:40]})" for line in state.index[:-4:-1])
    return "under Archived outputs and in the headings under Work so far" + (f"; the latest: {latest}" if latest else "")


def ranged(given: str, total: int) -> tuple[int, int]:
    match = RANGE.fullmatch(given)
    if not match:
        raise ModelMistake(f'recall: lines should be like "120-180", not {given[:40]!r}')
    first, last = int(match[1]), int(match[2] or match[1])
    if not 1 <= first <= total or last < first:
        raise ModelMistake(f"recall: the block has lines 1-{total}, not {given.strip()[:40]}")
    return first, min(last, total)


def framed(block: str, part: Excerpt, note: str = "", last: int = 0) -> str:
    """What it is, the lines, and what was left out with the way to get it."""
    head = f"[{block[:SHOWN]}: {'all' if part.whole else len(part.numbers)} of {part.total} lines{'; ' + note if note else ''}]"
    if part.whole:
        return f"{head}\n{part.text}" if part.total else f"[{block[:SHOWN]}: empty]"
    first, end = next_gap(part, last)
    rest = (
        f"{part.total - len(part.numbers)} lines left out; `recall` id={block[:SHOWN]} lines={first}-{end} shows the next of them"
    )
    return f"{head}\n{part.text}\n[{rest}]"


def next_gap(part: Excerpt, last: int) -> tuple[int, int]:
    """Where to go on: after the lines that were asked for, else the first lines that are missing."""
    held = set(part.numbers)
    after = part.numbers[-1] + 1 if last and part.numbers and part.numbers[-1] < part.total else 1
    first = next(number for number in (*range(after, part.total + 1), *range(1, after)) if number not in held)
    end = first
    while end < (max(last, first) if last > first else part.total) and end + 1 not in held:
        end += 1
    return first, end


tool = FunctionTool(
    schema(
        "recall", "Archived output by id: about words, or lines 9-80. Or id=decisions, failed, notes, memory.",
        ("about", "lines"), id="", about="", lines="",
    ),
    run,
)  # fmt: skip
