"""Proof by trying: a level holds only if a command runs in it and every attempt to get out of it fails.

Costs about a fifth of a second for a level, so a level that held is remembered, in the process and, if the caller names a file,
for as long as the machine stays up with the same kernel, the same bubblewrap and the same afresh.
"""

import contextlib
import functools
import hashlib
import json
import os
import secrets
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, get_native_id
from types import TracebackType
from typing import Any

from afresh.errors import AfreshError
from afresh.sandbox.bubblewrap import Bubblewrap, find_bubblewrap
from afresh.sandbox.landlock import Landlock
from afresh.sandbox.mounts import Mounts
from afresh.sandbox.resource_limits import ResourceLimits
from afresh.sandbox.supervisor import UnconfinedSandbox


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
        """The targets of the attempts."""
        return {
            "mark": self._mark,
            "canary": str(self._canary),
            "victim": self._victim.pid,
            "tcp": self._sockets["tcp"].getsockname()[1],
            "udp": self._sockets["udp"].getsockname()[1],
            "unix": str(self._canary.parent / "s"),
        }

    def damage(self) -> dict[str, str]:
        """What the attempts have reached, by the name of the attempt."""
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


AnySandbox = Bubblewrap | Landlock | UnconfinedSandbox
SANDBOX_BY_LEVEL: Mapping[str, type[AnySandbox]] = {"bubblewrap": Bubblewrap, "landlock": Landlock, "none": UnconfinedSandbox}
"""Strongest first."""

_PACKAGE_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class EscapeCheck:
    """One attempt to escape; `ok` if the sandbox held."""

    name: str
    ok: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class LevelProbe:
    """The attempts at one level."""

    level: str
    checks: tuple[EscapeCheck, ...]

    @property
    def holds(self) -> bool:
        return bool(self.checks) and all(check.ok for check in self.checks)

    @property
    def why_not(self) -> str:
        """Empty when it holds."""
        return "; ".join(f"{check.name}: {check.detail}" for check in self.checks if not check.ok)


def probe_level(level: str, cache: Path | None = None) -> LevelProbe:
    """Try this level on this machine, or remember that it held. `cache` must lie outside of any repository."""
    if cache is None:
        return _try_level(level)
    key = _fingerprint_machine(level)
    if _is_remembered(cache, key):
        return LevelProbe(level, (EscapeCheck("held before on this machine", True, key),))
    result = _try_level(level)
    if result.holds:
        _remember(cache, key)
    return result


_probing = Lock()


def _try_level(level: str) -> LevelProbe:
    with _probing:  # its mark is a variable of this process
        return _attack_level(level)


@functools.cache
def _attack_level(level: str) -> LevelProbe:
    folder = Path(tempfile.mkdtemp(prefix="afresh-probe-"))
    try:
        (folder / "tree").mkdir()
        (folder / "repository").mkdir()
        shutil.copy(_PACKAGE_FOLDER / "escape_attempts.py", folder / "tree")
        sandbox = SANDBOX_BY_LEVEL[level](Mounts(folder / "tree", folder / "repository"), ResourceLimits())
        with EscapeTargets(folder / "outside") as outside:
            return LevelProbe(level, _run_attempts(sandbox, outside))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run_attempts(sandbox: AnySandbox, outside: EscapeTargets) -> tuple[EscapeCheck, ...]:
    try:
        works = sandbox.run('echo kept > kept && cat kept && echo x > "$TMPDIR/x"', 20)
        command = [sys.executable, "-I", "-S", "escape_attempts.py", json.dumps(outside.aim())]
        tried = sandbox.run(shlex.join(command), 30)
    except (AfreshError, OSError) as problem:
        return (EscapeCheck("a command runs", False, str(problem)),)
    if works.exit or works.output != "kept\n":
        return (EscapeCheck("a command runs", False, works.output.strip()[-300:]),)
    try:
        worked = json.loads(tried.output)
    except ValueError:
        return (EscapeCheck("the attempts run", False, tried.output.strip()[-300:]),)
    seen = outside.damage()
    found = {name: worked.get(name, "") or seen.get(name, "") for name in {**worked, **seen}}
    return (
        EscapeCheck("a command runs", True),
        *(EscapeCheck(name.replace("_", " "), not how, how) for name, how in found.items()),
    )


def _fingerprint_machine(level: str) -> str:
    """All that the answer depends on, as far as it can be named."""
    facts = [level, str(os.geteuid()), os.uname().release, os.uname().machine, sys.executable]
    with contextlib.suppress(OSError):
        facts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
    if program := find_bubblewrap():
        facts += [program, str(os.stat(program).st_mtime_ns)]
    facts += [hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(_PACKAGE_FOLDER.glob("*.py"))]
    return hashlib.sha256("\n".join(facts).encode()).hexdigest()


def _is_remembered(cache: Path, key: str) -> bool:
    with contextlib.suppress(OSError):
        return key in cache.read_text().split()
    return False


def _remember(cache: Path, key: str) -> None:
    """The file is replaced in one move. Only levels that held are recorded: the cause of a failure may be fixed later."""
    with contextlib.suppress(OSError):
        cache.parent.mkdir(parents=True, exist_ok=True)
        known = cache.read_text().split()[-10:] if cache.exists() else []
        part = cache.with_name(f"{cache.name}.{get_native_id()}")
        part.write_text("\n".join([*known, key]) + "\n")
        part.replace(cache)
