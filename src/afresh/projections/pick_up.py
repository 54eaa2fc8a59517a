"""What whoever goes on with a task must know first, with or without afresh. Each part has a number of tokens of its own."""

from collections.abc import Iterator, Sequence
from typing import Any

from afresh.domain.fact import FactKind
from afresh.domain.said import list_user_statements
from afresh.domain.state import State
from afresh.projections.fit import truncate_to_tokens, list_within_tokens, truncate_lines_to_tokens
from afresh.projections.standing import (
    list_next_commands,
    list_failed_approaches,
    list_current_failures,
    format_time,
    list_next_steps,
    describe_tests,
)

NAME_TOKENS = 22
LINE_TOKENS = 30
"""Tokens of a name, and of one line in a list."""


def summarise_for_handover(state: State, rules: Sequence[str] = ()) -> dict[str, Any]:
    """Empty parts are left out. `rules` are those of the project."""
    return {name: held for name, held in _list_fields(state, rules) if held}


def _list_fields(state: State, rules: Sequence[str]) -> Iterator[tuple[str, Any]]:
    yield "task", truncate_to_tokens(state.task.id, NAME_TOKENS)
    yield "goal", truncate_lines_to_tokens(state.task.goal, 84)
    yield from _last_instruction(state)
    yield "status", f"{state.status.value}, phase {state.phase}, step {state.step} of at most {state.limit}"
    yield "branch", truncate_to_tokens(state.branch, NAME_TOKENS)
    yield "worktree", truncate_to_tokens(f"worktrees/{state.task.id}", NAME_TOKENS) if state.branch and not state.commit else ""
    yield "base", state.base[:12]
    yield "commit", state.commit[:12]
    yield "changed", list_within_tokens(state.changed, 80, 20)
    yield "tests", truncate_to_tokens(describe_tests(state), 40)
    yield (
        "failing",
        list_within_tokens(
            (": ".join(filter(None, (one.test, one.message))) for one in list_current_failures(state)), 76, LINE_TOKENS
        ),
    )
    yield "last outcome", truncate_to_tokens(state.outcome, LINE_TOKENS)
    yield "question", truncate_to_tokens(state.question, 70)
    yield "pending", list_within_tokens((item.text for item in state.plan if not item.done), 76, LINE_TOKENS)
    yield "constraints", _list_constraints(state, rules)
    yield (
        "failed, not to be tried again",
        list_within_tokens((one.subject for one in reversed(list_failed_approaches(state))), 76, LINE_TOKENS),
    )
    yield "next", [truncate_to_tokens(step, LINE_TOKENS) for step in list_next_steps(state)[:2]]
    yield "command", list_next_commands(state)[0] if len(state.task.id) < 60 else ""
    yield "updated", format_time(state.updated)


def _last_instruction(state: State) -> Iterator[tuple[str, str]]:
    """The newest of the user's, with the question that they answer."""
    for said in list_user_statements(state)[-1:]:
        yield "last instruction", truncate_lines_to_tokens(said.text, 110)
        yield "said when asked", truncate_to_tokens(said.question, 30)


def _list_constraints(state: State, project: Sequence[str]) -> list[str]:
    """The rules in force first, the newest of them first; then when it counts as finished."""
    own = [fact.text for fact in reversed(state.facts) if fact.kind is FactKind.RULE and fact.text]
    rules = list_within_tokens((*own, *project), 114, 55)
    checks = "; ".join(check.command for check in state.task.checks)
    report = f"writes {state.task.report} and nothing else" if state.task.report else ""
    said = (
        *rules,
        truncate_to_tokens(f"finished when these exit 0: {checks}", 44) if checks else "",
        truncate_to_tokens(report, LINE_TOKENS),
    )
    return [*(line for line in said if line), f"at most {state.budget:,} tokens a call"]
