"""The result of a step's actions."""

import re
from dataclasses import replace

from afresh.core.action import Action
from afresh.core.archived_block import Block
from afresh.core.change import Change
from afresh.core.command_output import TELLING_LINE
from afresh.core.event import Event, PlanSet, QuestionAsked
from afresh.core.fact import Fact
from afresh.core.fast_dataclass import dataclass
from afresh.core.leave import ChangedUnit
from afresh.core.line_region import Region
from afresh.core.states.strategy_state import PlanItem
from afresh.core.tool_traits import ToolTrait, has_trait
from afresh.core.truncate import to_one_line
from afresh.core.verdict import Ruling, Verdict

SPOILED_NOTE = "the files are as they were before this step; what git ignores, such as build folders, is gone"
COMMAND_FRAME = re.compile(r"\$ |exit \d+")
"""Lines of ours around what a command printed."""
DURATION_SUFFIX = re.compile(r" in \d+(?:\.\d+)? ?s(?:econds)?\b")


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """The result of a tool: raw text for the archive, events and other effects."""

    text: str
    ok: bool = True
    events: tuple[Event, ...] = ()
    regions: tuple[Region, ...] = ()
    facts: tuple[Fact, ...] = ()
    traces: bool = False
    """A command ran that may have left files behind without meaning to change the tree."""
    complete: str = ""
    """The model's claim to be finished, with its summary: the harness verifies it."""
    refused: bool = False
    """The harness did not do it: it had been done often enough."""
    spoiled: bool = False
    """It left the tree in a state that must not be kept: the tree is put back as the step found it."""


@dataclass(frozen=True, slots=True)
class ActionResult:
    action: Action
    outcome: ToolOutcome


def shorten_action(deed: ActionResult) -> Action:
    """The action as later windows tell it: long arguments are in the journal's reply, and what they wrote is on disk."""
    args = {name: shorten_argument(value) for name, value in deed.action.args.items()}
    if has_trait(deed.action, ToolTrait.APPLIES) and deed.outcome.ok:
        args["what"] = truncate_first_line(deed.outcome.text, 100)
    return replace(deed.action, args=args)


MORE_LINES_START = " … and "


def shorten_command(command: str) -> str:
    """Its first line: who wrote a script knows it, and the record of the action has it."""
    first, *more = command.strip().splitlines() or [""]
    return f"{first}{MORE_LINES_START}{len(more)} more lines" if more else first


def shorten_argument(value: object) -> str:
    return f"{len(value)} items" if isinstance(value, list) else truncate_first_line(str(value), 160)  # pyright: ignore[reportUnknownArgumentType]


def find_telling_line(text: str) -> str:
    """The one line that tells most: the last that speaks of success or failure, else the first."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    spoken = [line for line in lines if TELLING_LINE.search(line)]
    return truncate_first_line((spoken or lines or [""])[-1 if spoken else 0], 90)


def find_command_result(text: str) -> str:
    """How a command ended, by the line that tells most of what it printed; empty if it printed nothing."""
    printed = [line for line in text.splitlines() if line.strip() and not COMMAND_FRAME.match(line)]
    spoken = [line for line in printed if TELLING_LINE.search(line)]
    return to_one_line(DURATION_SUFFIX.sub("", (spoken or printed)[-1]), 90) if printed else ""


def truncate_first_line(text: str, length: int) -> str:
    first, *more = text.splitlines() or [""]
    return first if len(first) <= length and not more else first[:length].rstrip() + "…"


@dataclass(frozen=True, slots=True)
class StepResult:
    """A step: all actions of one reply, and what each stage of `take_step` adds."""

    done: tuple[ActionResult, ...]
    snapshot: str
    """The snapshot of the tree after the step."""
    changes: tuple[Change, ...] = ()
    """Of the actions, whether they are kept or not."""
    events: tuple[Event, ...] = ()
    """The events of the step, in the order in which they happened."""
    blocks: tuple[Block, ...] = ()
    """The blocks for the archive."""
    verdict: Verdict | None = None
    missing: tuple[ChangedUnit, ...] = ()
    """What completion was refused for: changes of tests without leave."""
    kept: bool = True

    def add(self, *events: Event, blocks: tuple[Block, ...] = ()) -> "StepResult":
        return replace(self, events=(*self.events, *events), blocks=(*self.blocks, *blocks))

    @property
    def decided(self) -> tuple[Event, ...]:
        """What its actions have decided. A question comes last: all else was decided before the answer."""
        events = [event for action in self.done for event in action.outcome.events]
        return tuple(sorted(events, key=lambda event: isinstance(event, QuestionAsked)))

    @property
    def complete(self) -> str:
        return next((action.outcome.complete for action in self.done if action.outcome.complete), "")

    @property
    def regressed(self) -> bool:
        return self.verdict is not None and self.verdict.ruling is Ruling.FAIL and not self.verdict.final

    @property
    def refused(self) -> bool:
        return self.verdict is not None and self.verdict.final and self.verdict.ruling is Ruling.FAIL

    @property
    def passed(self) -> bool:
        return self.verdict is not None and self.verdict.final and self.verdict.ruling is Ruling.PASS


def find_current_plan(before: tuple[PlanItem, ...], step: StepResult) -> tuple[PlanItem, ...]:
    """The plan as the actions of the step leave it."""
    return next((event.items for event in reversed(step.decided) if isinstance(event, PlanSet)), before)
