"""The section of earlier steps: how each ended, and lines by expected need, in the order in which they happened."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby, islice, takewhile

from afresh.context.allocate import Page
from afresh.context.already_shown import collect_shown_lines
from afresh.context.section import SectionDraft, SectionPiece
from afresh.context.sources.history_rows import BLOCK_ID_CHARACTERS, render_history_rows
from afresh.context.sources.last_step import THOUGHT_PIECE
from afresh.core.action import describe_action
from afresh.core.context_item import StepLine
from afresh.core.prompt import Omission, Tier
from afresh.core.step_history import ENDED_OK, FAILED_SUFFIX, PassageVoice
from afresh.core.step_result import MORE_LINES_START
from afresh.core.symbol import HIT_REMARK_START
from afresh.core.text import format_count
from afresh.core.tokens import TokenCounter
from afresh.core.tool_traits import ToolTrait, has_trait
from afresh.memory.gathered_context import GatheredContext
from afresh.memory.history.score import HistoryWeights
from afresh.memory.history.select import ChosenRow, SelectionBudget, select_history
from afresh.memory.history.trace import TraceEntry
from afresh.outputs.printed_files import strip_line_number
from afresh.outputs.read_output import is_echo_or_progress

MAX_LIVE_TOKENS = 400
"""For lines of earlier steps in a tree that can be searched and read again."""
MAX_LIVE_OUTPUT_CHARACTERS = 400
"""Of a longer output no line is shown there."""
MAX_FILLED_GAP_CHARACTERS, MAX_LIVE_GAP_CHARACTERS = 16, 80
"""A shorter gap between rows is shown instead of being marked; there, results of a script are of little use one by one."""
MIN_HISTORY_TOKENS = 60  # with fewer nothing is selected
MIN_OUTPUT_CHARACTERS_FOR_ID = 80  # a shorter output says little more than how its action ended

WORK_SECTION = "work"
NAME_INDEX_TITLE = "## Names seen earlier, not shown above"
HISTORY_TITLE = "Work so far (by step; of an output the id for `read` @id; … omitted)"
PRICED_SHARE = 0.97
"""Of its tokens for rows by their prices; the rest is for the marks between them."""
NAMES_PIECE = "names of earlier steps"
WORKED_ENDINGS = (ENDED_OK, "kept")


@dataclass(frozen=True, slots=True)
class History:
    """What a prompt shows of earlier steps, when it is known what else it shows."""

    memory: GatheredContext
    outcomes: tuple[SectionPiece, ...] = ()
    """Of the latest steps what was done and how it ended, in a line each."""
    rows: Mapping[SectionPiece, ChosenRow] = field(default_factory=dict[SectionPiece, ChosenRow])
    """The best first."""
    names: tuple[SectionPiece, ...] = ()

    @property
    def draft(self) -> SectionDraft:
        pieces = (*self.outcomes, *self.rows, *self.names)
        return SectionDraft(WORK_SECTION, HISTORY_TITLE, Tier.PHASE, pieces, render=self.render)

    def render(self, pieces: Sequence[SectionPiece]) -> str:
        shown = sorted(
            (self.rows[piece] for piece in pieces if piece in self.rows), key=lambda one: (one[0].number, one[1].line.place)
        )
        outcomes = {piece.item.step: piece.item for piece in pieces if isinstance(piece.item, StepLine)}
        names = [piece.text for piece in pieces if piece.what == NAMES_PIECE]
        index = [NAME_INDEX_TITLE, *names] if names else []
        if not shown and not outcomes:
            return "\n".join(index)
        told = {entry.passage.block for entry, _ in shown}
        actions = dict.fromkeys([entry for entry, _ in shown if entry.voice is PassageVoice.ACTION])
        ids = {entry: self.list_unshown(entry, told) for entry in actions}
        return "\n".join([f"## {HISTORY_TITLE}", *self.tell(shown, outcomes, ids), *(["", *index] if index else [])])

    def tell(self, shown: Sequence[ChosenRow], outcomes: Mapping[int, StepLine], ids: Mapping[TraceEntry, str]) -> Iterator[str]:
        """Step by step: what was thought, the line that says what was done, and what came of it."""
        longest_gap = MAX_LIVE_GAP_CHARACTERS if is_live(self.memory) else MAX_FILLED_GAP_CHARACTERS
        render = partial(render_history_rows, changed=self.memory.state.workspace.last_change, ids=ids, longest_gap=longest_gap)
        steps = {step: list(rows) for step, rows in groupby(shown, lambda one: one[0].step)}
        for step in sorted({*steps, *outcomes}):
            rows = steps.get(step, [])
            thoughts = list(takewhile(lambda one: one[0].voice is PassageVoice.THOUGHT, rows))
            spoken = len(thoughts) if step in outcomes else len(rows)
            yield from render(rows[:spoken])
            if step in outcomes:
                below = {entry.passage.block[:BLOCK_ID_CHARACTERS] for entry, _ in rows}
                yield f"{step}> {outcomes[step].describe(below)}"
            yield from render(rows[spoken:])

    def list_unshown(self, action: TraceEntry, told: Collection[str]) -> str:
        """Ids of its outputs of which no row is shown. The last step tells its own."""
        step, entries = action.passage.step, self.memory.trace.entries
        if step == self.memory.state.work.step:
            return ""
        following = takewhile(lambda entry: entry.passage.step == step, islice(entries, action.number + 1, None))
        outputs = [entry.passage for entry in following if entry.voice is PassageVoice.OUTPUT]
        long = [one for one in outputs if one.size > MIN_OUTPUT_CHARACTERS_FOR_ID and one.block not in told]
        return "".join([f" {one.block[:BLOCK_ID_CHARACTERS]}" for one in long])

    def list_omissions(self, page: Page) -> list[Omission]:
        """By voice: lines that were less likely to be needed than those shown; and what memory itself has let go."""
        found = [gone for gone in page.omissions if any(gone.what == piece.what for piece in self.outcomes)]
        chosen = [self.rows[piece] for piece in page.shown if piece in self.rows]
        for voice, tally in self.memory.trace.tallies.items():
            shown = [row.line.key for entry, row in chosen if entry.voice is voice]
            if lines := tally.lines - len(shown):
                size = (tally.size - sum(map(len, shown))) // 4
                steps = f"steps {tally.first} to {tally.last}"
                found.append(Omission(WORK_SECTION, f"{lines:,} lines of {voice}s, {steps}", size, "less likely to be needed"))
        if gone := self.memory.state.memory.forgotten:
            what = f"{format_count(gone, 'passage')} of old steps"
            found.append(Omission(WORK_SECTION, what, 0, "no longer in memory, kept in the archive"))
        return found


def choose_history(
    memory: GatheredContext,
    outcomes: Sequence[StepLine],
    weights: HistoryWeights,
    room: int,
    counter: TokenCounter,
    pages: Sequence[Page],
    given: Sequence[str],
) -> History:
    """The outcomes come first, then the lines that the next action most likely needs, the best first. `pages` and the `given`
    texts are what the prompt shows besides."""
    shown = [(section, page.pieces) for page in pages for section in page.sections]
    last = next((page for page in pages if page.name == "last"), None)
    covered = collect_shown_lines(given, shown) | find_said_last(memory, last) | find_retold_lines(memory, outcomes)
    told = [SectionPiece(str(line), f"step {line.step}", -line.step, item=line) for line in outcomes]
    left = room - sum(counter(piece.text) + 1 for piece in told)
    rows, names = choose_rows(memory, weights, left, counter, covered) if left >= MIN_HISTORY_TOKENS else ([], [])
    pieces = {SectionPiece(one[1].line.text, f"line {number}", number): one for number, one in enumerate(rows, 1)}
    index = (SectionPiece(" ".join(sorted(names)), NAMES_PIECE, len(rows) + 1),) if names else ()
    return History(memory, tuple(told), pieces, index)


def is_live(memory: GatheredContext) -> bool:
    """Whether there is a tree that can be searched and read again; recorded runs have none."""
    return bool(memory.state.workspace.first_snapshot)


def choose_rows(
    memory: GatheredContext, weights: HistoryWeights, room: int, counter: TokenCounter, covered: frozenset[str]
) -> tuple[list[ChosenRow], list[str]]:
    free = max(0.0, (int(room * PRICED_SHARE) - counter(f"## {HISTORY_TITLE}\n\n{NAME_INDEX_TITLE}\n") - 4) / counter.factor)
    budget = SelectionBudget(free, counter.price("00= 0a1b2c3d …\n"), counter.price("00 ok> "), free * weights.names_share)
    now = memory.state.work.step + 1
    rows, names = select_history(memory.trace, now, budget, {*covered, *_list_unwanted(memory)}, weights, counter.price)
    bare = {strip_line_number(row.line.key): (entry, row) for entry, row in reversed(rows)}
    rows = [one for key, one in reversed(bare.items()) if key not in covered and not _is_shown_hit(one[1].line.key, covered)]
    acted = {entry.step for entry, _ in rows if entry.voice is PassageVoice.ACTION}
    return [one for one in rows if not (one[0].step in acted and _is_command_echo(one[0], one[1].line.key))], names


def find_said_last(memory: GatheredContext, last: Page | None) -> frozenset[str]:
    """What the model thought and did in the last step, as far as the section `last` shows it; if it shows not all actions, those
    that a line says all of. A script that worked is not shown for its source."""
    complete = last is None or not last.omissions
    if last and not complete and not last.shown:
        return frozenset()
    thought = complete or last is None or not last.is_cut(THOUGHT_PIECE)
    step, live = memory.state.work.step, is_live(memory)
    said, brief = [(entry, row.line.key) for entry in _since(memory, step) for row in entry.rows], _brief_actions(memory, {step})
    thoughts = [key for entry, key in said if entry.voice is PassageVoice.THOUGHT and thought]
    acted = [(entry, key) for entry, key in said if entry.voice is PassageVoice.ACTION]
    named = [key for entry, key in acted if complete or key in brief or (live and entry.passage.ended in WORKED_ENDINGS)]
    return frozenset([*thoughts, *named])


def find_retold_lines(memory: GatheredContext, lines: Sequence[StepLine]) -> frozenset[str]:
    """Lines of the latest steps that are within one of these; and of steps that they tell of, what they did without saying more
    than that."""
    text, steps = "\n".join(map(str, lines)), {line.step for line in lines}
    first = min((record.step for record in memory.state.memory.recent), default=None) if text else None
    rows = [(entry, row.line.key) for entry in _since(memory, first) for row in entry.rows] if first is not None else []
    brief = _brief_actions(memory, steps)
    plain = [key for entry, key in rows if entry.voice is PassageVoice.ACTION and entry.step in steps and key in brief]
    echoed = [key for entry, key in rows if entry.step in steps and _is_command_echo(entry, key)]
    retold = [key for _, key in rows if key.removeprefix("$ ").removesuffix(FAILED_SUFFIX).partition(MORE_LINES_START)[0] in text]
    return frozenset([*plain, *echoed, *retold])


def _brief_actions(memory: GatheredContext, steps: Collection[int]) -> frozenset[str]:
    """Lines of actions in these steps that say all of them; a command or a claim says more."""
    seen = [seen.action for record in memory.state.memory.recent if record.step in steps for seen in record.observations]
    lines = [describe_action(action) for action in seen if has_trait(action, ToolTrait.BRIEF)]
    return frozenset([*lines, *[line + FAILED_SUFFIX for line in lines]])


def _since(memory: GatheredContext, step: int) -> Iterator[TraceEntry]:
    """From the latest entry back to this step."""
    return takewhile(lambda entry: entry.passage.step >= step, reversed(memory.trace.entries))


def _is_shown_hit(key: str, covered: Collection[str]) -> bool:
    """Whether a hit of a search, with a remark on where it is, is a line that another section shows."""
    line, remark, _ = key.partition(HIT_REMARK_START)
    return bool(remark) and line in covered


def _list_unwanted(memory: GatheredContext) -> Iterator[str]:
    """Single lines of a long output are of no use where the whole can be read again; its result is told with the step."""
    for entry in memory.trace.entries if is_live(memory) else ():
        if entry.voice is PassageVoice.OUTPUT and entry.passage.size > MAX_LIVE_OUTPUT_CHARACTERS:
            yield from (row.line.key for row in entry.rows)


def _is_command_echo(entry: TraceEntry, key: str) -> bool:
    return entry.voice is PassageVoice.OUTPUT and is_echo_or_progress(key)
