"""The decision log as a tree: under each decision, question and answer what came in its course. One pass over the journal."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from afresh.domain.decided import same_subject
from afresh.domain.text import one_line
from afresh.projections.decisions import UPKEEP, Line
from afresh.projections.standing import counted


@dataclass(frozen=True, slots=True)
class Branch:
    """A line of the log, and the lines that followed from it."""

    line: Line
    followed: tuple["Branch", ...] = ()
    superseded: Line | None = None
    """The decision that has taken its place."""


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring lines about steps and their upkeep, which are told together."""

    branches: tuple[Branch, ...]

    @property
    def steps(self) -> str:
        numbers = [branch.line["step"] for branch in self.branches if branch.line["kind"] == "settled"]
        return f"step {numbers[0]}" if len(numbers) == 1 else f"steps {numbers[0]}–{numbers[-1]}" if numbers else ""

    @property
    def told(self) -> str:
        """By number; a step by itself without one."""
        changes = [branch.line.get("change", "") for branch in self.branches]
        fates = [
            (changes.count("kept"), "kept"),
            (changes.count("reverted"), "reverted"),
            (changes.count("none"), "without a change"),
        ]
        upkeep = dict.fromkeys(_upkeep([branch.line for branch in self.branches if branch.line["type"] == UPKEEP]))
        alone = len([change for change in changes if change]) == 1
        fate = ", ".join(fate if alone else f"{count:,} {fate}" for count, fate in fates if count)
        return "; ".join(part for part in (fate, *upkeep) if part)

    @property
    def reverted(self) -> list[Line]:
        return [branch.line for branch in self.branches if branch.line.get("change") == "reverted"]


def tree(lines: Iterable[Line]) -> tuple[Branch, ...]:
    """In order: who reads it from top to bottom reads the log."""
    known, children = list[Line](), dict[int, list[Line]]()
    for line in lines:
        known.append(line)
        children.setdefault(line["follows"][-1] if line["follows"] else 0, []).append(line)
    later = dict(_superseded(known))

    def grown(number: int) -> tuple[Branch, ...]:
        return tuple(Branch(line, grown(line["n"]), later.get(line["n"])) for line in children.get(number, ()))

    return grown(0)


def flat(branches: Iterable[Branch]) -> Iterator[Line]:
    for branch in branches:
        yield branch.line
        yield from flat(branch.followed)


def runs(branches: Sequence[Branch]) -> Iterator[Branch | Run]:
    """Steps that were kept, reverted or only looked come together, however many they are; turns of the task stand alone."""
    held = list[Branch]()
    for branch in branches:
        if branch.line["kind"] == "settled" or (branch.line["type"] == UPKEEP and not branch.followed):
            held.append(branch)
            continue
        if held:
            yield Run(tuple(held))
        held = []
        yield branch
    if held:
        yield Run(tuple(held))


def _superseded(lines: Sequence[Line]) -> Iterator[tuple[int, Line]]:
    """Each decision of the model's that a later one on its subject has replaced, and by which."""
    newest = list[Line]()
    for line in lines:
        if line["kind"] != "decided" or line["by"] != "model" or not line.get("subject"):
            continue
        for old in [old for old in newest if same_subject(old["subject"], line["subject"])]:
            newest.remove(old)
            yield old["n"], line
        newest.append(line)


def _upkeep(lines: Sequence[Line]) -> Iterator[str]:
    """The ceiling where it went, the rest by number."""
    ceilings = [line["text"] for line in lines if line["kind"] == "rebudgeted"]
    if ceilings:
        first, last = ceilings[0].split()[1], ceilings[-1].split()[-1]
        yield f"ceiling {first} → {last}" if len(ceilings) > 1 else ceilings[0]
    for kind, noun in (("compacted", "compaction"), ("checkpointed", "checkpoint"), ("breached", "call over its ceiling"),
                       ("doubted", "usage report not believed")):  # fmt: skip
        if number := sum(line["kind"] == kind for line in lines):
            yield counted(number, noun) if "call" not in noun and "report" not in noun else f"{number:,} {noun}"
    yield from (one_line(line["text"], 200) for line in lines if line["kind"] == "decided")
