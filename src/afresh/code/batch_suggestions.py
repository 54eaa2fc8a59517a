"""Which suggestions one reply may apply together, and why a function over the limit has none."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from afresh.code.python_source import PythonFunction, PythonSource
from afresh.code.refactoring.suggest_extractions import ProjectFacts, Suggestion, explain_missing_suggestion
from afresh.core.fact import FactKind
from afresh.core.state import State
from afresh.core.truncate import to_one_line
from afresh.core.verdict import UnfixedFunction

MAX_BATCH = 12
"""Suggestions that are applied and tested together."""
MAX_REASON_CHARACTERS = 160


def find_failed_suggestions(state: State) -> dict[str, str]:
    """Return the ids of suggestions that were tried alone and reverted, with the reason."""
    failed = [fact for fact in state.memory.facts if fact.kind is FactKind.FAILED_APPROACH and not fact.batch]
    return {fact.suggestion: fact.text for fact in failed}


def find_failed_batches(state: State) -> list[tuple[str, ...]]:
    """Return the ids of suggestions that were reverted together, as far as they are still suspects."""
    return [fact.batch for fact in state.memory.facts if fact.kind is FactKind.FAILED_APPROACH and fact.batch]


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
    """Return one suggestion of each function, without those that no longer apply or use a name of another in the same file, or
    anywhere for a method, because it could override the other.
    """
    texts = dict(texts)
    done, taken, fitting = set[tuple[str, str]](), set[tuple[str, str]](), list[str]()
    for offer in offers:
        after = offer.applied(texts[offer.path])
        names = {("" if f".{name}(" in offer.text else offer.path, name) for name in offer.names}
        if after is None or names & taken or (offer.path, offer.function) in done:
            continue
        texts[offer.path] = after
        done.add((offer.path, offer.function))
        taken |= names
        fitting.append(offer.id)
    return fitting


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
    for source, function in found:
        unfixed_function = UnfixedFunction(f"{function.name} {source.path}:{function.node.lineno}", function.complexity)
        if (source.path, function.name) not in offered:
            failure = find_failure(source, function)
            tried = f"tried and undone: {to_one_line(failure, MAX_REASON_CHARACTERS)}" if failure else ""
            unfixed_function = replace(unfixed_function, reason=tried or explain_missing_suggestion(source, function, project))
        unfixed.append(unfixed_function)
    return unfixed
