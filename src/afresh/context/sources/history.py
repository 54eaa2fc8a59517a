"""The section of earlier steps: lines by expected need, shown in the order in which they happened."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice, takewhile

from afresh.context.already_shown import collect_shown_lines
from afresh.context.section import Allocation, AllocationTurn, SectionPiece
from afresh.context.sources.history_rows import BLOCK_ID_CHARACTERS, render_history_rows
from afresh.context.sources.last_step import THOUGHT_PIECE
from afresh.core.action import describe_action
from afresh.core.context_item import StepLine
from afresh.core.prompt import Omission, Section
from afresh.core.step_history import ENDED_OK, FAILED_SUFFIX, PassageVoice
from afresh.core.step_result import MORE_LINES_START
from afresh.core.symbol import HIT_REMARK_START
from afresh.core.text import format_count
from afresh.core.tool_traits import ToolTrait, has_trait
from afresh.memory.gathered_context import GatheredContext
from afresh.memory.history.score import HistoryWeights
from afresh.memory.history.select import ChosenRow, SelectionBudget, select_history
from afresh.memory.history.trace import TraceEntry, TraceRow
from afresh.outputs.printed_files import strip_line_number
from afresh.outputs.read_output import is_echo_or_progress

MAX_LIVE_TOKENS = 800
"""For lines of earlier steps in a tree that can be searched and read again."""
MAX_LIVE_OUTPUT_CHARACTERS = 400
"""Of a longer output no line is shown there."""
MAX_FILLED_GAP_CHARACTERS, MAX_LIVE_GAP_CHARACTERS = 16, 80
"""A shorter gap between rows is shown instead of being marked; there, results of a script are of little use one by one."""
MIN_HISTORY_TOKENS = 60  # with fewer nothing is selected
RESELECT_DIVISOR = 8  # one in this many tokens more make another selection worth while
MIN_OUTPUT_CHARACTERS_FOR_ID = 80  # a shorter output says little more than how its action ended

NAME_INDEX_TITLE = "## Names seen earlier, not shown above"
HISTORY_TITLE = "## Work so far (by step; of an output the id for `read` @id; … omitted)"
PRICED_SHARE = 0.97
"""Of its tokens for rows by their prices; the rest is for the marks between them."""
WORKED_ENDINGS = (ENDED_OK, "kept")


@dataclass(slots=True, eq=False)
class HistoryAllocation(Allocation):
    """The lines of earlier steps. They are selected anew each time there is more room."""

    memory: GatheredContext
    weights: HistoryWeights
    covered: frozenset[str] = frozenset()
    """Names and lines that other sections show."""
    outcomes: Mapping[int, StepLine] = field(default_factory=dict[int, StepLine])
    """What was done in the latest steps and how it ended, where one line says so."""
    rows: list[ChosenRow] = field(default_factory=list[ChosenRow])
    """The best first."""
    names: list[str] = field(default_factory=list[str])
    written: list[Section] = field(default_factory=list[Section])
    complete: bool = False
    """It had both its turns: another selection is not worth its time."""

    @property
    def turn(self) -> AllocationTurn:
        return AllocationTurn.BESIDE_OTHERS

    @property
    def sections(self) -> list[Section]:
        return self.written

    def hide_shown(self, pages: Sequence[Allocation], given: Sequence[str]) -> int:
        others = [one for one in pages if one is not self]
        shown = [(section, one.shown) for one in others for section in one.sections]
        earlier = [piece.item for one in others for piece in one.shown if isinstance(piece.item, StepLine)]
        last = next((one for one in others if one.name == "last"), None)
        self.covered = collect_shown_lines(given, shown) | self.said_last(last) | self.retold(earlier)
        before, apart = self.spent, [one for one in self.rows if one[1].line.key not in self.covered]
        if len(apart) < len(self.rows):
            self.rows = apart
            self.write()
        return before - self.spent

    def merge_outcomes(self, earlier: Sequence[SectionPiece]) -> bool:
        """Show the lines of the latest steps with what else is shown of these steps; False if that is nothing."""
        if self.rows:
            self.outcomes = {piece.item.step: piece.item for piece in earlier if isinstance(piece.item, StepLine)}
            self.write()
        return bool(self.outcomes)

    def said_last(self, last: Allocation | None) -> frozenset[str]:
        """What the model thought and did in the last step, as far as the section `last` shows it; if it shows not all actions,
        those that a line says all of. A script that worked is not shown for its source."""
        deeds = last is None or not last.omissions
        if last and not deeds and not last.shown:
            return frozenset()
        thought = deeds or last is None or not last.is_cut(THOUGHT_PIECE)
        step = self.memory.state.work.step
        said, brief = [(entry, row.line.key) for entry in self.since(step) for row in entry.rows], self.brief_actions({step})
        thoughts = [key for entry, key in said if entry.voice is PassageVoice.THOUGHT and thought]
        acted = [(entry, key) for entry, key in said if entry.voice is PassageVoice.ACTION]
        named = [key for entry, key in acted if deeds or key in brief or (self.live and entry.passage.ended in WORKED_ENDINGS)]
        return frozenset([*thoughts, *named])

    def brief_actions(self, steps: Collection[int]) -> frozenset[str]:
        """Lines of actions in these steps that say all of them; a command or a claim says more."""
        seen = [seen.action for record in self.memory.state.memory.recent if record.step in steps for seen in record.observations]
        lines = [describe_action(action) for action in seen if has_trait(action, ToolTrait.BRIEF)]
        return frozenset([*lines, *[line + FAILED_SUFFIX for line in lines]])

    def retold(self, lines: Sequence[StepLine]) -> frozenset[str]:
        """Lines of the latest steps that are within one of these; and of steps that they tell of, what they did without saying
        more than that."""
        text, steps = "\n".join(map(str, lines)), {line.step for line in lines}
        first = min((record.step for record in self.memory.state.memory.recent), default=None) if text else None
        rows = [(entry, row.line.key) for entry in self.since(first) for row in entry.rows] if first is not None else []
        brief = self.brief_actions(steps)
        plain = [key for entry, key in rows if entry.voice is PassageVoice.ACTION and entry.step in steps and key in brief]
        echoed = [key for entry, key in rows if entry.step in steps and _is_command_echo(entry, key)]
        retold = [
            key for _, key in rows if key.removeprefix("$ ").removesuffix(FAILED_SUFFIX).partition(MORE_LINES_START)[0] in text
        ]
        return frozenset([*plain, *echoed, *retold])

    def since(self, step: int) -> Iterator[TraceEntry]:
        """From the latest entry back to this step."""
        return takewhile(lambda entry: entry.passage.step >= step, reversed(self.memory.trace.entries))

    def is_shown_hit(self, key: str) -> bool:
        """Whether a hit of a search, with a remark on where it is, is a line that another section shows."""
        line, remark, _ = key.partition(HIT_REMARK_START)
        return bool(remark) and line in self.covered

    def within(self, room: int) -> int:
        """In a tree that can be searched and read again it takes only so much."""
        most = min(self.limit, MAX_LIVE_TOKENS) if self.live else self.limit
        return min(room, most - self.spent)

    @property
    def live(self) -> bool:
        """Whether there is such a tree; recorded runs have none."""
        return bool(self.memory.state.workspace.first_snapshot)

    def more(self, room: int) -> int:
        """Once, and a little more is not worth another selection."""
        again = not self.complete and room * RESELECT_DIVISOR > self.spent
        self.complete = True
        return self.claim(room) if again else 0

    def claim(self, room: int) -> int:
        if not self.memory.trace.entries or room < MIN_HISTORY_TOKENS:
            return 0
        before, allowed = self.spent, self.spent + room
        self.choose(int(allowed * PRICED_SHARE))
        self.write()
        while self.spent > allowed and self.rows:
            excess = self.spent - allowed
            while self.rows and excess >= 0:
                excess -= self.counter(self.rows.pop()[1].line.text)
            self.write()
        return self.spent - before

    def choose(self, room: int) -> None:
        counter = self.counter
        left = max(0.0, (room - counter(f"{HISTORY_TITLE}\n\n{NAME_INDEX_TITLE}\n") - 4) / counter.factor)
        rows, self.names = select_history(
            self.memory.trace,
            self.memory.state.work.step + 1,
            SelectionBudget(left, counter.price("00= 0a1b2c3d …\n"), counter.price("00 ok> "), left * self.weights.names_share),
            set(self.covered | self.unwanted),
            self.weights,
            counter.price,
        )
        bare = {strip_line_number(row.line.key): (entry, row) for entry, row in reversed(rows)}
        rows = [one for key, one in reversed(bare.items()) if key not in self.covered and not self.is_shown_hit(one[1].line.key)]
        acted = {entry.step for entry, _ in rows if entry.voice is PassageVoice.ACTION}
        self.rows = [one for one in rows if not (one[0].step in acted and _is_command_echo(one[0], one[1].line.key))]

    @property
    def unwanted(self) -> frozenset[str]:
        """Single lines of a long output are of no use where the whole can be read again; its result is told with the step."""
        long = [one for one in self.memory.trace.entries if one.passage.size > MAX_LIVE_OUTPUT_CHARACTERS]
        outputs = [one for one in long if one.voice is PassageVoice.OUTPUT] if self.live else []
        return frozenset(row.line.key for one in outputs for row in one.rows)

    def write(self) -> None:
        text = self.render()
        self.written = [Section("work", self.share.tier, text, self.counter(text) + 2)] if text else []
        self.spent = sum(section.tokens for section in self.written)

    def render(self) -> str:
        shown = sorted(self.rows, key=lambda one: (one[0].number, one[1].line.place))
        index = [NAME_INDEX_TITLE, " ".join(sorted(self.names))] if self.names else []
        if not shown:
            return "\n".join(index)
        told = {entry.passage.block for entry, _ in shown}
        actions = dict.fromkeys([entry for entry, _ in shown if entry.voice is PassageVoice.ACTION])
        ids = {entry: self.unshown(entry, told) for entry in actions}
        return "\n".join([HISTORY_TITLE, *self.told(shown, ids), *(["", *index] if index else [])])

    def told(self, shown: Sequence[tuple[TraceEntry, TraceRow]], ids: Mapping[TraceEntry, str]) -> Iterator[str]:
        """Step by step: what was thought, the line that says what was done, and what came of it."""
        changed = self.memory.state.workspace.last_change
        longest_gap = MAX_LIVE_GAP_CHARACTERS if self.live else MAX_FILLED_GAP_CHARACTERS
        steps = {step: list(rows) for step, rows in groupby(shown, _get_row_step)}
        for step in sorted({*steps, *self.outcomes}):
            rows = steps.get(step, [])
            thoughts = list(takewhile(lambda one: one[0].voice is PassageVoice.THOUGHT, rows))
            spoken = len(thoughts) if step in self.outcomes else len(rows)
            yield from render_history_rows(rows[:spoken], changed, ids, longest_gap)
            if step in self.outcomes:
                ids_below = {entry.passage.block[:BLOCK_ID_CHARACTERS] for entry, _ in rows}
                yield f"{step}> {self.outcomes[step].describe(ids_below)}"
            yield from render_history_rows(rows[spoken:], changed, ids, longest_gap)

    def unshown(self, action: TraceEntry, told: Collection[str]) -> str:
        """Ids of its outputs of which no row is shown. The last step tells its own."""
        step, entries = action.passage.step, self.memory.trace.entries
        if step == self.memory.state.work.step:
            return ""
        following = takewhile(lambda entry: entry.passage.step == step, islice(entries, action.number + 1, None))
        outputs = [entry.passage for entry in following if entry.voice is PassageVoice.OUTPUT]
        return "".join(
            [
                f" {one.block[:BLOCK_ID_CHARACTERS]}"
                for one in outputs
                if one.size > MIN_OUTPUT_CHARACTERS_FOR_ID and one.block not in told
            ]
        )

    @property
    def omissions(self) -> list[Omission]:
        """By voice: lines that were less likely to be needed than those shown; and what memory itself has let go."""
        found: list[Omission] = []
        for voice, tally in self.memory.trace.tallies.items():
            shown = [row.line.key for entry, row in self.rows if entry.voice is voice]
            if lines := tally.lines - len(shown):
                size = (tally.size - sum(map(len, shown))) // 4
                steps = f"steps {tally.first} to {tally.last}"
                found.append(Omission("work", f"{lines:,} lines of {voice}s, {steps}", size, "less likely to be needed"))
        if gone := self.memory.state.memory.forgotten:
            found.append(
                Omission("work", f"{format_count(gone, 'passage')} of old steps", 0, "no longer in memory, kept in the archive")
            )
        return found


def _is_command_echo(entry: TraceEntry, key: str) -> bool:
    return entry.voice is PassageVoice.OUTPUT and is_echo_or_progress(key)


def _get_row_step(one: tuple[TraceEntry, TraceRow]) -> int:
    return one[0].step
