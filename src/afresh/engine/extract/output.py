"""The lines of an output that are looked at, each with its number in the archived block."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

ENDED = re.compile(r"^(exit \d+|timed out and was killed)(?:, no output)?$", re.MULTILINE)
READ = 60_000
LONGEST_LINE = 1_000
"""Characters of an output that are looked at, half of them from its end; and of a line."""
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")


@dataclass(frozen=True, slots=True)
class Output:
    """What a command printed, without the echo of the command, without colours and without blanks at the ends of lines."""

    lines: tuple[str, ...]
    numbers: tuple[int, ...]
    command: str = ""
    ended: str = ""
    """How the command ended, as the tools say it; empty if nobody has."""

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def failed(self) -> bool:
        return bool(self.ended) and not self.ended.startswith("exit 0")

    def span(self, first: int, last: int | None = None) -> tuple[int, int]:
        """First and last line in the block, of places among `lines`."""
        return self.numbers[first], self.numbers[first if last is None else last]


def output_of(text: str, command: str = "") -> Output:
    return looked_at(list(enumerate(text.splitlines(), 1)), command)


def outputs_of(text: str) -> list[Output]:
    """Those of several commands in one text, as `test` prints them: each begins with its echo and how it ended."""
    rows = list(enumerate(text.splitlines(), 1))
    pairs = pairwise(rows)
    starts = [number - 1 for (number, line), (_, after) in pairs if line.startswith("$ ") and ENDED.match(after)]
    bounds = [*starts, len(rows)] if starts[:1] == [0] else [0, len(rows)]
    return [looked_at(rows[start:end], rows[start][1][2:]) for start, end in pairwise(bounds) if start < end]


def looked_at(rows: Sequence[tuple[int, str]], command: str) -> Output:
    start, ended = after_the_echo(rows)
    kept = cut(rows[start:])
    return Output(tuple(plain(line) for _, line in kept), tuple(number for number, _ in kept), command, ended)


def after_the_echo(rows: Sequence[tuple[int, str]]) -> tuple[int, str]:
    """Where what was printed begins, and how the command ended. The echo may hold a whole script."""
    looked = rows if rows and rows[0][1].startswith("$ ") else rows[:1]
    for place, (_, line) in enumerate(looked):
        if match := ENDED.match(line):
            return place + 1, match[1]
    return 0, ""


def cut(rows: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """Of a long output its beginning and its end, with a mark in the place of the first line that is left out."""
    short = [(number, line[:LONGEST_LINE]) for number, line in rows]
    if sum(len(line) + 1 for _, line in short) <= READ:
        return short
    head, tail = within(short), within(reversed(short))[::-1]
    return [*head, (rows[len(head)][0], "…"), *tail]


def within(rows: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    kept, room = list[tuple[int, str]](), READ // 2
    for number, line in rows:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append((number, line))
    return kept


def plain(line: str) -> str:
    return (_ESCAPES.sub("", line) if "\x1b" in line else line).rstrip()


def commanded(text: str) -> str:
    """The command that an output begins with, as `run` and `test` print it: more than its first line if it had more."""
    if not text.startswith("$ "):
        return ""
    end = ENDED.search(text)
    return text[2 : end.start()].rstrip("\n") if end else text[2:].partition("\n")[0]
