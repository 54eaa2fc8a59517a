"""What each section of a window says. Pure: memory in, drafts out, in reading order from stable to volatile."""

from collections.abc import Sequence
from dataclasses import dataclass

from afresh.domain.action import Observation
from afresh.domain.fact import FactKind
from afresh.domain.memory import Memory
from afresh.domain.state import StepRecord
from afresh.domain.window import Tier
from afresh.engine.standing import standing

WRITING = ("edit", "write", "apply")


@dataclass(frozen=True, slots=True)
class Piece:
    """The smallest thing that is shown or left out. A lower rank is taken first; the order on the page is that of the tuple."""

    text: str
    what: str
    rank: int = 0
    source: str = ""
    """Where the rest is to be had when only a part fits."""


@dataclass(frozen=True, slots=True)
class Draft:
    name: str
    title: str
    tier: Tier
    pieces: tuple[Piece, ...]


def drafts(memory: Memory) -> tuple[Draft, ...]:
    """Every section that has something to say."""
    made = [
        task(memory), outline(memory), archive(memory), known(memory), failed(memory), files(memory), changes(memory),
        suggestions(memory), verification(memory), failing(memory), plan(memory), earlier(memory), last(memory),
    ]  # fmt: skip
    return tuple(draft for draft in made if draft.pieces)


def always(name: str, title: str, lines: Sequence[str]) -> Draft:
    text = "\n".join(line for line in lines if line)
    return Draft(name, title, Tier.ALWAYS, (Piece(text, name),) if text else ())


def task(memory: Memory) -> Draft:
    order = memory.state.task
    checks = [f"- `{check.command}`" for check in order.checks] or ["- nothing: no check was given, so nothing can be verified"]
    words = [f"- The user said: {word}" for word in memory.state.words]
    decisions = [f"- Decided ({made.by}): {made.text}" for made in memory.state.decisions]
    return always("task", f"Task ({order.type})", [order.goal, *words, *decisions, "Finished when these exit 0:", *checks])


def outline(memory: Memory) -> Draft:
    pieces = [Piece(look.text, "outline of the tree", source="`search` finds more") for look in memory.of("outline")]
    return Draft("outline", "Source tree", Tier.PHASE, tuple(pieces))


def archive(memory: Memory) -> Draft:
    """Newest first to be taken; outputs of the last step stand in full elsewhere."""
    latest = memory.state.step
    lines = [line for line in memory.state.index if line.step != latest]
    pieces = [
        Piece(f"- {line.block[:8]} step {line.step} {line.kind} {line.subject} ({line.size:,} chars): {line.phrase}",
              f"index line {line.block[:8]}", rank=-line.step)
        for line in lines
    ]  # fmt: skip
    return Draft("archive", "Archived outputs (`recall` shows them)", Tier.DEMAND, tuple(pieces))


def known(memory: Memory) -> Draft:
    facts = [fact for fact in memory.state.facts if fact.kind in (FactKind.NOTE, FactKind.VERIFIED)]
    pieces = [Piece(f"- {fact.subject}: {fact.text}", f"note on {fact.subject}", rank=-fact.step) for fact in facts]
    return Draft("known", "Notes", Tier.PHASE, tuple(pieces))


def failed(memory: Memory) -> Draft:
    facts = [fact for fact in memory.state.facts if fact.kind in (FactKind.FAILED_APPROACH, FactKind.ERROR)]
    return always(
        "failed", "Tried and failed: do not repeat", [f"- step {fact.step}: {fact.subject}: {fact.text}" for fact in facts]
    )


def files(memory: Memory) -> Draft:
    """Excerpts by path and line; the ones last touched are the last to be given up."""
    newest = {f"{region.path}:{region.start}": region.step for region in memory.state.regions}
    looks = sorted(memory.of("file"), key=lambda look: (look.subject.rpartition(":")[0], int(look.subject.rpartition(":")[2])))
    pieces = [
        Piece(f"{look.subject.rpartition(':')[0]}\n{look.text}", f"lines of {look.subject}", -newest.get(look.subject, 0),
              f"`read` {look.subject.rpartition(':')[0]}")
        for look in looks
    ]  # fmt: skip
    return Draft("files", "Files as they are now (+ marks lines that this task changed)", Tier.DEMAND, tuple(pieces))


def changes(memory: Memory) -> Draft:
    """Which files; their text is in the excerpts, so that no line stands twice."""
    counts = [
        f"- {look.subject} (+{look.text.count(chr(10) + '+') - 1} −{look.text.count(chr(10) + '-') - 1})"
        for look in memory.of("change")
    ]  # fmt: skip
    return always("changes", "Changes so far", counts or ["none"])


def suggestions(memory: Memory) -> Draft:
    violations = [Piece(look.text, "violations", rank=1) for look in memory.of("violations")]
    offered = [
        Piece(f"- [{look.subject}] {look.text.partition(chr(10))[0]}", f"suggestion {look.subject}", rank=number + 2)
        for number, look in enumerate(memory.of("suggestion"))
    ]
    none = [Piece("none", "suggestions")] if violations and not offered else []
    head = [Piece("Checked to compile and to lower complexity; take one with `apply`.", "heading")] if offered else []
    return Draft("suggestions", "Suggestions", Tier.PHASE, (*violations, *head, *offered, *none))


def verification(memory: Memory) -> Draft:
    return always("verification", "Verification (run by the harness)", standing(memory.state))


def failing(memory: Memory) -> Draft:
    pieces = [
        Piece(f"{look.subject}\n{look.text}", f"source of {look.subject}", number)
        for number, look in enumerate(memory.of("test"))
    ]
    return Draft("failing", "Source of failing tests", Tier.PHASE, tuple(pieces))


def plan(memory: Memory) -> Draft:
    return always("plan", "Your plan", [f"- [{'x' if item.done else ' '}] {item.text}" for item in memory.state.plan])


def earlier(memory: Memory) -> Draft:
    pieces = [Piece(f"- step {past.step}: {past.outcome}", f"step {past.step}", -past.step) for past in memory.state.recent[:-1]]
    return Draft("earlier", "Earlier steps", Tier.PHASE, tuple(pieces))


def last(memory: Memory) -> Draft:
    """The latest thought whole, then each action with its output."""
    if not memory.state.recent:
        return Draft("last", "Last step", Tier.DEMAND, ())
    step: StepRecord = memory.state.recent[-1]
    outputs = {look.subject: look.text for look in memory.of("output")}
    thought = [Piece(f"You thought: {step.thought}", "thought of the last step")] if step.thought else []
    deeds = [
        Piece(deed(seen, outputs, step.kept), f"output of {seen.action.tool}", 1, f"`recall` {seen.block[:8]}")
        for seen in step.observations
    ]
    outcome = [Piece(f"Outcome: {step.outcome}", "outcome of the last step")]
    return Draft("last", f"Last step ({step.step})", Tier.DEMAND, (*thought, *deeds, *outcome))


def deed(seen: Observation, outputs: dict[str, str], kept: bool) -> str:
    """Text that a kept change wrote stands under Files; of one that failed or was undone it is shown here, to learn from."""
    if seen.ok and kept and seen.action.tool in WRITING:
        return f"You did: {seen.action.tool}: {seen.text.partition(chr(10))[0]}"
    shown = {} if seen.ok and seen.action.tool in WRITING else seen.action.args
    told = ", ".join(f"{name}={shown[name]}" for name in sorted(shown, key=lambda name: (name != "path", name)))
    return f"You did: {seen.action.tool}({told}){'' if seen.ok else ' FAILED'}\n{outputs.get(seen.block, seen.text)}"
