"""Networks of the harness's own: a namespace for the database, one for each host, a cable between each host and the database."""

import os
import shutil
import subprocess
from dataclasses import dataclass


def can_make_networks() -> bool:
    return os.geteuid() == 0 and shutil.which("ip") is not None and _ip("netns", "list").returncode == 0


def _ip(*arguments: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(["ip", *arguments], capture_output=True)


def _must(*arguments: str) -> None:
    done = _ip(*arguments)
    if done.returncode:
        raise OSError(f"ip {' '.join(arguments)}: {done.stderr.decode(errors='replace')}")


@dataclass(frozen=True, slots=True)
class Networks:
    name: str
    """Of this run: two can run side by side."""
    hosts: tuple[str, ...]

    @property
    def database(self) -> str:
        return f"{self.name}-db"

    def make(self) -> None:
        _must("netns", "add", self.database)
        _must("-n", self.database, "link", "set", "lo", "up")
        for number, host in enumerate(self.hosts, 1):
            space = self.space(host)
            _must("netns", "add", space)
            _must("-n", space, "link", "set", "lo", "up")
            _must("link", "add", f"d{number}", "netns", self.database, "type", "veth", "peer", "name", "up0", "netns", space)
            _must("-n", self.database, "address", "add", f"10.77.{number}.1/30", "dev", f"d{number}")
            _must("-n", space, "address", "add", f"10.77.{number}.2/30", "dev", "up0")
            _must("-n", self.database, "link", "set", f"d{number}", "up")
            _must("-n", space, "link", "set", "up0", "up")

    def space(self, host: str) -> str:
        return f"{self.name}-{host}"

    def enter(self, space: str) -> tuple[str, ...]:
        return ("ip", "netns", "exec", space)

    def address_of_database(self, host: str) -> str:
        return f"10.77.{self.hosts.index(host) + 1}.1"

    def cut(self, host: str) -> None:
        _must("-n", self.space(host), "link", "set", "up0", "down")

    def mend(self, host: str) -> None:
        _must("-n", self.space(host), "link", "set", "up0", "up")

    def remove(self) -> None:
        for space in (self.database, *(self.space(host) for host in self.hosts)):
            _ip("netns", "del", space)
