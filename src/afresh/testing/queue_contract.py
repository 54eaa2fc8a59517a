"""What every Queue must do. Subclass it and give it a `store`, and a `queue` over it and `clock` with leases of 20 seconds."""

import pytest

from afresh.domain import event as happened
from afresh.domain.task import Status
from afresh.errors import BadInput, LeaseLost
from afresh.ports import Queue, Store
from afresh.testing.journals import create, end, write
from afresh.testing.memory import FakeClock


class QueueContract:
    """Fixtures `store` (fresh and empty) and `queue` (over it and `clock`) are to be given by the subclass."""

    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock()

    def test_an_empty_queue_has_nothing_to_claim(self, queue: Queue) -> None:
        assert queue.claim("a") is None and list(queue.tickets()) == []

    def test_the_oldest_goes_first(self, store: Store, queue: Queue) -> None:
        create(store, "zeta")
        create(store, "alpha")
        assert [queue.claim("a"), queue.claim("a"), queue.claim("a")] == ["zeta", "alpha", None]

    def test_a_higher_priority_goes_before_the_older(self, store: Store, queue: Queue) -> None:
        create(store, "low")
        create(store, "high", priority=5)
        create(store, "negative", priority=-1)
        assert [queue.claim("a"), queue.claim("a"), queue.claim("a")] == ["high", "low", "negative"]

    def test_a_claim_is_exclusive(self, store: Store, queue: Queue) -> None:
        create(store, "one")
        assert queue.claim("a") == "one"
        assert queue.claim("b") is None
        with pytest.raises(BadInput, match="a"):
            queue.claim("b", "one")

    def test_an_owner_may_claim_its_task_again(self, store: Store, queue: Queue) -> None:
        create(store, "one")
        assert queue.claim("a") == queue.claim("a", "one") == "one"

    def test_what_a_worker_released_can_be_claimed(self, store: Store, queue: Queue) -> None:
        create(store, "one")
        queue.claim("a")
        queue.release("a", "one")
        assert queue.claim("b") == "one"

    def test_only_the_owner_can_release(self, store: Store, queue: Queue) -> None:
        create(store, "one")
        queue.claim("a")
        queue.release("b", "one")
        assert queue.claim("b") is None

    def test_an_expired_lease_is_taken_over(self, store: Store, queue: Queue, clock: FakeClock) -> None:
        create(store, "one")
        queue.claim("a")
        clock.move(19)
        assert queue.claim("b") is None
        clock.move(2)
        assert queue.claim("b") == "one"
        with pytest.raises(LeaseLost):
            queue.renew("a", "one")

    def test_a_renewed_lease_lasts(self, store: Store, queue: Queue, clock: FakeClock) -> None:
        create(store, "one")
        queue.claim("a")
        for _ in range(4):
            clock.move(15)
            queue.renew("a", "one")
        assert queue.claim("b") is None

    def test_an_interrupted_task_goes_before_fresh_ones(self, store: Store, queue: Queue, clock: FakeClock) -> None:
        state = create(store, "begun")
        create(store, "urgent", priority=9)
        queue.claim("a", "begun")
        write(store, state, [happened.Claimed("a")])
        clock.move(21)
        assert [queue.claim("b"), queue.claim("b")] == ["begun", "urgent"]

    def test_a_task_waits_for_what_it_needs(self, store: Store, queue: Queue) -> None:
        create(store, "second", needs=("first",))
        assert queue.claim("a") is None
        with pytest.raises(BadInput, match="first"):
            queue.claim("a", "second")
        end(store, create(store, "first"), Status.DONE)
        assert queue.claim("a") == "second"

    @pytest.mark.parametrize("status", [Status.FAILED, Status.DISCARDED, Status.BLOCKED])
    def test_what_ended_otherwise_than_done_does_not_count_as_done(self, store: Store, queue: Queue, status: Status) -> None:
        end(store, create(store, "first"), status)
        create(store, "second", needs=("first",))
        assert queue.claim("a") is None

    @pytest.mark.parametrize("status", [status for status in Status if status.over])
    def test_a_task_that_is_over_is_not_claimed(self, store: Store, queue: Queue, status: Status) -> None:
        end(store, create(store, "one"), status)
        assert queue.claim("a") is None
        with pytest.raises(BadInput, match=status.value):
            queue.claim("a", "one")

    def test_a_blocked_task_waits_for_its_answer(self, store: Store, queue: Queue) -> None:
        state = write(store, create(store, "one"), [happened.Asked("which?")])
        state = end(store, state, Status.BLOCKED)
        assert queue.claim("a") is None
        with pytest.raises(BadInput, match="question"):
            queue.claim("a", "one")
        write(store, state, [happened.Answered("this one")])
        assert queue.claim("a") == "one"

    def test_a_part_is_never_claimed_and_belongs_to_whoever_holds_the_whole(
        self, store: Store, queue: Queue, clock: FakeClock
    ) -> None:  # fmt: skip
        create(store, "whole")
        part = create(store, "whole-1-1", parent="whole")
        assert [queue.claim("a"), queue.claim("b")] == ["whole", None]
        assert [ticket.owner for ticket in queue.tickets()] == ["a", "a"]
        write(store, part, [happened.Claimed("a")])
        for wait, worker in ((0, "a"), (0, "b"), (21, "a"), (0, "b")):
            clock.move(wait)
            with pytest.raises(BadInput, match="part of whole"):
                queue.claim(worker, "whole-1-1")
        assert [(ticket.ready, ticket.owner, ticket.parent) for ticket in queue.tickets()] == [
            (True, "", ""), (False, "", "whole"),
        ]  # fmt: skip
        assert [queue.claim("b"), queue.claim("b")] == ["whole", None]

    def test_an_unknown_task_is_bad_input(self, queue: Queue) -> None:
        with pytest.raises(BadInput):
            queue.claim("a", "nothing")

    def test_tickets_tell_who_owns_what_and_what_is_ready(self, store: Store, queue: Queue) -> None:
        create(store, "one", priority=2)
        create(store, "two")
        create(store, "three", needs=("one",))
        queue.claim("a")
        told = [(ticket.task, ticket.ready, ticket.owner, ticket.priority, ticket.needs) for ticket in queue.tickets()]
        assert told == [("one", False, "a", 2, ()), ("two", True, "", 0, ()), ("three", False, "", 0, ("one",))]
