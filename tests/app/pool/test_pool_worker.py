"""A thread of a pool's process that must stop at once."""

import os
from pathlib import Path
from threading import Event, Thread

from afresh.app.pool.pool_worker import interrupt_thread
from afresh.sandbox.process import finish_command, start_command
from afresh.sandbox.resource_limits import ResourceLimits

LONGEST = 120


def test_an_interrupted_thread_ends_its_command_and_cleans_up(tmp_path: Path) -> None:
    begun, ended, children = Event(), list[str](), list[int]()

    def work() -> None:
        running = start_command(["/bin/sh", "-c", "echo begun; exec sleep 86399"], os.environ, tmp_path, (), (tmp_path,))
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
