"""The work that the store benchmark repeats: one realistic step of an agent, the same bytes for us and for every peer.

Text is Python source of the standard library, cut at a different place for every step, so that it compresses as code does.
"""

import json
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

MODULES = ("argparse", "ast", "configparser", "dataclasses", "difflib", "inspect", "pathlib", "subprocess", "tarfile", "typing")
STABLE = (("system", 2_400), ("tools", 2_400), ("fingerprint", 1_600), ("task", 1_200), ("plan", 800))
FRESH = (("facts", 2_000), ("code", 4_000), ("recent", 1_600))
REPLY, OUTPUT = 1_200, 6_000


@dataclass(frozen=True)
class Said:
    """What was said and seen in one step."""

    step: int
    stable: tuple[tuple[str, str], ...]
    fresh: tuple[tuple[str, str], ...]
    reply: str
    output: str

    @property
    def request(self) -> str:
        return "".join(text for _, text in (*self.stable, *self.fresh))

    @property
    def news(self) -> str:
        """What is new in the request; all of it in the first step."""
        return "".join(text for _, text in (self.fresh if self.step > 1 else (*self.stable, *self.fresh)))

    @property
    def row(self) -> str:
        """All of it in one piece: what the raw insert writes."""
        return json.dumps([self.request, self.reply, self.output], ensure_ascii=False)

    @property
    def bytes(self) -> int:
        return len((self.request + self.reply + self.output).encode())

    @property
    def distinct_bytes(self) -> int:
        """With the request counted only where it is new (the unchanged sections are counted once, in step 1)."""
        return len((self.news + self.reply + self.output).encode())


@cache
def library() -> str:
    folder = Path(sysconfig.get_path("stdlib"))
    files = [folder / f"{name}.py" for name in MODULES]
    return "".join(file.read_text() for file in files if file.exists())


def cut(place: int, size: int) -> str:
    text = library()
    start = place % (len(text) - size)
    return text[start : start + size]


def steps(count: int, first: int = 1) -> Iterator[Said]:
    stable = tuple((name, cut(number * 9_973, size)) for number, (name, size) in enumerate(STABLE))
    for step in range(first, first + count):
        place = step * 7_919
        fresh = tuple(
            (name, f"step {step}\n" + cut(place + number * 5_003, size - 10)) for number, (name, size) in enumerate(FRESH)
        )
        yield Said(step, stable, fresh, cut(place + 31_337, REPLY), f"$ pytest {step}\n" + cut(place + 17_011, OUTPUT - 14))
