"""Failed approaches: what was tried, why it failed and the lines that show it, remembered so that it is not tried again."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from afresh.core.action import Action, describe_action, describe_subject
from afresh.core.archived_block import Block, block_from_text, block_id_from_text
from afresh.core.change import Change, find_changed_function
from afresh.core.codec import to_canonical_json
from afresh.core.command_output import OutputReading
from afresh.core.event import OutputDigested
from afresh.core.fact import COMPLETION_SUBJECT, Attempt, Fact, FactKind
from afresh.core.recognise_test_files import is_test_code
from afresh.core.search_words import find_identifiers
from afresh.core.state import State
from afresh.core.step_result import ActionResult, StepResult, shorten_action, truncate_first_line
from afresh.core.tool_traits import ToolTrait, has_trait
from afresh.core.verdict import CheckRun, Verdict
from afresh.outputs.read_output import find_last_line_naming, read_output

MAX_ATTEMPTS_TOLD = 4
MAX_ATTEMPTS_KEPT = 12
"""Actions of a reply that a failed approach names, and that it is known by."""
MIN_SIGN_CHARACTERS = 6
"""Shorter lines stand in any output."""


def remember_failed_approach(step: int, actions: StepResult) -> tuple[Fact, tuple[Block, ...]]:
    """The fact about a step that was reverted, and the blocks that it refers to and that are not archived yet."""
    reason, shown = actions.verdict.reason if actions.verdict else "", find_evidence(actions)
    attempts, tried = make_attempts(actions), list_tried_suggestions(actions)
    batch = tried if len(tried) > 1 else ()
    fact = Fact(
        FactKind.FAILED_APPROACH,
        describe_approach(attempts),
        reason,
        block=shown.block,
        step=step,
        lines=shown.lines,
        suggestion="" if batch else next(iter(tried), ""),
        attempts=attempts,
        batch=batch,
    )
    return fact, shown.made


def clear_kept_attempts(state: State, actions: StepResult) -> tuple[OutputDigested, ...]:
    """What was kept now is no failed approach any more: without its culprit an approach is forgotten, without another action it
    is told without that one."""
    kept = {key_from_action(attempt.action) for attempt in list_attempts(actions)}
    facts = _clear_kept_suggestions(state, actions, kept)
    for fact in [fact for fact in state.memory.facts if not fact.batch]:
        left = tuple(attempt for attempt in fact.attempts if attempt.key not in kept)
        if fact.kind is FactKind.FAILED_APPROACH and left != fact.attempts:
            facts.append(Fact(FactKind.FAILED_APPROACH, fact.subject, "", 0.0, step=fact.step))
            if left and left[0] == fact.attempts[0]:
                facts.append(replace(fact, subject=describe_approach(left), attempts=left))
    return (OutputDigested(facts=tuple(facts)),) if facts else ()


def _clear_kept_suggestions(state: State, actions: StepResult, kept: Collection[str]) -> list[Fact]:
    """Of suggestions that failed together, those that were not kept stay suspects."""
    innocent, facts = {*list_tried_suggestions(actions)}, list[Fact]()
    for fact in [fact for fact in state.memory.facts if innocent & {*fact.batch}]:
        facts.append(Fact(fact.kind, fact.subject, "", 0.0, step=fact.step))
        left = tuple(attempt for attempt in fact.attempts if attempt.key not in kept)
        suspects = tuple(one for one in fact.batch if one not in innocent)
        facts += [replace(fact, subject=describe_approach(left), attempts=left, batch=suspects)] if suspects and left else []
    return facts


def forget_batches(state: State, actions: StepResult) -> tuple[Fact, ...]:
    """Once a suggestion has failed alone, those that it was tried with are no suspects any more."""
    if len(list_tried_suggestions(actions)) != 1:
        return ()
    return tuple(Fact(fact.kind, fact.subject, "", 0.0, step=fact.step) for fact in state.memory.facts if fact.batch)


def remember_refusal(step: int, verified: StepResult) -> tuple[Fact, tuple[Block, ...]]:
    """Why completion was refused, as an observation: to complete again is right once that is fixed."""
    reason, shown = verified.verdict.reason if verified.verdict else "", find_evidence(verified)
    subject = COMPLETION_SUBJECT
    fact = Fact(FactKind.OBSERVED, subject, f"refused: {reason}", 1.0, shown.block, step, subject, shown.lines)
    return fact, shown.made


def describe_approach(attempts: Sequence[Attempt]) -> str:
    """The whole reply, as far as it fits in a line."""
    more = len(attempts) - MAX_ATTEMPTS_TOLD
    text = "; ".join(attempt.told for attempt in attempts[:MAX_ATTEMPTS_TOLD])
    return f"{text}; and {more} more" if more > 0 else text


def make_attempts(actions: StepResult) -> tuple[Attempt, ...]:
    """What was done, the action that the failure speaks of first."""
    failure_text = _collect_failure_text(actions)
    ordered = sorted(list_attempts(actions), key=lambda result: -_count_signs(result.action, failure_text, actions.changes))
    return tuple(Attempt(describe_attempt(result), key_from_action(result.action)) for result in ordered[:MAX_ATTEMPTS_KEPT])


def _collect_failure_text(verified: StepResult) -> str:
    failures = [failure for run in (verified.verdict.runs if verified.verdict else ()) for failure in run.failures]
    parts = [part for failure in failures for part in (failure.test, failure.message, failure.detail)]
    return "\n".join(parts)


def _count_signs(action: Action, text: str, changes: Sequence[Change]) -> int:
    """How much of an action the failure names: a line that it wrote, the function that it changed, its file. That a failing test
    names its own file says nothing."""
    path = str(action.args.get("path", ""))
    lines = [line.strip() for line in str(action.args.get("new") or action.args.get("text") or "").splitlines()]
    wrote = any(len(line) >= MIN_SIGN_CHARACTERS and line in text for line in lines)
    patch = next((change.patch for change in changes if change.path == path), "")
    function = find_changed_function(patch, next(filter(None, lines), ""))
    named = bool(function) and function in find_identifiers(text)
    return 2 * wrote + 2 * named + bool(path and path in text and not is_test_code(path))


def key_from_action(action: Action) -> str:
    return block_id_from_text(to_canonical_json([action.tool, {name: action.args[name] for name in sorted(action.args)}]))[:16]


def list_attempts(result: StepResult) -> list[ActionResult]:
    """The actions that changed something; reading is not trying."""
    done = [deed for deed in result.done if deed.outcome.ok]
    return [action_result for action_result in done if has_trait(action_result.action, ToolTrait.CHANGES)] or done


def list_tried_suggestions(result: StepResult) -> tuple[str, ...]:
    """The ids that the attempts took up."""
    return tuple(
        str(attempt.action.args["id"]) for attempt in list_attempts(result) if has_trait(attempt.action, ToolTrait.APPLIES)
    )


def describe_attempt(deed: ActionResult) -> str:
    """Enough to know it again: for an edit, what was to become what; for a suggestion, its id and title."""
    action = deed.action
    if has_trait(action, ToolTrait.APPLIES):
        return f"{action.tool} {action.args['id']} ({describe_subject(shorten_action(deed))})"
    if has_trait(action, ToolTrait.WRITES) and {"old", "new"} <= action.args.keys():
        old, new = (truncate_first_line(str(action.args[name]).strip(), 60) for name in ("old", "new"))
        return f"{describe_action(action)} ({old} → {new})"
    return describe_action(action)


WHOLE_BLOCK = (0, 0)


@dataclass(frozen=True, slots=True)
class RejectionEvidence:
    block: str = ""
    lines: tuple[int, int] = WHOLE_BLOCK
    made: tuple[Block, ...] = ()
    """A block that is not archived yet."""


def find_evidence(result: StepResult) -> RejectionEvidence:
    """Of the run that failed; if nothing was run, of what was found instead."""
    verdict = result.verdict
    if verdict is None or not verdict.runs:
        return RejectionEvidence()
    texts = {block.id: block.text for block in result.blocks}
    run = find_blamed_run(verdict, texts)
    if not run.block:
        return evidence_from_compile_failure(run)
    text = texts.get(run.block, "")
    return RejectionEvidence(run.block, find_evidence_lines(read_output(run.command, text), text, verdict.regressions))


def find_blamed_run(verdict: Verdict, texts: dict[str, str]) -> CheckRun:
    """The one that names a test which is worse than before, else the first that failed, else the last."""
    failed = [run for run in verdict.runs if not run.holds]
    naming = [run for run in failed if any(test in texts.get(run.block, "") for test in verdict.regressions[:1])]
    return next(iter(naming or failed), verdict.runs[-1])


def find_evidence_lines(reading: OutputReading, text: str, tests: Sequence[str]) -> tuple[int, int]:
    """Lines of the finding about one of these tests, or that name it; else of the first finding."""
    findings = [finding for finding in reading.findings if finding.subject in tests]
    if findings:
        return findings[0].lines
    if tests and (line := find_last_line_naming(text, tests[0])):
        return line, line
    return reading.findings[0].lines if reading.findings else WHOLE_BLOCK


def evidence_from_compile_failure(run: CheckRun) -> RejectionEvidence:
    """A file that does not compile is found before anything is run."""
    block = block_from_text("\n".join(line for failure in run.failures for line in (failure.message, failure.detail) if line))
    return RejectionEvidence(block.id, (1, len(block.text.splitlines())), (block,)) if block.text else RejectionEvidence()
