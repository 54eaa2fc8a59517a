"""The last step: told in a section of its own, or as the model's own calls with a result for each."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from afresh.domain.action import Observation, subject
from afresh.domain.memory import Memory
from afresh.domain.state import StepRecord
from afresh.domain.window import Tier
from afresh.engine.draft import Draft, Piece

WRITING = ("edit", "write", "apply")
NOTING = ("plan", "remember", "decide")
UNDONE = "The whole reply was undone: see Verification."
EARLIER = "(before the change below)"
FEW = 2
OUTCOME = "outcome of the last step"
THOUGHT = "thought of the last step"


def last(memory: Memory) -> Draft:
    """The latest thought whole, then each action with its output; plan and notes stand in sections of their own."""
    if not memory.state.recent:
        return Draft("last", "Last step", Tier.DEMAND, ())
    step: StepRecord = memory.state.recent[-1]
    outputs = outputs_of(memory)
    thought = [Piece(f"You thought: {step.thought}", THOUGHT)] if step.thought else []
    many = many_changes(step)
    deeds = [
        Piece(dated(deed(seen, outputs, step.kept), older(number, step)), named(number, step), 1, recalled(seen), unshown(seen))
        for number, seen in enumerate(step.observations)
        if not (seen.ok and seen.action.tool in NOTING) and not (many and wrote(seen))
    ]
    return Draft("last", title(step), Tier.DEMAND, (*thought, *deeds, *many, *undone(step)))


def many_changes(step: StepRecord) -> list[Piece]:
    """More than a few that were kept are told in a line: what they wrote stands under Files, how much under Changes."""
    paths = Counter([subject(seen.action) for seen in step.observations if step.kept and wrote(seen)])
    if paths.total() <= FEW:
        return []
    told = ", ".join(f"{path} ({times})" if times > 1 else path for path, times in paths.items())
    return [Piece(f"You did: {paths.total()} changes, all of them made: {told}", "changes of the last step", 1)]


def results(memory: Memory) -> Draft:
    """Of a step that the model gets back as its own reply: only what came of each action."""
    step, outputs = memory.state.recent[-1], outputs_of(memory)
    pieces = [
        Piece(
            f"{EARLIER}\n{result(seen, outputs, step.kept)}" if older(number, step) else result(seen, outputs, step.kept),
            named(number, step), 1, recalled(seen), withheld(seen),
        )
        for number, seen in enumerate(step.observations)
    ]  # fmt: skip
    return Draft("last", title(step), Tier.DEMAND, (*pieces, *undone(step)))


def title(step: StepRecord) -> str:
    return f"Last step ({step.step})"


def named(number: int, step: StepRecord) -> str:
    return f"output {number} of {step.observations[number].action.tool}"


def undone(step: StepRecord) -> list[Piece]:
    return [] if step.kept else [Piece(UNDONE, OUTCOME)]


def outputs_of(memory: Memory) -> dict[str, str]:
    return {look.subject: look.text for look in memory.of("output")}


def wrote(seen: Observation) -> bool:
    return seen.ok and seen.action.tool in WRITING


def older(number: int, step: StepRecord) -> bool:
    """Whether what was printed is older than a change of the same reply."""
    edited = max([place for place, seen in enumerate(step.observations) if step.kept and wrote(seen)], default=0)
    return number < edited and not wrote(step.observations[number])


def dated(told: str, before: bool) -> str:
    head, rest, text = told.partition("\n")
    return f"{head} {EARLIER}{rest}{text}" if before else told


def recalled(seen: Observation) -> str:
    return f"`recall` {seen.block[:8]}"


def unshown(seen: Observation) -> str:
    return f"You did: {seen.action.tool} {subject(seen.action)} (output not shown: {recalled(seen)})"


def withheld(seen: Observation) -> str:
    return f"(output not shown: {recalled(seen)})"


def result(seen: Observation, outputs: dict[str, str], kept: bool) -> str:
    """Text that a kept change wrote stands under Files, plan and notes in sections of their own."""
    brief = seen.ok and (kept if seen.action.tool in WRITING else seen.action.tool in NOTING)
    return (seen.text.partition("\n")[0] if brief else outputs.get(seen.block, seen.text)) or "done"


def deed(seen: Observation, outputs: dict[str, str], kept: bool) -> str:
    """Text that a kept change wrote stands under Files; of one that failed or was undone it is shown here, to learn from."""
    if kept and wrote(seen):
        return f"You did: {seen.action.tool}: {seen.text.partition(chr(10))[0]}"
    spoken_for = wrote(seen) or seen.action.tool == "run"
    shown: Mapping[str, Any] = {} if spoken_for else seen.action.args
    if seen.action.tool == "run":
        return f"You did: run{'' if seen.ok else ' FAILED'}\n{outputs.get(seen.block, seen.text)}"
    told = ", ".join(f"{name}={shown[name]}" for name in sorted(shown, key=lambda name: (name != "path", name)))
    return f"You did: {seen.action.tool}({told}){'' if seen.ok else ' FAILED'}\n{outputs.get(seen.block, seen.text)}"
