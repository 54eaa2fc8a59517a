"""The marks of a step by which stalls are detected."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import sha256

from afresh.core.action import Action, describe_action
from afresh.core.codec import to_canonical_json
from afresh.core.state import State
from afresh.core.states.progress_state import MAX_ENTRIES_PER_MARK, Sighting, StepMark
from afresh.core.step_result import TELLING_LINE, ActionResult, StepResult
from afresh.core.subtask import SubtaskReturned
from afresh.core.tool_traits import ToolTrait, has_trait
from afresh.core.truncate import to_one_line
from afresh.core.verdict import CheckRun, list_first_names

VOLATILE_PATTERNS = (
    (re.compile(r"0x[0-9a-fA-F]{4,}"), "0x"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?Z?"), "TIME"),
    (re.compile(r"\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b"), "TIME"),
    (re.compile(r"\b\d+(?:[.,]\d+)? ?(?:s|ms|µs|us|sec|secs|seconds|milliseconds|minutes)\b"), "TIME"),
    (re.compile(r"\bline \d+"), "line"),
    (re.compile(r"(?<=[\w)\]]):\d+(?::\d+)?\b"), ":"),
    (re.compile(r"/(?:te?mp|var/folders)/[\w./-]+"), "TEMPORARY"),
    (re.compile(r"\b(?:pid|process|thread)[ =:]*\d+", re.IGNORECASE), "PID"),
)
MAX_HASHED_CHARACTERS = 20_000
SIGNATURE_CHARACTERS = 12


def mask_volatile_values(text: str) -> str:
    """The text without values that change from run to run."""
    for pattern, word in VOLATILE_PATTERNS:
        text = pattern.sub(word, text)
    return text


def hash_parts(*parts: object) -> str:
    text = "\x00".join(part if isinstance(part, str) else to_canonical_json(part) for part in parts)
    return sha256(text.encode()).hexdigest()[:SIGNATURE_CHARACTERS]


def hash_action(action: Action, tree: str) -> str:
    """An action is the same only in the same tree."""
    return hash_parts(action.tool, dict(action.args), tree)


def hash_output(text: str) -> str:
    """The hash of an output; of a long one, of its beginning and end."""
    held = (
        text
        if len(text) <= MAX_HASHED_CHARACTERS
        else f"{len(text)} {text[: MAX_HASHED_CHARACTERS // 2]}{text[-MAX_HASHED_CHARACTERS // 2 :]}"
    )
    return hash_parts(mask_volatile_values(held))


MAX_DESCRIPTION_CHARACTERS = 80
MAX_FAILURE_LINES = 12
REPEATED, CYCLING, REVERTED, ENDED = "repeated", "cycling", "reverted", "ended"
"""Signs of an action, an ending, an undone change, an ending; `ended` is not counted: later endings are compared with it."""


def trace_step(state: State, result: StepResult) -> StepMark:
    tokens, money = count_step_spending(state, result)
    marks, tree = state.work.progress.marks, state.workspace.snapshot
    others = [deed for deed in result.done if not has_trait(deed.action, ToolTrait.READS)]  # a look beside them is no repetition
    acts = [trace_action(deed, tree, marks) for deed in others or result.done]
    endings = {sighting.key: sighting for sighting in trace_endings(result)}
    arrivals = [mark_arrival(ending, marks, bool(result.changes)) for ending in endings.values()]
    failing = () if any(deed.outcome.ok for deed in result.done) else (Sighting("failing"),)
    lost = result.verdict.regressions if result.verdict else ()
    reverted = (Sighting(REVERTED, hash_parts(sorted(lost)), told=list_first_names(lost)),) if lost and result.changes else ()
    return StepMark(
        step=state.work.step + 1,
        seen=(*acts[:MAX_ENTRIES_PER_MARK], *arrivals[:MAX_ENTRIES_PER_MARK], *failing, *reverted),
        edited=bool(result.changes),
        tools=tuple(deed.action.tool for deed in result.done)[:MAX_ENTRIES_PER_MARK],
        tokens=tokens,
        money=money,
    )


def count_step_spending(state: State, result: StepResult) -> tuple[int, int | None]:
    """Tokens and money, with those of the parts that came back in this step."""
    reply = state.work.pending.reply if state.work.pending else None
    parts = [event.result.metrics for event in result.decided if isinstance(event, SubtaskReturned)]
    costs = [reply.cost if reply else 0, *[part.money for part in parts]]
    known = [cost for cost in costs if cost is not None]
    tokens = (reply.usage.tokens if reply else 0) + sum(part.usage.tokens for part in parts)
    return tokens, sum(known) if len(known) == len(costs) else None


def trace_action(deed: ActionResult, tree: str, marks: Sequence[StepMark]) -> Sighting:
    """A refused action counts with the result that it had last."""
    key = hash_action(deed.action, tree)
    past = [sighting.result for mark in marks for sighting in mark.seen if (sighting.sign, sighting.key) == (REPEATED, key)]
    result = (past or [""])[-1] if deed.outcome.refused else hash_output(deed.outcome.text)
    return Sighting(REPEATED, key, result, to_one_line(describe_action(deed.action), MAX_DESCRIPTION_CHARACTERS))


def mark_arrival(ending: Sighting, marks: Sequence[StepMark], edited: bool) -> Sighting:
    """Return an ending as a sign of cycling when its command comes to a failure first, or after changes from another ending.

    Whoever runs two commands in turn sees their failures in turn.
    """
    for mark in reversed(marks):
        edited = edited or mark.edited
        last = next(
            (sighting for sighting in mark.seen if sighting.sign in (ENDED, CYCLING) and sighting.key == ending.key), None
        )
        if last and (not edited or last.result == ending.result):
            return ending
        if last:
            break
    return replace(ending, sign=CYCLING) if ending.result else ending


def trace_endings(result: StepResult) -> Iterator[Sighting]:
    """Of the commands that the model ran, and of the checks that the harness ran after it."""
    for deed in result.done:
        if has_trait(deed.action, ToolTrait.RUNS) and not deed.outcome.refused:
            source = hash_parts(deed.action.tool, dict(deed.action.args))
            yield Sighting(ENDED, source) if deed.outcome.ok else ending_from_failure(source, deed.outcome.text)
    yield from map(ending_from_check, result.verdict.runs if result.verdict else ())


def ending_from_failure(source: str, text: str) -> Sighting:
    """By the lines that tell what went wrong, and by the last one if none does."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines[1:] if TELLING_LINE.search(line)] or lines[-1:]
    result = hash_parts(mask_volatile_values("\n".join(telling[-MAX_FAILURE_LINES:])))
    return Sighting(ENDED, source, result, to_one_line(telling[-1] if telling else "", MAX_DESCRIPTION_CHARACTERS))


def ending_from_check(run: CheckRun) -> Sighting:
    source = hash_parts(run.command, run.scope)
    if run.red_as_before or (not run.exit and not run.failures):
        return Sighting(ENDED, source)
    texts = sorted(f"{failure.test} {mask_volatile_values(failure.message)}" for failure in run.failures)
    first = run.failures[0] if run.failures else None
    text = f"{first.test} {first.message}" if first else f"{run.command} exits {run.exit}"
    return Sighting(ENDED, source, hash_parts(f"{run.exit}", *texts), to_one_line(text, MAX_DESCRIPTION_CHARACTERS))
