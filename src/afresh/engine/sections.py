"""What each section of a window says. Pure: memory in, drafts out, in reading order from stable to volatile."""

import re
from collections.abc import Sequence

from afresh.domain.memory import Memory
from afresh.domain.state import REVERTED, StepRecord
from afresh.domain.summary import told_line
from afresh.domain.task import Check
from afresh.domain.text import one_line
from afresh.domain.window import Tier
from afresh.engine.analysis import analysed
from afresh.engine.draft import Draft, Listed, Piece, always
from afresh.engine.held import archive, decisions, failed, known, recollections
from afresh.engine.instructions import TITLE as INSTRUCTIONS
from afresh.engine.last import last
from afresh.engine.spoken import spoken
from afresh.engine.standing import criteria, standing
from afresh.engine.view import View, beside, protected, words
from afresh.engine.whole import LISTED

TOLD = 150
"""Characters of an earlier step: why one failed, and what ran, stands in sections of its own."""
RULES = "Rules of the user:"
PART = "This is a part of a larger task. Others do the rest: change only what this part needs, and complete when it is done."
AFTER = 100
"""Fixtures come after the tests that use them."""
VIOLATIONS = "violations"
OFFER = "suggestion "
LINES = "lines of "
"""What pieces are called in records, where compaction tells them apart."""


def drafts(memory: Memory) -> tuple[Draft, ...]:
    """Every section that has something to say."""
    tried = failed(memory)
    made = [
        instructions(memory), fingerprint(memory), task(memory), knowledge(memory), outline(memory), summary(memory),
        archive(memory), known(memory), recollections(memory), decisions(memory), tried, files(memory),
        beginning(memory), cited(memory), changes(memory), suggestions(memory), verification(memory), failing(memory),
        plan(memory), earlier(memory, tried), last(memory),
    ]  # fmt: skip
    return tuple(draft for draft in (*made, *analysed(memory)) if draft.pieces)


def instructions(memory: Memory) -> Draft:
    return always("instructions", INSTRUCTIONS, [look.text for look in memory.of("instructions")])


def task(memory: Memory) -> Draft:
    order = memory.state.task
    rules = [f"- {look.text}" for look in memory.of("rule")]
    told = [*([PART] if order.parent else []), *([RULES] if rules else []), *rules, *spoken(memory.state)]
    return always("task", f"Task ({order.type})", [order.goal, *told, *criteria(order)])


def fingerprint(memory: Memory) -> Draft:
    """What the project is; a line goes before it is cut."""
    lines = [line for look in memory.of("fingerprint") for line in look.text.splitlines()]
    pieces = [Piece(line, "lines of the fingerprint", number) for number, line in enumerate(lines)]
    return Draft("fingerprint", "This project", Tier.PHASE, tuple(pieces))


def knowledge(memory: Memory) -> Draft:
    pieces = [Piece(look.text, f"knowledge {look.subject}", rank) for rank, look in enumerate(memory.of("knowledge"))]
    return Draft(
        "knowledge", "From earlier tasks (of then, not now; if you use one, say so with its id)", Tier.PHASE, tuple(pieces)
    )


def outline(memory: Memory) -> Draft:
    lines = [line for look in memory.of("outline") for line in look.text.splitlines()]
    pieces = [Piece(line, "lines of the outline", number, listed=listed(line)) for number, line in enumerate(lines)]
    return Draft("outline", "Source tree", Tier.PHASE, tuple(pieces), "… more: `run` ls -R")


def listed(line: str) -> Listed | None:
    """The file that a line of the source tree tells of."""
    found = LISTED.match(line)
    return Listed(found[1], int(found[2]), f"{found[1]} (shown whole)") if found else None


def summary(memory: Memory) -> Draft:
    """What is to be kept comes before names, names before prose, and of the steps the newest first."""
    told = memory.state.summary
    pieces = [Piece(f"Keep: {words}", "what the agent kept") for words in told.keep]
    pieces += [Piece(told.prose, "summary by the model", 2)] if told.prose else []
    pieces += [Piece(told_line(line), f"summary of step {line.step}", 3 + told.through - line.step) for line in told.lines]
    pieces += [Piece(told.names_line, "names of older steps", 1)] if told.names else []
    return Draft("summary", f"Summary of older steps (until {told.through})", Tier.PHASE, tuple(pieces))


def files(memory: Memory) -> Draft:
    """Excerpts by path and line. What was touched last, or is spoken of, is given up last; a stub stands for the rest."""
    views, pieces, kept = seen_files(memory), list[Piece](), worked_on(memory)
    spoken = words(memory.state) if views else frozenset[str]()
    for view in views:
        stub = f"     … {view.start}-{view.end} {view.title}".rstrip()
        rank = view.rank(memory.state, spoken) + kept.get(view, 0)
        asked = view.read_in(memory.state.step, memory.state)
        pieces.append(Piece(view.text, f"{LINES}{view.subject}", rank, f"`read` {view.path}", stub, view.path, asked=asked))
    title = "Files as they are now (+ changed by this task, … not shown: `read` them)"
    return Draft("files", title, Tier.DEMAND, tuple(pieces), "… more that is not shown")


def beginning(memory: Memory) -> Draft:
    """Of long files that the task names, and of short ones near it, for room that nothing else wants."""
    pieces = [
        Piece(view.text, f"{LINES}{view.subject}", number, f"`read` {view.path}", group=view.path, spare=True)
        for number, view in enumerate(map(View.of, memory.of("beginning")))
    ]
    return Draft("beginning", "More of what lies near, since there is room", Tier.DEMAND, tuple(pieces))


def seen_files(memory: Memory) -> list[View]:
    return sorted(map(View.of, memory.of("file")), key=lambda view: (view.path, view.start))


def worked_on(memory: Memory) -> dict[View, int]:
    views, next_ = seen_files(memory), {look.subject for look in memory.of("beside")}
    kept = protected(views, memory.state, [look.text for look in memory.of("test")])
    return beside([view for view in views if view not in kept], next_) | kept


def cited(memory: Memory) -> Draft:
    lines = [f"{look.subject}  {look.text}" for look in memory.of("cited")]
    pieces = [Piece(line, "cited lines", number) for number, line in enumerate(lines)]
    return Draft("cited", "Lines that the file cites, as they are now (of a range the first)", Tier.PHASE, tuple(pieces))


def changes(memory: Memory) -> Draft:
    """Which files; their text is in the excerpts, so that no line stands twice."""
    counts = [
        f"- {look.subject} (+{look.text.count(chr(10) + '+') - 1} −{look.text.count(chr(10) + '-') - 1})"
        for look in memory.of("change")
    ]  # fmt: skip
    return always("changes", "Changes so far", counts or (["none"] if memory.state.opened else []))


def suggestions(memory: Memory) -> Draft:
    violations = [Piece(line, VIOLATIONS, rank=1) for look in memory.of("violations") for line in look.text.splitlines()]
    offered = [
        Piece(f"- [{look.subject}] {look.text.partition(chr(10))[0]}", f"{OFFER}{look.subject}", rank=number + 2 if number else 0)
        for number, look in enumerate(memory.of("suggestion"))
    ]
    none = [Piece("none", "suggestions")] if violations and not offered else []
    head = [Piece("Checked to compile and to lower complexity; take one with `apply`.", "heading")] if offered else []
    return Draft("suggestions", "Suggestions", Tier.PHASE, (*violations, *head, *offered, *none))


def verification(memory: Memory) -> Draft:
    return always("verification", "Verification (run by the harness)", standing(memory.state) if memory.state.opened else [])


def failing(memory: Memory) -> Draft:
    """Unless it stands under Files, among what is kept."""
    shown = [view.code for view in worked_on(memory)]
    pieces = [
        Piece(f"{look.subject}\n{look.text}", f"source of {look.subject}", number)
        for number, look in enumerate(memory.of("test"))
        if not any(look.text in code for code in shown)
    ]
    pieces += [Piece(f"{look.subject}\n{look.text}", look.subject, AFTER + at) for at, look in enumerate(memory.of("fixture"))]
    return Draft("failing", "Source of failing tests", Tier.PHASE, tuple(pieces))


def plan(memory: Memory) -> Draft:
    return always("plan", "Your plan", [f"- [{'x' if item.done else ' '}] {item.text}" for item in memory.state.plan])


def earlier(memory: Memory, tried: Draft) -> Draft:
    """A line for each of the latest; what they printed stands under the work so far. `tried`: what failed."""
    listed, past = {line.block for line in memory.state.index}, memory.state.recent[:-1]
    reasons = "\n".join(piece.text for piece in tried.pieces)
    pieces = [
        Piece(
            f"- step {one.step}: {one_line(brief(one, memory.state.task.checks, reasons), TOLD)}{named(one, listed)}",
            f"step {one.step}", -one.step,
        )
        for one in past
        if one.outcome
    ]  # fmt: skip
    return Draft("earlier", "Earlier steps", Tier.PHASE, tuple(pieces))


def brief(record: StepRecord, checks: Sequence[Check], reasons: str) -> str:
    """What became of a step, without what stands elsewhere: why it failed, if that is among the reasons, and the one check that
    there is."""
    did, undone, _ = record.outcome.partition(REVERTED)
    if undone and f"- step {record.step}: " in reasons:
        return did + undone.removesuffix(": ")
    if len(checks) != 1:
        return record.outcome
    return re.sub(rf"{re.escape(checks[0].command)}(?: \(targeted: [^()]*\))?: ", "", record.outcome)


def named(record: StepRecord, listed: set[str]) -> str:
    """Ids of its outputs that are long enough to be worth a recall."""
    ids = [seen.block[:8] for seen in record.observations if seen.block in listed]
    return f" [{' '.join(ids)}]" if ids else ""
