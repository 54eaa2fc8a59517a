"""Opens the network for one command: a proxy outside, its port inside, and variables that lead tools to it."""

import contextlib
import socket
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from afresh.core.network_access import NetworkAccess
from afresh.sandbox.network_proxy import FilteringProxy
from afresh.sandbox.report_folder import SEEN_FOLDER
from afresh.sandbox.toolchain_folders import TOOLCHAIN_FOLDERS

ENTRY_FILE = Path(__file__).parent / "network_entry.py"
SEEN_ENTRY = SEEN_FOLDER / "network_entry.py"
PRIVATE_HOME = "/tmp/home"
PROXY_PORT = 3128
"""Each command has its own loopback, so the port is free and always the same."""
PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
YARN_VARIABLES = ("YARN_HTTP_PROXY", "YARN_HTTPS_PROXY")
JAVA_VARIABLES = ("MAVEN_OPTS", "GRADLE_OPTS")


@dataclass(frozen=True, slots=True)
class OpenNetwork:
    proxy: FilteringProxy
    channel: int
    """The end that the sandbox inherits."""

    def mounts(self) -> Iterator[str]:
        yield from ("--ro-bind", str(ENTRY_FILE), str(SEEN_ENTRY))

    def enter(self, argv: Sequence[str]) -> list[str]:
        """The command line that opens the port and becomes this one."""
        return [sys.executable, "-I", "-S", str(SEEN_ENTRY), str(self.channel), str(PROXY_PORT), *argv]


@contextlib.contextmanager
def open_network(access: NetworkAccess) -> Iterator[OpenNetwork]:
    """The proxy runs until the end of the block."""
    outer, inner = socket.socketpair()
    with inner, FilteringProxy(access, outer) as proxy:
        yield OpenNetwork(proxy, inner.fileno())


def make_network_variables() -> dict[str, str]:
    """What tools are told. Shared folders of downloads are read-only, so they get private ones while the command runs."""
    proxy = f"http://127.0.0.1:{PROXY_PORT}"
    java = " ".join(f"-D{kind}.proxyHost=127.0.0.1 -D{kind}.proxyPort={PROXY_PORT}" for kind in ("http", "https"))
    return {
        **dict.fromkeys((*PROXY_VARIABLES, *YARN_VARIABLES), proxy),
        **dict.fromkeys(JAVA_VARIABLES, java),
        "CARGO_HOME": f"{PRIVATE_HOME}/.cargo",
        "GOMODCACHE": f"{PRIVATE_HOME}/go/pkg/mod",
        "NODE_USE_ENV_PROXY": "1",
    }


OFFLINE_VARIABLES = frozenset(name for folder in TOOLCHAIN_FOLDERS for name, _ in folder.offline)
"""Left out: they tell tools not to try."""
