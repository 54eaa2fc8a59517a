"""What a process of the pool does in its threads: it reports a run, and stops at once if it must."""

import os
from pathlib import Path
from threading import Event, Thread

from afresh.app.pool.pool_messages import WorkerReport
from afresh.app.pool.pool_worker import ReportedProgress, interrupt_thread
from afresh.core.event import Event as JournalEvent
from afresh.core.event import JournalEntry, PersonSpoke, TaskClaimed, TaskEnded
from afresh.core.task import Task, TaskStatus
from afresh.sandbox.disk_watch import DiskWatch
from afresh.sandbox.process import finish_command, start_command
from afresh.sandbox.resource_limits import ResourceLimits
from support.states import make_state

LONGEST = 900


def test_an_interrupted_thread_ends_its_command_and_cleans_up(tmp_path: Path) -> None:
    begun, ended, children = Event(), list[str](), list[int]()

    def work() -> None:
        running = start_command(
            ["/bin/sh", "-c", "echo begun; exec sleep 86399"], os.environ, tmp_path, (), DiskWatch((tmp_path,), ResourceLimits())
        )
        children.append(running.child.pid)
        try:
            finish_command(running, "sleep", 86_399, ResourceLimits(), running.child.kill, lambda data: begun.set())
        except KeyboardInterrupt:
            ended.append("interrupted")
        finally:
            ended.append("cleaned up")

    thread = Thread(target=work)
    thread.start()
    assert begun.wait(LONGEST)
    interrupt_thread(thread)
    thread.join(LONGEST)
    assert ended == ["interrupted", "cleaned up"]
    assert not Path(f"/proc/{children[0]}").exists()


def test_a_run_is_reported_without_its_id_twice_and_without_its_end_which_the_pool_says() -> None:
    told = list[WorkerReport]()
    progress = ReportedProgress("one", told.append, verbose=False)
    events: list[JournalEvent] = [TaskClaimed("w"), PersonSpoke("faster"), TaskEnded(TaskStatus.FAILED, "no way")]
    entries = [JournalEntry("one", number, 0.0, event, "", "") for number, event in enumerate(events)]
    progress.saw(make_state(Task(id="one", goal="Make it fast")), entries)
    assert [one.text for one in told] == ["• Make it fast", "• said: faster"]
