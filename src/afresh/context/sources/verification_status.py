"""How the checks stand, in words: before the task, and after the step that ran them last."""

from collections import Counter
from collections.abc import Collection, Iterator

from afresh.context.citations import find_citations
from afresh.context.section import SectionDraft, SectionPiece, draft_always_section
from afresh.context.sources.memory_sections import list_error_lines
from afresh.core.context_item import Note
from afresh.core.prompt import Tier
from afresh.core.state import State, select_task_failures
from afresh.core.task import RECORDED_TYPE, SPEC_DESIGN_TYPE, Task
from afresh.core.truncate import join_first, to_one_line
from afresh.core.verdict import Baseline, CheckRun, FailedTest, Ruling, Verdict, name_test_function, summarise_check_run
from afresh.memory.gathered_context import GatheredContext
from afresh.ports.workspace import FileTree, read_text

MAX_FAILURES_PER_CHECK = 3
MAX_FLAKY_NAMES = 6
MAX_CITED_CHARACTERS = 90

MAX_REPEATED_COMMAND_CHARACTERS = 30
AFTER_REFUSAL = "Next: mend what is named and `complete` again; if it is not yours to mend, `ask` and say why."
CHECKS_BESIDE_CALL = "The checks are running now; the next prompt shows their results."
CHECKS_BEFORE_CHANGE = "The checks were not run yet: they run before the first change."
KEPT_UNFINISHED = "kept, not finished"
"""Nothing that passed before fails; what is new still does."""


def render_finish_criteria(task: Task) -> list[str]:
    """When the task counts as finished, for the window."""
    if task.type == RECORDED_TYPE:
        return []
    if task.report:
        commands = [f"- `{check.command}` exits 0" for check in task.checks]
        return [
            f"Write `{task.report}`, and no other file. Finished when:",
            *(f"- {one}" for one in list_document_demands(task)),
            *commands,
        ]
    checks = [
        f"- {f'check {number}: ' if len(task.checks) > 1 else ''}`{check.command}`" for number, check in enumerate(task.checks, 1)
    ]
    tests = ["and at least one new test passes"] if task.require_tests else []
    return ["Finished when these exit 0:", *(checks or ["- no check was given, so nothing can be verified"]), *tests]


def name_long_commands(text: str, task: Task) -> str:
    """A long command by its number, as the task lists it."""
    for number, check in enumerate(task.checks, 1):
        if len(check.command) > MAX_REPEATED_COMMAND_CHARACTERS:
            text = text.replace(check.command, f"check {number}" if len(task.checks) > 1 else "check")
    return text


def render_check_status(state: State) -> list[str]:
    if state.verification.baseline is None:
        return []
    lines = [*([DOCUMENT_CHECK_LIMITS] if state.task.report else []), *render_baseline(state)]
    if state.verification.verdict is None:
        failures = [line for run in state.verification.baseline.runs for line in _render_failures(run, state.topic)]
        return [name_long_commands(line, state.task) for line in (*lines, *failures)]
    lines += _list_verdict_lines(state, state.verification.verdict)
    return [name_long_commands(line, state.task) for line in lines]


def explain_missing_baseline(state: State) -> str:
    """Said of this call only: a prompt that extends it shows the results."""
    if state.verification.baseline or not state.workspace.first_snapshot:
        return ""
    return CHECKS_BEFORE_CHANGE if state.dialogue.turn else CHECKS_BESIDE_CALL


def render_baseline(state: State) -> list[str]:
    """How the checks stood before the first change, in a line each."""
    baseline = state.verification.baseline or Baseline()
    lines = [*(f"Before the task: {summarise_check_run(run)}" for run in baseline.runs), *baseline.red]
    unsteady = dict.fromkeys((*baseline.flaky, *state.verification.flaky))
    cases = Counter(name_test_function(name).rpartition("::")[2] for name in unsteady)
    told = [f"{name} ({count} cases)" if count > 1 else name for name, count in cases.items()]
    return [*lines, *([f"Not the same in each run, decide nothing: {join_first(told, MAX_FLAKY_NAMES)}"] if told else [])]


def render_verdict(state: State, verdict: Verdict) -> list[str]:
    return [name_long_commands(line, state.task) for line in _list_verdict_lines(state, verdict)]


def _list_verdict_lines(state: State, verdict: Verdict) -> list[str]:
    """What the checks said last, and of the tree as it is. Once a person has answered, only the runs are left of a refusal."""
    known, step = state.verification, state.verification.verdict_step
    if not _is_answered(state):
        undone = f"(undone: the tree is as before that step{_describe_kept_verdict(state)})"
        return [*render_verdict_of_step(verdict, step, state.topic), *([undone] if known.is_undone else [])]
    current, step = (known.kept_verdict, known.kept_step) if known.is_undone else (verdict, step)
    if current is None or not current.final or current.ruling is Ruling.PASS:
        return render_verdict_of_step(current, step, state.topic) if current else []
    told = [(f"After step {step}: {summarise_check_run(run)}", *_render_failures(run, state.topic)) for run in current.runs]
    return [line for lines in told for line in lines]


def render_verdict_of_step(verdict: Verdict, step: int, topic: str) -> list[str]:
    kind = "completion" if verdict.final else "change"
    unfinished = (
        verdict.ruling is Ruling.PASS
        and not verdict.final
        and any(run.failures and not run.red_as_before for run in verdict.runs)
    )
    lines = [f"After step {step} ({kind}): {KEPT_UNFINISHED if unfinished else verdict.ruling}: {verdict.reason}"]
    for run in [run for run in verdict.runs if run.failures or verdict.ruling is not Ruling.PASS]:
        lines += [] if summarise_check_run(run) in verdict.reason else [f"  {summarise_check_run(run)}"]
        lines += _render_failures(run, topic, verdict.regressions)
    if verdict.final and verdict.ruling is Ruling.FAIL:
        lines.append(AFTER_REFUSAL)
    return lines


def _is_answered(state: State) -> bool:
    return any(one.answer and one.step >= state.verification.verdict_step for one in state.memory.decisions)


def _describe_kept_verdict(state: State) -> str:
    kept = state.verification.kept_verdict
    return f", and the checks of step {state.verification.kept_step} hold: {kept.ruling}" if kept and kept.runs else ""


def _render_failures(run: CheckRun, topic: str, broken: Collection[str] = ()) -> list[str]:
    """Failures that may be the task's, each once: the same message of many tests, and many cases of one test, are one line with a
    count. Tests that the change has broken come first; how many are left out is said."""
    groups = list[list[FailedTest]]()
    for failure in sorted(select_task_failures(run.failures, topic), key=lambda one: one.test not in broken):
        alike = [group for group in groups if _is_alike(failure, group[0])]
        if alike:
            alike[0].append(failure)
        else:
            groups.append([failure])
    lines: list[str] = []
    for first, *more in groups[:MAX_FAILURES_PER_CHECK]:
        before = " (before the task, too)" if first.failed_before else ""
        lines.append(f"  FAILED {first.test}{f' and {len(more)} more' if more else ''}{before}: {first.message}")
        lines += [f"    {line}" for line in first.detail.splitlines()[-8:]]
    left = groups[MAX_FAILURES_PER_CHECK:]
    return [*lines, *([f"  and {sum(map(len, left))} more failed"] if left else [])]


def _is_alike(one: FailedTest, other: FailedTest) -> bool:
    return one.message == other.message or name_test_function(one.test) == name_test_function(other.test)


DOCUMENT_CHECK_LIMITS = (
    "Checked: the file exists, nothing else is changed, what it cites exists. Not checked: whether it is true."
)


def list_document_demands(task: Task) -> list[str]:
    """What the harness asks of the document."""
    if task.judged_as == SPEC_DESIGN_TYPE:
        return ["every `path:line` in it exists", "every `path` in backticks exists, or is marked `path` (new)"]
    return ["it cites at least one `path:line`, with the path from the root", "every `path:line` in it exists"]


def gather_cited_lines(state: State, files: FileTree) -> Iterator[Note]:
    """What stands in each place that the report cites: whoever wrote it is to hold it against that once more."""
    text = read_text(files, state.task.report) if state.task.report in (paths := files.paths()) else None
    for one in find_citations(text or "", paths):
        lines = (read_text(files, one.path) or "").splitlines()[one.first - 1 : one.last] if one.path in paths else []
        if lines:
            yield Note("cited", str(one), to_one_line(lines[0], MAX_CITED_CHARACTERS))


def draft_cited_lines(memory: GatheredContext) -> SectionDraft:
    lines = [f"{look.subject}  {look.text}" for look in memory.notes("cited")]
    pieces = [SectionPiece(line, "cited lines", number) for number, line in enumerate(lines)]
    return SectionDraft("cited", "Lines cited in the file, as they are now (first of each range)", Tier.PHASE, tuple(pieces))


def draft_verification(memory: GatheredContext) -> SectionDraft:
    ran = render_check_status(memory.state) if memory.state.workspace.first_snapshot else []
    return draft_always_section("verification", "Verification (run by the harness)", [*ran, *list_error_lines(memory)])
