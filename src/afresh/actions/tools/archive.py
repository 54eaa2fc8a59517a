"""What `read` and `search` find under an address such as `@1a2b3c4d` or `@notes`: archived outputs and what is remembered."""

import re

from afresh.actions.recall_excerpt import OutputExcerpt, select_line_range, select_lines_about, select_outline
from afresh.core.archived_block import read_whole_index
from afresh.core.fact import FactKind
from afresh.core.project_facts import FactQuery, ProjectFact
from afresh.core.state import State
from afresh.core.step_result import ToolOutcome
from afresh.errors import ModelMistake
from afresh.memory.user_corrections import Corrections
from afresh.ports.tool import ToolContext

FACT_KINDS_BY_NAME: dict[str, tuple[FactKind, ...]] = {
    "decisions": (FactKind.DECISION,),
    "failed": (FactKind.FAILED_APPROACH,),
    "notes": (FactKind.NOTE,),
    "rules": (FactKind.RULE, FactKind.ANSWER),
    "memory": (),
}
FALLBACK_FACT_COUNT = 4
MAX_SHOWN_FACTS = 16
FACT_ID_PATTERN = re.compile(r"m[0-9a-f]{8}")


def recall_facts(text: str, about: str, context: ToolContext) -> str:
    """Empty when it is the id of an archived output that is asked for."""
    name = strip_address(text)
    if name in FACT_KINDS_BY_NAME:
        return list_facts(name, about.strip(), context)
    if FACT_ID_PATTERN.fullmatch(name):
        return recall_fact(name, context)
    return ""


def strip_address(text: str) -> str:
    return text.strip().strip("@[]`'\"…. ").lower()


def list_facts(name: str, about: str, context: ToolContext) -> str:
    """As many as fit, of this task; with `memory` of the project."""
    question = FactQuery(about, FACT_KINDS_BY_NAME[name], context.state.task.id, name != "memory", MAX_SHOWN_FACTS)
    facts = list(context.facts.look_up(question))
    if not facts and about:
        facts = list(context.facts.look_up(FactQuery("", question.kinds, question.task, question.own, FALLBACK_FACT_COUNT)))
        head = f"[{name}: nothing holds {about[:60]!r}; the newest:]"
    else:
        head = f"[{name}{f' about {about[:60]}' if about else ', the newest'}: {len(facts)}]"
    lines, left = [head], context.recall - context.count(head)
    for known in facts:
        line = withhold_forgotten_lines(render_known_fact(known, context.state.task.id), context)
        left -= context.count(line)
        if left < 0 and len(lines) > 1:
            lines.append(f"[{len(facts) - len(lines) + 1} more: ask about something narrower]")
            break
        lines.append(line)
    return "\n".join(lines) if facts else f"[{name}: none yet]"


def render_known_fact(known: ProjectFact, task: str) -> str:
    fact = known.fact
    where = f"step {fact.step}" if known.task == task else known.origin
    about = "" if fact.text.startswith(fact.subject.removesuffix("…")) else f"{fact.subject}: "
    return f"- {known.id} {where} {fact.kind}: {about}{fact.text}"


def recall_fact(name: str, context: ToolContext) -> str:
    """A fact with the lines that show it, if the task may see them."""
    facts = [known for known in context.facts.known(name) if not known.ended and is_visible_fact(known, context)]
    if not facts:
        raise ModelMistake(f"nothing is remembered as {name!r}")
    known = facts[-1]
    return withhold_forgotten_lines(
        "\n".join([render_known_fact(known, context.state.task.id), *read_evidence(known, context)]), context
    )


def is_visible_fact(known: ProjectFact, context: ToolContext) -> bool:
    return known.task == context.state.task.id or known.fact.scope != "task"


def read_evidence(known: ProjectFact, context: ToolContext) -> list[str]:
    fact = known.fact
    if not fact.block or known.task != context.state.task.id:
        return []
    lines = context.store.read(fact.block).splitlines()
    first, last = fact.lines if fact.lines[0] else (1, min(len(lines), MAX_SHOWN_FACTS))
    return [f"[evidence: @{fact.block[:8]} lines {first}-{last}]", *lines[first - 1 : last]]


def withhold_forgotten_lines(text: str, context: ToolContext) -> str:
    """The text without lines that a person wants forgotten."""
    return Corrections(tuple(context.facts.edits())).scrub(text)


INDEX_NAME, CHANGES_NAME = "index", "changes"
"""Asked for in place of an id: a line for each archived output, the newest first; a line for each file that the task has
changed, or the diff of one."""
MAX_LISTED_LINES = 10_000
ID_CHARACTERS = 8
FRAME_TOKENS = 60
"""Characters of an id as prompts show it; and tokens for the text around the lines."""


def read_archive(address: str, lines: tuple[int, int] | None, context: ToolContext) -> ToolOutcome:
    """The lines that are asked for, or what tells most of an output; or a list of what is remembered."""
    if known := recall_facts(address, "", context):
        return ToolOutcome(known)
    block, text, room = open_block(address, context)
    if block.partition("/")[0] in (INDEX_NAME, CHANGES_NAME) and text:
        lines = lines or (1, MAX_LISTED_LINES)
    if lines:
        first, last = clamp_line_range(lines, len(text.splitlines()))
        return ToolOutcome(render_block_part(block, select_line_range(text, first, last, room, context.count), "", last))
    return ToolOutcome(render_block_part(block, select_outline(text, room, context.count)))


def search_archive(address: str, words: str, context: ToolContext) -> ToolOutcome:
    """The parts of an output, or of what is remembered, that are about these words."""
    if known := recall_facts(address, words, context):
        return ToolOutcome(known)
    block, text, room = open_block(address, context)
    words = words.strip()
    part = select_lines_about(text, words, room, context.count)
    missing = f"no line holds {words[:80]!r}"
    if block == INDEX_NAME and words.lower() not in text.lower():
        return ToolOutcome(
            f"[@{INDEX_NAME}: {missing}; it lists outputs and does not search inside them: `search` path=@id does]"
        )
    if part.numbers:
        literal = words.lower() in text.lower() or len(words.split()) > 1
        return ToolOutcome(render_block_part(block, part, "" if literal else f"{missing}; lines with a part of it:"))
    return ToolOutcome(render_block_part(block, select_outline(text, room, context.count), f"{missing}; what tells most:"))


def open_block(address: str, context: ToolContext) -> tuple[str, str, int]:
    """The id of an archived output, `index`, `changes` or `changes/PATH`; its text; and the tokens that may be shown of it."""
    name = strip_address(address)
    if name == INDEX_NAME:
        block, text = name, "\n".join(read_whole_index(context.state.memory.index, context.store.read))
    elif name.partition("/")[0] == CHANGES_NAME:
        block = address.strip("@[]` ")
        patches = [change.patch for change in context.list_changes() if f"{CHANGES_NAME}/{change.path}" == block]
        listed = (f"{change.path} {change.kind} +{change.added} −{change.removed}" for change in context.list_changes())
        text = "\n".join(patches or listed)
    else:
        block = find_block_id(address, context)
        text = context.store.read(block)
    return block, withhold_forgotten_lines(text, context), max(FRAME_TOKENS, context.recall - FRAME_TOKENS)


def find_block_id(text: str, context: ToolContext) -> str:
    """The whole id. A task can read what it has archived itself: what its state names, and what came with its records."""
    name = strip_address(text)
    name = next((word for word in reversed(name.split()) if re.fullmatch(r"[0-9a-f]{6,32}", word)), name)
    if not re.fullmatch(r"[0-9a-f]{6,32}", name):
        raise ModelMistake(f"{text[:60]!r} is no archived output: ids are like @1a2b3c4d, {describe_id_places(context.state)}")
    matching = {block for block in list_known_blocks(context.state) if block.startswith(name)}
    matching = matching or set(context.store.find(name, context.state.task.id))
    if not matching:
        raise ModelMistake(f"this task has archived no output @{name}; see the ids {describe_id_places(context.state)}")
    if len(matching) > 1:
        fitting = ", ".join(block[: max(ID_CHARACTERS, len(name) + 4)] for block in sorted(matching)[:4])
        raise ModelMistake(f"@{name} fits {len(matching)} outputs ({fitting}); give more of the id")
    return matching.pop()


def list_known_blocks(state: State) -> set[str]:
    """Outputs that a window may name."""
    seen = [observation.block for record in state.memory.recent for observation in record.observations]
    runs = [run.block for run in (state.verification.verdict.runs if state.verification.verdict else ())]
    return {*[line.block for line in state.memory.index], *[passage.block for passage in state.memory.passages], *seen, *runs} - {
        ""
    }


def describe_id_places(state: State) -> str:
    latest = ", ".join(f"@{line.block[:ID_CHARACTERS]} ({line.subject[:40]})" for line in state.memory.index[:-4:-1])
    return "under Archived outputs, or in the list that `read` @index shows" + (f"; the latest: {latest}" if latest else "")


def clamp_line_range(lines: tuple[int, int], total: int) -> tuple[int, int]:
    first, last = lines
    if not 1 <= first <= total:
        raise ModelMistake(f"the output has lines 1-{total}, not {first}")
    return first, min(last, total)


def render_block_part(block: str, part: OutputExcerpt, note: str = "", last: int = 0) -> str:
    """A head that names the block, the lines, and how to get what was left out."""
    block = block if "/" in block else block[:ID_CHARACTERS]
    head = f"[@{block}: {'all' if part.whole else len(part.numbers)} of {part.total} lines{'; ' + note if note else ''}]"
    if part.whole:
        return f"{head}\n{part.text}" if part.total else f"[@{block}: empty]"
    first, end = find_next_gap(part, last)
    rest = (
        f"{part.total - len(part.numbers)} lines left out; `read` @{block} start={first} "
        f"lines={end - first + 1} shows the next of them"
    )
    return f"{head}\n{part.text}\n[{rest}]"


def find_next_gap(part: OutputExcerpt, last: int) -> tuple[int, int]:
    """Where to go on: after the lines that were asked for, else the first lines that are missing."""
    numbers = set(part.numbers)
    after = part.numbers[-1] + 1 if last and part.numbers and part.numbers[-1] < part.total else 1
    first = next(number for number in (*range(after, part.total + 1), *range(1, after)) if number not in numbers)
    end = first
    while end < (max(last, first) if last > first else part.total) and end + 1 not in numbers:
        end += 1
    return first, end
