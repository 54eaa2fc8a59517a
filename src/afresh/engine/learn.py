"""What there is to learn from a task that was verified, out of its journal alone. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from afresh.domain.action import Action, Reply
from afresh.domain.event import (
    ActionsExecuted,
    QuestionAnswered,
    BaselineMeasured,
    TaskCreated,
    OutputDigested,
    TaskEnded,
    JournalEntry,
    Event,
    StepFinished,
    ReplyReceived,
    CallRequested,
    ChangeKeptOrReverted,
    VerdictReached,
    LessonWorded,
)
from afresh.domain.fact import Fact, FactKind, Hunk
from afresh.domain.fit import GENERAL_WORD_WEIGHT, weigh_terms
from afresh.domain.knowledge import NOTHING_UNDONE, LESSON_HEADINGS, LessonApproval, Lesson, LessonStatus, iso_from_time
from afresh.domain.task import TaskStatus, Task
from afresh.domain.text import to_one_line
from afresh.domain.verdict import Baseline, CheckRun, Ruling, Verdict
from afresh.domain.words import split_words, drop_stop_words

MAX_TITLE_CHARACTERS = 80
MAX_GOAL_CHARACTERS = 700
MAX_SUMMARY_CHARACTERS = 700
MAX_LINE_CHARACTERS = 200
MIN_LESSON_STEPS = 2
MAX_STEPS_WITHOUT_REVIEW = 10
LAST_STEPS_NOT_REVERTED = 2
"""Steps of a task that is worth a draft, and of one that needs no person; and the last ones, none of which may be undone."""
MAX_TAGS = 8
MAX_NOTES = 6
MAX_COMMANDS = 4
MAX_FAILING_TESTS = 3
MAX_FILES = 8
MAX_SMALL_EDITS = 3
"""How many of each an object tells."""
DEFINITION_NAME = re.compile(r"\b(?:def|class|function|func|fn|interface|struct|type)\s+(\w+)")
INSPECTING_COMMAND = re.compile(
    r"(?:^|[;&|(]|\bdo )\s*(?:ls|cat|head|tail|grep|rg|find|nl|sed -n|git (?:status|diff|log|show)|pwd|wc|tree)\b"
)
MAX_COMMAND_CHARACTERS = 120
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|\n")
EXCERPT_SUBJECT = re.compile(r"(.+):(\d+)-(\d+) (.+)")
MAX_EDIT_CHARACTERS = 60


@dataclass(slots=True)
class TaskRecord:
    """A task's journal, sorted by what is of use afterwards."""

    task: Task
    at: float = 0.0
    done: bool = False
    baseline: Baseline | None = None
    verdict: Verdict | None = None
    steps: int = 0
    replies: dict[int, Reply] = field(default_factory=dict[int, Reply])
    worked: dict[int, tuple[bool, ...]] = field(default_factory=dict[int, tuple[bool, ...]])
    settled: dict[int, ChangeKeptOrReverted] = field(default_factory=dict[int, ChangeKeptOrReverted])
    refused: list[str] = field(default_factory=list[str])
    facts: dict[tuple[FactKind, str], Fact] = field(default_factory=dict[tuple[FactKind, str], Fact])
    words: list[str] = field(default_factory=list[str])
    tokens: int = 0
    hunks: tuple[Hunk, ...] = ()
    """Of the last kept change, until the call after it tells what the lines belong to."""
    worded: LessonWorded | None = None
    names: dict[str, dict[str, None]] = field(default_factory=dict[str, dict[str, None]])
    """By file: definitions that were changed."""

    @property
    def models(self) -> set[str]:
        return {reply.model for reply in self.replies.values()}

    @property
    def changed(self) -> tuple[str, ...]:
        return self.settled[max(self.settled)].changed if self.settled else ()


def task_record_from_journal(entries: Iterable[JournalEntry]) -> TaskRecord:
    found: TaskRecord | None = None
    for entry in entries:
        if isinstance(entry.event, TaskCreated):
            found = TaskRecord(entry.event.task)
        assert found, "a journal begins with Created"
        record_event(found, entry.event, entry.at)
    assert found, "a journal is never empty"
    return found


def record_event(found: TaskRecord, event: Event, at: float) -> None:
    match event:
        case BaselineMeasured(baseline):
            found.baseline = baseline
        case OutputDigested(facts):
            found.facts.update({(fact.kind, fact.subject): fact for fact in facts})
        case QuestionAnswered(text):
            found.words.append(text)
        case LessonWorded():
            found.worded = event
        case TaskEnded(status) if status is TaskStatus.DONE:
            found.done, found.at = True, at
        case _:
            record_step_event(found, event)


def record_step_event(found: TaskRecord, event: Event) -> None:
    match event:
        case CallRequested(_, audit):
            record_changed_definitions(found, [ref.subject for ref in audit.looks if ref.kind == "file"])
        case ReplyReceived(step, reply):
            found.replies[step] = reply
            found.tokens += reply.usage.tokens
        case ActionsExecuted(step, observations):
            found.worked[step] = tuple(seen.ok for seen in observations)
        case VerdictReached(_, verdict) if verdict.final:
            found.verdict = verdict
            found.refused += [verdict.reason] if verdict.ruling is not Ruling.PASS else []
        case ChangeKeptOrReverted(step, kept):
            found.settled[step], found.hunks = event, event.hunks if kept else ()
        case StepFinished(step):
            found.steps = step
        case _:
            pass


def record_changed_definitions(found: TaskRecord, shown: Sequence[str]) -> None:
    """The call after a change was shown the changed lines, under the names of what they are part of."""
    for place in filter(None, map(EXCERPT_SUBJECT.fullmatch, shown)):
        path, first, last, titles = place[1], int(place[2]), int(place[3]), place[4]
        if any(hunk.path == path and hunk.new_start <= last and first < hunk.new_start + hunk.new_count for hunk in found.hunks):
            found.names.setdefault(path, {}).update(dict.fromkeys(name for name in titles.split(", ") if name not in ("", "…")))
    found.hunks = ()


def find_reason_not_to_draft(found: TaskRecord) -> str:
    """Why there is nothing to draft; empty when there is."""
    if not found.done or not found.verdict or found.verdict.ruling is not Ruling.PASS:
        return "not verified"
    if found.steps < MIN_LESSON_STEPS:
        return "one step is no lesson"
    if not found.changed:
        return "nothing was changed"
    return "done by rules that know no more than before" if found.models == {"offline"} else ""


def draft_lesson(found: TaskRecord) -> Lesson:
    task = found.task
    body = (
        "\n\n".join(f"## {title}\n{text}" for title, text in zip(LESSON_HEADINGS, render_lesson_parts(found), strict=True)) + "\n"
    )
    return Lesson(
        id=lesson_id_from_task(task.id), title=title_from_goal(task.goal), tags=derive_tags(found), project=task.project, source=task.id,
        status=LessonStatus.DRAFT, by=LessonApproval.AUTOMATIC, created=iso_from_time(found.at)[:10], body=body,
    )  # fmt: skip


def lesson_id_from_task(task: str) -> str:
    """By the task alone, so that it is the same whenever it is drafted."""
    return f"KO-{sha256(task.encode()).hexdigest()[:8]}"


def render_lesson_parts(found: TaskRecord) -> tuple[str, str, str, str]:
    return render_problem(found), render_what_worked(found), render_what_failed(found), render_verification(found)


def title_from_goal(goal: str) -> str:
    return to_one_line(SENTENCE_END.split(goal.strip(), maxsplit=1)[0].strip(" .#"), MAX_TITLE_CHARACTERS)


def derive_tags(found: TaskRecord) -> tuple[str, ...]:
    """The type, the files, and what the goal speaks of."""
    files = [path.rpartition("/")[2].rpartition(".")[0] or path for path in found.changed]
    spoken = [
        word
        for word, weight in weigh_terms(SENTENCE_END.split(found.task.goal.strip())[0]).weights.items()
        if weight > GENERAL_WORD_WEIGHT
    ]
    words = set(re.findall(r"[^\W_]+", found.task.goal.lower()))
    whole = [
        word
        for word in drop_stop_words(split_words(found.task.goal))
        if word in words and any(word.startswith(one) for one in spoken)
    ]
    return tuple(dict.fromkeys([found.task.type, *[name.lower() for name in files[:3]], *whole]))[:MAX_TAGS]


def render_problem(found: TaskRecord) -> str:
    lines = [truncate_text(found.task.goal.strip(), MAX_GOAL_CHARACTERS)]
    lines += [f"The user added: {to_one_line(word, MAX_LINE_CHARACTERS)}" for word in found.words]
    runs = found.baseline.runs if found.baseline else ()
    failures = [one for run in runs for one in run.failures]
    lines += [
        f"- failed before: `{one.test}` {to_one_line(one.message, MAX_LINE_CHARACTERS)}".rstrip()
        for one in failures[:MAX_FAILING_TESTS]
    ]
    more = sum(run.failed for run in runs) - MAX_FAILING_TESTS
    return "\n".join([*lines, *([f"- and {more} more"] if more > 0 else [])])


def render_what_worked(found: TaskRecord) -> str:
    notes = [fact for (kind, _), fact in found.facts.items() if kind is FactKind.NOTE and fact.text]
    told = [
        f"- {to_one_line(fact.subject, MAX_LINE_CHARACTERS)}: {to_one_line(fact.text, MAX_LINE_CHARACTERS)}"
        for fact in notes[-MAX_NOTES:]
    ]
    commands = dict.fromkeys(find_helpful_commands(found))
    ran = [f"- ran `{to_one_line(command, MAX_LINE_CHARACTERS)}`" for command in list(commands)[-MAX_COMMANDS:]]
    return "\n".join([*read_completion_summary(found), *render_changes(found), *told, *ran])


def read_completion_summary(found: TaskRecord) -> list[str]:
    """What the one who did it said it was, in the end."""
    said = [action for reply in found.replies.values() for action in reply.actions if action.tool == "complete"]
    text = str(said[-1].args.get("summary", "")).strip() if said else ""
    return [truncate_text(re.sub(r"\n\s*\n", "\n", text), MAX_SUMMARY_CHARACTERS)] if text else []


def render_changes(found: TaskRecord) -> Iterator[str]:
    """For each file that was changed: which definitions, and, where it was little, what became what."""
    kept = [step for step, one in found.settled.items() if one.kept]
    acted = [action for step in kept if step in found.replies for action in select_successful_actions(found, step)]
    for path in found.changed[:MAX_FILES]:
        touched = [action for action in acted if action.args.get("path") == path]
        names = list(
            dict.fromkeys([*[name for action in touched for name in find_defined_names(action)], *found.names.get(path, {})])
        )
        small = [edit for action in touched if (edit := render_small_edit(action))]
        about = f": {', '.join(shorten_name_list(names))}" if names else ""
        yield f"- changed `{path}`{about}" + (f" ({'; '.join(small[:MAX_SMALL_EDITS])})" if small else "")
    if (more := len(found.changed) - MAX_FILES) > 0:
        yield f"- and {more} more files"


def shorten_name_list(names: Sequence[str]) -> list[str]:
    """Of tests the first few: what they test is told elsewhere."""
    tests = [name for name in names if name.startswith(("test_", "Test"))]
    return [name for name in names if name not in tests[MAX_SMALL_EDITS:]][:MAX_FILES] + (
        ["…"] if tests[MAX_SMALL_EDITS:] else []
    )


def select_successful_actions(found: TaskRecord, step: int) -> list[Action]:
    """The actions of a step that worked."""
    actions, how = found.replies[step].actions, found.worked.get(step, ())
    return [action for action, ok in zip(actions, how, strict=False) if ok]


def find_defined_names(action: Action) -> list[str]:
    return [name for key in ("old", "new", "text", "content") for name in DEFINITION_NAME.findall(str(action.args.get(key, "")))]


def render_small_edit(action: Action) -> str:
    old, new = (str(action.args.get(key, "")).strip() for key in ("old", "new"))
    fits = old and new and max(len(old), len(new)) <= MAX_EDIT_CHARACTERS and "\n" not in old + new and "`" not in old + new
    return f"`{old}` became `{new}`" if fits else ""


def find_helpful_commands(found: TaskRecord) -> Iterator[str]:
    """Commands that worked and were more than a look around; the checks stand under how it was verified."""
    checks = {check.command for check in found.task.checks}
    for step in found.replies:
        for action in select_successful_actions(found, step):
            command = str(action.args.get("command", "")).strip() if action.tool == "run" else ""
            plain = len(command) <= MAX_COMMAND_CHARACTERS and "\n" not in command and "`" not in command
            if command and command not in checks and plain and not INSPECTING_COMMAND.search(command):
                yield command


def render_what_failed(found: TaskRecord) -> str:
    tried = [fact for (kind, _), fact in found.facts.items() if kind is FactKind.FAILED_APPROACH]
    lines = [
        f"- {to_one_line(fact.subject, MAX_LINE_CHARACTERS)}: {to_one_line(fact.text, MAX_LINE_CHARACTERS)}" for fact in tried
    ]
    lines += [
        f"- said to be finished too early: {to_one_line(reason, MAX_LINE_CHARACTERS)}" for reason in dict.fromkeys(found.refused)
    ]
    return "\n".join(lines) or NOTHING_UNDONE


def render_verification(found: TaskRecord) -> str:
    assert found.verdict, "only what was verified is drafted"
    before = {run.command: run for run in found.baseline.runs} if found.baseline else {}
    last = {run.command: run for run in found.verdict.runs}
    lines = [
        f"- `{to_one_line(run.command, MAX_LINE_CHARACTERS)}`: {render_run_counts(run)}{render_baseline_counts(before.get(run.command))}"
        for run in last.values()
    ]
    reason = [] if lines else [to_one_line(found.verdict.reason, MAX_LINE_CHARACTERS)]
    return "\n".join([*lines, *reason, f"It took {found.steps} steps and {found.tokens:,} tokens."])


def render_run_counts(run: CheckRun) -> str:
    told = [
        f"{number} {name}"
        for number, name in ((run.passed, "passed"), (run.failed, "failed"), (run.skipped, "skipped"))
        if number
    ]
    return ", ".join(told) or f"exit {run.exit}"


def render_baseline_counts(run: CheckRun | None) -> str:
    return f" (before: {render_run_counts(run)})" if run and run.exit else ""


def truncate_text(text: str, limit: int) -> str:
    """Lines stay lines; nothing that could be taken for one of our own headings."""
    lines = [re.sub(r"^(#+)", r"\\\1", line.rstrip()) for line in text.splitlines()]
    whole = "\n".join(line for line in lines if line)
    return whole if len(whole) <= limit else whole[: limit - 1].rstrip() + "…"


def find_reason_for_review(found: TaskRecord, like: Sequence[str]) -> str:
    """Why a person has to look at it first; empty when nobody need. `like`: objects that say much the same."""
    if like:
        return f"much like {', '.join(like)}"
    if not MIN_LESSON_STEPS <= found.steps <= MAX_STEPS_WITHOUT_REVIEW:
        return f"{found.steps} steps, {MIN_LESSON_STEPS} to {MAX_STEPS_WITHOUT_REVIEW} are approved without a person"
    last = [found.settled[step] for step in sorted(found.settled)][-LAST_STEPS_NOT_REVERTED:]
    if undone := [one for one in last if not one.kept or one.why]:
        return f"step {undone[-1].step}, near the end, was undone"
    return ""
