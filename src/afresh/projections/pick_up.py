"""What whoever goes on with a task must know first, with or without afresh. Each part has a number of tokens of its own."""

from collections.abc import Iterator, Sequence
from typing import Any

from afresh.domain.fact import FactKind
from afresh.domain.said import words_said
from afresh.domain.state import State
from afresh.projections.fit import fitted, listed, verbatim
from afresh.projections.standing import commands, failed_approaches, failures, iso, next_steps, tests_words

NAME = 22
LINE = 30
"""Tokens of a name, and of one line in a list."""


def pick_up(state: State, rules: Sequence[str] = ()) -> dict[str, Any]:
    """Empty parts are left out. `rules` are those of the project."""
    return {name: held for name, held in _parts(state, rules) if held}


def _parts(state: State, rules: Sequence[str]) -> Iterator[tuple[str, Any]]:
    yield "task", fitted(state.task.id, NAME)
    yield "goal", verbatim(state.task.goal, 84)
    yield from _last_words(state)
    yield "status", f"{state.status.value}, phase {state.phase}, step {state.step} of at most {state.limit}"
    yield "branch", fitted(state.branch, NAME)
    yield "worktree", fitted(f"worktrees/{state.task.id}", NAME) if state.branch and not state.commit else ""
    yield "base", state.base[:12]
    yield "commit", state.commit[:12]
    yield "changed", listed(state.changed, 80, 20)
    yield "tests", fitted(tests_words(state), 40)
    yield "failing", listed((": ".join(filter(None, (one.test, one.message))) for one in failures(state)), 76, LINE)
    yield "last outcome", fitted(state.outcome, LINE)
    yield "question", fitted(state.question, 70)
    yield "pending", listed((item.text for item in state.plan if not item.done), 76, LINE)
    yield "constraints", _constraints(state, rules)
    yield "failed, not to be tried again", listed((one.subject for one in reversed(failed_approaches(state))), 76, LINE)
    yield "next", [fitted(step, LINE) for step in next_steps(state)[:2]]
    yield "command", commands(state)[0] if len(state.task.id) < 60 else ""
    yield "updated", iso(state.updated)


def _last_words(state: State) -> Iterator[tuple[str, str]]:
    """The newest of the user's, with the question that they answer."""
    for said in words_said(state)[-1:]:
        yield "last instruction", verbatim(said.text, 110)
        yield "said when asked", fitted(said.question, 30)


def _constraints(state: State, project: Sequence[str]) -> list[str]:
    """The rules in force first, the newest of them first; then when it counts as finished."""
    own = [fact.text for fact in reversed(state.facts) if fact.kind is FactKind.RULE and fact.text]
    rules = listed((*own, *project), 114, 55)
    checks = "; ".join(check.command for check in state.task.checks)
    report = f"writes {state.task.report} and nothing else" if state.task.report else ""
    said = (*rules, fitted(f"finished when these exit 0: {checks}", 44) if checks else "", fitted(report, LINE))
    return [*(line for line in said if line), f"at most {state.budget:,} tokens a call"]
