"""The summary by rules: a line for each step, the names most likely to be needed again, and never more than its cap. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from afresh.domain.passage import Passage, Voice
from afresh.domain.summary import NameSeen, StepLine, Summary
from afresh.domain.text import one_line
from afresh.domain.trace import Entry, Trace
from afresh.engine.compaction.classes import deciding
from afresh.engine.digest import TELLING, telling
from afresh.engine.worth import Odds, logarithm, voices

CAP = 400
NAMES_CAP = 120
KEEP_CAP = 120
NAMES = 40
KEPT = 3
"""Tokens of the whole, of its names, and of the agent's own words; and how many names and words it holds."""
DID = 90
CAME = 80
"""Characters."""
LASTING = 40
VERBATIM = 160
"""Steps by which a line that tells of a change or a failure outlives another, and one that decides something."""

Count = Callable[[str], int]


def summarised(former: Summary, gone: frozenset[Passage], trace: Trace, odds: Odds, count: Count) -> Summary:
    """The former summary and what goes now, in one. Within its cap, so that it can be done again and again."""
    own = [entry for entry in trace.entries if entry.passage in gone]
    through = max([former.through, *[entry.step for entry in own]])
    lines = {(line.step, line.verbatim): line for line in former.lines}
    for line in told(gone, trace):
        known = lines.get((line.step, line.verbatim))
        if known is None or "→" in line.text:
            lines[line.step, line.verbatim] = line
    merged = replace(
        former,
        through=through,
        lines=tuple(sorted(lines.values(), key=lambda line: (line.step, not line.verbatim))),
        names=named(former.names, gone, trace, odds, count),
    )
    return bounded(merged, count)


def told(gone: frozenset[Passage], trace: Trace) -> Iterator[StepLine]:
    """One line for each step that loses what it did or printed; its action may still be remembered, and is told all the same."""
    steps: dict[int, list[Entry]] = {}
    for entry in trace.entries:
        steps.setdefault(entry.step, []).append(entry)
    for step in sorted({passage.step for passage in gone}):
        lost = {entry.voice for entry in steps.get(step, ()) if entry.passage in gone}
        if said := deciding(text(steps[step], (Voice.THOUGHT,))) if Voice.THOUGHT in lost else "":
            yield StepLine(step, said, verbatim=True)
        if lost & {Voice.ACTION, Voice.OUTPUT}:
            did, came = text(steps[step], (Voice.ACTION,)), text(steps[step], (Voice.OUTPUT,))
            parts = (one_line(first_line(did), DID), one_line(telling(printed(came)), CAME))
            yield StepLine(step, " → ".join(part for part in parts if part) or "nothing was printed")


def text(entries: Sequence[Entry], voices: tuple[Voice, ...]) -> str:
    return "\n".join("\n".join(entry.lines) for entry in entries if entry.voice in voices)


def printed(text: str) -> str:
    """Without the echo of commands and what says only that they ran."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("$ ") and line.strip() != "exit 0")


def first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "")


def named(former: Sequence[NameSeen], gone: frozenset[Passage], trace: Trace, odds: Odds, count: Count) -> tuple[NameSeen, ...]:
    """Names that stand in no passage any more, and former ones, the likeliest first. What a name once was it stays, however
    little memory still knows of it."""
    begin, known = voices(odds), {seen.name: seen for seen in former}
    fresh: list[NameSeen] = []
    for name, seen in trace.names.items():
        if seen.entry.passage in gone or name in known:
            now_worth = round(odds.still(name, seen, len(seen.entry.names)) + begin[seen.entry.voice][0], 3)
            fresh.append(NameSeen(name, seen.entry.step, max(now_worth, known[name].odds if name in known else now_worth)))
    kept = [seen for seen in former if seen.name not in trace.names]
    now = max((entry.step for entry in trace.entries[-1:]), default=0) + 1
    ranked = sorted((*kept, *fresh), key=lambda seen: (-chance(seen, now, odds), -seen.step, seen.name))
    return fitting(ranked[:NAMES], count)


def chance(seen: NameSeen, now: int, odds: Odds) -> float:
    """Former names and new ones on one scale: what it was, less its age."""
    return seen.odds + odds.age * logarithm(max(1, now - seen.step))


def fitting(ranked: Sequence[NameSeen], count: Count) -> tuple[NameSeen, ...]:
    taken: list[NameSeen] = []
    room = NAMES_CAP
    for seen in ranked:
        cost = count(f" {seen.name}")
        if cost <= room:
            taken.append(seen)
            room -= cost
    return tuple(taken)


def bounded(summary: Summary, count: Count) -> Summary:
    """Lines go that tell least and are oldest; then the beginning of the prose."""
    order = sorted(summary.lines, key=lambda line: line.step + lasting(line))
    costs: Mapping[StepLine, int] = {line: count(f"- step {line.step}: “{line.text}”\n") for line in summary.lines}
    over = count(replace(summary, lines=()).text) + sum(costs.values()) - CAP
    gone: set[StepLine] = set()
    for line in order:
        if over <= 0:
            break
        gone.add(line)
        over -= costs[line]
    shorter = replace(summary, lines=tuple(line for line in summary.lines if line not in gone))
    while shorter.prose and count(shorter.text) > CAP:
        shorter = replace(shorter, prose=one_line(shorter.prose.partition(". ")[2]))
    return shorter


def lasting(line: StepLine) -> int:
    if line.verbatim:
        return VERBATIM
    return LASTING if line.text.startswith(("edit", "write", "apply")) or TELLING.search(line.text) else 0


def keeping(summary: Summary, words: str, count: Count) -> Summary:
    """With what the agent wants kept; the newest few, as far as they have room."""
    if not words:
        return summary
    words = one_line(words)
    while count(words) > KEEP_CAP:
        words = one_line(words, len(words) * 3 // 4)
    kept, room = [words], KEEP_CAP - count(words)
    for one in reversed([one for one in summary.keep if one != words]):
        if len(kept) < KEPT and count(one) <= room:
            kept, room = [one, *kept], room - count(one)
    return replace(summary, keep=tuple(kept))
