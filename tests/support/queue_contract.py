"""What every Queue must do. Subclass it and give it a `store`, and a `queue` over it and `clock` with leases of 20 seconds."""

import pytest

from afresh.core import event as happened
from afresh.core.state import make_ticket_detail
from afresh.core.states.queue_state import PlaceChanged
from afresh.core.task import Task, TaskStatus, TicketOrder, TicketQuery, UnmetNeed
from afresh.errors import BadInput, LeaseLost, NeedsAnswer, NotPossible
from afresh.ports.storage import JournalStore, TaskQueue
from support.fakes import FakeClock
from support.hold_contract import HoldContract
from support.sample_journals import append_events, append_step, create_task, end_task


class QueueContract(HoldContract):
    """Fixtures `store` (fresh and empty) and `queue` (over it and `clock`) are to be given by the subclass, and the names of two
    workers of this machine: `living_worker` and `dead_worker`. Any other name is a worker elsewhere."""

    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock()

    def test_an_empty_queue_has_nothing_to_claim(self, queue: TaskQueue) -> None:
        assert queue.claim("a") is None and list(queue.tickets()) == []

    def test_the_oldest_goes_first(self, store: JournalStore, queue: TaskQueue) -> None:
        create_task(store, "zeta")
        create_task(store, "alpha")
        assert [queue.claim("a"), queue.claim("a"), queue.claim("a")] == ["zeta", "alpha", None]

    def test_a_higher_priority_goes_before_the_older(self, store: JournalStore, queue: TaskQueue) -> None:
        create_task(store, "low")
        create_task(store, "high", priority=5)
        create_task(store, "negative", priority=-1)
        assert [queue.claim("a"), queue.claim("a"), queue.claim("a")] == ["high", "low", "negative"]

    def test_a_claim_is_exclusive(self, store: JournalStore, queue: TaskQueue) -> None:
        create_task(store, "one")
        assert queue.claim("a") == "one"
        assert queue.claim("b") is None
        with pytest.raises(NotPossible, match="a"):
            queue.claim("b", "one")

    def test_an_owner_may_claim_its_task_again(self, store: JournalStore, queue: TaskQueue) -> None:
        create_task(store, "one")
        assert queue.claim("a") == queue.claim("a", "one") == "one"

    def test_what_a_worker_released_can_be_claimed(self, store: JournalStore, queue: TaskQueue) -> None:
        create_task(store, "one")
        queue.claim("a")
        queue.release("a", "one")
        assert queue.claim("b") == "one"

    def test_only_the_owner_can_release(self, store: JournalStore, queue: TaskQueue) -> None:
        create_task(store, "one")
        queue.claim("a")
        queue.release("b", "one")
        assert queue.claim("b") is None

    def test_an_expired_lease_is_taken_over(self, store: JournalStore, queue: TaskQueue, clock: FakeClock) -> None:
        create_task(store, "one")
        queue.claim("a")
        clock.move(19)
        assert queue.claim("b") is None
        clock.move(2)
        assert queue.claim("b") == "one"
        with pytest.raises(LeaseLost):
            queue.renew("a", "one")

    @pytest.mark.parametrize("seconds", [21, 86_400, -86_400])
    def test_the_lease_of_a_process_that_lives_here_holds_whatever_the_clock_says(
        self, store: JournalStore, queue: TaskQueue, clock: FakeClock, living_worker: str, seconds: int
    ) -> None:
        create_task(store, "one")
        queue.claim(living_worker)
        clock.move(seconds)
        assert queue.claim("b") is None and [ticket.owner for ticket in queue.tickets()] == [living_worker]
        with pytest.raises(NotPossible):
            queue.claim("b", "one")
        queue.renew(living_worker, "one")
        queue.release(living_worker, "one")
        assert queue.claim("b") == "one"

    @pytest.mark.parametrize("seconds", [0, 86_400, -86_400])
    def test_the_lease_of_a_process_that_died_here_is_free_at_once(
        self, store: JournalStore, queue: TaskQueue, clock: FakeClock, dead_worker: str, seconds: int
    ) -> None:
        create_task(store, "one")
        queue.claim(dead_worker)
        clock.move(seconds)
        assert [ticket.owner for ticket in queue.tickets()] == [""] and queue.claim("b") == "one"
        with pytest.raises(LeaseLost):
            queue.renew(dead_worker, "one")

    def test_a_renewed_lease_lasts(self, store: JournalStore, queue: TaskQueue, clock: FakeClock) -> None:
        create_task(store, "one")
        queue.claim("a")
        for _ in range(4):
            clock.move(15)
            queue.renew("a", "one")
        assert queue.claim("b") is None

    def test_an_interrupted_task_goes_before_fresh_ones(self, store: JournalStore, queue: TaskQueue, clock: FakeClock) -> None:
        state = create_task(store, "begun")
        create_task(store, "urgent", priority=9)
        queue.claim("a", "begun")
        append_events(store, state, [happened.TaskClaimed("a")])
        clock.move(21)
        assert [queue.claim("b"), queue.claim("b")] == ["begun", "urgent"]

    def test_a_task_waits_for_what_it_needs(self, store: JournalStore, queue: TaskQueue) -> None:
        create_task(store, "second", needs=("first",))
        assert queue.claim("a") is None
        with pytest.raises(NeedsAnswer, match="first"):
            queue.claim("a", "second")
        end_task(store, create_task(store, "first"), TaskStatus.DONE)
        assert queue.claim("a") == "second"

    def test_a_person_changes_when_a_task_has_its_turn(self, store: JournalStore, queue: TaskQueue) -> None:
        states = [create_task(store, name) for name in ("first", "second", "third")]
        append_events(store, states[2], [PlaceChanged((), priority=1)])
        state = append_events(store, states[0], [PlaceChanged(("second",), priority=5)])
        append_events(store, state, [happened.QuestionAsked("which?"), happened.QuestionAnswered("this", "person")])
        told = {ticket.task: (ticket.priority, ticket.needs) for ticket in queue.tickets()}
        assert told == {"first": (5, ("second",)), "second": (0, ()), "third": (1, ())}
        assert [queue.claim("a"), queue.claim("a"), queue.claim("a")] == ["third", "second", None]

    def test_a_place_that_was_changed_comes_with_a_journal_from_elsewhere(self, store: JournalStore, queue: TaskQueue) -> None:
        order = happened.TaskCreated(Task(id="one", goal="goal", priority=1))
        append_events(store, None, [order, PlaceChanged(("two",)), PlaceChanged(("three",), priority=7)])
        append_events(store, None, [happened.TaskCreated(Task(id="two", goal="goal", priority=3)), PlaceChanged(("one",))])
        told = {ticket.task: (ticket.priority, ticket.needs) for ticket in queue.tickets()}
        assert told == {"one": (7, ("three",)), "two": (3, ("one",))}

    @pytest.mark.parametrize("status", [TaskStatus.FAILED, TaskStatus.DISCARDED, TaskStatus.BLOCKED])
    def test_what_ended_otherwise_than_done_does_not_count_as_done(
        self, store: JournalStore, queue: TaskQueue, status: TaskStatus
    ) -> None:
        end_task(store, create_task(store, "first"), status)
        create_task(store, "second", needs=("first",))
        assert queue.claim("a") is None

    @pytest.mark.parametrize("status", [status for status in TaskStatus if status.over])
    def test_a_task_that_is_over_is_not_claimed(self, store: JournalStore, queue: TaskQueue, status: TaskStatus) -> None:
        end_task(store, create_task(store, "one"), status)
        assert queue.claim("a") is None
        with pytest.raises(NotPossible, match=status.value):
            queue.claim("a", "one")

    def test_a_blocked_task_waits_for_its_answer(self, store: JournalStore, queue: TaskQueue) -> None:
        state = append_events(store, create_task(store, "one"), [happened.QuestionAsked("which?")])
        state = end_task(store, state, TaskStatus.BLOCKED)
        assert queue.claim("a") is None
        with pytest.raises(NeedsAnswer, match="question"):
            queue.claim("a", "one")
        append_events(store, state, [happened.QuestionAnswered("this one")])
        assert queue.claim("a") == "one"

    def test_a_part_is_never_claimed_and_belongs_to_whoever_holds_the_whole(
        self, store: JournalStore, queue: TaskQueue, clock: FakeClock
    ) -> None:  # fmt: skip
        create_task(store, "whole")
        part = create_task(store, "whole-1-1", parent="whole")
        assert [queue.claim("a"), queue.claim("b")] == ["whole", None]
        assert [ticket.owner for ticket in queue.tickets()] == ["a", "a"]
        append_events(store, part, [happened.TaskClaimed("a")])
        for wait, worker in ((0, "a"), (0, "b"), (21, "a"), (0, "b")):
            clock.move(wait)
            with pytest.raises(BadInput, match="subtask of whole"):
                queue.claim(worker, "whole-1-1")
        assert [(ticket.ready, ticket.owner, ticket.parent) for ticket in queue.tickets()] == [
            (True, "", ""), (False, "", "whole"),
        ]  # fmt: skip
        assert [queue.claim("b"), queue.claim("b")] == ["whole", None]

    def test_an_unknown_task_is_bad_input(self, queue: TaskQueue) -> None:
        with pytest.raises(BadInput):
            queue.claim("a", "nothing")

    def test_tickets_tell_who_owns_what_and_what_is_ready(self, store: JournalStore, queue: TaskQueue) -> None:
        create_task(store, "one", priority=2)
        create_task(store, "two")
        create_task(store, "three", needs=("one",))
        queue.claim("a")
        told = [(ticket.task, ticket.ready, ticket.owner, ticket.priority, ticket.needs) for ticket in queue.tickets()]
        assert told == [("one", False, "a", 2, ()), ("two", True, "", 0, ()), ("three", False, "", 0, ("one",))]

    def test_tickets_are_found_by_status_beginning_and_parent(self, store: JournalStore, queue: TaskQueue) -> None:
        for task in ("tidy-b", "tidy-a", "test"):
            create_task(store, task)
        create_task(store, "tidy-a-1", parent="tidy-a")
        end_task(store, store.load("test"), TaskStatus.DONE)
        end_task(store, store.load("tidy-b"), TaskStatus.APPLIED)

        def found(which: TicketQuery) -> list[str]:
            return [ticket.task for ticket in queue.tickets(which)]

        assert found(TicketQuery()) == ["tidy-b", "tidy-a", "test", "tidy-a-1"]
        assert found(TicketQuery(statuses=(TaskStatus.DONE, TaskStatus.APPLIED))) == ["tidy-b", "test"]
        assert found(TicketQuery(prefix="tidy-a")) == ["tidy-a", "tidy-a-1"]
        assert found(TicketQuery(prefix="tidy-a", parents=())) == ["tidy-a"]
        assert found(TicketQuery(parents=("tidy-a", "test"))) == ["tidy-a-1"]
        assert found(TicketQuery(prefix="absent")) == []

    def test_tickets_come_in_the_order_and_number_asked_for(self, store: JournalStore, queue: TaskQueue) -> None:
        for task in ("one", "two", "three"):
            create_task(store, task)
        append_events(store, store.load("one"), [happened.TaskClaimed("a")], at=9.0)
        for order, expected in (
            (TicketOrder.QUEUE, ["one", "two"]),
            (TicketOrder.NEWEST, ["three", "two"]),
            (TicketOrder.TOUCHED, ["one", "three"]),
        ):
            assert [ticket.task for ticket in queue.tickets(TicketQuery(order=order, most=2))] == expected

    def test_tickets_come_as_their_turn_does(self, store: JournalStore, queue: TaskQueue) -> None:
        create_task(store, "late", needs=("plain",), priority=9)
        for task, priority in (("plain", 0), ("urgent", 2), ("also-plain", 0)):
            create_task(store, task, priority=priority)
        for which in (TicketQuery(order=TicketOrder.TURN), TicketQuery((TaskStatus.READY,), parents=(), order=TicketOrder.TURN)):
            assert [ticket.task for ticket in queue.tickets(which)] == ["urgent", "plain", "also-plain", "late"]
        end_task(store, store.load("plain"), TaskStatus.DONE)
        first = queue.tickets(TicketQuery((TaskStatus.READY,), order=TicketOrder.TURN, most=1))
        assert [ticket.task for ticket in first] == ["late"]

    def test_a_ticket_says_which_needs_are_unmet(self, store: JournalStore, queue: TaskQueue) -> None:
        create_task(store, "done")
        end_task(store, create_task(store, "failed"), TaskStatus.FAILED)
        create_task(store, "second", needs=("done", "failed", "absent"))
        end_task(store, store.load("done"), TaskStatus.DONE)
        (ticket,) = queue.tickets(TicketQuery(prefix="second"))
        assert ticket.unmet == (UnmetNeed("failed", TaskStatus.FAILED), UnmetNeed("absent"))

    def test_a_task_waits_again_when_what_it_needs_is_reopened_or_replaced(self, store: JournalStore, queue: TaskQueue) -> None:
        create_task(store, "other")
        done = end_task(store, create_task(store, "first"), TaskStatus.DONE)
        second = create_task(store, "second", needs=("first",), priority=1)
        end_task(store, done, TaskStatus.DISCARDED)
        assert queue.claim("a") == "other"
        append_events(store, second, [PlaceChanged(())])
        assert queue.claim("a") == "second"

    def test_a_ticket_left_out_is_still_waited_for(self, store: JournalStore, queue: TaskQueue) -> None:
        create_task(store, "first")
        create_task(store, "second", needs=("first",))
        (ticket,) = queue.tickets(TicketQuery(prefix="second"))
        assert not ticket.ready
        end_task(store, store.load("first"), TaskStatus.DONE)
        (ticket,) = queue.tickets(TicketQuery(prefix="second"))
        assert ticket.ready

    def test_a_ticket_has_the_details_of_the_state_after_every_commit(self, store: JournalStore, queue: TaskQueue) -> None:
        state = create_task(store, "one")
        for _ in range(3):
            state = append_step(store, state)
            assert [ticket.detail for ticket in queue.tickets()] == [make_ticket_detail(store.load("one"))]
        state = append_events(store, state, [happened.QuestionAsked("which?", ("this", "that"))], at=5.0)
        state = end_task(store, state, TaskStatus.BLOCKED)
        (ticket,) = queue.tickets()
        assert ticket.detail == make_ticket_detail(state) and ticket.detail
        assert (ticket.detail.step, ticket.detail.question, ticket.detail.options) == (3, "which?", ("this", "that"))

    def test_tasks_are_counted_by_status_and_parts_are_not(self, store: JournalStore, queue: TaskQueue) -> None:
        assert dict(queue.counts().by_status) == {} and queue.counts().questions == 0
        for task in ("one", "two", "three"):
            create_task(store, task)
        create_task(store, "three-1", parent="three")
        state = append_events(store, store.load("one"), [happened.QuestionAsked("which?")])
        end_task(store, state, TaskStatus.BLOCKED)
        counts = queue.counts()
        assert list(counts.by_status.items()) == [(TaskStatus.BLOCKED, 1), (TaskStatus.READY, 2)] and counts.questions == 1
