"""The last step, in a section of its own."""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from afresh.context.section import SectionDraft, SectionPiece
from afresh.core.action import Action, Observation, describe_subject, is_within_scope, normalize_scope
from afresh.core.change import group_consecutive
from afresh.core.command_output import skip_command_echo
from afresh.core.context_item import Excerpt, Note, collect_line_numbers
from afresh.core.context_policy import ReportPolicy
from afresh.core.line_region import Region
from afresh.core.prompt import Tier
from afresh.core.state import State
from afresh.core.step_record import StepRecord
from afresh.core.tool_traits import ToolTrait, has_trait
from afresh.core.truncate import truncate_middle
from afresh.memory.gathered_context import GatheredContext
from afresh.memory.user_corrections import Corrections
from afresh.runtime import Runtime

NO_TOOL_CALLED = (
    "Your reply called no tool, so nothing was done. Call a tool: `complete` if you are done, `ask` if a person must decide."
)
REPLY_UNDONE_TEXT = "The whole reply was reverted: see Verification."
TURN_UNDONE_TEXT = "The whole reply was reverted."
"""Where the verdict follows at once: the section Verification above it is older."""
BEFORE_CHANGE_MARK = "(before the change below)"
OUTCOME_PIECE = "outcome of the last step"
COMMAND_SIGN = "$ "
THOUGHT_PIECE = "thought of the last step"


def draft_last_step(memory: GatheredContext) -> SectionDraft:
    """The latest thought whole, then each action with its output; plan and notes stand in sections of their own."""
    if not memory.state.memory.recent:
        return SectionDraft("last", "Last step", Tier.DEMAND, ())
    step: StepRecord = memory.state.memory.recent[-1]
    outputs, commands = map_outputs(memory), _list_commands(memory.state)
    thought = [SectionPiece(f"You thought: {step.thought}", THOUGHT_PIECE)] if step.thought else []
    many = _summarise_changes(step, memory.policy.reports)
    deeds = [
        SectionPiece(
            _mark_older_output(
                _render_action(seen, outputs, step.kept, commands.get(number, "")), is_older_than_change(number, step)
            ),
            name_output(number, step),
            1,
            _name_recall_source(seen),
            _render_unshown_action(seen),
        )
        for number, seen in enumerate(step.observations)
        if not (seen.ok and has_trait(seen.action, ToolTrait.NOTES)) and not (many and _has_written(seen))
    ]
    if not step.observations:
        deeds.append(SectionPiece(NO_TOOL_CALLED, OUTCOME_PIECE))
    pieces = (*thought, *deeds, *many, *_build_undone_pieces(step))
    return SectionDraft("last", f"Last step ({step.step})", Tier.DEMAND, pieces)


def _summarise_changes(step: StepRecord, policy: ReportPolicy) -> list[SectionPiece]:
    """More than a few that were kept are told in a line: what they wrote stands under Files, how much under Changes."""
    paths = Counter([describe_subject(seen.action) for seen in step.observations if step.kept and _has_written(seen)])
    if paths.total() <= policy.max_listed_changes:
        return []
    told = ", ".join(f"{path} ({times})" if times > 1 else path for path, times in paths.items())
    return [SectionPiece(f"You did: {paths.total()} changes, all made: {told}", "changes of the last step", 1)]


def name_output(number: int, step: StepRecord) -> str:
    return f"output {number} of {step.observations[number].action.tool}"


def _build_undone_pieces(step: StepRecord) -> list[SectionPiece]:
    return [] if step.kept else [SectionPiece(REPLY_UNDONE_TEXT, OUTCOME_PIECE)]


def map_outputs(memory: GatheredContext) -> dict[str, str]:
    return {look.subject: look.text for look in memory.notes("output")}


def _has_written(seen: Observation) -> bool:
    return seen.ok and has_trait(seen.action, ToolTrait.WRITES)


def list_edited_paths(step: StepRecord) -> list[str]:
    """Files that the step has changed by its edits, and that were kept."""
    return list(dict.fromkeys(describe_subject(seen.action) for seen in step.observations if step.kept and _has_written(seen)))


def is_older_than_change(number: int, step: StepRecord, path: str = "") -> bool:
    """Whether what was printed, or only what it shows of one file, is older than a change of that by the same reply."""
    seen = step.observations[number]
    later = [one.action for one in step.observations[number + 1 :] if step.kept and _has_written(one)]
    return not _has_written(seen) and any(_shows_change(seen, action, path) for action in later)


def _shows_change(seen: Observation, change: Action, path: str) -> bool:
    """A command may depend on any file; a suggestion does not say which it changes."""
    changed = normalize_scope(str(change.args.get("path", "")))
    if not changed:
        return True
    if path or seen.regions:
        return changed in ([path] if path else [region.path for region in seen.regions])
    looks = has_trait(seen.action, ToolTrait.READS, ToolTrait.SEARCHES)
    return not looks or is_within_scope(changed, normalize_scope(str(seen.action.args.get("path", ""))))


def _mark_older_output(told: str, before: bool) -> str:
    head, rest, text = told.partition("\n")
    return f"{head} {BEFORE_CHANGE_MARK}{rest}{text}" if before else told


def _name_recall_source(seen: Observation) -> str:
    return f"`read` @{seen.block[:8]}"


def _render_unshown_action(seen: Observation) -> str:
    return f"You did: {seen.action.tool} {describe_subject(seen.action)} (output not shown: {_name_recall_source(seen)})"


def drop_command(seen: Observation, lines: Sequence[str]) -> Sequence[str]:
    """The output of a command begins with the command, which the call shows, and how it ended."""
    if not has_trait(seen.action, ToolTrait.COMMANDS) or not lines[0].startswith(COMMAND_SIGN):
        return lines
    start, ended = skip_command_echo(list(enumerate(lines)))
    return lines[start - 1 :] if ended else lines


MAX_ECHOED_LINES = 40
ECHOED_HEAD_LINES = 8
ECHOED_TAIL_LINES = 4


def shorten_command_text(value: Any) -> Any:
    """Whole if it is no very long script: without it nobody can say what an output means."""
    return shorten_lines(value, MAX_ECHOED_LINES, ECHOED_HEAD_LINES, ECHOED_TAIL_LINES)


def shorten_lines(value: Any, most: int, head: int, tail: int) -> Any:
    lines = value.split("\n") if isinstance(value, str) else []
    if len(lines) <= most:
        return value
    return "\n".join([*lines[:head], f"[… {len(lines) - head - tail} lines not repeated]", *lines[-tail:]])


def _list_commands(state: State) -> dict[int, str]:
    """By place: what the last reply ran, whole where the reply is still known."""
    returned = state.work.returned_reply
    actions = returned.reply.actions if returned and returned.step == state.memory.recent[-1].step else ()
    return {place: str(one.args.get("command", "")) for place, one in enumerate(actions) if has_trait(one, ToolTrait.COMMANDS)}


def _render_action(seen: Observation, outputs: dict[str, str], kept: bool, command: str) -> str:
    """Text that a kept change wrote stands under Files; of one that failed or was undone it is shown here, to learn from.
    The output of a command stands after the command as it was given."""
    if (kept and _has_written(seen)) or (seen.regions and has_trait(seen.action, ToolTrait.READS)):
        return f"You did: {seen.action.tool}: {seen.text.partition(chr(10))[0]}"
    shown: Mapping[str, Any] = {"path": describe_subject(seen.action)} if _has_written(seen) else seen.action.args
    listed = ", ".join(f"{name}={shown[name]}" for name in sorted(shown, key=lambda name: (name != "path", name)))
    text = outputs.get(seen.block, seen.text)
    if has_trait(seen.action, ToolTrait.COMMANDS):
        printed = "\n".join(drop_command(seen, text.split("\n")))
        text = f"{COMMAND_SIGN}{shorten_command_text(command)}\n{printed}" if command and printed != text else text
        listed = ""
    return f"You did: {seen.action.tool}{f'({listed})' if listed else ''}{'' if seen.ok else ' FAILED'}\n{text}"


def list_hidden_reads(memory: GatheredContext, shown: Iterable[SectionPiece]) -> dict[str, str]:
    """By the name of an output: the lines that were read and have found no room."""
    step = memory.state.memory.recent[-1] if memory.state.memory.recent else None
    seen = [(piece.item.path, piece.lines) for piece in shown if isinstance(piece.item, Excerpt)]
    visible = {(path, number) for path, lines in seen for number in collect_line_numbers(lines)}
    hidden = {(view.path, line.number) for view in memory.excerpts("file") for line in view.lines if line.text.strip()} - visible
    found = dict[str, str]()
    for number, one in enumerate(step.observations if step else ()):
        ranges = [f"{region.path} {text}" for region in one.regions if (text := _name_ranges(region, hidden))]
        if step and ranges:
            found[name_output(number, step)] = f" (not shown: {'; '.join(ranges)}; `read` these when needed)"
    return found


def _name_ranges(region: Region, hidden: Container[tuple[str, int]]) -> str:
    numbers = [number for number in range(region.start, region.end + 1) if (region.path, number) in hidden]
    return ", ".join(f"{first}-{last}" for first, last in group_consecutive(numbers))


def gather_last_outputs(state: State, runtime: Runtime, edits: Corrections) -> Iterator[Note]:
    """The last step's output in full, as far as it could ever fit: the builder decides how much is shown."""
    most = runtime.settings.policy.reports.max_output_characters
    for seen in state.memory.recent[-1].observations if state.memory.recent else ():
        if seen.block and seen.size > len(seen.text):
            text = edits.scrub(runtime.store.read(seen.block))
            yield Note("output", seen.block, truncate_middle(text, most, partial(name_hidden_characters, seen, len(text))))


def name_hidden_characters(seen: Observation, length: int, gone: int) -> str:
    return f"[… {gone:,} of {length:,} characters left out: {_name_recall_source(seen)}]"
