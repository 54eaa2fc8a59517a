"""The summary by rules: a line for each step, the names most likely to be needed again, and never more than its cap. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log

from afresh.core.command_output import TELLING_LINE
from afresh.core.prompt import Request
from afresh.core.reply import Reply
from afresh.core.step_history import NameSeen, Passage, PassageVoice, Summary, SummaryLine, render_summary_line
from afresh.core.step_result import find_telling_line
from afresh.core.text import escape_hidden
from afresh.core.tokens import EstimatingCounter
from afresh.core.truncate import select_fitting, to_one_line
from afresh.errors import NeedsPerson, TryAgain
from afresh.memory.history.score import OddsWeights
from afresh.memory.history.trace import Trace, TraceEntry
from afresh.memory.passage_retention import find_deciding_sentence
from afresh.models.call import SideCall, make_side_call

MAX_SUMMARY_TOKENS = 400
MAX_NAMES_TOKENS = 120
MAX_SUMMARY_NAMES = 40
"""Tokens of the whole without what the agent keeps, and of its names; and how many names it holds."""
MAX_ACTION_CHARACTERS = 90
MAX_RESULT_CHARACTERS = 80
"""Characters."""
CHANGE_LINE_EXTRA_STEPS = 40
DECISION_LINE_EXTRA_STEPS = 160
"""Steps by which a line that tells of a change or a failure outlives another, and one that decides something."""

CountTokens = Callable[[str], int]


def summarise_passages(former: Summary, gone: frozenset[Passage], trace: Trace, odds: OddsWeights, count: CountTokens) -> Summary:
    """The former summary and what goes now, in one. Within its cap, so that it can be done again and again."""
    own = [entry for entry in trace.entries if entry.passage in gone]
    through = max([former.through, *[entry.step for entry in own]])
    lines = {(line.step, line.verbatim): line for line in former.lines}
    for line in summarise_steps(gone, trace):
        known = lines.get((line.step, line.verbatim))
        if known is None or "→" in line.text:
            lines[line.step, line.verbatim] = line
    merged = replace(
        former,
        through=through,
        lines=tuple(sorted(lines.values(), key=lambda line: (line.step, not line.verbatim))),
        names=rank_summary_names(former.names, gone, trace, odds, count),
    )
    return fit_summary(merged, count)


def summarise_steps(gone: frozenset[Passage], trace: Trace) -> Iterator[SummaryLine]:
    """One line for each step that loses what it did or printed; its action may still be remembered, and is told all the same."""
    steps: dict[int, list[TraceEntry]] = {}
    for entry in trace.entries:
        steps.setdefault(entry.step, []).append(entry)
    for step in sorted({passage.step for passage in gone}):
        lost = {entry.voice for entry in steps.get(step, ()) if entry.passage in gone}
        if (
            sentence := find_deciding_sentence(join_entry_lines(steps[step], (PassageVoice.THOUGHT,)))
            if PassageVoice.THOUGHT in lost
            else ""
        ):
            yield SummaryLine(step, sentence, verbatim=True)
        if lost & {PassageVoice.ACTION, PassageVoice.OUTPUT}:
            did, came = (
                join_entry_lines(steps[step], (PassageVoice.ACTION,)),
                join_entry_lines(steps[step], (PassageVoice.OUTPUT,)),
            )
            parts = (
                to_one_line(_find_first_line(did), MAX_ACTION_CHARACTERS),
                to_one_line(find_telling_line(_drop_command_echo(came)), MAX_RESULT_CHARACTERS),
            )
            writes = any(entry.passage.writes for entry in steps[step])
            yield SummaryLine(step, " → ".join(part for part in parts if part) or "nothing was printed", writes=writes)


def join_entry_lines(entries: Sequence[TraceEntry], voices: tuple[PassageVoice, ...]) -> str:
    return "\n".join("\n".join(entry.lines) for entry in entries if entry.voice in voices)


def _drop_command_echo(text: str) -> str:
    """The text without the echo of commands and lines that only say that they ran."""
    return "\n".join(line for line in text.splitlines() if not line.startswith("$ ") and line.strip() != "exit 0")


def _find_first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "")


def rank_summary_names(
    former: Sequence[NameSeen], gone: frozenset[Passage], trace: Trace, odds: OddsWeights, count: CountTokens
) -> tuple[NameSeen, ...]:
    """Names that stand in no passage any more, and former ones, the likeliest first. What a name once was it stays, however
    little memory still knows of it."""
    known = {seen.name: seen for seen in former}
    fresh: list[NameSeen] = []
    for name, seen in trace.names.items():
        if seen.entry.passage in gone or name in known:
            itself = odds.score_itself(name, seen, len(seen.entry.names))
            now_worth = round(itself + odds.score_place(seen.entry.voice, 1), 3)
            fresh.append(NameSeen(name, seen.entry.step, max(now_worth, known[name].odds if name in known else now_worth)))
    kept = [seen for seen in former if seen.name not in trace.names]
    now = max((entry.step for entry in trace.entries[-1:]), default=0) + 1
    ranked = sorted((*kept, *fresh), key=lambda seen: (-_score_name(seen, now, odds), -seen.step, seen.name))
    return tuple(select_fitting(ranked[:MAX_SUMMARY_NAMES], lambda seen: count(f" {seen.name}"), MAX_NAMES_TOKENS))


def _score_name(seen: NameSeen, now: int, odds: OddsWeights) -> float:
    """Former names and new ones on one scale: what it was, less its age."""
    return seen.odds + odds.age * log(max(1, now - seen.step))


def fit_summary(summary: Summary, count: CountTokens) -> Summary:
    """Lines go that tell least and are oldest; then the beginning of the prose."""
    order = sorted(summary.lines, key=lambda line: line.step + _count_extra_steps(line))
    costs: Mapping[SummaryLine, int] = {line: count(f"- step {line.step}: “{line.text}”\n") for line in summary.lines}
    over = count(replace(summary, lines=(), keep=()).text) + sum(costs.values()) - MAX_SUMMARY_TOKENS
    gone: set[SummaryLine] = set()
    for line in order:
        if over <= 0:
            break
        gone.add(line)
        over -= costs[line]
    shorter = replace(summary, lines=tuple(line for line in summary.lines if line not in gone))
    while shorter.prose and count(replace(shorter, keep=()).text) > MAX_SUMMARY_TOKENS:
        shorter = replace(shorter, prose=to_one_line(shorter.prose.partition(". ")[2]))
    return shorter


def _count_extra_steps(line: SummaryLine) -> int:
    if line.verbatim:
        return DECISION_LINE_EXTRA_STEPS
    return CHANGE_LINE_EXTRA_STEPS if line.writes or TELLING_LINE.search(line.text) else 0


MAX_REQUIRED_SUMMARY_NAMES = 15
MAX_MODEL_SUMMARY_TOKENS = 280
"""Names that the summary must hold, and tokens that it may have."""


@dataclass(frozen=True, slots=True)
class WrittenSummary:
    summary: Summary
    reply: Reply | None = None
    note: str = ""


def summarise_by_model(
    by_rules: Summary, former: Summary, gone: frozenset[Passage], trace: Trace, ask: "SideCall"
) -> WrittenSummary:
    """The model's words in place of the lines, or the summary by rules and why it stands."""
    must = tuple(seen.name for seen in by_rules.names[:MAX_REQUIRED_SUMMARY_NAMES])
    request = _build_summary_request(must, former, [render_summary_line(line) for line in summarise_steps(gone, trace)], ask)
    if request is None:
        return WrittenSummary(by_rules, note="no summary by the model: its template has no room for the text")
    try:
        reply = make_side_call(request, ask)
    except (TryAgain, NeedsPerson) as fault:
        return WrittenSummary(by_rules, note=f"no summary by the model: {to_one_line(str(fault), 200)}")
    prose = to_one_line(escape_hidden(reply.thought))
    if why := _find_summary_fault(prose, must, ask.counter):
        return WrittenSummary(by_rules, reply, f"the model's summary is not used: {why}")
    others = tuple(seen for seen in by_rules.names if seen.name not in prose)
    return WrittenSummary(fit_summary(replace(by_rules, prose=prose, lines=(), names=others), ask.counter), reply)


def _build_summary_request(must: Sequence[str], former: Summary, lines: Sequence[str], ask: SideCall) -> Request | None:
    """The newest lines that fit. Nothing when there is no room for any."""
    layout = ask.template.at("")
    reserve = int(ask.template.ceiling * layout.reserve)
    for first in range(len(lines)):
        parts = [
            ("Identifiers that the summary must contain", " ".join(must) or "none"),
            ("Summary so far", former.text or "none"),
            ("What was done since", "\n".join(lines[first:])),
        ]
        message = "\n\n".join(f"## {title}\n{body}" for title, body in parts)
        request = Request(layout.system, message, (), reserve)
        if ask.counter.whole(request) + reserve <= ask.template.ceiling:
            return request
    return None


def _find_summary_fault(prose: str, must: Sequence[str], counter: EstimatingCounter) -> str:
    if not prose:
        return "it is empty"
    if (tokens := counter(prose)) > MAX_MODEL_SUMMARY_TOKENS:
        return f"it has {tokens:,} tokens, {MAX_MODEL_SUMMARY_TOKENS:,} are allowed"
    missing = [name for name in must if name not in prose]
    return f"it lacks {to_one_line(', '.join(missing), 200)}" if missing else ""
