"""A contestant in a process of its own, as the benchmark sees it."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
Taken = tuple[float, float]
"""Seconds by the clock, and of the processor."""


class Player:
    """A contestant, spoken to by lines of JSON."""

    def __init__(self, python: str, module: str, folder: Path, script: Path = HERE / "contestant.py") -> None:
        self.folder = Path(tempfile.mkdtemp(dir=folder))
        places = [HERE.parent, *([HERE.parents[1] / "src"] if module.startswith("afresh_") else [])]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places))}
        command = [python, str(script), module, str(self.folder)]
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True, env=environment
        )

    def ask(self, *order: Any) -> Any:
        assert self.process.stdin and self.process.stdout
        try:
            self.process.stdin.write(json.dumps(order) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass
        while line := self.process.stdout.readline():
            if line[0] in '[{"0123456789':
                return json.loads(line)
        self.errors.seek(0)
        raise RuntimeError((self.errors.read().strip().splitlines() or ["it ended without a word"])[-1])

    def end(self) -> None:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.errors.close()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def playing(folder: Path, *modules: str) -> Iterator[list[Player]]:
    players = [Player(sys.executable, module, folder) for module in modules]
    try:
        yield players
    finally:
        for player in players:
            player.end()
