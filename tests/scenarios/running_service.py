"""A running `afresh serve`: its lines and its health."""

import http.client
import json
import re
import subprocess
import time
from dataclasses import dataclass, field
from threading import Thread

LONGEST = 900
"""Seconds: for a machine that does much else meanwhile."""


@dataclass
class Service:
    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.reader = Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.append(line)

    def find(self, pattern: str) -> str:
        """Wait for a line, and return its first group."""
        late = time.monotonic() + LONGEST
        while time.monotonic() < late:
            for line in list(self.lines):
                if found := re.search(pattern, line):
                    return found[1] if found.groups() else found[0]
            if self.process.poll() is not None and not self.reader.is_alive():
                break
            time.sleep(0.05)
        raise AssertionError(f"it did not say {pattern!r}: {''.join(self.lines)} {self.process.poll()}")

    def get(self, address: str) -> tuple[int, str]:
        host, _, path = address.removeprefix("http://").partition("/")
        connection = http.client.HTTPConnection(host, timeout=600)
        connection.request("GET", f"/{path}")
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    @property
    def health(self) -> tuple[int, dict]:
        status, text = self.get(self.find(r'health at (http://[^\s"]+)'))
        return status, json.loads(text)
