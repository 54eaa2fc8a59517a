"""What there is to learn from a task: out of its journal, and the names of what it changed. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

from afresh.core.action import Action
from afresh.core.command_output import is_trivial_command
from afresh.core.fact import Fact, FactKind
from afresh.core.lesson import (
    LESSON_HEADINGS,
    NOTHING_UNDONE,
    NOTHING_VERIFIED,
    Lesson,
    LessonApproval,
    LessonStatus,
    hash_lesson_body,
    iso_from_time,
)
from afresh.core.lesson_match import GENERAL_WORD_WEIGHT, weigh_terms
from afresh.core.reply import OFFLINE_MODEL
from afresh.core.search_words import drop_stop_words, split_words
from afresh.core.tool_traits import ToolTrait, has_trait
from afresh.core.truncate import to_one_line, truncate_text
from afresh.core.verdict import CheckRun, Ruling
from afresh.memory.lessons.task_record import TaskRecord

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
MAX_COMMAND_CHARACTERS = 120
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|\n")
MAX_EDIT_CHARACTERS = 60
NamesByPath = Mapping[str, Sequence[str]]
NO_NAMES: NamesByPath = {}


def find_reason_not_to_draft(task: TaskRecord) -> str:
    """Why there is nothing to draft; empty when there is."""
    if task.models == {OFFLINE_MODEL}:
        return "done by rules that know no more than before"
    if task.steps < MIN_LESSON_STEPS:
        return "one step is no lesson"
    if is_verified(task) and not task.changed:
        return "nothing was changed"
    found_out = list_failed_approaches(task) or task.refused or list_notes(task) or task.words
    return "" if found_out else "nothing failed and nothing was found out on the way"


def is_verified(task: TaskRecord) -> bool:
    return task.done and task.verdict is not None and task.verdict.ruling is Ruling.PASS


def draft_lesson(found: TaskRecord, names: NamesByPath = NO_NAMES) -> Lesson:
    """`names` are the definitions that the task changed, by file."""
    task, parts = found.task, render_lesson_parts(found, names)
    body = "\n\n".join(f"## {title}\n{text}" for title, text in zip(LESSON_HEADINGS, parts, strict=True)) + "\n"
    return Lesson(
        id=lesson_id_from_task(task.id),
        title=title_from_goal(task.goal),
        tags=derive_tags(found),
        project=task.project,
        source=task.id,
        status=LessonStatus.DRAFT,
        by=LessonApproval.AUTOMATIC,
        created=iso_from_time(found.at)[:10],
        drafted="" if is_verified(found) else hash_lesson_body(body),
        body=body,
    )


def lesson_id_from_task(task: str) -> str:
    """An id made of the task alone, so that a second draft has the same id."""
    return f"KO-{sha256(task.encode()).hexdigest()[:8]}"


def render_lesson_parts(task: TaskRecord, names: NamesByPath) -> tuple[str, str, str, str]:
    return render_problem(task), render_what_worked(task, names), render_what_failed(task), render_verification(task)


def title_from_goal(goal: str) -> str:
    return to_one_line(SENTENCE_END.split(goal.strip(), maxsplit=1)[0].strip(" .#"), MAX_TITLE_CHARACTERS)


def derive_tags(task: TaskRecord) -> tuple[str, ...]:
    """The type, the files, and what the goal speaks of."""
    files = [path.rpartition("/")[2].rpartition(".")[0] or path for path in task.changed]
    spoken = [
        word
        for word, weight in weigh_terms(SENTENCE_END.split(task.task.goal.strip())[0]).weights.items()
        if weight > GENERAL_WORD_WEIGHT
    ]
    words = set(re.findall(r"[^\W_]+", task.task.goal.lower()))
    whole = [
        word
        for word in drop_stop_words(split_words(task.task.goal))
        if word in words and any(word.startswith(one) for one in spoken)
    ]
    return tuple(dict.fromkeys([task.task.type, *[name.lower() for name in files[:3]], *whole]))[:MAX_TAGS]


def render_problem(task: TaskRecord) -> str:
    lines = [quote_plain_lines(task.task.goal.strip(), MAX_GOAL_CHARACTERS)]
    lines += [f"The user added: {to_one_line(word, MAX_LINE_CHARACTERS)}" for word in task.words]
    runs = task.baseline.runs if task.baseline else ()
    left = (
        {failure.test for run in task.verdict.runs for failure in run.failures if failure.failed_before}
        if task.verdict
        else set[str]()
    )
    failures = [failure for run in runs for failure in run.failures if failure.test not in left]
    lines += [
        f"- failed before: `{failure.test}` {to_one_line(failure.message, MAX_LINE_CHARACTERS)}".rstrip()
        for failure in failures[:MAX_FAILING_TESTS]
    ]
    more = 0 if left else sum(run.failed for run in runs) - MAX_FAILING_TESTS
    return "\n".join([*lines, *([f"- and {more} more"] if more > 0 else [])])


def list_notes(task: TaskRecord) -> list[Fact]:
    return [fact for (kind, _), fact in task.facts.items() if kind is FactKind.NOTE and fact.text]


def list_failed_approaches(task: TaskRecord) -> list[Fact]:
    return [fact for (kind, _), fact in task.facts.items() if kind is FactKind.FAILED_APPROACH]


def render_what_worked(task: TaskRecord, names: NamesByPath) -> str:
    """Of a task that was not verified only what it noted: nobody knows yet whether the rest works."""
    texts = [
        f"- {to_one_line(fact.subject, MAX_LINE_CHARACTERS)}: {to_one_line(fact.text, MAX_LINE_CHARACTERS)}"
        for fact in list_notes(task)[-MAX_NOTES:]
    ]
    if not is_verified(task):
        return "\n".join(texts) or NOTHING_VERIFIED
    commands = dict.fromkeys(find_helpful_commands(task))
    ran = [f"- ran `{to_one_line(command, MAX_LINE_CHARACTERS)}`" for command in list(commands)[-MAX_COMMANDS:]]
    return "\n".join([*read_completion_summary(task), *render_changes(task, names), *texts, *ran])


def read_completion_summary(task: TaskRecord) -> list[str]:
    """The model's own summary at the end of the task."""
    actions = [action for reply in task.replies.values() for action in reply.actions if has_trait(action, ToolTrait.COMPLETES)]
    text = str(actions[-1].args.get("summary", "")).strip() if actions else ""
    return [quote_plain_lines(re.sub(r"\n\s*\n", "\n", text), MAX_SUMMARY_CHARACTERS)] if text else []


def render_changes(task: TaskRecord, changed_names: NamesByPath) -> Iterator[str]:
    """For each file that was changed: which definitions, and, where it was little, what became what."""
    kept = [step for step, or_reverted in task.settled.items() if or_reverted.kept]
    acted = [action for step in kept if step in task.replies for action in select_successful_actions(task, step)]
    for path in task.changed[:MAX_FILES]:
        touched = [action for action in acted if action.args.get("path") == path]
        names = changed_names.get(path, ())
        small = [edit for action in touched if (edit := render_small_edit(action))]
        about = f": {', '.join(shorten_name_list(names))}" if names else ""
        yield f"- changed `{path}`{about}" + (f" ({'; '.join(small[:MAX_SMALL_EDITS])})" if small else "")
    if (more := len(task.changed) - MAX_FILES) > 0:
        yield f"- and {more} more files"


def shorten_name_list(names: Sequence[str]) -> list[str]:
    """The first few names of tests; the lesson says elsewhere what they test."""
    tests = [name for name in names if name.startswith(("test_", "Test"))]
    return [name for name in names if name not in tests[MAX_SMALL_EDITS:]][:MAX_FILES] + (
        ["…"] if tests[MAX_SMALL_EDITS:] else []
    )


def select_successful_actions(task: TaskRecord, step: int) -> list[Action]:
    """The actions of a step that worked."""
    actions, how = task.replies[step].actions, task.worked.get(step, ())
    return [action for action, ok in zip(actions, how, strict=False) if ok]


def render_small_edit(action: Action) -> str:
    old, new = (str(action.args.get(key, "")).strip() for key in ("old", "new"))
    fits = old and new and max(len(old), len(new)) <= MAX_EDIT_CHARACTERS and "\n" not in old + new and "`" not in old + new
    return f"`{old}` became `{new}`" if fits else ""


def find_helpful_commands(task: TaskRecord) -> Iterator[str]:
    """Commands that worked and were more than a look around; the checks stand under how it was verified."""
    checks = {check.command for check in task.task.checks}
    for step in task.replies:
        for action in select_successful_actions(task, step):
            command = str(action.args.get("command", "")).strip() if has_trait(action, ToolTrait.COMMANDS) else ""
            plain = len(command) <= MAX_COMMAND_CHARACTERS and "\n" not in command and "`" not in command
            if command and command not in checks and plain and not is_trivial_command(command):
                yield command


def render_what_failed(task: TaskRecord) -> str:
    lines = [
        f"- {to_one_line(fact.subject, MAX_LINE_CHARACTERS)}: {to_one_line(fact.text, MAX_LINE_CHARACTERS)}"
        for fact in list_failed_approaches(task)
    ]
    lines += [f"- completion was refused: {to_one_line(reason, MAX_LINE_CHARACTERS)}" for reason in dict.fromkeys(task.refused)]
    return "\n".join(lines) or NOTHING_UNDONE


def render_verification(task: TaskRecord) -> str:
    if not is_verified(task) or not task.verdict:
        ended = f": {to_one_line(task.rest.reason, MAX_LINE_CHARACTERS)}" if task.rest else ""
        return f"Not verified. {describe_rest(task)}{ended}"
    before = {run.command: run for run in task.baseline.runs} if task.baseline else {}
    last = {run.command: run for run in task.verdict.runs}
    lines = [
        (
            f"- `{to_one_line(run.command, MAX_LINE_CHARACTERS)}`: "
            f"{render_run_counts(run)}{render_baseline_counts(before.get(run.command))}"
        )
        for run in last.values()
    ]
    reason = [] if lines else [to_one_line(task.verdict.reason, MAX_LINE_CHARACTERS)]
    return "\n".join([*lines, *reason, f"It took {task.steps} steps and {task.tokens:,} tokens."])


def describe_rest(task: TaskRecord) -> str:
    """How far an unfinished task had come when its lesson was drafted."""
    return f"Drafted while its task was {task.rest.status if task.rest else 'under way'}, after {task.steps} steps"


def render_run_counts(run: CheckRun) -> str:
    texts = [
        f"{number} {name}"
        for number, name in ((run.passed, "passed"), (run.failed, "failed"), (run.skipped, "skipped"))
        if number
    ]
    return ", ".join(texts) or f"exit {run.exit}"


def render_baseline_counts(run: CheckRun | None) -> str:
    return f" (before: {render_run_counts(run)})" if run and run.exit else ""


def quote_plain_lines(text: str, limit: int) -> str:
    """Lines stay lines; nothing that could be taken for one of our own headings."""
    lines = [re.sub(r"^(#+)", r"\\\1", line.rstrip()) for line in text.splitlines()]
    whole = "\n".join(line for line in lines if line)
    return truncate_text(whole, limit)


def find_reason_for_review(task: TaskRecord, like: Sequence[str]) -> str:
    """Why a person has to look at it first; empty when nobody need. `like`: objects that say much the same."""
    if not is_verified(task):
        return describe_rest(task).lower()
    if like:
        return f"much like {', '.join(like)}"
    if not MIN_LESSON_STEPS <= task.steps <= MAX_STEPS_WITHOUT_REVIEW:
        return f"it took {task.steps} steps ({MIN_LESSON_STEPS} to {MAX_STEPS_WITHOUT_REVIEW} need no review)"
    last = [task.settled[step] for step in sorted(task.settled)][-LAST_STEPS_NOT_REVERTED:]
    if undone := [or_reverted for or_reverted in last if not or_reverted.kept or or_reverted.why]:
        return f"step {undone[-1].step}, near the end, was undone"
    if not list_failed_approaches(task) and not task.refused:
        return "nothing failed on the way: it may say nothing new"
    return ""
