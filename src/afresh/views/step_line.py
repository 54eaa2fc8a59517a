"""A step in one line for people: its mark, what was done, and what came of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import PurePosixPath

from afresh.core.action import Action, Observation, describe_subject
from afresh.core.step_record import StepFate, StepRecord
from afresh.core.step_result import find_command_result
from afresh.core.tool_traits import ToolTrait, has_trait
from afresh.core.truncate import to_one_line

MARKS_BY_FATE = {
    StepFate.LOOKED: "·",
    StepFate.KEPT: "✓",
    StepFate.VERIFIED: "✓",
    StepFate.UNDONE: "↺",
    StepFate.REFUSED: "✗",
}
VERBS_BY_TRAIT = {
    ToolTrait.APPLIES: "",
    ToolTrait.SEARCHES: "searched",
    ToolTrait.COMMANDS: "ran",
    ToolTrait.RUNS: "ran",
    ToolTrait.WRITES: "edited",
    ToolTrait.READS: "read",
    ToolTrait.PLANS: "made a plan",
    ToolTrait.NOTES: "noted",
    ToolTrait.ASKS: "asked you:",
    ToolTrait.COMPLETES: "reported done",
    ToolTrait.DELEGATES: "delegated",
}
"""The first trait that an action has names it."""
VERBS_OF_REFUSED_CALLS = {
    ToolTrait.WRITES: "tried to edit",
    ToolTrait.PLANS: "tried to make a plan",
    ToolTrait.NOTES: "tried to note",
    ToolTrait.ASKS: "tried to ask:",
    ToolTrait.DELEGATES: "tried to delegate",
}
ANSWERED_STEP = "answered"
SELF_EXPLAINING = (ToolTrait.PLANS, ToolTrait.COMPLETES)
MAX_SENTENCE_CHARACTERS = 240
MAX_REPEATED_CHARACTERS = 40
"""A thought that repeats so much of what was done is not shown."""
_SENTENCE_ENDS = (". ", "! ", "? ")


@dataclass(frozen=True, slots=True)
class StepSummary:
    step: int
    fate: StepFate
    did: str
    result: str = ""
    thought: str = ""
    """All that the model said; empty if it only names what was done."""

    @property
    def mark(self) -> str:
        return MARKS_BY_FATE[self.fate]

    @property
    def text(self) -> str:
        return f"{self.did} → {self.result}" if self.result else self.did


def make_step_line(record: StepRecord) -> StepSummary:
    fate = find_step_fate(record)
    did = describe_observations(record.observations)
    if fate is StepFate.LOOKED and any(seen.ok and has_trait(seen.action, ToolTrait.COMPLETES) for seen in record.observations):
        return StepSummary(record.step, fate, ANSWERED_STEP)
    thought = "" if did[:MAX_REPEATED_CHARACTERS] in " ".join(record.thought.split()) else record.thought
    return StepSummary(record.step, fate, did, _describe_result(record, fate), thought)


def find_step_fate(record: StepRecord) -> StepFate:
    """A step whose every call was refused looked at nothing; a command that failed was run."""
    fate = record.fate or (StepFate.KEPT if record.kept else StepFate.UNDONE)
    refused = bool(record.observations) and not any(
        seen.ok or has_trait(seen.action, ToolTrait.RUNS) for seen in record.observations
    )
    return StepFate.REFUSED if fate is StepFate.LOOKED and refused else fate


def find_first_sentence(text: str) -> str:
    """The first sentence of what a model said, on one line. A colon ends it only before a list or block."""
    line = " ".join(text.strip().partition("\n\n")[0].partition(":\n")[0].split())
    ends = [place + 1 for place in range(len(line)) if line[place : place + 2] in _SENTENCE_ENDS and _begins(line[place + 2 :])]
    return to_one_line(line[: ends[0]] if ends else line, MAX_SENTENCE_CHARACTERS)


def _begins(rest: str) -> bool:
    """Return whether a sentence begins here: `e.g. this` is not the end of one."""
    return rest[:1].isupper() or not rest[:1].isalnum()


def describe_observations(observations: Sequence[Observation]) -> str:
    """Say what was done: `read cart.py, cart_test.py, ran pytest -q`. Each thing once."""
    named = [(*_name_action(seen), seen) for seen in observations]
    lines: list[str] = []
    for verb, group in groupby(named, key=lambda one: one[0]):
        subjects = dict.fromkeys(subject for _, subject, _ in group if subject)
        lines.append(f"{verb} {', '.join(subjects)}".strip())
    return ", ".join(dict.fromkeys(lines)) or "called no tool"


def _name_action(seen: Observation) -> tuple[str, str]:
    """Return verb and object of an action."""
    action = seen.action
    trait = next((trait for trait in VERBS_BY_TRAIT if has_trait(action, trait)), None)
    if trait is None:
        return f"used {action.tool}", describe_subject(action)
    if trait is ToolTrait.APPLIES:
        return ("", describe_subject(action)) if seen.ok else ("tried a suggestion", "")
    verb = VERBS_BY_TRAIT[trait] if seen.ok else VERBS_OF_REFUSED_CALLS.get(trait, VERBS_BY_TRAIT[trait])
    return verb, "" if trait in SELF_EXPLAINING else _shorten_subject(action, trait)


def _shorten_subject(action: Action, trait: ToolTrait) -> str:
    subject = describe_subject(action)
    if trait in (ToolTrait.COMMANDS, ToolTrait.RUNS):
        program, blank, rest = subject.partition(" ")
        return f"{PurePosixPath(program).name if program.startswith('/') else program}{blank}{rest}"
    if trait in (ToolTrait.READS, ToolTrait.WRITES) and "/" in subject and " " not in subject:
        path = PurePosixPath(subject)
        return f"{path.parent.name}/{path.name}" if path.name.startswith("__") else path.name
    return subject


def _describe_result(record: StepRecord, fate: StepFate) -> str:
    judged = record.judged
    match fate:
        case StepFate.KEPT:
            return f"kept{' in part' if record.put_back else ''}" + (f", {judged}" if judged else "")
        case StepFate.UNDONE:
            return f"undone: {judged}" if judged else "undone"
        case StepFate.VERIFIED:
            return f"verified: {judged}"
        case StepFate.REFUSED:
            return f"not accepted: {judged}" if judged else _describe_failure(record)
        case StepFate.LOOKED:
            return _describe_look(record)


def _describe_failure(record: StepRecord) -> str:
    failed = [seen for seen in record.observations if not seen.ok]
    return to_one_line((failed[-1].text.strip().splitlines() or ["no reason given"])[0], 200) if failed else ""


def _describe_look(record: StepRecord) -> str:
    """Say how the last command ended; of other looks only what failed."""
    ran = [seen for seen in record.observations if has_trait(seen.action, ToolTrait.RUNS)]
    if ran:
        result = find_command_result(ran[-1].text).strip("= ").replace(" in …s", "")
        return result or ("no output" if ran[-1].ok else "failed without output")
    return _describe_failure(record)
