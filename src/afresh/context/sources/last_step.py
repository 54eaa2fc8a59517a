"""The last step as the model sees it: as a turn, or in a section of its own. Both show the same result of each action."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from afresh.context.allocate import share_out
from afresh.context.file_chunks import describe_cut_function, split_into_chunks
from afresh.context.section import SectionDraft, SectionPiece
from afresh.core.action import Action, Observation, describe_subject, is_within_scope, normalize_scope
from afresh.core.change import group_consecutive
from afresh.core.command_output import skip_command_echo
from afresh.core.context_item import Excerpt, Note, SourceLine, collect_line_numbers
from afresh.core.line_region import Region
from afresh.core.prompt import Tier, ToolResult
from afresh.core.state import State
from afresh.core.step_record import StepRecord
from afresh.core.tokens import TokenCounter
from afresh.core.tool_traits import ToolTrait, has_trait
from afresh.core.truncate import find_longest_fitting, truncate_middle
from afresh.memory.gathered_context import GatheredContext
from afresh.memory.user_corrections import Corrections
from afresh.ports.workspace import FileTree, read_text
from afresh.runtime import Runtime

MAX_LISTED_CHANGES = 2
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
LINES_READ_KIND = "read"
AFTER_CHANGE_MARK = "(as it is after the change below)"
REVERTED_MARK = "(reverted with the whole reply)"
NOTHING_PRINTED = "done"
MAX_ASKED_LINES = 60
"""An output that is no longer is shown whole if the limit may rise for it."""
MIN_HIDDEN_LINES = 3
"""Of an output that is cut at line borders."""


@dataclass(frozen=True, slots=True)
class ResultText:
    """A result before it is cut, line by line. `name_gap` words the line for those from one place to another that are hidden."""

    lines: Sequence[str]
    ok: bool
    name_gap: Callable[[int, int], str]
    tail: int = 3
    """One line in so many is kept of the end, what a command prints last tells how it ended; 0: only the beginning."""
    asked: bool = False
    """Lines of files that were asked for."""
    borders: Sequence[int] = ()
    """Where a definition begins: rather there than inside of one it is cut."""
    name_cut: Callable[[int, int], str] | None = None
    """The same for characters, given how many there are and how many of them are hidden."""
    brief: bool = False
    """Its text is in the call."""

    def keep_lines(self, count: int) -> str:
        if count >= len(self.lines):
            return "\n".join(self.lines)
        end = len(self.lines) - (count // self.tail if self.tail else 0)
        start = self.find_border(count) if self.borders else count - (len(self.lines) - end)
        return "\n".join([*self.lines[:start], self.name_gap(start, end), *self.lines[end:]])

    def find_border(self, count: int) -> int:
        """The last border, unless that would take half of the lines."""
        return max((place for place in self.borders if count // 2 < place <= count), default=count)


def draft_last_step(memory: GatheredContext) -> SectionDraft:
    """The latest thought whole, then each action with its output; plan and notes stand in sections of their own."""
    if not memory.state.memory.recent:
        return SectionDraft("last", "Last step", Tier.DEMAND, ())
    step: StepRecord = memory.state.memory.recent[-1]
    commands = _list_commands(memory.state)
    thought = [SectionPiece(f"You thought: {step.thought}", THOUGHT_PIECE)] if step.thought else []
    many = _summarise_changes(step)
    deeds = [
        SectionPiece(
            _render_action(seen, result, commands.get(number, "")),
            name_output(number, step),
            1,
            _name_recall_source(seen),
            _render_unshown_action(seen),
            asked=len(result.lines) <= MAX_ASKED_LINES,
        )
        for number, (seen, result) in enumerate(zip(step.observations, _list_results(memory, False), strict=True))
        if not (seen.ok and has_trait(seen.action, ToolTrait.NOTES)) and not (many and _has_written(seen))
    ]
    if not step.observations:
        deeds.append(SectionPiece(NO_TOOL_CALLED, OUTCOME_PIECE))
    pieces = (*thought, *deeds, *many, *_build_undone_pieces(step))
    return SectionDraft("last", f"Last step ({step.step})", Tier.DEMAND, pieces)


def _summarise_changes(step: StepRecord) -> list[SectionPiece]:
    """More than a few that were kept are told in a line: what they wrote stands under Files, how much under Changes."""
    paths = Counter([describe_subject(seen.action) for seen in step.observations if step.kept and _has_written(seen)])
    if paths.total() <= MAX_LISTED_CHANGES:
        return []
    told = ", ".join(f"{path} ({times})" if times > 1 else path for path, times in paths.items())
    return [SectionPiece(f"You did: {paths.total()} changes, all made: {told}", "changes of the last step", 1)]


def name_output(number: int, step: StepRecord) -> str:
    return f"output {number} of {step.observations[number].action.tool}"


def _build_undone_pieces(step: StepRecord) -> list[SectionPiece]:
    return [] if step.kept else [SectionPiece(REPLY_UNDONE_TEXT, OUTCOME_PIECE)]


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
    """By place: what the last reply ran, and what it wrote if that was reverted, where the reply is still known."""
    returned, step = state.work.returned_reply, state.memory.recent[-1]
    actions = returned.reply.actions if returned and returned.step == step.step else ()
    return {
        place: str(one.args.get("command", "") if has_trait(one, ToolTrait.COMMANDS) else one.args.get("new", ""))
        for place, one in enumerate(actions)
        if has_trait(one, ToolTrait.COMMANDS) or not step.kept
    }


def _render_action(seen: Observation, result: ResultText, command: str) -> str:
    """What was called, and its result as in a turn; lines that were read stand under Files."""
    text = "\n".join(result.lines)
    if result.brief and command:
        return f"You did: {seen.action.tool}: {text}; what it wrote:\n{shorten_command_text(command)}"
    if result.brief or (seen.regions and has_trait(seen.action, ToolTrait.READS)):
        return f"You did: {seen.action.tool}: {text}"
    if has_trait(seen.action, ToolTrait.COMMANDS):
        ran = command or str(seen.action.args.get("command", ""))
        return f"You did: {seen.action.tool}{'' if seen.ok else ' FAILED'}\n{COMMAND_SIGN}{shorten_command_text(ran)}\n{text}"
    shown: Mapping[str, Any] = {"path": describe_subject(seen.action)} if _has_written(seen) else seen.action.args
    listed = ", ".join(f"{name}={shown[name]}" for name in sorted(shown, key=lambda name: (name != "path", name)))
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
    most = runtime.settings.policy.max_output_characters
    for seen in state.memory.recent[-1].observations if state.memory.recent else ():
        if seen.block and seen.size > len(seen.text):
            text = edits.scrub(runtime.store.read(seen.block))
            yield Note("output", seen.block, truncate_middle(text, most, partial(name_hidden_characters, seen, len(text))))


def name_hidden_characters(seen: Observation, length: int, gone: int) -> str:
    return f"[… {gone:,} of {length:,} characters left out: {_name_recall_source(seen)}]"


def gather_lines_read(state: State, files: FileTree) -> Iterator[Excerpt]:
    """Exactly the lines that the last step has read, as they are now."""
    observations = state.memory.recent[-1].observations if state.memory.recent else ()
    for region in dict.fromkeys(region for seen in observations for region in seen.regions):
        lines = (read_text(files, region.path) or "").splitlines()
        numbers = range(region.start, min(region.end, len(lines)) + 1)
        shown = tuple([SourceLine(number, lines[number - 1]) for number in numbers])
        cut = describe_cut_function(lines, region.end)
        yield Excerpt(LINES_READ_KIND, region.path, region.start, region.end, (f"of {len(lines)}{cut}",), shown)


def render_results(memory: GatheredContext, counter: TokenCounter) -> tuple[ToolResult, ...]:
    """A result for each action of the last step, in order. Outputs and lines that were read have tokens of their own; small ones
    are whole, the largest are cut, and say what is hidden and how to get it."""
    if not memory.state.memory.recent:
        return ()
    policy, results = memory.policy, list(_list_results(memory))
    whole = ["\n".join(result.lines) for result in results]
    sizes = list(map(counter, whole))
    caps = share_out([size if one.asked else 0 for one, size in zip(results, sizes, strict=True)], policy.max_read_tokens)
    texts = [
        text
        if _is_cheaper_whole(one, size, most := cap if one.asked else policy.max_turn_tokens, counter)
        else _cut_result(one, most, counter)
        for one, text, size, cap in zip(results, whole, sizes, caps, strict=True)
    ]
    return tuple([ToolResult(text, one.ok) for one, text in zip(results, texts, strict=True)])


def _is_cheaper_whole(result: ResultText, size: int, cap: int, counter: TokenCounter) -> bool:
    """It fits, or the line that names what is hidden would cost what it saves."""
    return size <= cap or size - cap <= counter(result.name_gap(0, len(result.lines)))


def _cut_result(result: ResultText, cap: int, counter: TokenCounter) -> str:
    """At line borders, unless that would hide only a line or two: these are long then, and cut inside."""

    def fits(text: str) -> bool:
        return counter(text) <= cap

    count, kept = len(result.lines), None
    most = count - (1 if result.asked else MIN_HIDDEN_LINES)
    if result.asked or (most > 0 and not fits(result.keep_lines(most + 1))):
        kept = find_longest_fitting(result.keep_lines, 1, most, fits)
    if kept is not None:
        return kept
    text, name_gap = "\n".join(result.lines), result.name_gap(0, count)

    def name_cut(gone: int) -> str:
        return result.name_cut(len(text), gone) if result.name_cut else name_gap

    cut = find_longest_fitting(lambda size: truncate_middle(text, size, name_cut), 1, len(text) - 1, fits)
    return name_gap if cut is None else cut


def _list_results(memory: GatheredContext, lines_read: bool = True) -> Iterator[ResultText]:
    """Of each action of the last step, with the lines that it has read or what it said of them."""
    step, outputs = memory.state.memory.recent[-1], {look.subject: look.text for look in memory.notes("output")}
    read = {(one.path, one.first, one.last): one for one in memory.excerpts(LINES_READ_KIND)} if lines_read else {}
    for number, seen in enumerate(step.observations):
        shown = [read.get((region.path, region.start, region.end)) for region in seen.regions]
        if seen.regions and all(shown):
            yield _render_lines_read(seen, [one for one in shown if one], partial(is_older_than_change, number, step))
        else:
            yield _render_output(seen, outputs, step, number, lines_read)


def _render_lines_read(seen: Observation, shown: Sequence[Excerpt], is_older: Callable[[str], bool]) -> ResultText:
    """Numbered, each range under its path."""
    lines, code, regions = list[str](), list[str](), list[Region | None]()
    for one in shown:
        mark = f" {AFTER_CHANGE_MARK}" if is_older(one.path) else ""
        lines.append(f"{one.path}: lines {one.first}-{one.last} {one.title}{mark}")
        lines += map(str, one.lines)
        code += ["", *[line.text for line in one.lines]]
        regions += [None, *[Region(one.path, line.number, line.number, 0) for line in one.lines]]
    borders = [first - 1 for first, _ in split_into_chunks(code)]
    return ResultText(lines, seen.ok, partial(_name_hidden_lines, regions), tail=0, asked=True, borders=borders)


def _name_hidden_lines(regions: Sequence[Region | None], start: int, end: int) -> str:
    """The ranges of files that are hidden."""
    ranges = list[Region]()
    for one in filter(None, regions[start:end]):
        if ranges and ranges[-1].path == one.path and ranges[-1].end + 1 == one.start:
            ranges[-1] = Region(one.path, ranges[-1].start, one.end, 0)
        else:
            ranges.append(one)
    told = ", ".join(f"{one.path} {one.start}-{one.end}" for one in ranges)
    return f"[… not shown: {told}; `read` them when needed]"


def _render_output(seen: Observation, outputs: Mapping[str, str], step: StepRecord, number: int, lines_read: bool) -> ResultText:
    """What a change, a note or a read whose lines stand elsewhere did in one line. Anything else as it was printed, and the text
    of a change that was undone, to learn from it."""
    brief = seen.ok and has_trait(seen.action, ToolTrait.WRITES, ToolTrait.NOTES)
    short = brief or (not lines_read and bool(seen.regions) and has_trait(seen.action, ToolTrait.READS))
    text = (seen.text.partition("\n")[0] if short else outputs.get(seen.block, seen.text)) or NOTHING_PRINTED
    if brief and not step.kept and has_trait(seen.action, ToolTrait.WRITES):
        text = f"{text} {REVERTED_MARK}"
    marks = [BEFORE_CHANGE_MARK] if is_older_than_change(number, step) and not brief else []
    lines = [f"{text} {marks[0]}" if marks else text] if short else [*marks, *drop_command(seen, text.split("\n"))]
    name_gap, name_cut = partial(_name_hidden_output, seen, len(marks)), partial(name_hidden_characters, seen)
    return ResultText(lines, seen.ok, name_gap, name_cut=name_cut, brief=brief)


def _name_hidden_output(seen: Observation, marks: int, start: int, end: int) -> str:
    return f"[… {end - start} lines from line {start + 1 - marks} on left out: `read` @{seen.block[:8]}]"


MAX_RECEIPT_LINES = 8
"""Of a text that an edit has replaced, or put in its place: its result says where the new lines are, `read` shows them."""
RECEIPT_END_LINES = 3


def shorten_actions(actions: Sequence[Action], step: StepRecord) -> tuple[Action, ...]:
    """The actions of a reply as its turn repeats them. What failed, was reverted, or came with something that failed is repeated
    whole, to be corrected."""
    done = step.kept and all(seen.ok for seen in step.observations)
    return tuple([_shorten_action(action, seen, done) for action, seen in zip(actions, step.observations, strict=True)])


def _shorten_action(action: Action, seen: Observation, kept: bool) -> Action:
    """Of a long text its ends: a later edit may begin there."""
    if not (seen.ok and kept) or not has_trait(action, ToolTrait.COMMANDS, ToolTrait.WRITES):
        return action
    shorten = shorten_command_text
    if has_trait(action, ToolTrait.WRITES):
        shorten = partial(shorten_lines, most=MAX_RECEIPT_LINES, head=RECEIPT_END_LINES, tail=RECEIPT_END_LINES)
    return replace(action, args={name: shorten(value) for name, value in action.args.items()})
