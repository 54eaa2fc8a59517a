"""The last step as a turn: for each action the text that goes back as its result. Pure, but for the lines that are gathered."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from afresh.context.file_chunks import describe_cut_function, split_into_chunks
from afresh.context.sources.last_step import (
    BEFORE_CHANGE_MARK,
    drop_command,
    is_older_than_change,
    map_outputs,
    name_hidden_characters,
    shorten_command_text,
    shorten_lines,
)
from afresh.core.action import Action, Observation
from afresh.core.context_item import Excerpt, SourceLine
from afresh.core.line_region import Region
from afresh.core.prompt import ToolResult
from afresh.core.state import State
from afresh.core.step_record import StepRecord
from afresh.core.tokens import TokenCounter
from afresh.core.tool_traits import ToolTrait, has_trait
from afresh.core.truncate import find_longest_fitting, truncate_middle
from afresh.memory.gathered_context import GatheredContext
from afresh.ports.workspace import FileTree, read_text

LINES_READ_KIND = "read"
AFTER_CHANGE_MARK = "(as it is after the change below)"
REVERTED_MARK = "(reverted with the whole reply)"
NOTHING_PRINTED = "done"
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

    def keep_lines(self, count: int) -> str:
        if count >= len(self.lines):
            return "\n".join(self.lines)
        end = len(self.lines) - (count // self.tail if self.tail else 0)
        start = self.find_border(count) if self.borders else count - (len(self.lines) - end)
        return "\n".join([*self.lines[:start], self.name_gap(start, end), *self.lines[end:]])

    def find_border(self, count: int) -> int:
        """The last border, unless that would take half of the lines."""
        return max((place for place in self.borders if count // 2 < place <= count), default=count)


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
    policy, results = memory.policy.allocation.extension, list(_list_results(memory))
    whole = ["\n".join(result.lines) for result in results]
    sizes = list(map(counter, whole))
    caps = _share_tokens([size if one.asked else 0 for one, size in zip(results, sizes, strict=True)], policy.max_read_tokens)
    texts = [
        text
        if _is_cheaper_whole(one, size, most := cap if one.asked else policy.max_turn_tokens, counter)
        else _cut_result(one, most, counter)
        for one, text, size, cap in zip(results, whole, sizes, caps, strict=True)
    ]
    return tuple([ToolResult(text, one.ok) for one, text in zip(results, texts, strict=True)])


def _share_tokens(sizes: Sequence[int], most: int) -> list[int]:
    """For each what it may have: as many as possible are whole, the smallest first, and one has what they leave."""
    caps, left = [0] * len(sizes), most
    for place in sorted(range(len(sizes)), key=sizes.__getitem__):
        caps[place] = left
        left = max(0, left - sizes[place])
    return caps


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


def _list_results(memory: GatheredContext) -> Iterator[ResultText]:
    step, outputs = memory.state.memory.recent[-1], map_outputs(memory)
    read = {(one.path, one.first, one.last): one for one in memory.excerpts(LINES_READ_KIND)}
    for number, seen in enumerate(step.observations):
        shown = [read.get((region.path, region.start, region.end)) for region in seen.regions]
        if seen.regions and all(shown):
            yield _render_lines_read(seen, [one for one in shown if one], partial(is_older_than_change, number, step))
        else:
            yield _render_output(seen, outputs, step, number)


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


def _render_output(seen: Observation, outputs: dict[str, str], step: StepRecord, number: int) -> ResultText:
    """What a change or a note did in one line: its text is in the call. Anything else as it was printed."""
    brief = seen.ok and has_trait(seen.action, ToolTrait.WRITES, ToolTrait.NOTES)
    text = (seen.text.partition("\n")[0] if brief else outputs.get(seen.block, seen.text)) or NOTHING_PRINTED
    if brief and not step.kept and has_trait(seen.action, ToolTrait.WRITES):
        text = f"{text} {REVERTED_MARK}"
    marks = [BEFORE_CHANGE_MARK] if is_older_than_change(number, step) and not brief else []
    lines = [*marks, *drop_command(seen, text.split("\n"))]
    return ResultText(
        lines, seen.ok, partial(_name_hidden_output, seen, len(marks)), name_cut=partial(name_hidden_characters, seen)
    )


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
