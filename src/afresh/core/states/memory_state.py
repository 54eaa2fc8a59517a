"""What is remembered of the steps so far. Bounded; the text of passages and outputs is in the archive."""

from dataclasses import replace
from typing import TYPE_CHECKING

from afresh.core.archived_block import BlockIndexLine, apply_new_lines
from afresh.core.decision import Decision, add_decision
from afresh.core.event import (
    ActionsExecuted,
    ChangeKeptOrReverted,
    CompactionRequested,
    DecisionMade,
    Event,
    MemoryCompacted,
    OutputDigested,
    QuestionAnswered,
    StepFinished,
    VerdictReached,
)
from afresh.core.fact import (
    Fact,
    bound_facts,
    drop_observations_of_step,
    drop_passed_tests,
    drop_refusal,
    mark_facts_undone,
    supersede_fact,
)
from afresh.core.fast_dataclass import dataclass
from afresh.core.lesson import INITIAL_LESSON_STATE, LessonLearnt, LessonsLookedUp, LessonState, LessonsUsed, apply_lesson_event
from afresh.core.line_region import Region, add_region, move_regions
from afresh.core.states.dialogue_state import is_approval
from afresh.core.states.supervision_state import NEW_DIRECTION_QUESTION, PersonSpoke, RecoveredFromCheckpoint, StepsUndone
from afresh.core.states.verification_state import is_refusal
from afresh.core.step_history import (
    ENDED_OK,
    Passage,
    Summary,
    bound_passages,
    mark_passages_undone,
    set_action_ending,
)
from afresh.core.step_record import (
    StepRecord,
    find_first_fate,
    mark_step_undone,
    move_lines_read,
    record_keeping,
    record_verdict,
)

if TYPE_CHECKING:
    from afresh.core.state import State

MAX_RECENT_STEPS = 6
EMPTY_SUMMARY = Summary()


@dataclass(frozen=True, slots=True)
class MemoryState:
    """Facts, decisions and steps."""

    facts: tuple[Fact, ...] = ()
    decisions: tuple[Decision, ...] = ()
    recent: tuple[StepRecord, ...] = ()
    regions: tuple[Region, ...] = ()
    index: tuple[BlockIndexLine, ...] = ()
    archived: int = 0
    """Lines that the whole index has: those above, and older ones on pages in the archive."""
    passages: tuple[Passage, ...] = ()
    """What is remembered line by line."""
    forgotten: int = 0
    """Passages that memory had no space for any more; they are in the archive."""
    summary: Summary = EMPTY_SUMMARY
    """What is left of them in words."""
    compactions: int = 0
    keep: str = ""
    """The agent has asked for a compaction, and says what is to be kept."""
    lessons: LessonState = INITIAL_LESSON_STATE

    def apply(self, event: Event, state: "State") -> "MemoryState":
        match event:
            case ActionsExecuted():
                pending = state.work.pending
                thought, fate = pending.reply.thought if pending else "", find_first_fate(event.observations)
                record = StepRecord(event.step, thought, event.observations, "", True, fate=fate)
                return replace(self, recent=(*self.recent, record)[-MAX_RECENT_STEPS:])
            case OutputDigested():
                return self._digest(event, state.budget)
            case VerdictReached():
                refused = is_refusal(event.verdict)
                passages = set_action_ending(self.passages, event.step, "refused") if refused else self.passages
                recent = (*self.recent[:-1], *[record_verdict(last, event.verdict) for last in self.recent[-1:]])
                return replace(self, recent=recent, facts=drop_passed_tests(self.facts, event.verdict), passages=passages)
            case ChangeKeptOrReverted():
                return self._keep_or_revert(event, state.workspace.snapshot)
            case StepFinished():
                return replace(self, recent=self._finish_last(event))
            case StepsUndone():
                return self._undo(event, state.work.step)
            case MemoryCompacted():
                return self._compact(event)
            case CompactionRequested():
                return replace(self, keep=event.keep)
            case LessonsLookedUp() | LessonsUsed() | LessonLearnt():
                return replace(self, lessons=apply_lesson_event(event, self.lessons))
            case _:
                return self._decide(event, state)

    def _decide(self, event: Event, state: "State") -> "MemoryState":
        step = state.work.step
        match event:
            case RecoveredFromCheckpoint():
                return self._recover(event)
            case DecisionMade():
                return replace(self, decisions=add_decision(self.decisions, event.decision))
            case QuestionAnswered() if not is_approval(event, state):
                asked = state.dialogue
                made = Decision(event.text, "person", "", step, asked.question, 1.0, asked.options, event.option)
                facts = drop_refusal(self.facts)
                return replace(self, facts=facts, decisions=(*self.decisions, made) if made.answer else self.decisions)
            case PersonSpoke() if event.redirects:
                made = Decision(event.text, "person", step=step, subject=NEW_DIRECTION_QUESTION, confidence=1.0)
                return replace(self, decisions=(*self.decisions, made))
            case _:
                return self

    def _digest(self, event: OutputDigested, ceiling: int) -> "MemoryState":
        facts, regions = self.facts, self.regions
        for fact in event.facts:
            facts = supersede_fact(facts, fact)
        for region in event.regions:
            regions = add_region(regions, region)
        passages = (*self.passages, *event.passages)
        held = bound_passages(passages, ceiling) if event.passages else passages
        return replace(
            self,
            facts=bound_facts(facts),
            regions=regions,
            index=apply_new_lines(self.index, event.index),
            archived=self.archived + self._count_new_lines(event),
            passages=held,
            forgotten=self.forgotten + len(passages) - len(held),
        )

    def _count_new_lines(self, event: OutputDigested) -> int:
        """Lines that the index gains by it."""
        return len({line.block for line in event.index if not line.is_page} - {line.block for line in self.index})

    def _keep_or_revert(self, event: ChangeKeptOrReverted, before: str) -> "MemoryState":
        """What an action changed was kept, or undone with all the others of its reply."""
        passages = self.passages
        if not event.kept:
            passages = set_action_ending(passages, event.step, "undone")
        elif event.snapshot != before and event.worked:
            passages = set_action_ending(passages, event.step, "kept in part" if event.put_back else "kept", ENDED_OK)
        late = [region for last in self.recent[-1:] for seen in last.list_after_change() for region in seen.regions]
        regions = move_regions(tuple([one for one in self.regions if one not in late]), event.hunks, event.step)
        for region in late:
            regions = add_region(regions, region)
        return replace(
            self,
            recent=(
                *self.recent[:-1],
                *[record_keeping(move_lines_read(last, event.hunks), event, before) for last in self.recent[-1:]],
            ),
            regions=regions,
            facts=self.facts if event.kept else drop_observations_of_step(self.facts, event.step),
            passages=passages,
        )

    def _undo(self, event: StepsUndone, step: int) -> "MemoryState":
        """What was seen of the tree as it was then is gone, what was noted is marked."""
        return replace(
            self,
            facts=mark_facts_undone(self.facts, event.step),
            passages=mark_passages_undone(self.passages, event.step),
            regions=move_regions(self.regions, event.hunks, step),
            recent=tuple([mark_step_undone(one, event) if one.step >= event.step else one for one in self.recent]),
        )

    def _recover(self, event: RecoveredFromCheckpoint) -> "MemoryState":
        """As at the checkpoint, but for what persons have decided since, and lessons."""
        known = {*event.decisions}
        since = [made for made in self.decisions if made.by == "person" and made not in known]
        return MemoryState(
            facts=event.facts,
            decisions=(*event.decisions, *since),
            regions=event.regions,
            index=event.index,
            archived=event.archived,
            forgotten=self.forgotten + len(self.passages),
            summary=event.summary,
            compactions=self.compactions,
            lessons=self.lessons,
        )

    def _compact(self, event: MemoryCompacted) -> "MemoryState":
        gone = frozenset(event.gone)
        held = tuple([passage for place, passage in enumerate(self.passages) if place not in gone])
        forgotten = self.forgotten + len(self.passages) - len(held)
        return replace(self, passages=held, forgotten=forgotten, summary=event.summary, compactions=self.compactions + 1, keep="")

    def _finish_last(self, event: StepFinished) -> tuple[StepRecord, ...]:
        if not self.recent:
            return ()
        return (*self.recent[:-1], replace(self.recent[-1], outcome=event.outcome, reverted=event.reverted))
