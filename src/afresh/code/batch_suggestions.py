"""Which suggestions one reply may apply together, and why a function over the limit has none."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from afresh.code.complexity import MAX_COMPLEXITY
from afresh.code.python_source import PythonFunction, PythonSource
from afresh.code.refactoring.project_facts import ProjectFacts
from afresh.code.refactoring.suggest_refactorings import explain_missing_suggestion, suggest_refactorings
from afresh.code.refactoring.suggestion import Suggestion
from afresh.core.fact import FactKind
from afresh.core.state import State
from afresh.core.task import FIX_VIOLATION_TYPE
from afresh.core.truncate import to_one_line
from afresh.core.verdict import UnfixedFunction

MAX_BATCH = 12
"""Suggestions that are applied and tested together."""
MAX_REASON_CHARACTERS = 160
DEFINITION = re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)|^(\w+)[ \t]*=", re.MULTILINE)


def find_failed_suggestions(state: State) -> dict[str, str]:
    """Return the ids of suggestions that were tried alone and reverted, with the reason."""
    failed = [fact for fact in state.memory.facts if fact.kind is FactKind.FAILED_APPROACH and not fact.batch]
    return {fact.suggestion: fact.text for fact in failed}


def find_failed_batches(state: State) -> list[tuple[str, ...]]:
    """Return the ids of suggestions that were reverted together, as far as they are still suspects."""
    return [fact.batch for fact in state.memory.facts if fact.kind is FactKind.FAILED_APPROACH and fact.batch]


def select_complete(offers: Sequence[Suggestion], state: State) -> list[Suggestion]:
    """Return the offers that bring their function within the limit, where that is the task: others are left alone."""
    lowers = state.task.judged_as == FIX_VIOLATION_TYPE
    return [offer for offer in offers if offer.after <= MAX_COMPLEXITY or not lowers]


def choose_batch(offers: Sequence[Suggestion], failed: Sequence[tuple[str, ...]], texts: Mapping[str, str]) -> list[str]:
    """Return the ids of the next batch: of each function the first suggestion that fits together with the others. Of a batch
    that failed, its first half is next, until one suggestion is left, so that the culprit is found by bisection. `texts` are
    the files as they are.
    """
    batch = _select_fitting(offers, texts)[:MAX_BATCH]
    while suspects := min((group for group in failed if {*group} <= {*batch}), key=len, default=()):
        if len(suspects) == 1:
            return list(suspects)
        batch = [one for one in batch if one in suspects][: len(suspects) // 2]
    return batch


def _select_fitting(offers: Sequence[Suggestion], texts: Mapping[str, str]) -> list[str]:
    """Return one suggestion of each function, without those that define the same name in one file or no longer apply."""
    originals, texts = texts, dict(texts)
    done, made, fitting = set[tuple[str, str]](), set[tuple[str, str]](), list[str]()
    for offer in offers:
        before = texts[offer.path]
        after = offer.applied(before)
        new = _find_defined_names(offer.applied(originals[offer.path])) - _find_defined_names(originals[offer.path])
        names = {(offer.path, name) for name in new}
        if after == before or names & made or (offer.path, offer.function) in done:
            continue
        texts[offer.path] = after
        done.add((offer.path, offer.function))
        made |= names
        fitting.append(offer.id)
    return fitting


def _find_defined_names(text: str) -> set[str]:
    return {match[1] or match[2] for match in DEFINITION.finditer(text)}


def explain_unfixed(
    found: Sequence[tuple[PythonSource, PythonFunction]],
    offers: Sequence[Suggestion],
    find_failure: Callable[[PythonSource, PythonFunction], str],
    project: ProjectFacts,
) -> list[UnfixedFunction]:
    """Return each function over the limit with the reason why nothing is left to apply; the reason is empty if something is.
    `find_failure` returns why what was applied to a function was reverted.
    """
    offered, unfixed = {(offer.path, offer.function) for offer in offers}, list[UnfixedFunction]()
    naming = replace(project, new_names=True)
    for source, function in found:
        one = UnfixedFunction(f"{function.name} {source.path}:{function.node.lineno}", function.complexity)
        if (source.path, function.name) not in offered:
            if failure := find_failure(source, function):
                one = replace(one, reason=f"tried and undone: {to_one_line(failure, MAX_REASON_CHARACTERS)}")
            elif not project.new_names and (proposal := next(suggest_refactorings(source, function, naming), None)):
                one = replace(one, reason=f"{proposal.after} after a change that needs a new name", needs_name=True)
            else:
                one = replace(one, reason=explain_missing_suggestion(source, function, naming))
        unfixed.append(one)
    return unfixed
