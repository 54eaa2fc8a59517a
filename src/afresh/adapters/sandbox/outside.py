"""Things outside of a sandbox that an attempt must not reach, and what was done to them."""

import os
import secrets
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any


class EscapeTargets:
    """A file, a process, and listening sockets of every kind. They are watched from here, so an attempt cannot lie about them."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._mark = f"afresh-{secrets.token_hex(8)}"
        self._canary = folder / "canary"
        self._canary.write_text(self._mark)
        self._sockets = {
            "tcp": _open_listener(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            "udp": _open_listener(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            "unix_socket": _open_listener(socket.AF_UNIX, socket.SOCK_STREAM, str(folder / "s")),
            "abstract_socket": _open_listener(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + self._mark),
        }
        self._victim = subprocess.Popen(["/bin/sleep", "300"], env={"SECRET": self._mark}, start_new_session=True)

    def __enter__(self) -> "EscapeTargets":
        os.environ["AFRESH_PROBE"] = self._mark
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        os.environ.pop("AFRESH_PROBE", None)
        self._victim.kill()
        self._victim.wait()
        for listening in self._sockets.values():
            listening.close()

    def aim(self) -> dict[str, Any]:
        """What an attempt has to know to try."""
        return {
            "mark": self._mark,
            "canary": str(self._canary),
            "victim": self._victim.pid,
            "tcp": self._sockets["tcp"].getsockname()[1],
            "udp": self._sockets["udp"].getsockname()[1],
            "unix": str(self._canary.parent / "s"),
        }

    def damage(self) -> dict[str, str]:
        """What was reached, by the name of the attempt."""
        time.sleep(0.01)
        found = {name: "it arrived" for name, listening in self._sockets.items() if _is_listener_reached(listening)}
        names = sorted(path.name for path in self._canary.parent.iterdir())
        if names != ["canary", "s"] or self._canary.read_text() != self._mark:
            found["write_outside"] = f"the folder holds {names}"
        if self._victim.poll() is not None:
            found["signal_outside"] = "the process is gone"
        return found


def _open_listener(family: int, kind: int, address: Any) -> socket.socket:
    listening = socket.socket(family, kind)
    listening.bind(address)
    if kind == socket.SOCK_STREAM:
        listening.listen()
    listening.setblocking(False)
    return listening


def _is_listener_reached(listening: socket.socket) -> bool:
    try:
        if listening.type == socket.SOCK_DGRAM:
            return bool(listening.recv(100))
        listening.accept()[0].close()
        return True
    except BlockingIOError:
        return False
