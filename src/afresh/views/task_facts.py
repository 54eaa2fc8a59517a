"""How a task stands, in words and as data: the only place that says it, of a task's state and of its ticket in the queue."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from afresh.core.states.queue_state import RELEASE_COMMANDS, TaskHold, TicketMarks
from afresh.core.task import QueueTicket, TaskStatus, UnmetNeed, name_briefly
from afresh.core.text import format_count
from afresh.core.truncate import to_one_line
from afresh.core.verdict import CheckTally, NoteKind, describe_open_items, describe_unfixed, render_note, sum_check_runs

if TYPE_CHECKING:
    from afresh.core.fact import Fact
    from afresh.core.leave import Grant
    from afresh.core.network_access import Connection, NetworkPermission
    from afresh.core.state import State
    from afresh.core.task import TaskStart
    from afresh.core.verdict import CheckRun, FailedTest, Verdict


def describe_check_run(run: CheckRun) -> str:
    tests = run.passed or run.failed or run.skipped
    counts = CheckTally(run.passed, run.failed, run.skipped, 0, run.scope != "full").words if tests else ""
    fate = "timed out" if run.timed_out else "" if tests and run.exit == 0 else f"exit {run.exit}"
    return ", ".join(part for part in (counts, fate) if part)


def describe_outcome(state: State) -> str:
    """Describe how a task stands, and what came of it."""
    return f"{state.status.value}: {state.work.outcome}" if state.work.outcome else state.status.value


def find_current_verdict(state: State) -> tuple[Verdict | None, int]:
    """Return the last verdict on the current tree and its step; verdicts on reverted changes do not count."""
    verification = state.verification
    if verification.is_undone:
        return verification.kept_verdict, verification.kept_step
    return verification.verdict, verification.verdict_step


def list_current_runs(state: State) -> tuple[CheckRun, ...]:
    """Return the last check runs on the current tree, or the baseline if there are none."""
    verdict, baseline = find_current_verdict(state)[0], state.verification.baseline
    return verdict.runs if verdict and verdict.runs else baseline.runs if baseline else ()


def list_lowered_functions(state: State) -> list[str]:
    """Return each function that the task brought down, with its complexity before and after."""
    verdict = find_current_verdict(state)[0]
    return [function.words for function in verdict.lowered] if verdict else []


def list_evidence_lines(state: State) -> list[tuple[str, str]]:
    """Return what the verdict on a finished task leaves open, as label and text; empty if nothing is open."""
    verdict, baseline = find_current_verdict(state)[0], state.verification.baseline
    if verdict is None:
        return [("red", told) for told in (baseline.red if baseline else ())]
    left = verdict.list_facts(NoteKind.OPEN_ITEMS)
    told = [
        ("red", verdict.still_failing),
        ("open", f"plan items not done: {describe_open_items(left)}" if left else ""),
        *(("unproven", render_note(note, verdict.new_tests)) for note in verdict.notes if note.kind is NoteKind.UNPROVEN),
        ("left alone", describe_unfixed(verdict.unfixed)),
    ]
    return [(label, text) for label, text in told if text]


def describe_tests(state: State) -> str:
    """Describe the results of the checks: current tree, reverted change, baseline."""
    verification, (verdict, step) = state.verification, find_current_verdict(state)
    runs = verification.baseline.runs if verification.baseline else ()
    lines = [f"after step {step}: {sum_check_runs(verdict.runs).words}"] if verdict and verdict.runs else []
    before = f"before: {sum_check_runs(runs).words if runs else 'not run'}"
    if verification.is_undone and verification.verdict and verification.verdict.runs:
        lines.append(f"after step {verification.verdict_step}: {sum_check_runs(verification.verdict.runs).words} (undone)")
    if not lines:
        return before.replace("before:", "before the first change:") if runs else "not run"
    return "; ".join([*lines, before])


def list_current_failures(state: State) -> tuple[FailedTest, ...]:
    """Return the known failing tests of the current tree, each once."""
    return tuple({failure.test: failure for run in list_current_runs(state) for failure in run.failures}.values())


def describe_parts(state: State) -> str:
    """Describe what subtasks have used, which the task's own figures do not include; empty without subtasks."""
    from afresh.core.usage import Usage

    taken = [part.metrics for part in state.work.subtasks]
    if not taken:
        return ""
    usage = sum((metrics.usage for metrics in taken), Usage())
    calls = f"{format_count(sum(metrics.calls for metrics in taken), 'call')}, {usage.input:,} tokens in, {usage.output:,} out"
    return f"{format_count(len(taken), 'subtask')}: {calls}"


def format_time(at: float) -> str:
    """Format a journal time in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def describe_age(seconds: float) -> str:
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{format_count(int(seconds // size), name)} ago"
    return "just now"


def describe_start(start: TaskStart) -> str:
    """Describe what a task begins with; empty for HEAD."""
    lines = [f"with the result of {start.follows}: {to_one_line(start.goal, 100)}"] if start.follows else []
    lines += ["with uncommitted changes of your checkout, which `apply` leaves as they are"] if start.carried else []
    return "; ".join(lines)


def describe_short_age(seconds: float) -> str:
    """Return an age for a narrow column, such as 3m, 5h or 2d."""
    for size, name in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= size:
            return f"{int(seconds // size)}{name}"
    return "now"


def describe_leave(leave: Grant) -> str:
    """Describe what may be changed, with the words that give leave for it."""
    reason = replace(leave, words=to_one_line(leave.words, 200)).reason
    return leave.subject + (f": {reason}" if reason else "")


def describe_permission(permission: NetworkPermission) -> str:
    """Describe what a permission opens, after "may"."""
    from afresh.core.network_access import PermissionKind

    where = "; in every task of this repository" if permission.always else ""
    if permission.kind is PermissionKind.ADDRESS:
        return f"reach {permission.text} with any command{where}"
    return f"reach any public address with {permission.words}{where}"


def describe_connection(connection: Connection) -> str:
    """Describe what was reached or refused, with the bytes in both directions."""
    times = f", {connection.count} times" if connection.count > 1 else ""
    return (
        f"refused{times}: {connection.refused}"
        if connection.refused
        else f"{connection.sent:,} bytes out, {connection.received:,} in{times}"
    )


def list_allowed(state: State) -> list[str]:
    """List what a person lets a task do."""
    tests = [f"change {describe_leave(grant)}" for grant in state.verification.leave]
    return [*tests, *(describe_permission(permission) for permission in state.dialogue.network.permissions)]


def list_failed_approaches(state: State) -> tuple[Fact, ...]:
    from afresh.core.fact import FactKind

    return tuple(fact for fact in state.memory.facts if fact.kind is FactKind.FAILED_APPROACH)


def list_next_commands(state: State) -> tuple[str, ...]:
    """Return the commands to type next, most likely first; none for a subtask."""
    if state.task.parent:
        return (f"afresh show {name_briefly(state.task.parent)}",)
    first, *rest = list_commands_for_status(state.task.id, state.status, bool(state.dialogue.question))
    as_it_is = (
        [f"afresh apply {name_briefly(state.task.id)} --unverified"]
        if state.status in (TaskStatus.BLOCKED, TaskStatus.FAILED) and state.workspace.changed
        else []
    )
    return (first, *as_it_is, *rest)


COMMANDS_BY_STATUS = {
    TaskStatus.DONE: ("apply", "discard", "show"),
    TaskStatus.FAILED: ("resume", "show", "discard"),
    TaskStatus.UNCHANGED: ("show", "discard"),
    TaskStatus.DISCARDED: ("show", "resume"),
    TaskStatus.APPLIED: ("show",),
}


def list_commands_for_status(task: str, status: TaskStatus, asked: bool = False) -> tuple[str, ...]:
    task = name_briefly(task)
    if status not in COMMANDS_BY_STATUS and asked:
        return (f'afresh answer {task} "…"', f"afresh show {task}")
    return tuple(f"afresh {name} {task}" for name in COMMANDS_BY_STATUS.get(status, ("resume", "show")))


def describe_steps(state: State) -> str:
    """Describe the step and the limit, which begins anew with each answer."""
    more = f": {state.task.max_steps} from your last word on" if state.work.limit > state.task.max_steps else ""
    return f"step {state.work.step} of max {state.work.limit}{more}"


def describe_question(state: State, plan: bool = True) -> str:
    """Return the open question; at a pause before a phase with the plan."""
    items = "; ".join(item.text for item in state.work.plan) if plan and state.dialogue.supervision.paused else ""
    return state.dialogue.question + (f" Plan: {to_one_line(items, 240)}." if items and state.dialogue.question else "")


def list_next_steps(state: State) -> tuple[str, ...]:
    """Return what to do next, in order; empty for a finished task that was applied or discarded."""
    if state.task.parent and (state.status.over or state.dialogue.question):
        return ()
    if state.status.over:
        return _list_last_steps(state)
    if state.dialogue.question:
        return (f"answer the question: {to_one_line(describe_question(state), 200)}",)
    steps: list[str] = []
    if state.work.pending:
        steps.append(f"act on the recorded reply of step {state.work.pending.step}")
    if state.phase == "prepare":
        steps.append("create the worktree")
    steps += [to_one_line(item.text, 200) for item in state.work.plan if not item.done][:3]
    return tuple(steps) or (_describe_next_step(state),)


def describe_progress(state: State) -> Iterator[str]:
    """Describe the plan with its progress, then the results of the last steps."""
    from afresh.views.step_line import make_step_line

    yield from (f"[{'x' if item.done else ' '}] {to_one_line(item.text, 120)}" for item in state.work.plan)
    for past in state.memory.recent:
        line = make_step_line(past)
        yield f"step {past.step} {line.mark} {to_one_line(line.text, 120)}"


def _describe_next_step(state: State) -> str:
    failing = list_current_failures(state)
    left = f": {format_count(len(failing), 'failure')} left, first {to_one_line(failing[0].test, 120)}" if failing else ""
    return f"step {state.work.step + 1} of max {state.work.limit}{left}"


def _list_last_steps(state: State) -> tuple[str, ...]:
    if state.status is TaskStatus.DONE:
        return (f"review the branch {to_one_line(state.workspace.branch, 100)}, then apply or discard it",)
    if state.status is TaskStatus.FAILED:
        return (f"read why it failed: {to_one_line(state.work.outcome, 200)}",)
    return ()


def describe_limits(state: State) -> str:
    """Describe the limits of a call, and why it was raised."""
    room = state.tokens.ceiling
    raised = (
        f" (for a new prompt {state.budget:,} since step {room.since}: {to_one_line(room.reason, 300)})" if room.reason else ""
    )
    return state.limits.words + raised


def describe_largest_call(state: State) -> str:
    """Describe the largest prompt so far: its own limit, and its share of the model's context window."""
    largest = state.tokens.largest_call
    share = f", {format_share(largest.window_share)} of the model's window" if largest.window_share is not None else ""
    return f"{largest.tokens:,} of {largest.budget:,} tokens{share}"


def format_share(share: float | None) -> str:
    """Format a share that may be far below one percent; a dash if it is unknown."""
    return "–" if share is None else f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"


def describe_calibration(state: State) -> str:
    """Compare our token count with the provider's; empty until it has reported one."""
    meter, breaches = state.tokens.calibrations[-1] if state.tokens.calibrations else None, state.tokens.ceiling.breaches
    if meter is None or not (meter.samples or meter.doubted):
        return ""
    text = f"token counts corrected by {meter.factor:.2f}, from {format_count(meter.samples, 'report')}"
    text += f" of {to_one_line(meter.model, 60)}"
    text += f"; {format_count(meter.doubted, 'report')} not believed" if meter.doubted else ""
    return text + (f"; {format_count(breaches, 'call')} over the limit, by the provider's count" if breaches else "")


def _project_prompt_tokens(state: State) -> int:
    """Tokens that the next prompt needs: what is never left out, with the reply's reserve, and what the last step brought."""
    from afresh.core.states.ceiling_state import estimate_observation_tokens

    last = state.memory.recent[-1].observations if state.memory.recent else ()
    return state.tokens.last_call.demand + sum(map(estimate_observation_tokens, last))


def limits_to_json(state: State) -> dict[str, Any]:
    """Convert current and expected use, and the typical size of each kind of operation."""
    reading, limits = state.tokens.last_call, state.limits
    return {
        "ordered": limits.ordered,
        "now": limits.now,
        "highest": limits.highest,
        "reason": state.tokens.ceiling.reason,
        "window": reading.window or None,
        "window_share": reading.window_share,
        "largest": state.tokens.largest_call.tokens,
        "largest_window_share": state.tokens.largest_call.window_share,
        "pressure": reading.pressure.value,
        "demand": reading.demand,
        "unmet": reading.unmet,
        "estimated": reading.tokens,
        "reported": reading.reported,
        "projected": _project_prompt_tokens(state),
        "breaches": state.tokens.ceiling.breaches,
        "factors": {meter.model: meter.factor for meter in state.tokens.calibrations},
        "costs": {cost.tool: {"times": cost.times, "tokens": cost.tokens} for cost in state.tokens.tool_costs},
    }


def check_runs_to_json(runs: Sequence[CheckRun]) -> dict[str, Any]:
    total = sum_check_runs(runs)
    return {
        "words": total.words if runs else "not run",
        "passed": total.passed,
        "failed": total.failed,
        "skipped": total.skipped,
        "checks": [{"command": run.command, "exit": run.exit, "scope": run.scope, "timed_out": run.timed_out} for run in runs],
    }


def task_to_json(state: State) -> dict[str, Any]:
    """Convert the whole state, with derived values."""
    plain, verdict = state_to_json(state), state.verification.verdict
    return plain | {
        "verdict": plain["verdict"] | {"reason": verdict.reason} if verdict else None,
        "phase": state.phase,
        "status": state.status.value,
        "step": state.work.step,
        "next": list(list_next_steps(state)),
        "commands": list(list_next_commands(state)),
        "limits": limits_to_json(state),
        "tests": task_tests_to_json(state),
    }


def task_tests_to_json(state: State) -> dict[str, dict[str, Any]]:
    """Convert the checks of the baseline and of the current tree."""
    baseline = state.verification.baseline
    return {
        "before": check_runs_to_json(baseline.runs if baseline else ()),
        "now": check_runs_to_json(list_current_runs(state) if state.verification.verdict else ()),
    }


STATE_PARTS = ("times", "spending", "tokens", "dialogue", "verification", "workspace", "memory", "work")


def state_to_json(state: State) -> dict[str, Any]:
    """Convert all fields of a state and of its parts, by their names, and what its verdict says; of two fields with the same name
    the last part's."""
    from dataclasses import fields

    from afresh.core.codec import to_plain_value

    parts = [state, *(getattr(state, name) for name in STATE_PARTS)]
    names = [(part, field.name) for part in parts for field in fields(part) if field.name not in STATE_PARTS]
    plain = {name: to_plain_value(getattr(part, name)) for part, name in names}
    verdict = state.verification.verdict
    return {**plain, "verdict": verdict and {**plain["verdict"], "reason": verdict.reason}}


class TicketState(StrEnum):
    """The state of a task in one word, the same in every list."""

    PENDING = "pending"
    """It waits for other tasks, or for its next attempt."""
    READY = "ready"
    RUNNING = "running"
    INTERRUPTED = "interrupted"
    """It was begun, and no worker holds it. Of a conversation: the last turn was stopped or taken back."""
    BLOCKED = "blocked"
    """A person has to do something: answer, or see to a task that it waits for."""
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"
    UNCHANGED = "unchanged"
    APPLIED = "applied"
    DISCARDED = "discarded"


STATUSES_BY_STATE = {
    TicketState.PENDING: (TaskStatus.READY, TaskStatus.RUNNING),
    TicketState.INTERRUPTED: (TaskStatus.RUNNING, TaskStatus.READY),
    TicketState.BLOCKED: (TaskStatus.BLOCKED, TaskStatus.READY),
    TicketState.PAUSED: (TaskStatus.READY, TaskStatus.RUNNING, TaskStatus.BLOCKED),
}
MAX_NAMED_NEEDS = 5


def list_statuses_of_states(states: Sequence[str]) -> tuple[TaskStatus, ...]:
    """Return the statuses that tasks in these states may have; none: any."""
    found = [STATUSES_BY_STATE.get(TicketState(state)) or (TaskStatus(state),) for state in states]
    return tuple(dict.fromkeys(status for statuses in found for status in statuses))


def find_ticket_state(ticket: QueueTicket) -> TicketState:
    if ticket.status.over or ticket.owner:
        return TicketState(ticket.status.value)
    if ticket.marks.hold:
        return TicketState(ticket.marks.hold.kind.value)
    if ticket.status is TaskStatus.BLOCKED or list_blockers(ticket):
        return TicketState.BLOCKED
    if ticket.unmet or (ticket.waits_for_retry and not ticket.ready):
        return TicketState.PENDING
    if ticket.status is TaskStatus.RUNNING or ticket.waits_for_message:
        return TicketState.INTERRUPTED
    return TicketState.READY if ticket.ready else TicketState.PENDING


def list_blockers(ticket: QueueTicket) -> list[UnmetNeed]:
    """Return the tasks that it waits for in vain until somebody acts: they have failed, were discarded or do not exist."""
    ended = (TaskStatus.FAILED, TaskStatus.DISCARDED, None)
    return [need for need in ticket.unmet if need.status in ended] if ticket.status is TaskStatus.READY else []


def list_ways_past_blockers(ticket: QueueTicket) -> list[str]:
    """Return the commands with which a task goes on that waits in vain."""
    blockers = list_blockers(ticket)
    again, task = [f"afresh resume {name_briefly(need.task)}" for need in blockers if need.status], name_briefly(ticket.task)
    return [*again, f"afresh edit {task} --not-after all", f"afresh discard {task}"] if blockers else []


def list_ways_on(ticket: QueueTicket) -> list[str]:
    """Return the commands with which a task goes on that waits for a person; the first is the most likely one."""
    hold = ticket.marks.hold
    if hold and not ticket.status.over:
        return [f"afresh {name} {name_briefly(ticket.task)}" for name in (RELEASE_COMMANDS[hold.kind], "discard")]
    return list_ways_past_blockers(ticket)


def explain_wait(ticket: QueueTicket) -> str:
    """Return why nobody works on it, and by what it is blocked; empty if it could be worked on, or is over."""
    hold, state = ticket.marks.hold, find_ticket_state(ticket)
    if ticket.status.over or ticket.owner:
        return ""
    if ticket.unmet:
        blockers = list_blockers(ticket) if not hold else []
        waits = f"blocked by {_name_needs(blockers)}" if blockers else f"waits for {_name_needs(ticket.unmet)}"
        return f"{_describe_hold(hold)}; {waits}" if hold else waits
    if hold:
        return _describe_hold(hold)
    if state is TicketState.BLOCKED:
        return "waits for your answer"
    if state is TicketState.PENDING and ticket.marks.retry_at:
        why = f": {to_one_line(ticket.marks.failure, 200)}" if ticket.marks.failure else ""
        failed = format_count(ticket.marks.failures, "failed attempt")
        return f"{failed}; will be tried again {format_time(ticket.marks.retry_at)}{why}"
    return ""


def _describe_hold(hold: TaskHold) -> str:
    return f"{hold.kind} by {to_one_line(hold.by, 40)}" + (f": {to_one_line(hold.reason, 200)}" if hold.reason else "")


def _name_needs(needs: Sequence[UnmetNeed]) -> str:
    named = [f"{need.task} ({need.status or 'not there'})" for need in needs[:MAX_NAMED_NEEDS]]
    return ", ".join([*named, *([f"{len(needs) - len(named)} more"] if len(needs) > len(named) else [])])


def describe_blockers(ticket: QueueTicket) -> str:
    """Return what keeps it from starting until a person acts, and how to go on; empty if nothing does."""
    ways = list_ways_on(ticket)
    return f"{explain_wait(ticket)}; {' · '.join(ways)}" if ways else ""


def describe_filing(marks: TicketMarks) -> list[str]:
    """Return labels, project, due time and failures in short, for a line below a task."""
    lines = [" ".join(f"#{label}" for label in marks.labels)] if marks.labels else []
    lines += [f"project {marks.project}"] if marks.project else []
    lines += [f"due {format_time(marks.due)}"] if marks.due else []
    waits = marks.failures and not marks.retry_at  # `explain_wait` says it of one that will be tried again
    return lines + ([format_count(marks.failures, "failed attempt")] if waits else [])


def marks_to_json(marks: TicketMarks) -> dict[str, Any]:
    hold = marks.hold
    return {
        "labels": list(marks.labels),
        "project": marks.project or None,
        "due": format_time(marks.due) if marks.due else None,
        "hold": {"kind": hold.kind.value, "reason": hold.reason, "by": hold.by} if hold else None,
        "failures": marks.failures,
        "retry_at": format_time(marks.retry_at) if marks.retry_at else None,
    }
