"""A pull request for the result of a task: branch, title and body, with what was verified and what is open."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from afresh.core.change import Change
from afresh.core.event import JournalEntry, ReplyReceived
from afresh.core.recognise_test_files import is_test_code
from afresh.core.redaction import redact_secrets
from afresh.core.state import State
from afresh.core.task import TaskStatus
from afresh.core.text import format_count
from afresh.core.tool_traits import ToolTrait, has_trait
from afresh.core.truncate import list_first, to_one_line
from afresh.core.verdict import NoteKind, describe_evidence, list_first_names, sum_check_runs, summarise_check_run
from afresh.views.markdown import break_references, format_code, quote_lines
from afresh.views.task_facts import find_current_verdict, list_current_failures, list_evidence_lines

MAX_TITLE_CHARACTERS = 72
MAX_LISTED_FILES = 30
MAX_LISTED_FAILURES = 10


@dataclass(frozen=True, slots=True)
class PullRequest:
    branch: str
    title: str
    body: str
    verified: bool


def make_pull_request(state: State, changes: Sequence[Change], report: str = "") -> PullRequest:
    """`report` is what the agent said when it was done."""
    verified = state.status in (TaskStatus.DONE, TaskStatus.APPLIED)
    subject, _, summary = (report.strip() or state.task.goal).partition("\n")
    title = to_one_line(break_references(subject), MAX_TITLE_CHARACTERS).rstrip(".")
    sections = (
        ("What was asked", [*_describe_order(state)]),
        ("What was changed", [*_quote(summary.strip()), "", *_list_changes(changes)]),
        ("What was verified", [*_list_checks(state, verified)]),
        ("Tests", [*_list_tests(state, changes)]),
        ("What is open", [*_list_open_points(state, verified)]),
    )
    lines = [line for name, held in sections if held for line in (f"## {name}", "", *held, "")]
    if state.dialogue.issue and state.dialogue.issue.number:
        lines += [f"Closes #{state.dialogue.issue.number}", ""]
    body = redact_secrets("\n".join([*lines, f"Made by afresh, task {format_code(state.task.id)}.", ""]))
    return PullRequest(state.workspace.branch, redact_secrets(title), body, verified)


def find_last_report(entries: Iterable[JournalEntry]) -> str:
    """What the agent said when it last reported to be done; empty if it never did."""
    replies = (entry.event.reply for entry in entries if isinstance(entry.event, ReplyReceived))
    reports = (action.args for reply in replies for action in reply.actions if has_trait(action, ToolTrait.COMPLETES))
    return next((str(arg) for arg in reversed([args.get("summary", "") for args in reports]) if arg), "")


def _quote(text: str) -> list[str]:
    return quote_lines(break_references(text)) if text else []


def _describe_order(state: State) -> Iterator[str]:
    yield from _quote(state.task.goal)
    if (issue := state.dialogue.issue) and (issue.number or issue.url):
        yield from ("", f"From issue {f'#{issue.number}' if issue.number else issue.url}.")


def _list_changes(changes: Sequence[Change]) -> list[str]:
    rows = [f"- {format_code(change.path)}: {change.kind}, +{change.added} −{change.removed}" for change in changes]
    return list_first(rows, MAX_LISTED_FILES, "- and {0} more") or ["No file was changed."]


def _list_checks(state: State, verified: bool) -> Iterator[str]:
    verdict, baseline = find_current_verdict(state)[0], state.verification.baseline
    if not verified:
        yield f"**Not verified**: {_describe_outcome(state)}"
        yield ""
    for run in {run.command: run for run in verdict.runs}.values() if verdict else ():
        yield f"- {format_code(summarise_check_run(run), 300)}"
    if baseline and baseline.runs:
        yield f"- before the change: {sum_check_runs(baseline.runs).words}"
    if verdict and (evidence := describe_evidence(verdict.runs)):
        yield f"- evidence: {evidence}"
    if state.unconfined:
        yield "- commands ran without a sandbox"


def _describe_outcome(state: State) -> str:
    return " ".join(_quote(to_one_line(state.work.outcome or state.status.value, 300))).removeprefix("> ")


def _list_tests(state: State, changes: Sequence[Change]) -> Iterator[str]:
    verdict = find_current_verdict(state)[0]
    if verdict and (count := verdict.new_tests):
        files = [change.path for change in changes if is_test_code(change.path)]
        yield f"- {format_count(count, 'test')} added{f' in {list_first_names(files)}' if files else ''}"
    yield from (f"- {format_code(fact, 300)}" for fact in (verdict.list_facts(NoteKind.ALLOWED) if verdict else ()))


def _list_open_points(state: State, verified: bool) -> Iterator[str]:
    for label, text in list_evidence_lines(state):
        yield from (f"- {label}: {break_references(line[2:])}" for line in quote_lines(to_one_line(text, 400)))
    failures = list_current_failures(state) if not verified else ()
    yield from list_first(
        [f"- fails: {format_code(failure.test, 200)}" for failure in failures], MAX_LISTED_FAILURES, "- and {0} more"
    )
    if state.dialogue.question:
        yield f"- asked: {' '.join(_quote(to_one_line(state.dialogue.question, 400)))[2:]}"
