"""What the harness asks a person when it can't go on by itself. Every option is something that an answer really brings about."""

from afresh.domain.action import subject
from afresh.domain.course import Course
from afresh.domain.event import Asked
from afresh.domain.fact import Decision
from afresh.domain.state import State
from afresh.domain.text import one_line

ALL_THE_SAME = "work without"
ON = "go on"
WRAP_UP = "wrap up"


def limit_reached(state: State) -> Asked:
    return harness(
        f"The limit of {state.limit} steps is reached. Answer to allow {state.task.max_steps} more, or discard the task.",
        f"{ON}: up to {state.task.max_steps} more steps",
        f"{WRAP_UP}: as many steps, to bring what is done so far to a sound end and leave the rest",
    )


def nowhere(evidence: str, state: State, course: Course) -> Asked:
    """With what was spent, on what, and since when: a person decides whether more is worth it."""
    steps = state.step + 1 - course.since
    did = ", ".join(f"{tool} {count}×" for tool, count in course.tools) or "nothing"
    since = f"since step {course.since}, the last that moved the work" if course.since else "since the start"
    return harness(
        f"It gets nowhere: {evidence}. It was warned, and made to try another way. Spent {since}: {steps} steps, "
        f"{course.bill.words(course.tokens)} ({did}); in all {state.calls} calls, {state.bill.words(state.usage.tokens)}. "
        "Answer with a hint, or discard the task.",
        f"{ON}: it tries again and knows no more than before; what was noticed is counted anew",
        "another way: it leaves what it tried last and looks for a different approach",
    )


def phase_spent(state: State, phase: str) -> Asked:
    return harness(
        f"Phase {phase} has had its {state.phase_step - 1} steps and more is not in sight: {so_far(state)}. "
        "Answer with a hint, or discard the task.",
        f"{ON}: as many steps again",
        f"{WRAP_UP}: as many steps, to bring what is done so far to a sound end and leave the rest",
    )


def no_plan(state: State) -> Asked:
    return harness(
        f"{state.loop.steps} steps have led to no plan: {so_far(state)}. Answer with a hint, or discard the task.",
        f"{ON}: it tries again and knows no more than before",
    )


def turned_enough(state: State, why: str) -> Asked:
    return harness(
        f"It has gone another way {state.loop.turns} times, and again {why}: {so_far(state)}. "
        "Answer with a hint, or discard the task.",
        f"{ON}: it may go another way as often again",
        f"{WRAP_UP}: to bring what is done so far to a sound end and leave the rest",
    )


def before_phase(state: State, phase: str) -> Asked:
    """Of a pause; whoever answers with words of their own is heard before it goes on."""
    meant = f" with {actions_named(state)}" if state.pending else ""
    plan = f" Plan: {one_line('; '.join(item.text for item in state.plan), 240)}." if state.plan else ""
    return harness(
        f"Before phase {phase}{meant}: is that as you want it?{plan}",
        "approve: it goes on",
    )


def actions_named(state: State) -> str:
    actions = state.pending.reply.actions if state.pending else ()
    return one_line(", ".join(f"{action.tool} {subject(action)}".strip() for action in actions), 160)


def halted(state: State) -> Asked:
    when = f"after step {state.step}" if state.step else "before its first step"
    return harness(f"You stopped it {when}. Answer to go on, in your own words if something should change.", ON)


def so_far(state: State) -> str:
    """The evidence."""
    done = sum(item.done for item in state.plan)
    plan = f", {done} of {len(state.plan)} items of the plan done" if state.plan else ""
    last = f"; last: {one_line(state.outcome, 120)}" if state.outcome else ""
    return f"changes kept: {state.kept}, undone: {state.reverted}{plan}{last}"


def unverifiable(reason: str) -> Asked:
    """The work is on a branch, but no check can vouch for it."""
    return harness(
        reason,
        "look again: it holds the goal against its change once more, and asks again when it has nothing to add",
    )


def unsound_checks(reason: str) -> Asked:
    return harness(
        reason,
        "check again: you have mended it; the checks run anew before anything else",
        f"{ALL_THE_SAME}: it works all the same, and you judge the result yourself",
    )


def over_ceiling(reason: str) -> Asked:
    return harness(reason, "try again: you have shortened a template or instructions, or name a model with a larger window")


def harness(question: str, *options: str) -> Asked:
    return Asked(question, options, "harness")


def told_to_go_on(decisions: tuple[Decision, ...]) -> bool:
    """Whether a person's newest answer is to work without sound checks."""
    answers = [made.text for made in decisions if made.answer]
    return bool(answers) and answers[-1].casefold().startswith(ALL_THE_SAME)
