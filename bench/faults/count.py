"""What every count needs: rows of the table, seeds, and a log with a line for each try."""

import json
import random
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Twin:
    """The same tries with the protection broken: what was broken, and how many of them were found to be wrong."""

    what: str
    tried: int
    caught: int


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of fault: how often it was tried, and how often something was lost, believed or got through."""

    name: str
    tried: int
    lost: int
    twins: tuple[Twin, ...] = ()
    note: str = ""
    by_kind: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def failed(self) -> bool:
        """Also if a twin was never caught: then nothing was measured."""
        return bool(self.lost) or any(twin.tried and not twin.caught for twin in self.twins)

    def __str__(self) -> str:
        twins = "; ".join(f"{twin.what}: {twin.caught:,} of {twin.tried:,} caught" for twin in self.twins if twin.tried)
        return f"| {self.name} | {self.tried:,} | {self.lost} | {twins} | {self.note} |"


@dataclass(frozen=True, slots=True)
class Count:
    """How much is counted, and where it is written down."""

    seed: int = 1
    short: bool = False
    wanted: Mapping[str, int] = field(default_factory=dict[str, int])
    log: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="afresh-reliability-")))

    def chance(self, name: str) -> random.Random:
        return random.Random(f"{self.seed} {name}")

    def tries(self, name: str, full: int, short: int) -> int:
        return self.wanted.get(name) or (short if self.short else full)

    def note(self, fault: str, **facts: Any) -> None:
        with (self.log / f"{fault}.jsonl").open("a") as file:
            file.write(json.dumps({"seed": self.seed, **facts}) + "\n")


class Unavailable(Exception):
    """This can't be tried here."""


def run_tool(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Unavailable(f"{command[0]}: {done.stderr.strip()[:100]}")
    return done.stdout.strip()
