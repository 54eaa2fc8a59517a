"""A recorded run beside what afresh would have sent: tokens, and whether what the next action needed was there.

System text and tool schemas, which every agent sends, are left out on all sides. Time is linear in the run.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from afresh.replay.run import MESSAGE_USER_TOOL, RecordedRun, RecordedStep, iterate_step_parts, to_trajectory

TRUNCATION_MARK = "\n[… cut …]\n"
JOINT_TOKENS = 1
MIN_FILLED_TOKENS = 40
"""Tokens between two steps; fewer than a scrap are not worth filling."""

CountTokens = Callable[[str], int]


def render_step(step: RecordedStep) -> str:
    """A step as the history of an accumulating agent holds it."""
    return "\n".join(text for part, text in iterate_step_parts(step) if text or part != "said")


def build_sliding_windows(run: RecordedRun, budgets: Iterable[int], count: CountTokens) -> Iterator[str]:
    """One text per step, of at most so many tokens. Its oldest step is cut to fill them."""
    whole = count(run.task)
    texts: list[str] = []
    sizes: list[int] = []
    for step, budget in zip(run.steps, budgets, strict=False):
        task = truncate_middle(run.task, whole, budget // 2, count)
        room = budget - (whole if task is run.task else count(task)) - 2 * JOINT_TOKENS
        text = truncate_middle(step.said, count(step.said), room, count)
        latest = _latest_steps(texts, sizes, room - count(text), count)
        yield "\n".join([task, *latest, *([text] if text else [])])
        texts.append(render_step(step))
        sizes.append(count(texts[-1]))


def _latest_steps(texts: Sequence[str], sizes: Sequence[int], room: int, count: CountTokens) -> list[str]:
    chosen: list[str] = []
    for text, size in zip(reversed(texts), reversed(sizes), strict=True):
        if size + JOINT_TOKENS > room:
            if room > MIN_FILLED_TOKENS:
                chosen.append(truncate_middle(text, size, room - JOINT_TOKENS, count))
            break
        chosen.append(text)
        room -= size + JOINT_TOKENS
    return chosen[::-1]


def truncate_middle(text: str, size: int, room: int, count: CountTokens) -> str:
    """Head and tail of a text that does not fit, as the popular agents show long outputs."""
    if size <= max(0, room):
        return text
    kept = len(text) * max(0, room) // size
    while kept > len(TRUNCATION_MARK):
        short = text[: kept // 2] + TRUNCATION_MARK + text[len(text) - kept // 2 :]
        if count(short) <= room:
            return short
        kept = kept * 9 // 10
    return ""


NAME_KIND = "name"
LINE_KIND = "line"
MIN_NAME_CHARACTERS = 5
MIN_LINE_CHARACTERS = 20
MIN_DISTINCT_CHARACTERS = 7
"""A line of fewer different characters is a ruler, not a statement."""

_WORD = re.compile(r"[A-Za-z_~.](?=[./\-]{0,20}\w)[\w./\-]*\w")
_JOINED_WORD = re.compile(r"[/_.]|[a-z][A-Z]")
_DIGIT = re.compile(r"\d")
_TWO_LETTERS = re.compile(r"[A-Za-z]{2}")


class CodeReference(NamedTuple):
    """A name or a line that an action may refer to."""

    kind: str
    text: str


class ReferenceSighting(NamedTuple):
    """Where a thing was last seen: the step's number, and which part of the step."""

    step: int
    part: str


def find_names(text: str) -> set[str]:
    """Words that look like a path or an identifier."""
    words = {word.strip(".-") for word in _WORD.findall(text)}
    return {word for word in words if len(word) >= MIN_NAME_CHARACTERS and _looks_like_code(word)}


def _looks_like_code(word: str) -> bool:
    return bool(_JOINED_WORD.search(word) or (_DIGIT.search(word) and _TWO_LETTERS.search(word)))


def find_lines(text: str) -> set[str]:
    """Whole lines that are too long to match by accident."""
    stripped = map(str.strip, text.splitlines())
    return {line for line in stripped if len(line) >= MIN_LINE_CHARACTERS and len(set(line)) >= MIN_DISTINCT_CHARACTERS}


def find_references(text: str) -> set[CodeReference]:
    return {CodeReference(NAME_KIND, name) for name in find_names(text)} | {
        CodeReference(LINE_KIND, line) for line in find_lines(text)
    }


class ReferenceIndex:
    """Grows with each step by what that step holds; the history is never read again."""

    def __init__(self, task: str) -> None:
        self.given = find_references(task)
        self.last: dict[CodeReference, ReferenceSighting] = {}

    def needed(self, step: RecordedStep) -> list[tuple[CodeReference, ReferenceSighting]]:
        """What the action refers to that was seen earlier in the run, but is not in the task. Talk refers to nothing."""
        if step.tool == MESSAGE_USER_TOOL:
            return []
        wanted = find_references(step.action) - self.given
        return sorted((thing, self.last[thing]) for thing in wanted if thing in self.last)

    def note(self, number: int, step: RecordedStep) -> None:
        for part, text in iterate_step_parts(step):
            for thing in find_references(text):
                self.last[thing] = ReferenceSighting(number, part)


ContextBuilder = Callable[[Mapping[str, Any], int, CountTokens], Iterable[str]]
"""Given a trajectory, a budget and a counter: for each step all that the model would be sent before it."""


@dataclass(frozen=True, slots=True)
class NeededReference:
    """A name or line of the recorded action, and where the run had it last. `held`: it is in our context; `windowed`:
    in the sliding window."""

    kind: str
    text: str
    held: bool
    windowed: bool
    seen: int
    part: str
    age: int


@dataclass(frozen=True, slots=True)
class StepMeasurement:
    """One step, right before its action: the tokens that an accumulating agent, afresh and a sliding window would send.

    Where one call made several steps, only the first of them is a `call`: the others were not paid for again.
    """

    number: int
    step: RecordedStep
    context: str
    theirs: int
    ours: int
    window: int
    needs: tuple[NeededReference, ...] = ()
    call: bool = True
    fits: bool = True
    same: int = 0
    """Tokens at the beginning of our prompt that are the same as in the call before."""

    @property
    def reported(self) -> int:
        return self.step.tokens

    @property
    def missing(self) -> tuple[NeededReference, ...]:
        return tuple(need for need in self.needs if not need.held)


def count_common_characters(one: str, other: str) -> int:
    """Length of the beginning that two texts share."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one.startswith(other[:middle]) else (low, middle - 1)
    return low


def measure_run(
    run: RecordedRun, builder: ContextBuilder, budget: int, bound: int, count: CountTokens
) -> Iterable[StepMeasurement]:
    """One measurement per step, in order. `budget` is for a context that is built anew, `bound` for one that was extended; over
    it a context is treated as empty, since it would not have been sent. The sliding window is of the same size at each step."""
    seen, history = ReferenceIndex(run.task), count(run.task)
    built = builder(to_trajectory(run), budget, count)
    sizes = list[int]()
    windows = build_sliding_windows(run, iter(sizes.pop, None), count)
    before = ""
    for number, (step, context) in enumerate(zip(run.steps, built, strict=True), 1):
        sizes.append(ours := count(context))
        yardstick = next(windows)
        plain = count(yardstick)
        sent = context if ours <= bound else ""
        yield StepMeasurement(
            number=number,
            step=step,
            context=context,
            theirs=history + (count(step.said) if step.said else 0),
            ours=ours,
            window=plain,
            needs=tuple(
                NeededReference(*thing, thing.text in sent, thing.text in yardstick, *where, number - where.step)
                for thing, where in seen.needed(step)
            ),
            call=not step.same_call,
            fits=ours <= bound,
            same=ours * count_common_characters(before, context) // max(1, len(context)),
        )
        before = before if step.same_call else context
        seen.note(number, step)
        history += count(render_step(step))
