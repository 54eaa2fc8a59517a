"""Runs of pytest in real processes, forked from one that has loaded it: to load pytest takes longer than a small run of it. A run
has its own folder, environment, streams, session, path and exit code."""

import functools
import gc
import os
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

COLD = f"{sys.executable} -m pytest"
CLIENT = """#!{python} -IS
import _socket, array, os, sys
line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
line.connect("{place}")
parts = [os.getcwdb(), b"%d" % len(sys.argv), *map(os.fsencode, sys.argv), *(k + b"=" + v for k, v in os.environb.items())]
text = b"\\0".join(parts)
line.sendmsg([b"%10d" % len(text) + text], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))])
status = int(line.recv(20) or b"9")
if os.WIFSIGNALED(status):
    os.kill(os.getpid(), os.WTERMSIG(status))
os._exit(os.WEXITSTATUS(status))
"""


def warm_command(command: str) -> str:
    """The command with each plain `python -m pytest` of this Python as a run that starts warm."""
    return command.replace(COLD, str(start_server())) if COLD in command else command


@functools.cache
def start_server() -> Path:
    """A program to call in the place of `python -m pytest`. The server ends with this process, which holds its input."""
    folder = Path(tempfile.mkdtemp(prefix="warm-"))
    client, place = folder / "pytest", folder / "socket"
    client.write_text(CLIENT.format(python=sys.executable, place=place))
    client.chmod(0o700)
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    server = subprocess.Popen(
        [sys.executable, __file__, str(place)], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder
    )
    assert server.stdout and server.stdout.readline() == b"ready\n"
    SERVERS.append(server)
    return client


SERVERS: list["subprocess.Popen[bytes]"] = []


def serve(place: str) -> None:
    import pdb  # noqa: F401  (pytest loads it in each run)

    from _pytest.config import get_config

    get_config()
    gc.freeze()  # pytest collects garbage five times at the end of a run
    path = sys.path[1:]
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(place)
    listener.listen()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    os.write(1, b"ready\n")
    while listener in select.select([listener, 0], [], [])[0]:
        line = listener.accept()[0]
        if not os.fork():
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            return attend(line, path)
        line.close()
    shutil.rmtree(Path(place).parent)


def attend(line: socket.socket, path: list[str]) -> None:
    """One run; it is killed if whoever asked for it is."""
    text, streams, _, _ = socket.recv_fds(line, 1 << 20, 3)
    while len(text) < 10 + int(text[:10]):
        text += line.recv(1 << 20)
    running = os.fork()
    if not running:
        line.close()
        return run(text[10:].split(b"\0"), streams, path)
    for stream in streams:
        os.close(stream)
    if line in select.select([line, os.pidfd_open(running)], [], [])[0]:
        os.killpg(running, signal.SIGKILL)
    status = os.waitpid(running, 0)[1]
    line.send(b"%d" % status)
    os._exit(0)


def run(asked: list[bytes], streams: list[int], path: list[str]) -> None:
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    count = int(asked[1])
    os.chdir(asked[0])
    os.environb.clear()
    os.environb.update(variable.split(b"=", 1) for variable in asked[2 + count :])  # type: ignore[arg-type]
    sys.argv[:] = ["pytest", *map(os.fsdecode, asked[3 : 2 + count])]
    given = os.environ.get("PYTHONPATH", "")
    sys.path[:] = [os.getcwd(), *(given.split(":") if given else ()), *path]
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    runpy.run_module("pytest", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    serve(sys.argv[1])
