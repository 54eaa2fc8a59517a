"""What the harness asks a person when it can't go on by itself. Every option is something that an answer really brings about."""

from collections.abc import Sequence
from dataclasses import replace

from afresh.core.action import describe_subject
from afresh.core.answer_options import find_chosen_option
from afresh.core.decision import Decision
from afresh.core.event import QuestionAsked
from afresh.core.leave import FROM_ANSWER, ChangedUnit, Grant
from afresh.core.state import State
from afresh.core.states.ceiling_state import MODEL_WINDOW_DIVISOR, compute_highest_ceiling, round_up_ceiling
from afresh.core.states.dialogue_state import ACCEPT_OPTION
from afresh.core.states.progress_state import ProgressState
from afresh.core.task import Task, name_briefly
from afresh.core.text import format_count
from afresh.core.truncate import to_one_line
from afresh.core.verdict import list_first_names
from afresh.errors import OverCeiling

WORK_WITHOUT_CHECKS = "work without"
GO_ON = "go on"
MAX_NAMED_CHANGES = 8
WRAP_UP = "wrap up"
PHASE_ACTS = {
    "change": "make the first change",
    "verify": "verify the result",
    **dict.fromkeys(("report", "synthesise"), "write the report"),
}


def ask_after_step_limit(state: State) -> QuestionAsked:
    return ask_person(
        f"The limit of {state.work.limit} steps is reached. Answer to allow {state.task.max_steps} more; "
        f"{say_discard(state.task.id)}.",
        f"{GO_ON}: up to {state.task.max_steps} more steps",
        f"{WRAP_UP}: the same number of steps, to finish what is done so far and leave the rest",
    )


def ask_after_stall(evidence: str, state: State, progress: ProgressState) -> QuestionAsked:
    """With what was spent, on what, and since when: a person decides whether more is worth it."""
    steps = state.work.step + 1 - progress.since
    did = ", ".join(f"{tool} {count}×" for tool, count in progress.tools) or "nothing"
    since = f"since step {progress.since}, the last with progress" if progress.since else "since the start"
    return ask_person(
        f"The task is stuck: {evidence}. It was warned and told to try another approach. Spent {since}: {steps} steps, "
        f"{progress.bill.words(progress.tokens)} ({did}); in all {format_count(state.spending.calls, 'call')}, "
        f"{state.spending.costs.words(state.spending.usage.tokens)}. "
        f"Answer with a hint; {say_discard(state.task.id)}.",
        f"{GO_ON}: it tries again without new information; the counters are reset",
        "another way: it drops the last approach and tries a different one",
    )


def ask_after_phase_limit(state: State, phase: str) -> QuestionAsked:
    return ask_person(
        f"Phase {phase} has used its {state.phase_step - 1} steps without finishing: {summarise_progress(state)}. "
        f"Answer with a hint; {say_discard(state.task.id)}.",
        f"{GO_ON}: the same number of steps again",
        f"{WRAP_UP}: the same number of steps, to finish what is done so far and leave the rest",
    )


def ask_for_missing_plan(state: State) -> QuestionAsked:
    return ask_person(
        f"{state.work.strategy.steps} steps have not produced a plan: {summarise_progress(state)}. Answer with a hint; "
        f"{say_discard(state.task.id)}.",
        f"{GO_ON}: it tries again without new information",
    )


def ask_after_replans(state: State, why: str) -> QuestionAsked:
    return ask_person(
        f"It has changed its approach {state.work.strategy.turns} times, and again {why}: {summarise_progress(state)}. "
        f"Answer with a hint; {say_discard(state.task.id)}.",
        f"{GO_ON}: it may change its approach as often again",
        f"{WRAP_UP}: to finish what is done so far and leave the rest",
    )


def ask_before_phase(state: State, phase: str) -> QuestionAsked:
    """Of a pause; whoever answers with words of their own is heard before it goes on."""
    actions = state.work.pending.reply.actions if state.work.pending else ()
    about = to_one_line(", ".join(dict.fromkeys(describe_subject(action) or action.tool for action in actions)), 160)
    what = PHASE_ACTS.get(phase, f"enter phase {phase}")
    question = f"About to {what}{f' ({about})' if about else ''}. Go ahead?"
    return QuestionAsked(question, ("approve: it continues",), "harness", phase=phase)


def ask_after_stop(state: State) -> QuestionAsked:
    when = f"after step {state.work.step}" if state.work.step else "before its first step"
    return ask_person(
        f"You stopped the task {when}; it waits in `afresh answer`. Answer to continue; say what should change, if anything.",
        GO_ON,
    )


def summarise_progress(state: State) -> str:
    """The evidence."""
    done = sum(item.done for item in state.work.plan)
    plan = f", {done} of {len(state.work.plan)} items of the plan done" if state.work.plan else ""
    last = f"; last: {to_one_line(state.work.outcome, 120)}" if state.work.outcome else ""
    return f"changes kept: {state.workspace.kept}, undone: {state.workspace.reverted}{plan}{last}"


def ask_about_unverifiable(reason: str) -> QuestionAsked:
    """The work is on a branch, but no check can vouch for it."""
    return ask_person(
        reason,
        "look again: it compares its change with the goal once more, and asks again if it has nothing to add",
    )


def ask_about_test_changes(missing: Sequence[ChangedUnit]) -> QuestionAsked:
    """The first option allows exactly what was changed."""
    first_names = list_first_names(dict.fromkeys(unit.told for unit in missing), MAX_NAMED_CHANGES)
    words = f"allowed by you: {to_one_line(first_names, 200)}"
    about = tuple(Grant(unit.path, unit.name, FROM_ANSWER, words) for unit in missing)
    asked = ask_person(
        f"It changes tests or settings of the checks, and no word of yours was found that asks for it: {first_names}. "
        "May it change them? Choose, or say in your own words what it may change.",
        "allow these changes: it may make them, and the verdict names them",
        "put them back: it has to make them as they were, and find another way",
    )
    return replace(asked, about=about)


def ask_about_checks(reason: str) -> QuestionAsked:
    return ask_person(
        reason,
        "check again: you have fixed the cause; the checks run again first",
        f"{WORK_WITHOUT_CHECKS}: it works without verification, and you judge the result",
    )


def ask_about_token_limit(shortage: OverCeiling, task: Task, window: int) -> QuestionAsked:
    """What would help: a higher limit, as far as the model's window allows it; else a larger window or shorter instructions."""
    highest, needed = compute_highest_ceiling(task, window), round_up_ceiling(shortage.needed)
    if highest < needed <= window // MODEL_WINDOW_DIVISOR:
        asked = ask_person(
            f"{shortage.what} The task may use at most {highest:,} tokens a call.",
            f"raise the limit to {needed:,} tokens a call: it goes on with it",
        )
        return replace(asked, limit=needed)
    most = f"A call may use a fifth of this model's context window of {window:,} tokens."
    return ask_person(
        f"{shortage.what} {most if needed > window // MODEL_WINDOW_DIVISOR else ''}".strip(),
        "try again: you have shortened the instructions, or name a model with a larger context window by --model",
    )


def ask_about_instructions(reason: str) -> QuestionAsked:
    return ask_person(reason, "try again: you have corrected the file")


def offer_acceptance(question: QuestionAsked, state: State) -> QuestionAsked:
    """With the option to take the work as it is: of the harness's questions, and of the model's once a completion was refused."""
    is_late = question.by == "harness" or state.verification.refusals
    if not is_late or not state.workspace.changed or question.network or is_acceptable(question.options):
        return question
    return replace(question, options=(*question.options, ACCEPT_OPTION))


def is_acceptable(options: Sequence[str]) -> bool:
    return ACCEPT_OPTION in options


def say_discard(task: str) -> str:
    """An answer can't do it, so it is no option."""
    return f"`afresh discard {name_briefly(task)}` discards it"


def ask_person(question: str, *options: str) -> QuestionAsked:
    return QuestionAsked(question, options, "harness")


def is_told_to_work_without_checks(decisions: tuple[Decision, ...]) -> bool:
    """Whether a person's newest answer is to work without sound checks."""
    answers = [decision for decision in decisions if decision.answer]
    return bool(answers) and find_chosen_option(answers[-1]) == WORK_WITHOUT_CHECKS
