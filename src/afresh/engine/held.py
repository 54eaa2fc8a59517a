"""Sections of what is held in memory: notes, decisions, what failed, what other tasks found, and the index of the archive."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from afresh.domain.decided import DECISIONS
from afresh.domain.fact import Decision, Fact, FactKind
from afresh.domain.fold import FACTS
from afresh.domain.memory import Memory
from afresh.domain.observed import told_apart
from afresh.domain.state import State
from afresh.domain.text import one_line
from afresh.domain.trace import files as named_files
from afresh.domain.window import Tier
from afresh.engine.concern import concerning, headings
from afresh.engine.draft import Draft, Piece, always

OLDER = {"failed": "failed", "decisions": "decision"}
NAMES = {"failed": "failed approach", "decisions": "decision"}
TOLD = 300
"""Characters of a decision; a longer one is a recall away."""
SURE = 0.8
OBSERVED = 8
AFTER_NOTES = 1_000_000
OLD = ", before the last change"


def archive(memory: Memory) -> Draft:
    """Newest first to be taken; outputs of the last step stand in full elsewhere, and so does what another section names."""
    latest = memory.state.step
    lines, stale = [line for line in memory.state.index if line.step != latest], outdated(memory.state)
    pieces = [
        Piece(f"- {line.block[:8]} step {line.step}{stale(line.block, line.step)} {line.kind} {line.subject} "
              f"({line.size:,} chars): {line.phrase}",
              "index lines of archived outputs", rank=-line.step, once=line.block[:8])
        for line in lines
    ]  # fmt: skip
    return Draft("archive", "Archived outputs (`recall` shows them)", Tier.PHASE, tuple(pieces))


def known(memory: Memory) -> Draft:
    facts = [fact for fact in memory.state.facts if fact.kind in (FactKind.NOTE, FactKind.VERIFIED)]
    return Draft("known", "Notes", Tier.PHASE, (*[noted(fact, memory.state) for fact in facts], *observed(memory.state)))


def noted(fact: Fact, state: State) -> Piece:
    """Marked when a file that it names has changed since."""
    since = {region.path.rpartition("/")[2] for region in state.regions if region.changed and region.step > fact.step}
    old = f" (step {fact.step}{OLD})" if since.intersection(named_files(f"{fact.subject} {fact.text}")) else ""
    return Piece(f"- {fact.subject}: {fact.text}{old}", f"note on {fact.subject}", rank=-fact.step)


def outdated(state: State) -> Callable[[str, int], str]:
    """The mark for what a block said in a step, if files have changed since."""
    change, late = state.last_change, {one.block for one in state.passages if one.late and one.step == state.last_change}
    return lambda block, step: OLD if change and (step < change or (step == change and block not in late)) else ""


def observed(state: State) -> list[Piece]:
    """What outputs said, after all notes, and what is not in doubt before what is; marked when files have changed since. What one
    output says of several tests is one line."""
    facts = [fact for fact in told_apart(state.facts, state.verdict) if fact.confidence >= SURE][-OBSERVED:]
    stale, alike = outdated(state), dict[tuple[str, str], list[Fact]]()
    for fact in facts:
        alike.setdefault((fact.block or fact.subject, fact.text), []).append(fact)
    return [
        Piece(
            f"- step {fact.step}{stale(fact.block, fact.step)}: {one_line(fact.subject, 120)}{' and others' if more else ''}: "
            f"{one_line(fact.text, 160)}",
            f"observed of {fact.subject}", rank=AFTER_NOTES - fact.step, spare=True,
        )
        for fact, *more in alike.values()
    ]  # fmt: skip


def failed(memory: Memory) -> Draft:
    """Never cut, so each is told in one line; of many those that concern the work now, and the rest by what they are about."""
    facts = [fact for fact in memory.state.facts if fact.kind in (FactKind.FAILED_APPROACH, FactKind.ERROR)]
    told = [(fact.subject, f"step {fact.step}: {one_line(fact.subject, 120)}: {one_line(fact.text, 120)}") for fact in facts]
    return listed("failed", "Tried and failed: do not repeat", told, memory)


def decisions(memory: Memory) -> Draft:
    """Word for word. The user's own stand with what the user said."""
    told = [(one.subject or one.text, decision_line(one)) for one in memory.state.decisions if not one.answer]
    return listed("decisions", "Decided (keep to it, or `decide` anew)", told, memory)


def decision_line(one: Decision) -> str:
    about = f"{one_line(one.subject, 60)}: " if one.subject else ""
    why = f" ({one_line(one.why, 120)})" if one.why else ""
    return f"step {one.step}, {one.by}: {about}{one_line(one.text, TOLD)}{why}"


def listed(name: str, title: str, told: Sequence[tuple[str, str]], memory: Memory) -> Draft:
    """Each with what it is about. Those that memory has found again stand with the rest."""
    older = [(look.subject, look.text) for look in memory.of(OLDER[name])]
    sorted_ = concerning([*older, *told], lambda one: one[1], memory.state)
    lines = [f"- {line}" for _, line in sorted_.shown]
    if sorted_.rest:
        named = headings([about for about, _ in sorted_.rest])
        most = "at least " if full(memory.state) else ""
        lines.append(f"- {most}{len(sorted_.rest)} more (`recall` {name}, about=words): {named}")
    draft = always(name, title, lines)
    return replace(draft, left=tuple(Piece(line, f"{NAMES[name]} on {one_line(about, 60)}") for about, line in sorted_.rest))


def full(state: State) -> bool:
    """Then memory may hold more than a window knows of."""
    return len(state.facts) >= FACTS or sum(not one.answer for one in state.decisions) >= DECISIONS


def recollections(memory: Memory) -> Draft:
    """What an older step, or another task, has found out."""
    pieces = [Piece(f"- {look.text}", f"memory {look.subject}", rank) for rank, look in enumerate(memory.of("memory"))]
    return Draft("memory", "From memory (may be outdated)", Tier.PHASE, tuple(pieces))
