"""What afresh would have sent in a recorded run where prefixes are cached: a context is kept and each step appended to it as a
turn, until a new context is cheaper or the bound is reached. The decision is the one of live work."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby, takewhile
from typing import Any

from afresh.context.build_prompt import join_sections
from afresh.context.extend_or_rebuild import ExtensionCosts, decide_extension
from afresh.context.limit import compute_extension_bound
from afresh.context.sources.history import MAX_FILLED_GAP_CHARACTERS, PRICED_SHARE
from afresh.context.sources.history_rows import BLOCK_ID_CHARACTERS, render_entry_heading, render_history_rows
from afresh.core.cache_rates import DEFAULT_CACHE_RATES, CacheRates
from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY, ContextPolicy
from afresh.core.step_history import ENDED_OK
from afresh.memory.gathered_context import GatheredContext
from afresh.memory.history.score import weights_from_policy
from afresh.memory.history.select import SelectionBudget, select_history
from afresh.memory.history.trace import Trace, TraceEntry
from afresh.replay.build_contexts import (
    CountTokens,
    ForeignTokenCounter,
    build_context,
    find_written_file,
    load_replay_template,
    make_foreign_counter,
    remember_steps,
)

FIXED_TOKENS = 1_300
"""System text and tools, which come before each context and are not part of it."""
FIRST_SECTION = 2
FOOTER = -1
"""Of a prompt's sections, system text and tools are left out in front, and at the end the footer, which is not kept."""
MIN_FOLDED_LINES = 3
MIN_FOLDED_CHARACTERS = 80
"""Fewer lines in a row, or shorter ones, are shown again."""


def extend_contexts(
    trajectory: Mapping[str, Any],
    budget: int,
    count: CountTokens,
    policy: ContextPolicy = DEFAULT_CONTEXT_POLICY,
    rates: CacheRates = DEFAULT_CACHE_RATES,
) -> Iterator[str]:
    """For each step of the run the text that the model would be sent before it. `budget` limits a rebuilt one; what is appended
    may make it `policy.max_growth` times as long."""
    counter, bound = make_foreign_counter(count), compute_extension_bound(budget, policy)
    text, base = "", 0
    for memory, step in remember_steps(trajectory, budget, count):
        turn = render_turn(memory.trace, text, counter, policy)
        longer = "\n".join([part for part in (text, turn, step.said) if part])
        prefix, size = count(text), count(longer)
        costs = ExtensionCosts(
            base=FIXED_TOKENS + max(base, min(budget, size)),
            fixed=FIXED_TOKENS,
            prefix=FIXED_TOKENS + prefix,
            turn=size - prefix,
            room=bound - size,
            steps_left=estimate_steps_left(memory),
        )
        if text and decide_extension(costs, rates).extend:
            text = longer
        else:
            text = join_sections(build_context(memory, budget, counter).sections[FIRST_SECTION:FOOTER])
            base = count(text)
        yield text


def estimate_steps_left(memory: GatheredContext) -> int:
    """As many steps as there were so far: the length of the run is unknown."""
    return max(1, memory.state.work.step)


def render_turn(trace: Trace, shown: str, counter: ForeignTokenCounter, policy: ContextPolicy) -> str:
    """The latest step as the section of earlier steps shows it, but whole. If it is too long, the lines most likely needed that
    are not `shown` already, and a line that says so."""
    latest = trace.entries[-1].step if trace.entries else 0
    entries = list(takewhile(lambda entry: entry.step == latest, reversed(trace.entries)))[::-1]
    if len(entries) > 1 and is_plain_confirmation(entries[-1], entries[-2]):
        entries.pop()
    known = frozenset(map(str.strip, shown.splitlines()))
    text = "\n".join(
        [render_entry_heading(entry, False, 0, {}) + "\n".join(fold_known_lines(entry.lines, known)) for entry in entries]
    )
    if counter(text) <= policy.max_turn_tokens:
        return text
    gap = f"[… not all is shown: `read` @{entries[-1].passage.block[:BLOCK_ID_CHARACTERS]}]"
    headings = counter.price("00= 0a1b2c3d …\n"), counter.price("00 ok> ")
    room = SelectionBudget(PRICED_SHARE * policy.max_turn_tokens - counter(gap), *headings)
    weights = weights_from_policy(load_replay_template().weights)
    rows, _ = select_history(trace, latest + 1, room, set(known), weights, counter.price, entries)
    rows.sort(key=lambda one: (one[0].number, one[1].line.place))
    lines = render_history_rows(rows, 0, {}, MAX_FILLED_GAP_CHARACTERS)
    return "\n".join([*lines, gap])


def fold_known_lines(lines: Sequence[str], known: Collection[str]) -> Iterator[str]:
    """The lines, but several in a row that are known already as one line that says so."""
    for shown, group in groupby(lines, lambda line: not line.strip() or line.strip() in known):
        run = list(group)
        if shown and len(run) >= MIN_FOLDED_LINES and sum(map(len, run)) >= MIN_FOLDED_CHARACTERS:
            yield f"[… {len(run)} lines as shown above]"
        else:
            yield from run


def is_plain_confirmation(output: TraceEntry, action: TraceEntry) -> bool:
    """Whether an output only says that the file was changed which the action names: the action is marked as done."""
    written = find_written_file(output.lines[0]) if len(output.lines) == 1 else ""
    return bool(written and action.passage.ended == ENDED_OK and any(written in line for line in action.lines))
