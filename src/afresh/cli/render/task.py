"""Renders one task in detail."""

from socket import gethostname
from typing import TYPE_CHECKING

from afresh.cli.render.widgets import WORD_STYLES, Line, Span, draw_gauge, draw_series, lay_out_fields, quote_text, wrap_line
from afresh.core.answer_options import list_user_statements, parse_options
from afresh.core.decision import Decision
from afresh.core.reply import OFFLINE_MODEL
from afresh.core.state import State, make_ticket_marks
from afresh.core.steering_files import describe_steering_files
from afresh.core.step_record import StepRecord
from afresh.core.task import QueueTicket, describe_worker, name_briefly
from afresh.core.truncate import list_first, to_one_line
from afresh.core.usage import format_dollars
from afresh.core.verdict import Verdict, describe_evidence
from afresh.views.step_line import find_first_sentence, make_step_line
from afresh.views.task_facts import (
    describe_blockers,
    describe_calibration,
    describe_connection,
    describe_filing,
    describe_leave,
    describe_limits,
    describe_parts,
    describe_permission,
    describe_question,
    describe_start,
    describe_steps,
    find_current_verdict,
    find_ticket_state,
    format_time,
    list_current_failures,
    list_evidence_lines,
    list_failed_approaches,
    list_next_commands,
    list_next_steps,
    task_tests_to_json,
)

if TYPE_CHECKING:
    from afresh.app.spending.read_spending import TaskSpending

Field = tuple[str, Line]
"""A label and its value."""


def render_task(
    state: State, spent: "TaskSpending | None" = None, width: int = 80, ticket: QueueTicket | None = None
) -> list[Line]:
    """Without `spent` there is no ledger yet. The ticket says by what it is kept from starting."""
    failed, blocked = list_failed_approaches(state), describe_blockers(ticket) if ticket else ""
    sections: list[tuple[str, list[Field]]] = [
        ("Waits in vain", [("·", quote_text(blocked))] if blocked else []),
        ("Open question", _list_question_fields(state)),
        ("Failed attempts", _list_failures(state)),
        ("From you", _list_user_words(state)),
        ("Criteria", _list_criteria(state)),
        ("Tests it may change", [(grant.by, quote_text(describe_leave(grant))) for grant in state.verification.leave]),
        ("Network", _list_network(state)),
        ("Plan", [("✓" if item.done else "·", quote_text(item.text, "dim" if item.done else "")) for item in state.work.plan]),
        ("Subtasks", [(subtask.status.value, quote_text(f"{subtask.goal}\n{subtask.text}")) for subtask in state.work.subtasks]),
        ("Decisions", [(f"step {it.step}", _describe_decision(it)) for it in state.memory.decisions if not it.answer]),
        ("Failed approaches", [(f"step {f.step}", quote_text(f"{f.subject}: {f.text}")) for f in failed]),
        ("Last steps", [_describe_step(record) for record in state.memory.recent]),
        ("Changed files", [("·", quote_text(path)) for path in _list_changed_files(state)]),
        ("Next steps", [("·", quote_text(step)) for step in list_next_steps(state)]),
    ]
    lines = [*_render_head(state, width, ticket), [], *_lay_out_task_fields(_list_task_fields(state, spent), width)]
    for title, fields in sections:
        if fields:
            lines += [[], [(title, "bold")], *_lay_out_task_fields(fields, width)]
    others = [command for command in list_next_commands(state) if not command.startswith("afresh show")]
    commands = [quote_text(f"  {command}", "cyan") for command in others]
    last = [[], [("Commands", "bold")]] if commands else []
    return [*lines, *last, *(line for command in commands for line in wrap_line(command, width))]


MAX_CHANGED_FILES = 40


def _list_changed_files(state: State) -> list[str]:
    rest = f"… and {{0:,}} more: afresh diff {name_briefly(state.task.id)}"
    return list_first(state.workspace.changed, MAX_CHANGED_FILES, rest)


def _list_network(state: State) -> list[Field]:
    """Permissions, refusals, and what was reached and installed."""
    network = state.dialogue.network
    return [
        *(("may", quote_text(describe_permission(permission))) for permission in network.permissions),
        *(("refused", quote_text(f"the network for `{one}`")) for one in network.refused),
        *((connection.place, quote_text(describe_connection(connection))) for connection in network.connections),
        *(("own", quote_text(name)) for name in network.environments),
        *([("installed", quote_text(", ".join(network.packages)))] if network.packages else []),
    ]


def _lay_out_task_fields(fields: list[Field], width: int) -> list[Line]:
    return lay_out_fields([((name, "dim"), held) for name, held in fields], width)


def _render_head(state: State, width: int, ticket: QueueTicket | None) -> list[Line]:
    name: Span = (f"{to_one_line(state.task.id, 40)}  ", "bold")
    word = find_ticket_state(ticket).value if ticket else state.status.value
    return wrap_line([name, _style_word(word), ("\n", ""), *quote_text(state.task.goal)], width)


def _list_failures(state: State) -> list[Field]:
    """The error log: when, what failed, and when it is tried again."""
    attempts = state.times.attempts
    hidden = attempts.failed - len(attempts.failures)
    fields: list[Field] = [("", [(f"{hidden} earlier ones are in the journal", "dim")])] if hidden else []
    for failure in attempts.failures:
        again = f"; to be tried again {format_time(failure.retry_at)}" if failure.retry_at else ""
        fields.append((format_time(failure.at), quote_text(f"{failure.cause}: {failure.what}{again}", limit=400)))
    return fields


def _style_word(word: str) -> Span:
    """Return a word in its status colour."""
    return word, WORD_STYLES.get(word, "dim")


def _list_task_fields(state: State, spent: "TaskSpending | None") -> list[Field]:
    task = state.task
    usage, workspace, cost = state.spending.usage, state.workspace, spent.cost if spent else ""
    total = f"{state.spending.calls_told}, {usage.input:,} tokens in, {usage.output:,} out"
    if state.tokens.last_call.model == OFFLINE_MODEL:
        total = "nothing: no model was called"
    fields: list[Field] = [
        ("type", quote_text(task.type)),
        ("phase", [(f"{state.phase}, {describe_steps(state)}", "")]),
        ("outcome", quote_text(state.work.outcome or "none yet", limit=400)),
        ("branch", quote_text(workspace.branch or "not created yet")),
        ("spent", [(f"{cost}: {total}" if cost else total, "")]),
        *([("", [(describe_parts(state), "")])] if state.work.subtasks else []),
        *([("paid", [(spent.paid, "")])] if spent and spent.paid else []),
        *(_list_call_fields(state, spent) if spent else []),
        ("largest call", draw_gauge(state.tokens.largest_call)),
        ("token limit", quote_text(describe_limits(state), limit=400)),
        ("changes", [(f"{state.workspace.kept} kept, {state.workspace.reverted} undone", "")]),
        ("times", [(f"started {format_time(state.times.started)}, last event {format_time(state.times.updated)}", "")]),
    ]
    if filed := describe_filing(make_ticket_marks(state)):
        fields.insert(1, ("filed", quote_text("; ".join(filed))))
    if text := describe_start(state.workspace.start):
        fields.insert(1, ("begins", quote_text(text)))
    if state.dialogue.issue:
        fields.insert(1, ("issue", quote_text(state.dialogue.issue.name)))
    if task.parent:
        fields.insert(0, ("part of", quote_text(task.parent)))
    if task.report:
        fields.insert(1, ("writes", quote_text(f"only {task.report}")))
    if describe_calibration(state):
        fields.append(("tokens", quote_text(describe_calibration(state), limit=400)))
    if state.worker:
        fields.append(("run by", quote_text(describe_worker(state.worker, gethostname()))))
    return fields if not state.workspace.note else [*fields, ("note", quote_text(state.workspace.note))]


def _list_call_fields(state: State, spent: "TaskSpending") -> list[Field]:
    """Tokens and cost of each call as a picture, and in words."""
    top = max(state.tokens.largest_call.budget, state.budget, *spent.tokens, 0)
    fields = [("tokens/call", draw_series(spent.tokens, top, "{:,}".format))]
    if any(spent.money):
        fields.append(("cost/call", draw_series(spent.money, max(spent.money), format_dollars)))
    return fields if len(spent.tokens) > 1 else []


def _list_question_fields(state: State) -> list[Field]:
    if not state.dialogue.question:
        return []
    asked = f"asked by the {state.dialogue.asked_by or 'model'} {format_time(state.times.updated)}; "
    asked += f"answer with `afresh answer {name_briefly(state.task.id)}` and "
    how = quote_text(asked + ("an option number or your own words" if state.dialogue.options else "your own words"), "dim")
    if state.task.parent:
        how = quote_text(f"returned to {state.task.parent}", "dim")
    return [
        ("?", quote_text(describe_question(state), "yellow")),
        *((str(option.number), quote_text(option.words)) for option in parse_options(state.dialogue.options)),
        ("", how),
    ]


def _list_user_words(state: State) -> list[Field]:
    """List the user's messages, each answer after its question."""
    fields: list[Field] = []
    for statement in list_user_statements(state):
        fields += [("?", quote_text(statement.question, "dim"))] if statement.question else []
        fields.append(("•", quote_text(statement.text)))
    return fields


def _describe_decision(decision: Decision) -> Line:
    subject = f"{decision.subject}: " if decision.subject else ""
    sure = f", {decision.confidence:.0%} sure" if decision.confidence is not None and decision.by == "model" else ""
    return quote_text(f"{decision.by}: {subject}{decision.text}{f' ({decision.why})' if decision.why else ''}{sure}")


def _list_criteria(state: State) -> list[Field]:
    verification, (verdict, step), data = state.verification, find_current_verdict(state), task_tests_to_json(state)
    fields: list[Field] = [("·", quote_text(check.command)) for check in state.task.checks]
    fields += [(name, [(data[name]["words"], "")]) for name in ("before", "now")]
    if verdict:
        fields.append(("verdict", _describe_verdict(verdict, step)))
        fields += [("evidence", [(known, "")])] if (known := describe_evidence(verdict.runs)) else []
    fields += [(label, quote_text(text, "yellow", limit=400)) for label, text in list_evidence_lines(state)]
    if verification.is_undone and verification.verdict:
        fields.append(("undone", _describe_verdict(verification.verdict, verification.verdict_step)))
    if acts := describe_steering_files(state.workspace.changed, state.workspace.obeyed):
        fields.append(("unasked", quote_text(f"changes what {acts}", "yellow", limit=300)))
    failures = list_current_failures(state) if verification.verdict else ()
    return fields + [("fails", quote_text(f"{failure.test}: {failure.message}", "red", limit=300)) for failure in failures]


def _describe_verdict(verdict: Verdict, step: int) -> Line:
    return [_style_word(verdict.ruling.value), (f" at step {step}: {to_one_line(verdict.reason, 300)}", "")]


def _describe_step(record: StepRecord) -> Field:
    """Describe a step as it was shown while it ran."""
    line = make_step_line(record)
    sentence = find_first_sentence(line.thought)
    result = [(" → ", ""), *quote_text(line.result, limit=240)] if line.result else []
    text = [*quote_text(line.did, limit=100), *result]
    return f"{line.step} {line.mark}", [*text, *(quote_text(f"\n{sentence}", "dim") if sentence else [])]
