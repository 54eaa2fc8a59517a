"""Runs the probes at a level of the sandbox, against files, processes, objects and sockets that are outside of it and of nobody
else. As a script, for an ordinary user: python run_probes.py SOURCES, prints what came of each at each level as JSON."""

import contextlib
import ctypes
import json
import os
import secrets
import shlex
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])

from afresh.sandbox.choose_level import open_level
from afresh.sandbox.mounts import Mounts

HERE = Path(__file__).parent
OUT = 42
LEVELS = ("none", "bubblewrap", "landlock")
LIBC = ctypes.CDLL(None, use_errno=True)
WEAKER = frozenset(
    {"see_a_file_outside", "change_a_mode_outside", "change_times_outside", "change_a_group_outside",
     "change_a_mode_of_what_is_readable", "read_its_command_line"}
)  # fmt: skip
"""What Landlock does not hold; `afresh doctor` and docs/touch.md say so."""
_SUFFIXES = (".cut", ".remove", ".rename", ".move")
_REMOVE = 0


def read_numbers() -> dict[str, int]:
    """The kernel's system calls on this kind of machine."""
    column = 1 if os.uname().machine == "aarch64" else 0
    lines = (HERE.parent / "sandbox/system_calls.txt").read_text().splitlines()
    fields = [line.split() for line in lines if not line.startswith("#")]
    return {parts[2]: int(parts[column]) for parts in fields if parts[column] != "-"}


@contextlib.contextmanager
def make_objects(mark: str, numbers: dict[str, int]) -> Iterator[dict[str, Any]]:
    """Shared memory, queues and semaphores, by key and by name."""
    key = secrets.randbits(30)
    segment, queue, semaphores = LIBC.shmget(key, 64, 0o1600), LIBC.msgget(key, 0o1600), LIBC.semget(key, 1, 0o1600)
    LIBC.shmat.restype, named = ctypes.c_void_p, Path("/dev/shm", mark)
    with contextlib.suppress(OSError):
        named.write_text(mark)
    try:
        if segment >= 0:
            place = ctypes.c_void_p(LIBC.shmat(segment, None, 0))
            ctypes.memmove(place, mark.encode(), len(mark))
            LIBC.shmdt(place)
        name = ctypes.c_char_p(mark.encode())
        os.close(max(LIBC.syscall(numbers["mq_open"], name, os.O_CREAT | os.O_RDWR, 0o600, None), os.dup(0)))
        yield {"key": key, "segment": segment, "queue": queue, "semaphores": semaphores, "posix_queue": mark}
    finally:
        LIBC.shmctl(segment, _REMOVE, None)
        LIBC.msgctl(queue, _REMOVE, None)
        LIBC.semctl(semaphores, 0, _REMOVE)
        LIBC.syscall(numbers["mq_unlink"], name)
        named.unlink(missing_ok=True)


@contextlib.contextmanager
def make_files(outside: Path, readable: Path, mark: str) -> Iterator[dict[str, Any]]:
    for folder in (outside, readable):
        folder.mkdir()
    canary, shown = outside / "canary", readable / "file"
    for path in (canary, *(outside / f"canary{suffix}" for suffix in _SUFFIXES), shown, readable / "file.remove"):
        path.write_text(mark)
    with contextlib.suppress(OSError):
        os.setxattr(canary, "user.keep", mark.encode())
        os.setxattr(canary, "user.lose", b"x")
    os.mkfifo(outside / "canary.fifo")
    reader = os.open(outside / "canary.fifo", os.O_RDWR)
    with contextlib.ExitStack() as ends:
        ends.callback(os.close, reader)
        tcp = ends.enter_context(socket.create_server(("127.0.0.1", 0)))
        places = {"unix": str(outside / "s"), "datagram": str(outside / "d"), "abstract": f"\0{mark}"}
        for name, place in places.items():
            one = ends.enter_context(
                socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM if name == "datagram" else socket.SOCK_STREAM)
            )
            one.bind(place)
            if name != "datagram":
                one.listen(64)
        yield {"canary": str(canary), "readable": str(shown), "tcp": tcp.getsockname()[1], **places}


def play(level: str) -> dict[str, int]:
    """What came of each probe: OUT, or the number of the error that refused it."""
    mark, numbers = f"afresh-{secrets.token_hex(8)}", read_numbers()
    with contextlib.ExitStack() as ends:
        top = Path(ends.enter_context(tempfile.TemporaryDirectory(prefix="p")))
        for name in ("tree", "repository"):
            (top / name).mkdir()
        aim = ends.enter_context(make_files(top / "outside", top / "readable", mark))
        aim |= ends.enter_context(make_objects(mark, numbers))
        given = ends.enter_context(open(aim["canary"]))
        victim = subprocess.Popen(
            ["/bin/sleep", "300"], stdin=given, cwd=top / "outside", env={"KEY": mark}, start_new_session=True
        )
        ends.callback(victim.wait)
        ends.callback(victim.kill)
        aim |= {"mark": mark, "victim": victim.pid, "numbers": numbers, "network": os.readlink("/proc/self/ns/net")}
        (top / "tree/probes.py").write_bytes((HERE / "probes.py").read_bytes())
        sandbox = open_level(level, Mounts(top / "tree", top / "repository", readable=(top / "readable",)))
        done = sandbox.run(shlex.join([sys.executable, "-I", "-S", "probes.py", json.dumps(aim)]), 600)
    try:
        return json.loads(done.output)
    except ValueError:
        raise RuntimeError(f"{level}: the probes did not run: {done.output[-500:]}") from None


def main() -> None:
    print(json.dumps({level: play(level) for level in LEVELS}))


if __name__ == "__main__":
    main()
