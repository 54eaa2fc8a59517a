"""Proof by trying that the network can be opened for one address, and for nothing else."""

import json
import shlex
import shutil
import socket
import sys
import tempfile
from pathlib import Path

from afresh.core.network_access import NetworkAccess, parse_address
from afresh.errors import AfreshError
from afresh.sandbox.bubblewrap import Bubblewrap
from afresh.sandbox.escape_probe import EscapeCheck, EscapeTargets, LevelProbe
from afresh.sandbox.mounts import Mounts

_FOLDER = Path(__file__).parent
_SCRIPTS = ("escape_attempts.py", "network_attempts.py")
_WANTED = "reach_allowed_address"


def probe_network() -> LevelProbe:
    """Every attempt to get out of the sandbox, with the network open for one address of this machine; and at that address."""
    folder = Path(tempfile.mkdtemp(prefix="afresh-probe-"))
    try:
        (folder / "tree").mkdir()
        (folder / "repository").mkdir()
        for name in _SCRIPTS:
            shutil.copy(_FOLDER / name, folder / "tree")
        sandbox = Bubblewrap(Mounts(folder / "tree", folder / "repository", own=folder / "own"))
        with socket.create_server(("127.0.0.1", 0)) as allowed, EscapeTargets(folder / "outside") as outside:
            return LevelProbe("network", _try_network(sandbox, outside, allowed.getsockname()[1]))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _try_network(sandbox: Bubblewrap, outside: EscapeTargets, port: int) -> tuple[EscapeCheck, ...]:
    access, aim = NetworkAccess((parse_address(f"127.0.0.1:{port}"),)), json.dumps({**outside.aim(), "allowed": port})
    worked = dict[str, str]()
    for name in _SCRIPTS:
        command = shlex.join([sys.executable, "-I", "-S", name, aim])
        try:
            done = sandbox.run(command, 60, network=access)
            worked |= json.loads(done.output)
        except (AfreshError, OSError, ValueError) as problem:
            return (EscapeCheck("a command runs", False, str(problem)[-300:]),)
    reached = bool(worked.pop(_WANTED, ""))
    found = worked | outside.damage()
    return (
        EscapeCheck("the allowed address is reached", reached, "" if reached else "it was not reached"),
        *(EscapeCheck(name.replace("_", " "), not how, how) for name, how in found.items()),
    )
