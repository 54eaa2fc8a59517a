"""Raw output goes to the archive; what later windows may show of it is a digest."""

from collections.abc import Iterator, Sequence

from afresh.core.action import Observation, describe_subject
from afresh.core.archived_block import Block, BlockIndexLine, block_from_text, move_old_lines
from afresh.core.command_output import TELLING_LINE, OutputReading, command_from_output
from afresh.core.decision import Decision
from afresh.core.event import ActionsExecuted, DecisionMade, OutputDigested
from afresh.core.fact import Fact
from afresh.core.state import State
from afresh.core.step_history import ENDED_OK, FAILED_SUFFIX, Passage, PassageVoice, count_remembered_characters
from afresh.core.step_result import (
    ActionResult,
    StepResult,
    find_telling_line,
    shorten_action,
    shorten_command,
    truncate_first_line,
)
from afresh.core.tool_traits import ToolTrait, has_trait
from afresh.memory.history.names import find_file_names
from afresh.memory.observed_facts import facts_from_reading
from afresh.memory.passage_retention import find_said_decisions
from afresh.outputs.read_output import purpose_from_command, read_output, read_outputs, read_search_output

MAX_DIGEST_LINES = 12
MAX_DIGEST_CHARACTERS = 900
PARTLY_FAILED = "partly"
NOT_REMEMBERED = (ToolTrait.NOTES, ToolTrait.ARRANGES)
NOT_INDEXED = (ToolTrait.WRITES, *NOT_REMEMBERED)
"""Their results are in the files, in other sections or in the archive already: they need no line in the index."""


def digest_step(state: State, result: StepResult) -> StepResult:
    """What was done, what was read from outputs, and what was decided in the thought."""
    step = state.work.step + 1
    blocks = [block_from_text(deed.outcome.text) for deed in result.done]
    seen = [observation_from_action(deed, raw) for deed, raw in zip(result.done, blocks, strict=True)]
    passages, spoken = passages_from_reply(state, step, result)
    readings = [read_action_output(deed, raw) for deed, raw in zip(result.done, blocks, strict=True)]
    index = [
        BlockIndexLine(raw.id, deed.action.tool, describe_output_origin(deed, raw), len(raw.text), reading.phrase, step)
        for deed, raw, reading in zip(result.done, blocks, readings, strict=True)
        if raw.text.strip() and not has_trait(deed.action, *NOT_INDEXED)
    ]
    page, moved = move_old_lines(state.memory.index, index, step)
    digested = OutputDigested(
        facts=tuple(facts_from_step(state, step, result, blocks, readings)),
        regions=tuple(region for deed in result.done for region in deed.outcome.regions),
        index=(*page, *index),
        passages=(*passages, *passages_from_outputs(state, step, result, blocks)),
    )
    decisions = map(DecisionMade, decisions_from_thought(state, step, result))
    events = (ActionsExecuted(step, tuple(seen)), *result.decided, digested, *decisions)
    return result.add(*events, blocks=(*blocks, *spoken, *moved))


def decisions_from_thought(state: State, step: int, result: StepResult) -> list[Decision]:
    """Decisions that the model said and did not record itself."""
    thought = state.work.pending.reply.thought if state.work.pending else ""
    if any(isinstance(event, DecisionMade) for event in result.decided):
        return []
    block = block_from_text(thought)
    return [Decision(text, "model", step=step, said=block.id) for text in find_said_decisions(block.text)]


def read_action_output(deed: ActionResult, raw: Block) -> OutputReading:
    if not has_trait(deed.action, ToolTrait.PRINTS) or has_trait(deed.action, ToolTrait.FOREIGN):
        return OutputReading(find_telling_line(raw.text))
    if has_trait(deed.action, ToolTrait.SEARCHES):
        return read_search_output(raw.text)
    if has_trait(deed.action, ToolTrait.RUNS) and not has_trait(deed.action, ToolTrait.COMMANDS):
        return read_outputs(raw.text)
    return read_output(str(deed.action.args.get("command") or command_from_output(raw.text)), raw.text)


def describe_output_origin(deed: ActionResult, raw: Block) -> str:
    """The action that printed an output; for a command, its purpose."""
    command = command_from_output(raw.text) if has_trait(deed.action, ToolTrait.PRINTS) else ""
    return purpose_from_command(command) if command else describe_subject(shorten_action(deed))


def fact_source_from_action(deed: ActionResult, raw: Block) -> str:
    """The command that a fact comes from. Scripts that begin alike are kept apart, so that none replaces the facts of another."""
    script = str(deed.action.args.get("command", "")).strip()
    return (
        f"{describe_output_origin(deed, raw)} #{block_from_text(script).id[:4]}"
        if "\n" in script
        else describe_output_origin(deed, raw)
    )


def facts_from_step(
    state: State, step: int, result: StepResult, blocks: Sequence[Block], readings: Sequence[OutputReading]
) -> Iterator[Fact]:
    """What the tools say themselves, and what their outputs say; a later output of one reply knows of the one before it."""
    known = state.memory.facts
    for deed, raw, reading in zip(result.done, blocks, readings, strict=True):
        yield from deed.outcome.facts
        if has_trait(deed.action, ToolTrait.PRINTS):
            new = tuple(
                facts_from_reading(reading, fact_source_from_action(deed, raw), raw.id, step, known, state.workspace.last_change)
            )
            known = (*known, *new)
            yield from new


def passages_from_reply(state: State, step: int, result: StepResult) -> tuple[list[Passage], list[Block]]:
    """Thought and actions of the reply, as memory keeps them. What was written to files is in the files."""
    thought = state.work.pending.reply.thought if state.work.pending else ""
    results = [deed for deed in result.done if not has_trait(deed.action, *NOT_REMEMBERED)]
    how = summarise_endings(results)
    lines = [render_action(deed) + (FAILED_SUFFIX if how == PARTLY_FAILED and not deed.outcome.ok else "") for deed in results]
    done = "\n".join(dict.fromkeys(lines))
    about = find_file_names("\n".join(f"{deed.action.args.get('command', '')}\n{render_action(deed)}" for deed in results))
    blocks = [block_from_text(text) for text in (thought, done) if text]
    passages = [
        Passage(
            step,
            voice,
            block_from_text(text).id,
            count_remembered_characters(text, state.task.budget),
            "",
            about,
            end,
            writes=writes,
        )
        for voice, text, end, writes in (
            (PassageVoice.THOUGHT, thought, "", False),
            (PassageVoice.ACTION, done, how, bool(results) and has_trait(results[0].action, ToolTrait.WRITES)),
        )
        if text
    ]
    return passages, blocks


def summarise_endings(results: Sequence[ActionResult]) -> str:
    """One word for all actions; the text of each failed one says so, too."""
    if all(deed.outcome.ok for deed in results):
        return ENDED_OK
    return PARTLY_FAILED if any(deed.outcome.ok for deed in results) else "failed"


def render_action(deed: ActionResult) -> str:
    """What memory keeps of an action. Of a script that ended well its first line: what it printed is kept, and what it wrote is
    in the files."""
    if has_trait(deed.action, ToolTrait.COMMANDS):
        command = str(deed.action.args.get("command", ""))
        return f"{deed.action.tool} {shorten_command(command) if deed.outcome.ok else command}"
    return f"{deed.action.tool} {describe_subject(shorten_action(deed))}"


def passages_from_outputs(state: State, step: int, result: StepResult, blocks: Sequence[Block]) -> Iterator[Passage]:
    """Outputs that are shown nowhere else: files are shown as they are now; notes and plan have their own sections."""
    changing = [number for number, deed in enumerate(result.done) if has_trait(deed.action, ToolTrait.CHANGES)]
    for number, (deed, raw) in enumerate(zip(result.done, blocks, strict=True)):
        if raw.text.strip() and has_trait(deed.action, ToolTrait.PRINTS):
            told, late = render_action(deed), number >= max(changing, default=0)
            about = find_file_names(f"{deed.action.args.get('command', '')}\n{told}")
            size = count_remembered_characters(raw.text, state.task.budget)
            yield Passage(step, PassageVoice.OUTPUT, raw.id, size, truncate_first_line(told, 60), about, late=late)


def observation_from_action(deed: ActionResult, raw: Block) -> Observation:
    regions = deed.outcome.regions
    lines = sum(region.end - region.start + 1 for region in regions)
    return Observation(shorten_action(deed), deed.outcome.ok, truncate_output(raw.text), raw.id, len(raw.text), lines, regions)


def truncate_output(text: str) -> str:
    """Head, tail and the lines between them that say how it went."""
    lines = text.splitlines()
    if len(lines) <= MAX_DIGEST_LINES and len(text) <= MAX_DIGEST_CHARACTERS:
        return text
    head, tail = lines[:3], lines[-4:]
    between = [line for line in lines[3:-4] if TELLING_LINE.search(line)][: MAX_DIGEST_LINES - len(head) - len(tail)]
    kept = [truncate_first_line(line, 120) for line in (*head, "…", *between, "…", *tail)]
    return "\n".join(kept)[:MAX_DIGEST_CHARACTERS]
