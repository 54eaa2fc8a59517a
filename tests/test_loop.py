"""How far a task is advanced, and what ends a worker's run from outside."""

import pytest
from yard import Step, Yard

from afresh.core.event import StepFinished
from afresh.errors import Cancelled, LeaseLost
from afresh.loop import advance_task
from afresh.storage.renew_lease import LeaseRenewal
from support.fakes import FakeClock, MemoryQueue
from support.states import replace_in_parts


def write_two_files(step: int) -> list[Step]:
    return [("edit", {"path": f"{name}_{step}.py", "new": "x = 1\n"}) for name in ("first", "second")]


class StopRequest:
    def __init__(self) -> None:
        self.wanted = False

    def check(self) -> None:
        if self.wanted:
            raise Cancelled("stop")


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_a_task_is_advanced_by_at_most_so_many_steps(steps: int) -> None:
    yard = Yard(write_two_files)
    state = advance_task("t", "worker", yard.runtime, at_most=steps)
    assert (state.work.step, len(yard.model.requests), state.status) == (steps, steps, "running")
    assert advance_task("t", "worker", yard.runtime, at_most=2).work.step == steps + 2
    assert len(yard.events(StepFinished)) == steps + 2


def test_a_worker_that_has_lost_its_lease_buys_nothing_more() -> None:
    yard = Yard(write_two_files)
    queue = MemoryQueue(yard.store, clock := FakeClock())
    queue.claim("worker", "t")
    runtime = replace_in_parts(yard.runtime, cancellations=(LeaseRenewal(queue, "worker", "t"),))
    advance_task("t", "worker", runtime, at_most=2)
    clock.move(60)
    assert queue.claim("another", "t") == "t"
    with pytest.raises(LeaseLost):
        advance_task("t", "worker", runtime, at_most=2)
    assert len(yard.model.requests) == 2


def test_a_worker_that_is_stopped_between_two_actions_takes_no_further_one_and_pays_no_reply_twice() -> None:
    yard, stop = Yard(write_two_files), StopRequest()
    runtime = replace_in_parts(yard.runtime, cancellations=(stop,))
    write = yard.files.write

    def write_and_stop(path: str, text: str) -> None:
        write(path, text)
        stop.wanted = True

    yard.files.write = write_and_stop
    with pytest.raises(Cancelled):
        advance_task("t", "worker", runtime)
    assert "first_1.py" in yard.files.texts and "second_1.py" not in yard.files.texts
    stop.wanted, yard.files.write = False, write
    assert advance_task("t", "worker", runtime, at_most=1).work.step == 1
    assert "second_1.py" in yard.files.texts and len(yard.model.requests) == 1
