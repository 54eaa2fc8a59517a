"""What every Queue must do with tasks that are held back, fail and are tried again, and with what they are filed under. A part of
`QueueContract`."""

import pytest

from afresh.core import event as happened
from afresh.core.states.queue_state import (
    AttemptFailed,
    FailureCause,
    HoldChanged,
    HoldKind,
    PlaceChanged,
    StopAct,
    StopRequest,
    TaskHold,
    TicketMarks,
    WorkFigures,
)
from afresh.core.task import TaskStatus, TicketOrder, TicketQuery
from afresh.errors import NeedsAnswer
from afresh.ports.storage import JournalStore, TaskQueue
from support.fakes import FakeClock
from support.sample_journals import append_events, append_step, create_task, end_task

PAUSED = TaskHold(HoldKind.PAUSED, "not now", "ada")


class HoldContract:
    def test_a_held_task_is_passed_over_and_refused_until_it_is_released(self, store: JournalStore, queue: TaskQueue) -> None:
        state = append_events(store, create_task(store, "held", priority=5), [HoldChanged(PAUSED)])
        create_task(store, "other")
        assert (queue.claim("a"), queue.claim("a"), queue.counts().waiting) == ("other", None, 1)
        with pytest.raises(NeedsAnswer, match="not now"):
            queue.claim("a", "held")
        append_events(store, state, [HoldChanged(None, "ada")])
        assert (queue.counts().waiting, queue.claim("a")) == (0, "held")

    def test_a_hold_and_a_need_both_have_to_end(self, store: JournalStore, queue: TaskQueue) -> None:
        first = create_task(store, "first")
        second = append_events(store, create_task(store, "second", needs=("first",)), [HoldChanged(PAUSED)])
        end_task(store, first, TaskStatus.DONE)
        assert queue.claim("a") is None
        append_events(store, second, [HoldChanged(None)])
        assert queue.claim("a") == "second"

    def test_a_failed_attempt_is_passed_over_until_its_time_has_come(
        self, store: JournalStore, queue: TaskQueue, clock: FakeClock
    ) -> None:
        state = append_events(store, create_task(store, "one"), [happened.TaskClaimed("a")])
        wait = clock.now() + 60
        append_events(store, state, [AttemptFailed(FailureCause.PROVIDER, "overloaded", wait)])
        (ticket,) = queue.tickets()
        assert not ticket.ready and ticket.waits_for_retry
        assert (ticket.marks.failures, ticket.marks.retry_at, queue.claim("b")) == (1, wait, None)
        clock.move(60)
        (ticket,) = queue.tickets()
        assert ticket.ready and queue.claim("b") == "one"

    def test_a_person_may_try_again_before_the_time_has_come(
        self, store: JournalStore, queue: TaskQueue, clock: FakeClock
    ) -> None:
        failed = AttemptFailed(FailureCause.GIT, "git hangs", clock.now() + 60)
        append_events(store, create_task(store, "one"), [failed])
        assert queue.claim("b") is None and queue.claim("b", "one") == "one"

    def test_what_a_person_asks_reaches_the_owner_until_it_is_done(self, store: JournalStore, queue: TaskQueue) -> None:
        state = create_task(store, "one")
        queue.claim("a")
        assert queue.renew("a", "one") is None
        request = StopRequest(StopAct.PAUSE, "not now", "ada")
        queue.ask_to_stop("one", request)
        assert queue.renew("a", "one") == queue.renew("a", "one") == request
        append_events(store, state, [HoldChanged(PAUSED)])
        assert queue.renew("a", "one") is None

    def test_a_request_waits_for_the_next_owner(self, store: JournalStore, queue: TaskQueue) -> None:
        create_task(store, "one")
        queue.claim("a")
        queue.ask_to_stop("one", StopRequest(StopAct.CANCEL))
        queue.release("a", "one")
        queue.claim("b")
        assert queue.renew("b", "one") == StopRequest(StopAct.CANCEL)
        end_task(store, store.load("one"), TaskStatus.DISCARDED)
        assert queue.renew("b", "one") is None

    def test_tickets_are_found_by_label_project_and_due_time(self, store: JournalStore, queue: TaskQueue) -> None:
        for name, labels, due, project in (
            ("late", ("ui", "slow"), 300.0, "web"),
            ("soon", ("ui",), 200.0, ""),
            ("bare", (), 0.0, ""),
        ):
            append_events(store, create_task(store, name), [PlaceChanged((), labels=labels, due=due, project=project)])

        def find(**which) -> list[str]:
            return [ticket.task for ticket in queue.tickets(TicketQuery(**which))]

        assert find(labels=("ui",)) == ["late", "soon"] and find(labels=("ui", "slow")) == ["late"] and find(labels=("x",)) == []
        assert find(project="web") == ["late"] and find(due_before=300.0) == ["soon"]
        assert find(order=TicketOrder.DUE) == ["soon", "late", "bare"]
        assert find(labels=("ui",), statuses=(TaskStatus.READY,), most=1) == ["late"]
        append_events(store, store.load("late"), [PlaceChanged((), labels=("new",))])
        assert find(labels=("slow",)) == [] and find(labels=("new",)) == ["late"]
        (ticket,) = queue.tickets(TicketQuery(prefix="late"))
        assert ticket.marks == TicketMarks(("new",), 300.0, "web")

    def test_work_is_counted_by_contexts_and_resumes(self, store: JournalStore, queue: TaskQueue) -> None:
        def take(name: str, *workers: str) -> None:
            state = create_task(store, name)
            for worker in workers:
                state = append_step(store, append_events(store, state, [happened.TaskClaimed(worker)]))
            end_task(store, state, TaskStatus.DONE)

        take("alone", "a")
        take("twice", "a", "b")
        state = append_events(store, create_task(store, "stuck"), [happened.TaskClaimed("a")])
        for worker in ("b", "c"):
            state = append_events(store, state, [happened.TaskClaimed(worker)])
        figures = queue.figures()
        assert {type(count) for count in (figures.finished, figures.resumes, figures.resumed)} == {int}
        assert figures == WorkFigures(finished=2, in_one_context=1, resumes=2, resumed=1)
        assert queue.figures(since=100.0) == WorkFigures()
