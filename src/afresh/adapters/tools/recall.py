"""Get an archived output back: the part that a question is about, the lines that are named, or what tells most of it."""

import re
from collections.abc import Mapping
from typing import Any

from afresh.adapters.tools.remembered import recall_facts, withhold_forgotten_lines
from afresh.adapters.tools.tool import FunctionTool, make_tool_schema
from afresh.domain.partial import OutputExcerpt, select_lines_about, select_line_range, select_outline
from afresh.domain.state import State
from afresh.errors import ModelMistake
from afresh.ports import ToolContext, ToolOutcome

ID_CHARACTERS = 8
MIN_ID_CHARACTERS = 6
FRAME_TOKENS = 60
"""Characters of an id as windows show it; fewest that are looked up; and tokens for what is said around the lines."""
LINE_RANGE_PATTERN = re.compile(r"\s*(\d+)\s*(?:(?:-|–|to|:|,)\s*(\d+)?)?\s*")


def recall_output(args: Mapping[str, Any], bench: ToolContext) -> ToolOutcome:
    if known := recall_facts(args["id"], args.get("about", ""), bench):
        return ToolOutcome(known)
    block = find_block_id(args["id"], bench)
    text, room = withhold_forgotten_lines(bench.store.read(block), bench), max(FRAME_TOKENS, bench.recall - FRAME_TOKENS)
    if args.get("lines", "").strip():
        first, last = parse_line_range(args["lines"], len(text.splitlines()))
        return ToolOutcome(render_block_part(block, select_line_range(text, first, last, room, bench.count), "", last))
    question = args.get("about", "").strip()
    part = select_lines_about(text, question, room, bench.count) if question else select_outline(text, room, bench.count)
    if part.numbers or not question:
        return ToolOutcome(render_block_part(block, part))
    return ToolOutcome(
        render_block_part(block, select_outline(text, room, bench.count), f"no line holds {question[:80]!r}; what tells most:")
    )


def find_block_id(given: str, bench: ToolContext) -> str:
    """The whole id. Only what this task has archived itself can be had: what it knows by id, and what came with its records."""
    name = given.strip().strip("[]`'\"…. ").lower()
    name = next((word for word in reversed(name.split()) if re.fullmatch(r"[0-9a-f]{6,32}", word)), name)
    if not re.fullmatch(r"[0-9a-f]{6,32}", name):
        raise ModelMistake(
            f"recall: {given[:60]!r} is no id: ids are {ID_CHARACTERS} characters like 1a2b3c4d, {describe_id_places(bench.state)}"
        )
    matching = {block for block in list_known_blocks(bench.state) if block.startswith(name)}
    matching = matching or set(bench.store.find(name, bench.state.task.id))
    if not matching:
        raise ModelMistake(f"recall: this task has archived no block {name!r}; ids stand {describe_id_places(bench.state)}")
    if len(matching) > 1:
        fitting = ", ".join(block[: max(ID_CHARACTERS, len(name) + 4)] for block in sorted(matching)[:4])
        raise ModelMistake(f"recall: {name!r} fits {len(matching)} blocks ({fitting}); give more of the id")
    return matching.pop()


def list_known_blocks(state: State) -> set[str]:
    """Outputs that a window may name."""
    seen = [one.block for record in state.recent for one in record.observations]
    runs = [run.block for run in (state.verdict.runs if state.verdict else ())]
    return {*[line.block for line in state.index], *[one.block for one in state.passages], *seen, *runs} - {""}


def describe_id_places(state: State) -> str:
    latest = ", ".join(f"{line.block[:ID_CHARACTERS]} ({line.subject[:40]})" for line in state.index[:-4:-1])
    return "under Archived outputs and in the headings under Work so far" + (f"; the latest: {latest}" if latest else "")


def parse_line_range(given: str, total: int) -> tuple[int, int]:
    match = LINE_RANGE_PATTERN.fullmatch(given)
    if not match:
        raise ModelMistake(f'recall: lines should be like "120-180", not {given[:40]!r}')
    first, last = int(match[1]), int(match[2] or match[1])
    if not 1 <= first <= total or last < first:
        raise ModelMistake(f"recall: the block has lines 1-{total}, not {given.strip()[:40]}")
    return first, min(last, total)


def render_block_part(block: str, part: OutputExcerpt, note: str = "", last: int = 0) -> str:
    """What it is, the lines, and what was left out with the way to get it."""
    head = f"[{block[:ID_CHARACTERS]}: {'all' if part.whole else len(part.numbers)} of {part.total} lines{'; ' + note if note else ''}]"
    if part.whole:
        return f"{head}\n{part.text}" if part.total else f"[{block[:ID_CHARACTERS]}: empty]"
    first, end = find_next_gap(part, last)
    rest = f"{part.total - len(part.numbers)} lines left out; `recall` id={block[:ID_CHARACTERS]} lines={first}-{end} shows the next of them"
    return f"{head}\n{part.text}\n[{rest}]"


def find_next_gap(part: OutputExcerpt, last: int) -> tuple[int, int]:
    """Where to go on: after the lines that were asked for, else the first lines that are missing."""
    held = set(part.numbers)
    after = part.numbers[-1] + 1 if last and part.numbers and part.numbers[-1] < part.total else 1
    first = next(number for number in (*range(after, part.total + 1), *range(1, after)) if number not in held)
    end = first
    while end < (max(last, first) if last > first else part.total) and end + 1 not in held:
        end += 1
    return first, end


tool = FunctionTool(
    make_tool_schema(
        "recall", "Archived output by id: about words, or lines 9-80. Or id=decisions, failed, notes, memory.",
        ("about", "lines"), id="", about="", lines="",
    ),
    recall_output,
)  # fmt: skip
