"""What there is to learn from a task that was verified, out of its journal alone. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from afresh.domain.action import Action, Reply
from afresh.domain.event import (
    Acted,
    Answered,
    Baselined,
    Created,
    Digested,
    Ended,
    Entry,
    Event,
    Finished,
    Replied,
    Requested,
    Settled,
    Verified,
    Worded,
)
from afresh.domain.fact import Fact, FactKind, Hunk
from afresh.domain.fit import LITTLE, terms
from afresh.domain.knowledge import NOTHING, PARTS, By, Knowledge, Standing, moment
from afresh.domain.task import Status, Task
from afresh.domain.text import one_line
from afresh.domain.verdict import Baseline, CheckRun, Ruling, Verdict
from afresh.domain.words import split, telling

TITLE = 80
GOAL = 700
SUMMARY = 700
LINE = 200
FEWEST = 2
MOST_STEPS = 10
LAST = 2
"""Steps of a task that is worth a draft, and of one that needs no person; and the last ones, none of which may be undone."""
TAGS = 8
NOTES = 6
COMMANDS = 4
FAILING = 3
FILES = 8
CHANGES = 3
"""How many of each an object tells."""
DEFINED = re.compile(r"\b(?:def|class|function|func|fn|interface|struct|type)\s+(\w+)")
LOOKING = re.compile(
    r"(?:^|[;&|(]|\bdo )\s*(?:ls|cat|head|tail|grep|rg|find|nl|sed -n|git (?:status|diff|log|show)|pwd|wc|tree)\b"
)
LONGEST_COMMAND = 120
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|\n")
SHOWN = re.compile(r"(.+):(\d+)-(\d+) (.+)")
LONGEST_EDIT = 60


@dataclass(slots=True)
class Course:
    """A task's journal, sorted by what is of use afterwards."""

    task: Task
    at: float = 0.0
    done: bool = False
    baseline: Baseline | None = None
    verdict: Verdict | None = None
    steps: int = 0
    replies: dict[int, Reply] = field(default_factory=dict[int, Reply])
    worked: dict[int, tuple[bool, ...]] = field(default_factory=dict[int, tuple[bool, ...]])
    settled: dict[int, Settled] = field(default_factory=dict[int, Settled])
    refused: list[str] = field(default_factory=list[str])
    facts: dict[tuple[FactKind, str], Fact] = field(default_factory=dict[tuple[FactKind, str], Fact])
    words: list[str] = field(default_factory=list[str])
    tokens: int = 0
    hunks: tuple[Hunk, ...] = ()
    """Of the last kept change, until the call after it tells what the lines belong to."""
    worded: Worded | None = None
    names: dict[str, dict[str, None]] = field(default_factory=dict[str, dict[str, None]])
    """By file: definitions that were changed."""

    @property
    def models(self) -> set[str]:
        return {reply.model for reply in self.replies.values()}

    @property
    def changed(self) -> tuple[str, ...]:
        return self.settled[max(self.settled)].changed if self.settled else ()


def course(entries: Iterable[Entry]) -> Course:
    found: Course | None = None
    for entry in entries:
        if isinstance(entry.event, Created):
            found = Course(entry.event.task)
        assert found, "a journal begins with Created"
        take(found, entry.event, entry.at)
    assert found, "a journal is never empty"
    return found


def take(found: Course, event: Event, at: float) -> None:
    match event:
        case Baselined(baseline):
            found.baseline = baseline
        case Digested(facts):
            found.facts.update({(fact.kind, fact.subject): fact for fact in facts})
        case Answered(text):
            found.words.append(text)
        case Worded():
            found.worded = event
        case Ended(status) if status is Status.DONE:
            found.done, found.at = True, at
        case _:
            take_step(found, event)


def take_step(found: Course, event: Event) -> None:
    match event:
        case Requested(_, audit):
            name_changes(found, [ref.subject for ref in audit.looks if ref.kind == "file"])
        case Replied(step, reply):
            found.replies[step] = reply
            found.tokens += reply.usage.tokens
        case Acted(step, observations):
            found.worked[step] = tuple(seen.ok for seen in observations)
        case Verified(_, verdict) if verdict.final:
            found.verdict = verdict
            found.refused += [verdict.reason] if verdict.ruling is not Ruling.PASS else []
        case Settled(step, kept):
            found.settled[step], found.hunks = event, event.hunks if kept else ()
        case Finished(step):
            found.steps = step
        case _:
            pass


def name_changes(found: Course, shown: Sequence[str]) -> None:
    """The call after a change was shown the changed lines, under the names of what they are part of."""
    for place in filter(None, map(SHOWN.fullmatch, shown)):
        path, first, last, titles = place[1], int(place[2]), int(place[3]), place[4]
        if any(hunk.path == path and hunk.new_start <= last and first < hunk.new_start + hunk.new_count for hunk in found.hunks):
            found.names.setdefault(path, {}).update(dict.fromkeys(name for name in titles.split(", ") if name not in ("", "…")))
    found.hunks = ()


def worth_keeping(found: Course) -> str:
    """Why there is nothing to draft; empty when there is."""
    if not found.done or not found.verdict or found.verdict.ruling is not Ruling.PASS:
        return "not verified"
    if found.steps < FEWEST:
        return "one step is no lesson"
    if not found.changed:
        return "nothing was changed"
    return "done by rules that know no more than before" if found.models == {"offline"} else ""


def draft(found: Course) -> Knowledge:
    task = found.task
    body = "\n\n".join(f"## {title}\n{text}" for title, text in zip(PARTS, parts(found), strict=True)) + "\n"
    return Knowledge(
        id=identity(task.id), title=title(task.goal), tags=tags(found), project=task.project, source=task.id,
        status=Standing.DRAFT, by=By.AUTOMATIC, created=moment(found.at)[:10], body=body,
    )  # fmt: skip


def identity(task: str) -> str:
    """By the task alone, so that it is the same whenever it is drafted."""
    return f"KO-{sha256(task.encode()).hexdigest()[:8]}"


def parts(found: Course) -> tuple[str, str, str, str]:
    return problem(found), worked(found), failed(found), verified(found)


def title(goal: str) -> str:
    return one_line(SENTENCE.split(goal.strip(), maxsplit=1)[0].strip(" .#"), TITLE)


def tags(found: Course) -> tuple[str, ...]:
    """The type, the files, and what the goal speaks of."""
    files = [path.rpartition("/")[2].rpartition(".")[0] or path for path in found.changed]
    spoken = [word for word, weight in terms(SENTENCE.split(found.task.goal.strip())[0]).weights.items() if weight > LITTLE]
    words = set(re.findall(r"[^\W_]+", found.task.goal.lower()))
    whole = [word for word in telling(split(found.task.goal)) if word in words and any(word.startswith(one) for one in spoken)]
    return tuple(dict.fromkeys([found.task.type, *[name.lower() for name in files[:3]], *whole]))[:TAGS]


def problem(found: Course) -> str:
    lines = [shortened(found.task.goal.strip(), GOAL)]
    lines += [f"The user added: {one_line(word, LINE)}" for word in found.words]
    runs = found.baseline.runs if found.baseline else ()
    failures = [one for run in runs for one in run.failures]
    lines += [f"- failed before: `{one.test}` {one_line(one.message, LINE)}".rstrip() for one in failures[:FAILING]]
    more = sum(run.failed for run in runs) - FAILING
    return "\n".join([*lines, *([f"- and {more} more"] if more > 0 else [])])


def worked(found: Course) -> str:
    notes = [fact for (kind, _), fact in found.facts.items() if kind is FactKind.NOTE and fact.text]
    told = [f"- {one_line(fact.subject, LINE)}: {one_line(fact.text, LINE)}" for fact in notes[-NOTES:]]
    commands = dict.fromkeys(helpful(found))
    ran = [f"- ran `{one_line(command, LINE)}`" for command in list(commands)[-COMMANDS:]]
    return "\n".join([*summary(found), *changes(found), *told, *ran])


def summary(found: Course) -> list[str]:
    """What the one who did it said it was, in the end."""
    said = [action for reply in found.replies.values() for action in reply.actions if action.tool == "complete"]
    text = str(said[-1].args.get("summary", "")).strip() if said else ""
    return [shortened(re.sub(r"\n\s*\n", "\n", text), SUMMARY)] if text else []


def changes(found: Course) -> Iterator[str]:
    """For each file that was changed: which definitions, and, where it was little, what became what."""
    kept = [step for step, one in found.settled.items() if one.kept]
    acted = [action for step in kept if step in found.replies for action in done(found, step)]
    for path in found.changed[:FILES]:
        touched = [action for action in acted if action.args.get("path") == path]
        names = list(dict.fromkeys([*[name for action in touched for name in defined(action)], *found.names.get(path, {})]))
        small = [edit for action in touched if (edit := small_edit(action))]
        about = f": {', '.join(shortlist(names))}" if names else ""
        yield f"- changed `{path}`{about}" + (f" ({'; '.join(small[:CHANGES])})" if small else "")
    if (more := len(found.changed) - FILES) > 0:
        yield f"- and {more} more files"


def shortlist(names: Sequence[str]) -> list[str]:
    """Of tests the first few: what they test is told elsewhere."""
    tests = [name for name in names if name.startswith(("test_", "Test"))]
    return [name for name in names if name not in tests[CHANGES:]][:FILES] + (["…"] if tests[CHANGES:] else [])


def done(found: Course, step: int) -> list[Action]:
    """The actions of a step that worked."""
    actions, how = found.replies[step].actions, found.worked.get(step, ())
    return [action for action, ok in zip(actions, how, strict=False) if ok]


def defined(action: Action) -> list[str]:
    return [name for key in ("old", "new", "text", "content") for name in DEFINED.findall(str(action.args.get(key, "")))]


def small_edit(action: Action) -> str:
    old, new = (str(action.args.get(key, "")).strip() for key in ("old", "new"))
    fits = old and new and max(len(old), len(new)) <= LONGEST_EDIT and "\n" not in old + new and "`" not in old + new
    return f"`{old}` became `{new}`" if fits else ""


def helpful(found: Course) -> Iterator[str]:
    """Commands that worked and were more than a look around; the checks stand under how it was verified."""
    checks = {check.command for check in found.task.checks}
    for step in found.replies:
        for action in done(found, step):
            command = str(action.args.get("command", "")).strip() if action.tool == "run" else ""
            plain = len(command) <= LONGEST_COMMAND and "\n" not in command and "`" not in command
            if command and command not in checks and plain and not LOOKING.search(command):
                yield command


def failed(found: Course) -> str:
    tried = [fact for (kind, _), fact in found.facts.items() if kind is FactKind.FAILED_APPROACH]
    lines = [f"- {one_line(fact.subject, LINE)}: {one_line(fact.text, LINE)}" for fact in tried]
    lines += [f"- said to be finished too early: {one_line(reason, LINE)}" for reason in dict.fromkeys(found.refused)]
    return "\n".join(lines) or NOTHING


def verified(found: Course) -> str:
    assert found.verdict, "only what was verified is drafted"
    before = {run.command: run for run in found.baseline.runs} if found.baseline else {}
    last = {run.command: run for run in found.verdict.runs}
    lines = [f"- `{one_line(run.command, LINE)}`: {counts(run)}{was(before.get(run.command))}" for run in last.values()]
    reason = [] if lines else [one_line(found.verdict.reason, LINE)]
    return "\n".join([*lines, *reason, f"It took {found.steps} steps and {found.tokens:,} tokens."])


def counts(run: CheckRun) -> str:
    told = [
        f"{number} {name}"
        for number, name in ((run.passed, "passed"), (run.failed, "failed"), (run.skipped, "skipped"))
        if number
    ]
    return ", ".join(told) or f"exit {run.exit}"


def was(run: CheckRun | None) -> str:
    return f" (before: {counts(run)})" if run and run.exit else ""


def shortened(text: str, limit: int) -> str:
    """Lines stay lines; nothing that could be taken for one of our own headings."""
    lines = [re.sub(r"^(#+)", r"\\\1", line.rstrip()) for line in text.splitlines()]
    whole = "\n".join(line for line in lines if line)
    return whole if len(whole) <= limit else whole[: limit - 1].rstrip() + "…"


def doubts(found: Course, like: Sequence[str]) -> str:
    """Why a person has to look at it first; empty when nobody need. `like`: objects that say much the same."""
    if like:
        return f"much like {', '.join(like)}"
    if not FEWEST <= found.steps <= MOST_STEPS:
        return f"{found.steps} steps, {FEWEST} to {MOST_STEPS} are approved without a person"
    last = [found.settled[step] for step in sorted(found.settled)][-LAST:]
    if undone := [one for one in last if not one.kept or one.why]:
        return f"step {undone[-1].step}, near the end, was undone"
    return ""
