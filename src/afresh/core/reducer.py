"""What each event does to the state of a task: one function for each kind, with all of its effects, in the order of a step.

State is the fold of a task's journal. Nothing else changes a state. `EFFECTS`, at the end, says which function an event has.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from afresh.core.archived_block import apply_new_lines
from afresh.core.decision import add_decision
from afresh.core.event import (
    ActionsExecuted,
    BaselineMeasured,
    CallRequested,
    ChangeKeptOrReverted,
    CheckpointWritten,
    CompactionRequested,
    DecisionMade,
    Event,
    JournalEntry,
    JournalHead,
    MemoryCompacted,
    OutputDigested,
    PlanSet,
    QuestionAnswered,
    QuestionAsked,
    ReplyReceived,
    StepFinished,
    TaskClaimed,
    TaskCreated,
    TaskEnded,
    VerdictReached,
    WorkspaceOpened,
    is_in_decision_log,
)
from afresh.core.fact import (
    bound_facts,
    drop_observations_of_step,
    drop_passed_tests,
    supersede_fact,
)
from afresh.core.leave import MAX_REVIEWS, ChangeReviewed, LeaveGiven
from afresh.core.lesson import LessonEvent, LessonLearnt, LessonsLookedUp, LessonsUsed, LessonWorded, apply_lesson_event
from afresh.core.line_region import add_region, move_regions
from afresh.core.notebook import NOTEBOOK_EVENT_CLASS_BY_TAG
from afresh.core.person_effects import (
    allow_network,
    answer_question,
    begin_turn,
    change_hold,
    change_place,
    close_question,
    give_leave,
    hear_person,
    order_limits,
    outdate_prompt,
    recover_memory,
    set_supervision_mode,
    undo_steps,
)
from afresh.core.prompt import FOOTER_SECTION
from afresh.core.reply import Reply, make_returned_reply
from afresh.core.state import SpendingState, State, TaskTimes
from afresh.core.states.ceiling_state import (
    CallFigures,
    CeilingChanged,
    CeilingPressure,
    LargerCeilingRequested,
    LimitsOrdered,
    note_wish,
    pressure_from_demand,
    update_tool_costs,
)
from afresh.core.states.memory_state import MAX_RECENT_STEPS
from afresh.core.states.network_state import (
    NetworkUsed,
    PermissionsChanged,
    add_network_use,
)
from afresh.core.states.progress_state import (
    Escalation,
    StallNoticed,
    add_cost,
    apply_step_mark,
)
from afresh.core.states.prompt_state import MAX_UNSEEN_HUNKS, MAX_UNSEEN_LINES, PromptState
from afresh.core.states.queue_state import (
    MAX_FAILURES_KEPT,
    AttemptFailed,
    AttemptState,
    FailureCause,
    HoldChanged,
    PlaceChanged,
    TaskFailure,
)
from afresh.core.states.strategy_state import StrategyChanged, change_strategy, count_strategy_step
from afresh.core.states.supervision_state import (
    PersonSpoke,
    RecoveredFromCheckpoint,
    StepsUndone,
    SupervisionModeSet,
    TurnBegan,
)
from afresh.core.states.token_state import TokenState
from afresh.core.states.verification_state import MAX_FLAKY_TESTS, is_refusal
from afresh.core.states.work_state import PendingReply, WorkState
from afresh.core.step_history import ENDED_OK, bound_passages, set_action_ending
from afresh.core.step_record import (
    StepRecord,
    find_first_fate,
    move_lines_read,
    record_keeping,
    record_verdict,
)
from afresh.core.subtask import SubtaskReturned
from afresh.core.task import IssueAttached, StartChosen, TaskStatus
from afresh.core.token_calibration import (
    CalibrationLoaded,
    CeilingBreached,
    TokensCounted,
    UsageReportDoubted,
    add_sample,
    find_calibration,
    replace_calibration,
)
from afresh.core.tool_traits import ToolTrait, has_trait
from afresh.core.verdict import NoteKind


def fold_entries(state: State | None, entries: Iterable[JournalEntry]) -> State:
    last: JournalEntry | None = None
    logged = 0
    for entry in entries:
        if state is None:
            assert isinstance(entry.event, TaskCreated), "a journal begins with Created"
            task = entry.event.task
            state = State(task=task, times=TaskTimes(started=entry.at), work=WorkState(limit=task.max_steps))
        state, last, logged = apply_event(entry.event, state, entry.at), entry, logged + is_in_decision_log(entry.event)
    assert state is not None, "a journal is never empty"
    if last is None:
        return state
    times = replace(state.times, updated=last.at, log_lines=state.times.log_lines + logged)
    return replace(state, head=JournalHead(last.seq, last.hash), times=times)


def apply_event(event: Event, state: State, at: float | None = None) -> State:
    """The state after an event. Without a time the event is only imagined."""
    effect = EFFECTS.get(type(event))
    if effect is None:
        assert type(event) in WITHOUT_EFFECT, f"nobody says what {type(event).__name__} does"
        return state
    return effect(event, state, state.times.updated if at is None else at)


# The task is taken up


def claim_task(event: TaskClaimed, state: State, at: float) -> State:
    """The clock of checkpoints starts with the first claim, so that it runs on through a crash. A claim ends the waiting."""
    times, attempts = state.times, state.times.attempts
    if event.worker != state.worker:
        attempts = replace(attempts, taken=attempts.taken + 1, resuming=attempts.taken > 0, retry_at=0.0)
    times = replace(times, checkpointed=times.checkpointed or at, claims=times.claims + 1, attempts=attempts)
    return replace(state, status=TaskStatus.RUNNING, worker=event.worker, times=times)


def open_workspace(event: WorkspaceOpened, state: State, at: float) -> State:
    opened = {"base": event.base, "branch": event.branch, "note": event.note, "obeyed": event.obeyed}
    workspace = replace(state.workspace, first_snapshot=event.snapshot, snapshot=event.snapshot, **opened)
    return replace(state, workspace=workspace)


def choose_start(event: StartChosen, state: State, at: float) -> State:
    return replace(state, workspace=replace(state.workspace, start=event.start))


def attach_issue(event: IssueAttached, state: State, at: float) -> State:
    return replace(state, dialogue=replace(state.dialogue, issue=event.issue))


def load_calibration(event: CalibrationLoaded, state: State, at: float) -> State:
    calibrations = replace_calibration(state.tokens.calibrations, event.meter)
    return replace(state, tokens=replace(state.tokens, calibrations=calibrations))


def record_baseline(event: BaselineMeasured, state: State, at: float) -> State:
    step = state.work.pending.step if state.work.pending else 0
    verification = replace(state.verification, baseline=event.baseline, baseline_step=step)
    red = any(run.failures for run in event.baseline.runs)
    tokens = outdate_prompt(state.tokens, "tests fail before the first change") if red else state.tokens
    return replace(state, verification=verification, tokens=tokens)


# Its next call


def change_ceiling(event: CeilingChanged, state: State, at: float) -> State:
    ceiling = replace(state.tokens.ceiling, budget=event.budget, since=event.step, reason=event.reason)
    return replace(state, tokens=replace(state.tokens, ceiling=ceiling))


def count_tokens(event: TokensCounted, state: State, at: float) -> State:
    """A prompt over the ceiling teaches at once, for the one that is built next; one that fits is left to its reply."""
    if not event.over:
        return replace(state, tokens=replace(state.tokens, counted_step=event.step))
    return replace(state, tokens=learn_count(state.tokens, event.model, event.pieces, event.framing, event.counted))


def learn_count(tokens: TokenState, model: str, pieces: int, framing: int, counted: int) -> TokenState:
    calibration = add_sample(find_calibration(tokens.calibrations, model), pieces, framing, counted)
    return replace(tokens, calibrations=replace_calibration(tokens.calibrations, calibration))


def look_up_or_use_lessons(event: LessonEvent, state: State, at: float) -> State:
    return replace(state, memory=replace(state.memory, lessons=apply_lesson_event(event, state.memory.lessons)))


def request_call(event: CallRequested, state: State, at: float) -> State:
    call, tokens = event.audit, state.tokens
    figures = CallFigures(
        model=call.model,
        budget=call.budget,
        reserve=call.reserve,
        tokens=call.tokens,
        demand=call.demand,
        unmet=call.unmet,
        omitted=sum(omission.tokens for omission in call.omissions),
        pieces=call.pieces,
        framing=call.framing,
        thinking=call.thinking,
        window=call.window,
    )
    pressure = pressure_from_demand(figures.demand, min(state.task.budget, figures.budget))
    tokens = replace(
        tokens,
        last_call=figures,
        largest_call=figures if call.tokens >= tokens.largest_call.tokens else tokens.largest_call,
        ceiling=replace(tokens.ceiling, saved=tokens.ceiling.saved and pressure is CeilingPressure.CRITICAL),
        prompt=remember_prompt(event, tokens.prompt),
    )
    steps = {**dict(state.work.phase_steps), state.phase: state.phase_step}
    work = replace(state.work, phase_steps=tuple(steps.items()))
    times = replace(state.times, called=at, crowded=state.times.crowded and state.is_crowded)
    return replace(state, tokens=tokens, work=work, times=times)


def remember_prompt(event: CallRequested, before: PromptState) -> PromptState:
    """Without its footer. A prompt that has no terms can't be extended."""
    call, origin = event.audit, event.origin
    if not origin.terms:
        return PromptState()
    sections = tuple([ref for ref in call.sections if ref.name != FOOTER_SECTION])
    tokens = call.tokens - sum(ref.tokens for ref in call.sections if ref.name == FOOTER_SECTION)
    if origin.base:
        return replace(before, sections=sections, step=event.step, tokens=tokens, unseen=())
    return PromptState(sections, event.step, event.step, call.budget, tokens, tokens, call.thinking, origin.terms)


def receive_reply(event: ReplyReceived, state: State, at: float) -> State:
    """Only a provider's own count teaches."""
    reply, call, tokens = event.reply, state.tokens.last_call, state.tokens
    tokens = replace(tokens, cut_replies=tokens.cut_replies + 1 if reply.cramped else 0)
    if reply.counted and call.pieces:
        tokens = learn_count(tokens, call.model, call.pieces, call.framing, reply.usage.input)
        tokens = replace(tokens, last_call=replace(call, reported=reply.usage.input))
    work = replace(state.work, pending=PendingReply(event.step, reply))
    return replace(state, work=work, tokens=tokens, spending=add_spending(state.spending, reply))


def add_spending(spending: SpendingState, reply: Reply | None, reviews: int = 0) -> SpendingState:
    """One more call, whatever it was for."""
    if reply is None:
        return spending
    costs = spending.costs.plus(reply.cost, reply.usage.tokens)
    return SpendingState(spending.usage + reply.usage, costs, spending.calls + 1, spending.reviews + reviews)


def note_breach(event: CeilingBreached, state: State, at: float) -> State:
    ceiling = replace(state.tokens.ceiling, breaches=state.tokens.ceiling.breaches + 1)
    return replace(state, tokens=replace(state.tokens, ceiling=ceiling))


# A step


def execute_actions(event: ActionsExecuted, state: State, at: float) -> State:
    pending = state.work.pending
    thought, fate = pending.reply.thought if pending else "", find_first_fate(event.observations)
    record = StepRecord(event.step, thought, event.observations, "", True, fate=fate)
    returned = make_returned_reply(event.step, pending.reply) if pending else None
    return replace(
        state,
        work=replace(state.work, returned_reply=returned),
        memory=replace(state.memory, recent=(*state.memory.recent, record)[-MAX_RECENT_STEPS:]),
        tokens=replace(state.tokens, tool_costs=update_tool_costs(state.tokens.tool_costs, event.observations)),
    )


def set_plan(event: PlanSet, state: State, at: float) -> State:
    return replace(state, work=replace(state.work, plan=event.items, plan_step=state.work.step + 1))


def record_decision(event: DecisionMade, state: State, at: float) -> State:
    return replace(state, memory=replace(state.memory, decisions=add_decision(state.memory.decisions, event.decision)))


def ask_for_ceiling(event: LargerCeilingRequested, state: State, at: float) -> State:
    return replace(state, tokens=replace(state.tokens, ceiling=note_wish(state.tokens.ceiling, state.work.step, event.reason)))


def ask_for_compaction(event: CompactionRequested, state: State, at: float) -> State:
    return replace(state, memory=replace(state.memory, keep=event.keep))


def return_subtask(event: SubtaskReturned, state: State, at: float) -> State:
    return replace(state, work=replace(state.work, subtasks=(*state.work.subtasks, event.result)))


def use_network(event: NetworkUsed, state: State, at: float) -> State:
    return replace(state, dialogue=replace(state.dialogue, network=add_network_use(state.dialogue.network, event)))


def ask_question(event: QuestionAsked, state: State, at: float) -> State:
    question = {"question": event.question, "options": event.options, "asked_by": event.by, "limit": event.limit}
    supervision = replace(state.dialogue.supervision, paused=event.phase or state.dialogue.supervision.paused)
    network = replace(state.dialogue.network, offered=event.network)
    dialogue = replace(state.dialogue, supervision=supervision, network=network, **question)
    return replace(state, dialogue=dialogue, verification=replace(state.verification, offered=event.about))


def digest_output(event: OutputDigested, state: State, at: float) -> State:
    memory, facts, regions = state.memory, state.memory.facts, state.memory.regions
    for fact in event.facts:
        facts = supersede_fact(facts, fact)
    for region in event.regions:
        regions = add_region(regions, region)
    passages = (*memory.passages, *event.passages)
    kept = bound_passages(passages, state.budget) if event.passages else passages
    new_lines = {line.block for line in event.index if not line.is_page} - {line.block for line in memory.index}
    memory = replace(
        memory,
        facts=bound_facts(facts),
        regions=regions,
        index=apply_new_lines(memory.index, event.index),
        archived=memory.archived + len(new_lines),
        passages=kept,
        forgotten=memory.forgotten + len(passages) - len(kept),
    )
    return replace(state, memory=memory)


def review_change(event: ChangeReviewed, state: State, at: float) -> State:
    reviews = (*state.verification.reviews, replace(event, reply=None))[-MAX_REVIEWS:]
    spending = add_spending(state.spending, event.reply, reviews=1)
    return replace(state, verification=replace(state.verification, reviews=reviews), spending=spending)


def reach_verdict(event: VerdictReached, state: State, at: float) -> State:
    """The verdict before stays if it holds for the tree, unless this one is of the same step."""
    known, memory, verdict = state.verification, state.memory, event.verdict
    refused = is_refusal(verdict)
    verification = replace(
        known,
        verdict=verdict,
        verdict_step=event.step,
        refusals=known.refusals + refused,
        is_undone=False,
        unallowed=known.unallowed + bool(verdict.unallowed),
        flaky=tuple(dict.fromkeys((*known.flaky, *verdict.flaky)))[-MAX_FLAKY_TESTS:],
        run_whole=tuple(dict.fromkeys((*known.run_whole, *verdict.list_facts(NoteKind.RUNS_WHOLE)))),
    )
    if not known.is_undone and event.step != known.verdict_step:
        verification = replace(verification, kept_verdict=known.verdict, kept_step=known.verdict_step)
    memory = replace(
        memory,
        recent=(*memory.recent[:-1], *[record_verdict(last, verdict) for last in memory.recent[-1:]]),
        facts=drop_passed_tests(memory.facts, verdict),
        passages=set_action_ending(memory.passages, event.step, "refused") if refused else memory.passages,
    )
    return replace(state, verification=verification, memory=memory)


def keep_or_revert(event: ChangeKeptOrReverted, state: State, at: float) -> State:
    """What an action changed was kept, or undone with all the others of its reply."""
    workspace, memory, known = state.workspace, state.memory, state.verification
    is_new = event.kept and event.worked and event.snapshot != workspace.snapshot
    late = [region for last in memory.recent[-1:] for seen in last.list_after_change() for region in seen.regions]
    regions = move_regions(tuple([region for region in memory.regions if region not in late]), event.hunks, event.step)
    for region in late:
        regions = add_region(regions, region)
    passages = memory.passages
    if not event.kept:
        passages = set_action_ending(passages, event.step, "undone")
    elif is_new:
        passages = set_action_ending(passages, event.step, "kept in part" if event.put_back else "kept", ENDED_OK)
    recent = [record_keeping(move_lines_read(last, event.hunks), event, workspace.snapshot) for last in memory.recent[-1:]]
    facts = memory.facts if event.kept else drop_observations_of_step(memory.facts, event.step)
    workspace = replace(
        workspace,
        snapshot=event.snapshot,
        changed=event.changed,
        last_change=event.step if is_new else workspace.last_change,
        kept=workspace.kept + is_new,
        reverted=workspace.reverted + (not event.kept),
        tried=workspace.tried or not event.kept,
    )
    return replace(
        state,
        workspace=workspace,
        verification=replace(known, is_undone=known.is_undone or (not event.kept and event.step == known.verdict_step)),
        memory=replace(memory, recent=(*memory.recent[:-1], *recent), regions=regions, facts=facts, passages=passages),
        tokens=note_unseen_changes(state.tokens, event, memory.recent[-1:]),
    )


def note_unseen_changes(tokens: TokenState, event: ChangeKeptOrReverted, last: Sequence[StepRecord]) -> TokenState:
    """The next turn names what commands have changed, which no edit shows; after large changes no turn extends the prompt."""
    edits = [seen.action for step in last for seen in step.observations if has_trait(seen.action, ToolTrait.WRITES)]
    shown = {str(action.args.get("path", "")) for action in edits}
    unseen = tuple([hunk for hunk in event.hunks if hunk.path not in shown])
    if sum(hunk.old_count + hunk.new_count for hunk in unseen) > MAX_UNSEEN_LINES:
        return outdate_prompt(tokens, f"a command changed {unseen[0].path}")
    return replace(tokens, prompt=replace(tokens.prompt, unseen=unseen[:MAX_UNSEEN_HUNKS]))


def finish_step(event: StepFinished, state: State, at: float) -> State:
    """It ends a row of failed attempts, and the wait of a person who spoke while a reply was pending."""
    work, memory, supervision = state.work, state.memory, state.dialogue.supervision
    kept = not memory.recent or memory.recent[-1].kept
    strategy = count_strategy_step(work.strategy, work.plan, work.plan_step, kept)
    progress = apply_step_mark(work.progress, event.mark, event.gained) if event.mark else work.progress
    recent = [replace(last, outcome=event.outcome, reverted=event.reverted) for last in memory.recent[-1:]]
    return replace(
        state,
        work=replace(work, step=event.step, pending=None, outcome=event.outcome, strategy=strategy, progress=progress),
        memory=replace(memory, recent=(*memory.recent[:-1], *recent)),
        dialogue=replace(state.dialogue, supervision=replace(supervision, overruled=False)),
        times=replace(state.times, attempts=end_failures(state.times.attempts)),
    )


def end_failures(attempts: AttemptState) -> AttemptState:
    """A step or the task has ended."""
    return replace(attempts, streak=0, resumed=attempts.resumed + attempts.resuming, resuming=False)


# After a step


def notice_stall(event: StallNoticed, state: State, at: float) -> State:
    alarms = [alarm for alarm in state.work.progress.alarms if alarm.sign != event.sign]
    alarms += [event] if event.rung is not Escalation.NONE else []
    return replace(state, work=replace(state.work, progress=replace(state.work.progress, alarms=tuple(alarms))))


def turn_strategy(event: StrategyChanged, state: State, at: float) -> State:
    strategy = change_strategy(event, state.work.strategy, state.verification.refusals)
    tokens = outdate_prompt(state.tokens, "the strategy changed")
    return replace(state, work=replace(state.work, strategy=strategy), tokens=tokens)


def end_task(event: TaskEnded, state: State, at: float) -> State:
    """A failure is logged once: when the attempt failed, or here."""
    status, place, attempts = event.status, state.work.place, state.times.attempts
    is_logged = status is not TaskStatus.FAILED or (attempts.failures and attempts.failures[-1].at == at)
    attempts = end_failures(attempts)
    if not is_logged:
        attempts = add_failure(attempts, TaskFailure(at, FailureCause.MERITS, event.reason))
    if place and place.hold and status.over:
        place = replace(place, hold=None)
    return replace(
        state,
        status=status,
        worker="",
        times=replace(state.times, attempts=attempts),
        work=replace(state.work, outcome=event.reason, place=place),
        workspace=replace(state.workspace, commit=event.commit or state.workspace.commit),
        dialogue=state.dialogue if status is TaskStatus.BLOCKED else close_question(state.dialogue),
    )


def add_failure(attempts: AttemptState, failure: TaskFailure) -> AttemptState:
    return replace(
        attempts,
        failures=(*attempts.failures, failure)[-MAX_FAILURES_KEPT:],
        failed=attempts.failed + 1,
        streak=attempts.streak + (failure.cause is not FailureCause.MERITS),
        retry_at=failure.retry_at,
    )


def fail_attempt(event: AttemptFailed, state: State, at: float) -> State:
    attempts = add_failure(state.times.attempts, TaskFailure(at, event.cause, event.what, event.retry_at))
    return replace(state, worker="", times=replace(state.times, attempts=attempts))


def write_checkpoint(event: CheckpointWritten, state: State, at: float) -> State:
    """The next one is due when the last prompt is so full that the state is crowded."""
    times = state.times
    written = {"checkpoint_step": event.step, "checkpoints": times.checkpoints + 1, "crowded": state.is_crowded}
    ceiling = replace(state.tokens.ceiling, saved=True)
    times = replace(times, checkpointed=at, **written)
    return replace(state, times=times, tokens=replace(state.tokens, ceiling=ceiling))


def compact_memory(event: MemoryCompacted, state: State, at: float) -> State:
    memory, reply, work = state.memory, event.reply, state.work
    gone = frozenset(event.gone)
    passages = tuple([passage for place, passage in enumerate(memory.passages) if place not in gone])
    forgotten = memory.forgotten + len(memory.passages) - len(passages)
    kept = {"passages": passages, "forgotten": forgotten, "summary": event.summary, "keep": ""}
    if reply:
        work = replace(work, progress=add_cost(work.progress, reply.cost, reply.usage.tokens))
    return replace(
        state,
        memory=replace(memory, compactions=memory.compactions + 1, **kept),
        work=work,
        spending=add_spending(state.spending, reply),
        tokens=outdate_prompt(state.tokens, "memory was compacted"),
    )


def word_lesson(event: LessonWorded, state: State, at: float) -> State:
    return replace(state, spending=add_spending(state.spending, event.reply))


EFFECTS: dict[type[Any], Callable[[Any, State, float], State]] = {
    TaskClaimed: claim_task,
    StartChosen: choose_start,
    IssueAttached: attach_issue,
    WorkspaceOpened: open_workspace,
    CalibrationLoaded: load_calibration,
    CeilingChanged: change_ceiling,
    TokensCounted: count_tokens,
    LessonsLookedUp: look_up_or_use_lessons,
    CallRequested: request_call,
    ReplyReceived: receive_reply,
    CeilingBreached: note_breach,
    LessonsUsed: look_up_or_use_lessons,
    BaselineMeasured: record_baseline,
    ActionsExecuted: execute_actions,
    PlanSet: set_plan,
    DecisionMade: record_decision,
    LargerCeilingRequested: ask_for_ceiling,
    CompactionRequested: ask_for_compaction,
    SubtaskReturned: return_subtask,
    NetworkUsed: use_network,
    QuestionAsked: ask_question,
    OutputDigested: digest_output,
    ChangeReviewed: review_change,
    VerdictReached: reach_verdict,
    ChangeKeptOrReverted: keep_or_revert,
    StepFinished: finish_step,
    StallNoticed: notice_stall,
    StrategyChanged: turn_strategy,
    TaskEnded: end_task,
    AttemptFailed: fail_attempt,
    CheckpointWritten: write_checkpoint,
    MemoryCompacted: compact_memory,
    LessonWorded: word_lesson,
    LessonLearnt: look_up_or_use_lessons,
    QuestionAnswered: answer_question,
    PersonSpoke: hear_person,
    TurnBegan: begin_turn,
    StepsUndone: undo_steps,
    RecoveredFromCheckpoint: recover_memory,
    SupervisionModeSet: set_supervision_mode,
    LimitsOrdered: order_limits,
    LeaveGiven: give_leave,
    PermissionsChanged: allow_network,
    PlaceChanged: change_place,
    HoldChanged: change_hold,
}
WITHOUT_EFFECT = frozenset({TaskCreated, UsageReportDoubted, *NOTEBOOK_EVENT_CLASS_BY_TAG.values()})
"""The first one makes the state. A report that can't be right changes nothing; the others are of journals that no task owns."""
